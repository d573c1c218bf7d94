// One forecast as a derivation: kernels to passes, passes to stages, stages to the step. Every number is the
// forecast's own; the page only multiplies where it says so.
import { h, scrolled } from "./dom";
import { partName, type Block, type Detail, type Document, type Pass, type StageResult } from "./results";
import { bytes, count, percent, perSecond, seconds } from "./text";

const share = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : "-");

function passTable(block: Block, pass: Pass): HTMLElement {
  const whole = pass.compute_s + pass.exposed_s;
  const row = (cells: (string | Node)[], kind = ""): HTMLElement => h("tr", { class: kind || undefined }, ...cells.map((cell, i) => h(i === 0 && kind ? "th" : "td", { class: i === 0 || i === 1 || i === 8 ? "words" : undefined }, cell)));
  const lines = pass.lines.map((line) => {
    const takes = line.compute_s + line.exposed_s;
    const work = line.by_bytes ? line.bytes : line.flops;
    const reached = line.rated && line.compute_s > 0 ? work / line.compute_s : null;
    return row([
      line.name, line.shape || "-", line.flops > 0 ? count(line.flops) : "-", line.bytes > 0 ? bytes(line.bytes) : "-", String(line.launches),
      seconds(takes), share(takes, whole),
      line.rated ? `${perSecond(reached, line.by_bytes ? "B" : "FLOP")} of ${perSecond(line.rated, line.by_bytes ? "B" : "FLOP")}` : line.exposed_s > 0 ? "exposed" : "hidden",
      line.source,
    ]);
  });
  return scrolled(`${block.name}, ${pass.pass}`, h("table", { class: "lines" },
    h("caption", {}, `${block.name}, ${pass.pass}: ${seconds(pass.compute_s)} of compute${pass.exposed_s > 0 ? ` and ${seconds(pass.exposed_s)} of exposed communication` : ""}, for one micro-batch on one GPU`),
    h("thead", {}, h("tr", {}, ...["operator", "shape", "FLOPs", "bytes", "launches", "time", "share", "rate reached of rated", "where it comes from"].map((title, i) => h("th", { scope: "col", class: i === 0 || i === 1 || i === 8 ? "words" : undefined }, title)))),
    h("tbody", {}, ...lines, row(["sum", "", "", "", "", seconds(whole), "100%", "", ""], "sum"))));
}

function stageSteps(result: Document, detail: Detail, at: number): HTMLElement {
  const stage = detail.stages[at];
  const time = (result.stages as StageResult[])[at].time_s;
  const rows: HTMLElement[] = [];
  const line = (what: string, how: string, value: string, kind = ""): void => void rows.push(h("tr", { class: kind || undefined }, h("td", { class: "words" }, what), h("td", { class: "words" }, how), h("td", {}, value)));
  detail.blocks.forEach((block, i) => {
    if (stage.blocks[i] === 0) return;
    for (const pass of block.passes)
      line(`${block.name}, ${pass.pass}`, `${stage.blocks[i]} of them × ${stage.micro_batches} micro-batches × ${seconds(pass.compute_s)} of compute`, seconds(stage.blocks[i] * stage.micro_batches * pass.compute_s));
  });
  line("Compute of all passes", "the sum of the lines above", seconds(stage.compute_s), "sum");
  if (stage.more_compute_s !== 0) line("more or less in the step", "GPUs of another kind or speed, rounds that share the machine, passes of another step", seconds(stage.more_compute_s));
  if (stage.exposed_s !== 0 || stage.more_exposed_s !== 0) line(partName.exposed_tensor, "what no kernel hides, of all passes alone", seconds(stage.exposed_s));
  if (stage.more_exposed_s !== 0) line("more or less in the step", "other traffic on the same links, or passes that hide each other's", seconds(stage.more_exposed_s));
  for (const { key } of detail.time_parts)
    if (key !== "compute" && key !== "exposed_tensor" && (time[key] ?? 0) !== 0) line(partName[key] ?? key, "simulated: see the timeline", seconds(time[key]));
  line("Step", "the sum of all of it", seconds(result.step_time_s), "sum");
  return h("table", { class: "lines" }, h("caption", {}, `Stage ${stage.stage}: from passes to the step`), h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "words" }, "what"), h("th", { scope: "col", class: "words" }, "how"), h("th", { scope: "col" }, "time"))), h("tbody", {}, ...rows));
}

export function derivation(result: Document, detail: Detail): HTMLElement {
  const blocks = detail.blocks.map((block) => h("details", { class: "block" },
    h("summary", {}, h("b", {}, block.name), `  ${count(block.parameters)} parameters on a GPU, ${bytes(block.saved_bytes)} kept for backward; ${block.passes.map((pass) => `${pass.pass} ${seconds(pass.compute_s + pass.exposed_s)}`).join(", ")}`),
    ...block.passes.map((pass) => passTable(block, pass))));
  const largest = detail.blocks.findIndex((block) => block.name.includes("layer"));
  blocks[Math.max(largest, 0)]?.setAttribute("open", "");
  const box = h("div", {}, stageSteps(result, detail, 0));
  const select = h("select", { id: "stage-of-derivation", change: ((event: Event) => box.replaceChildren(stageSteps(result, detail, Number((event.target as HTMLSelectElement).value)))) as EventListener },
    ...detail.stages.map((stage, i) => h("option", { value: i }, `stage ${stage.stage}`)));
  return h("div", {},
    h("p", {}, `GPU: ${detail.gpu.name}.${detail.gpu.source ? ` Source of its rates: ${detail.gpu.source}` : ""}`),
    h("p", { class: "soft" }, "FLOPs count a multiply and an add as two. Keys such as gpu.peak are those of the scenario (stepcast keys); docs/model.md says how each kind of kernel is timed. Change one with --set and look again."),
    h("h3", {}, "1. Kernels of each block"), ...blocks,
    h("h3", {}, "2. From passes to the step"), h("div", { class: "tools" }, h("label", { for: "stage-of-derivation" }, "Of "), select), h("div", { class: "scroll" }, box));
}
