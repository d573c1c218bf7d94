// How two steps differ: the way from A to B part by part, both beside each other, and what was asked of each.
import { axis, byteTicks, chart, timeTicks } from "./chart";
import { h, scrolled, section, type Child } from "./dom";
import type { Document, Drawn } from "./results";
import { card } from "./run";
import { table } from "./table";
import { bytes, percent, seconds, signed, signedPercent } from "./text";
import { palette, theme } from "./theme";
import { timelines } from "./timeline";

interface Part { key: string; title: string; group: string; a_s: number; b_s: number; difference_s: number; a_ps: number; b_ps: number; difference_ps: number }
interface Step { title: string; from: number; to: number }

const groups: [string, string][] = [["compute", "compute"], ["communication", "exposed communication"], ["waiting", "waiting"]];
const more = palette.vermilion, less = palette.blue;

/** What the sides are called: a trace of a real step was measured, a forecast beside it predicted. */
function callSides(document: Document): [string, string] {
  const measured = [document.a, document.b].map((side) => side.trace !== null && side.trace !== undefined);
  return measured[0] === measured[1] ? ["A", "B"] : (measured.map((m) => (m ? "measured" : "predicted")) as [string, string]);
}

const longNames = { width: 190, overflow: "break", lineHeight: 14 };

/** A part by its group where its own name says too little. */
const named = (part: Part): string => (part.group === "compute" ? part.title : `${part.group}: ${part.title}`);

/** The way from a first value to a last one, a bar for each part of the difference. `ticks`: of an axis. */
function waterfall(about: string, ends: [string, string], from: number, parts: { title: string; difference: number }[], show: (value: number) => string, ticks: typeof timeTicks): HTMLElement {
  let at = from;
  const steps: Step[] = parts.filter((part) => part.difference !== 0).map(({ title, difference }) => ({ title, from: at, to: (at += difference) }));
  const all: Step[] = [{ title: ends[0], from: 0, to: from }, ...steps, { title: ends[1], from: 0, to: at }];
  const reached = [from, at, ...steps.flatMap((step) => [step.from, step.to])];
  const low = Math.min(...reached), high = Math.max(...reached);
  const cut = low > 0.5 * high ? Math.max(low - 0.5 * (high - low), 0) : 0; // so that small parts of long steps are seen
  const is = (step: Step): boolean => step === all[0] || step === all[all.length - 1];
  return chart(about, all.length * 28 + 60, () => {
    const { interval, ...limits } = ticks(cut, high + 0.02 * (high - cut)) as { interval: number; min: number; max: number };
    return {
      grid: { left: 8, right: 84, top: 8, bottom: 28, containLabel: true },
      tooltip: { trigger: "item", formatter: ({ dataIndex }: { dataIndex: number }) => { const step = all[dataIndex]; return is(step) ? `${step.title}: ${show(step.to)}` : `${step.title}: ${signed(step.to - step.from, show)}\nfrom ${show(step.from)} to ${show(step.to)}`; } },
      xAxis: axis({ type: "value", ...limits, min: Math.max(limits.min, 0), interval, axisLabel: { formatter: show, hideOverlap: true } }),
      yAxis: axis({ type: "category", inverse: true, data: all.map((step) => step.title), axisLabel: { ...longNames, interval: 0 } }),
      series: [
        { type: "bar", stack: "all", silent: true, itemStyle: { color: "transparent" }, data: all.map((step) => Math.min(step.from, step.to)) },
        {
          type: "bar", stack: "all", barCategoryGap: "25%",
          label: { show: true, position: "right", color: theme().text, formatter: ({ dataIndex }: { dataIndex: number }) => (is(all[dataIndex]) ? show(all[dataIndex].to) : signed(all[dataIndex].to - all[dataIndex].from, show)) },
          data: all.map((step) => ({ value: Math.abs(step.to - step.from), itemStyle: { color: is(step) ? theme().bubble : step.to > step.from ? more : less } })),
        },
      ],
    };
  });
}

/** Both sides' parts beside each other. */
function sideBySide(parts: Part[], [a, b]: [string, string]): HTMLElement {
  const shown = parts.filter((part) => part.a_ps !== 0 || part.b_ps !== 0);
  return chart("Each part of the step on both sides", shown.length * 40 + 90, () => ({
    legend: {},
    grid: { left: 8, right: 30, top: 36, bottom: 28, containLabel: true },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, valueFormatter: (value: unknown) => seconds(value as number) },
    xAxis: axis({ type: "value", axisLabel: { formatter: seconds, hideOverlap: true } }),
    yAxis: axis({ type: "category", inverse: true, data: shown.map(named), axisLabel: { ...longNames, interval: 0 } }),
    series: ([[a, "a_s", palette.blue], [b, "b_s", palette.orange]] as const).map(([name, key, color]) => ({ name, type: "bar", barCategoryGap: "30%", itemStyle: { color }, data: shown.map((part) => part[key]) })),
  }));
}

/** Every part with the sums of its group and of the step, which are exact: whole picoseconds are added. */
function partsTable(document: Document, parts: Part[], [a, b]: [string, string]): HTMLElement {
  const row = (title: string, from: number, to: number, sum: boolean): HTMLElement => h("tr", { class: sum ? "sum" : undefined },
    h(sum ? "th" : "td", { class: "words" }, title), ...[seconds(from / 1e12), seconds(to / 1e12), signed((to - from) / 1e12, seconds), signedPercent((to - from) / document.a.step_time_ps)].map((cell) => h("td", {}, cell)));
  const total = (of: Part[], key: "a_ps" | "b_ps"): number => of.reduce((sum, part) => sum + part[key], 0);
  const rows = groups.flatMap(([group, title]) => {
    const of = parts.filter((part) => part.group === group && (part.a_ps !== 0 || part.b_ps !== 0));
    return of.length === 0 ? [] : [...of.map((part) => row(part.title, part.a_ps, part.b_ps, false)), row(title, total(of, "a_ps"), total(of, "b_ps"), true)];
  });
  const sum = total(parts, "b_ps") - total(parts, "a_ps");
  const whole = (ps: number): string => `${ps.toLocaleString("en")} ps`;
  return h("div", {},
    scrolled("Parts of the step", h("table", {},
      h("caption", {}, "Parts of the step"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "words" }, "part"), ...[a, b, `${b} - ${a}`, a === "A" ? "of A's step" : `of the ${a} step`].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, ...rows, row("step", document.a.step_time_ps, document.b.step_time_ps, true)))),
    sum === document.difference_ps
      ? h("p", { class: "soft" }, `The parts' differences add up to ${whole(sum)}, which is the difference of the steps.`)
      : h("p", { class: "wrong", role: "alert" }, `The parts' differences add up to ${whole(sum)}; the difference of the steps is ${whole(document.difference_ps)}.`));
}

/** By stage, what each group of parts takes more or less. */
function byStage(stages: { stage: number; parts: Part[] }[]): HTMLElement {
  const colours = [palette.blue, palette.vermilion, palette.grey];
  return chart("Difference of each stage", Math.min(stages.length * 24 + 90, 900), () => ({
    legend: {},
    grid: { left: 8, right: 30, top: 36, bottom: 28, containLabel: true },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, valueFormatter: (value: unknown) => signed(value as number, seconds) },
    xAxis: axis({ type: "value", axisLabel: { formatter: (value: number) => signed(value, seconds), hideOverlap: true } }),
    yAxis: axis({ type: "category", inverse: true, data: stages.map(({ stage }) => `stage ${stage}`) }),
    series: groups.map(([group, name], i) => ({ name, type: "bar", stack: "all", itemStyle: { color: colours[i] }, data: stages.map(({ parts }) => parts.filter((part) => part.group === group).reduce((sum, part) => sum + part.difference_s, 0)) })),
  }));
}

function plans(document: Document, [a, b]: [string, string]): HTMLElement | null {
  const of = [document.a, document.b].map((side) => (side.plan ?? {}) as Record<string, unknown>);
  const keys = [...new Set(of.flatMap((plan) => Object.keys(plan)))];
  if (keys.length === 0) return null;
  const sides = [0, 1].filter((side) => Object.keys(of[side]).length > 0); // a trace has no plan
  const text = (side: number, key: string): string => {
    const value = of[side][key];
    if (value === undefined) return "-";
    return `${value === true ? "yes" : value === false ? "no" : String(value)}${((side === 0 ? document.a : document.b).plan_by_default ?? []).includes(key) ? " (default)" : ""}`;
  };
  return scrolled("Plans", h("table", {},
    h("caption", {}, sides.length > 1 ? "Plans that were forecast; bold: they differ" : "The plan that was forecast"),
    h("thead", {}, h("tr", {}, ...["key", ...sides.map((side) => [a, b][side])].map((title) => h("th", { scope: "col", class: "words" }, title)))),
    h("tbody", {}, ...keys.map((key) => h("tr", { class: sides.length > 1 && of[0][key] !== of[1][key] ? "differs" : undefined }, ...[key.replaceAll("_", " "), ...sides.map((side) => text(side, key))].map((cell) => h("td", { class: "words" }, cell)))))));
}

function trace(side: Document, letter: string): HTMLElement | null {
  const seen = side.trace as Document | null;
  if (!seen) return null;
  const streams = (seen.streams ?? []) as Document[], collectives = (seen.collectives ?? []) as Document[], unclassed = (seen.unclassed ?? []) as Document[];
  return section(`Trace ${letter}`, `${side.name} of device ${seen.device}, one of ${seen.steps} steps that the trace has whole. Streams: ${streams.map((s) => `${s.stream} busy ${percent(s.busy_s / side.step_time_s)}`).join(", ") || "none"}.`,
    collectives.length > 0 && table<Document>("Collectives", [
      { title: "collective", words: true, cell: (c) => String(c.operation ?? "of no known operation"), by: (c) => c.operation },
      { title: "ranks", cell: (c) => String(c.ranks ?? "-"), by: (c) => c.ranks },
      { title: "runs", cell: (c) => String(c.count), by: (c) => c.count },
      { title: "time", cell: (c) => seconds(c.total_s), by: (c) => c.total_s },
      { title: "exposed", cell: (c) => seconds(c.exposed_s), by: (c) => c.exposed_s },
    ], collectives),
    unclassed.length > 0 && table<Document>("Kernels of no known class", [
      { title: "kernel", words: true, cell: (k) => String(k.name), by: (k) => String(k.name) },
      { title: "runs", cell: (k) => String(k.count), by: (k) => k.count },
      { title: "time", cell: (k) => seconds(k.total_s), by: (k) => k.total_s },
    ], unclassed, 10));
}

function summary(document: Document, parts: Part[], [a, b]: [string, string]): HTMLElement {
  const largest = parts.reduce((most, part) => (Math.abs(part.difference_ps) > Math.abs(most.difference_ps) ? part : most), parts[0]);
  const keys = ((document.keys ?? []) as Document[]).slice(0, 3);
  const side = (letter: "a" | "b", word: string, of: Document): HTMLElement => card(word === letter.toUpperCase() ? word : `${letter.toUpperCase()}, ${word}`, seconds(of.step_time_s),
    [`${of.name} (${of.file})`, ...keys.map((key) => `${key.key}: ${key[letter] ?? "-"}`)].join(", "));
  const tight = [document.a, document.b].map((of, i) => of.fits === false && h("p", { class: "wrong", role: "alert" }, `${"AB"[i]} does not fit in the GPUs' memory.`));
  return h("section", { "data-title": "Summary" }, h("h2", {}, "Summary"), ...tight, h("div", { class: "cards" },
    side("a", a, document.a), side("b", b, document.b),
    card("B - A", signed(document.difference_s, seconds), signedPercent(document.difference_s / document.a.step_time_s)),
    largest && largest.difference_ps !== 0 ? card("Largest part of it", signed(largest.difference_s, seconds), named(largest)) : null));
}

/** What the scenario of a side says that the other does not; empty where that is much, or unknown. */
export function sideSays(document: Document, letter: "a" | "b"): string {
  const keys = (document.keys ?? []) as Document[];
  return keys.length > 2 ? "" : keys.map((key) => `${key.key} ${key[letter] ?? "by default"}`).join(", ");
}

/** What the timelines of the sides show. */
function timelinesAbout(drawn: Drawn[]): string {
  const recorded = drawn.some((each) => each.kernels), forecast = drawn.some((each) => !each.kernels);
  return [
    forecast && `${recorded ? "Of the forecast: what" : "What"} the first GPU of each stage does when.`,
    recorded && `${forecast ? "Of the trace: what" : "What"} its GPU does when, by class of kernel. Compute counts before communication, and communication before copies.`,
    drawn.length > 1 && "Both have one scale, and move and zoom together.", "A thin bar is a wait.",
    ...drawn.map(({ stretches: { until_ns: cut }, kernels }) => typeof cut === "number" && `The ${kernels ? "trace" : "forecast"} has more than a page holds: its first ${seconds(cut / 1e9)} are here.`),
  ].filter(Boolean).join(" ");
}

/** `details`: what is drawn of each side, where something is. */
export function diff(document: Document, details: (Drawn | null)[]): HTMLElement[] {
  const parts = document.parts as Part[], words = callSides(document);
  const several = document.a.stages > 1 || document.b.stages > 1 ? " Of several stages it is the mean." : "";
  const memory = (document.memory ?? []) as Document[];
  const held = (key: string): number => memory.reduce((sum, kind) => sum + (kind[key] as number), 0);
  const keys = document.keys as Document[] | null;
  const drawn = details.flatMap((detail, i) => (detail ? [{ title: `${"AB"[i]}: ${[[document.a, document.b][i].name, sideSays(document, i === 0 ? "a" : "b")].filter(Boolean).join(", ")}`, detail }] : []));
  const planned = plans(document, words);
  const out: Child[] = [
    summary(document, parts, words),
    section("From A to B", `What makes the step of A that of B: each part by which it is longer or shorter.${several} The axis begins where it shows the parts, not always at 0.`,
      waterfall("From the step of A to that of B, part by part", [`A${words[0] === "A" ? "" : `, ${words[0]}`}`, `B${words[1] === "B" ? "" : `, ${words[1]}`}`], document.a.step_time_s, parts.map((part) => ({ title: named(part), difference: part.difference_s })), seconds, timeTicks)),
    section("Part by part", `Where the step of each goes.${several}`, sideBySide(parts, words), partsTable(document, parts, words)),
    (document.stages ?? []).length > 1 && section("By stage", "What each stage of B takes more or less than that of A.", byStage(document.stages)),
    drawn.length > 0 && section(drawn.length > 1 ? "Timelines" : "Timeline", timelinesAbout(drawn.map(({ detail }) => detail)), timelines(drawn)),
    memory.length > 0 && section("Memory", "What the fullest GPU of each side holds, by kind.",
      held("a_bytes") !== held("b_bytes") || memory.some((kind) => kind.difference_bytes !== 0)
        ? waterfall("From the memory of A to that of B, kind by kind", ["A", "B"], held("a_bytes"), memory.map((kind) => ({ title: String(kind.key), difference: kind.difference_bytes })), bytes, byteTicks)
        : h("p", {}, `Both hold the same: ${bytes(held("a_bytes"))}.`),
      table<Document>("Memory", [
        { title: "kind", words: true, cell: (kind) => String(kind.key), by: (kind) => String(kind.key) },
        { title: "A", cell: (kind) => bytes(kind.a_bytes), by: (kind) => kind.a_bytes },
        { title: "B", cell: (kind) => bytes(kind.b_bytes), by: (kind) => kind.b_bytes },
        { title: "B - A", cell: (kind) => signed(kind.difference_bytes, bytes), by: (kind) => kind.difference_bytes },
      ], memory.filter((kind) => kind.a_bytes !== 0 || kind.b_bytes !== 0))),
    planned && section("Plans", "", planned),
    keys && section("Scenarios", "", keys.length === 0 ? h("p", {}, "The scenarios say the same.") : table<Document>("What the scenarios say differently", [
      { title: "key", words: true, cell: (key) => String(key.key), by: (key) => String(key.key) },
      { title: "A", words: true, cell: (key) => String(key.a ?? "-") },
      { title: "B", words: true, cell: (key) => String(key.b ?? "-") },
    ], keys)),
    trace(document.a, "A"), trace(document.b, "B"),
  ];
  return out.filter((each): each is HTMLElement => each instanceof HTMLElement);
}
