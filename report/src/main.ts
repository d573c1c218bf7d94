import "./style.css";
import { collective, plan, sensitivity, topology } from "./curves";
import { diff, sideSays } from "./diff";
import { h } from "./dom";
import { search, sweep } from "./plans";
import type { Detail, Document, Part, Results, Sides } from "./results";
import { run } from "./run";
import { isDark, switchTheme } from "./theme";
import { validate } from "./validate";

const pages: Record<string, (document: Document) => HTMLElement[]> = { validate, search, sweep, plan, sensitivity, collective, topology };
const titles: Record<string, string> = { run: "Forecast", validate: "Validation", search: "Search", sweep: "Sweep", plan: "Whole run", sensitivity: "Sensitivity", collective: "Collective", topology: "Machine", diff: "Comparison" };

function sections(part: Part, parts: Part[]): HTMLElement[] {
  try {
    if (part.kind === "run") return run(part.document, part.detail as Detail | null);
    if (part.kind === "diff") {
      const { a, b } = (part.detail ?? {}) as Sides;
      return diff(part.document, [a, b].map((side) => (typeof side === "number" ? (parts[side]?.detail as Detail | null) : side) ?? null));
    }
    const page = pages[part.kind];
    if (page) return page(part.document);
    return [h("section", {}, h("p", {}, "This page knows no picture of such a result."), h("pre", {}, JSON.stringify(part.document, null, 2).slice(0, 100_000)))];
  } catch (error) {
    return [h("section", {}, h("p", { class: "wrong", role: "alert" }, `This result cannot be drawn: ${error instanceof Error ? error.message : error}. It is not what this version of stepcast writes.`))];
  }
}

function titleOf(part: Part): string {
  if (part.kind === "diff" && part.document.a && part.document.b) {
    const [a, b] = [part.document.a.name, part.document.b.name];
    const says = (letter: "a" | "b"): string => sideSays(part.document, letter);
    return a !== b ? `${a} against ${b}` : says("a") === "" ? String(a) : `${a}: ${says("a")} against ${says("b")}`;
  }
  const results = part.kind === "run" ? (part.document.results as Document[] | undefined) : undefined;
  return results?.length === 1 && results[0].name ? String(results[0].name) : part.title;
}

/** What the button says that shows a part: a side of a comparison says which. */
function tabOf(part: Part, at: number, parts: Part[]): string {
  if (part.kind === "diff") return "Comparison";
  const sides = parts.flatMap((each) => (each.kind === "diff" ? Object.entries((each.detail ?? {}) as Sides) : []));
  const letter = sides.find(([, place]) => place === at)?.[0] as "a" | "b" | undefined;
  const compared = parts.find((each) => each.kind === "diff");
  return letter ? `${letter.toUpperCase()}: ${(compared && sideSays(compared.document, letter)) || titleOf(part)}` : titleOf(part);
}

function start(): void {
  const results = JSON.parse(document.getElementById("results")!.textContent!) as Results;
  const parts = results.parts ?? [];
  document.title = parts.length > 0 ? `${titleOf(parts[0])} - stepcast` : "stepcast";
  const main = document.getElementById("page")!;
  const menu = h("nav", { "aria-label": "Sections" });
  const body = h("div", { class: "body" });
  const tabs = parts.map((part, i) => h("button", { type: "button", "aria-pressed": "false", click: () => show(i) }, tabOf(part, i, parts)));
  const show = (i: number): void => {
    tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(k === i)));
    const part = parts[i];
    const made = sections(part, parts);
    body.replaceChildren(h("p", { class: "kind" }, titles[part.kind] ?? part.kind), h("h1", {}, titleOf(part)), ...made);
    menu.replaceChildren(...made.filter((element) => element.dataset.title).map((element) => h("button", { type: "button", click: () => {
      element.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
      element.setAttribute("tabindex", "-1");
      element.focus({ preventScroll: true });
    } }, element.dataset.title!)));
  };
  const toggle = h("button", { type: "button", class: "theme", click: () => { switchTheme(); toggle.textContent = isDark() ? "Light" : "Dark"; } }, isDark() ? "Light" : "Dark");
  main.replaceChildren(
    h("header", {}, h("strong", {}, "stepcast"), parts.length > 1 && h("div", { class: "tabs" }, ...tabs), menu, toggle),
    body,
    h("footer", {}, `Made by stepcast ${results.stepcast}. docs/report.md says how to read this page.`),
  );
  if (parts.length > 0) show(0);
  else body.append(h("p", {}, "This page holds no results."));
  document.documentElement.dataset.ready = "1";
}

start();
