import { axis, byteTicks, chart, legend } from "./chart";
import { derivation } from "./derivation";
import { h, section } from "./dom";
import { linksPicture } from "./links";
import { partName, type Detail, type Document, type StageResult } from "./results";
import { table } from "./table";
import { bytes, count, percent, perSecond, seconds, signedPercent } from "./text";
import { meaning, nth, palette, theme } from "./theme";
import { timeline } from "./timeline";

export function card(title: string, value: string, note = "", more: HTMLElement | null = null): HTMLElement {
  return h("div", { class: more ? "card wide" : "card" }, h("div", { class: "title" }, title), h("div", { class: "value" }, value), more, note !== "" && h("div", { class: "note" }, note));
}

/** Where a value lies in its band. */
function bandBar(low: number, value: number, high: number): HTMLElement {
  const from = Math.min(low, value), to = Math.max(high, value), room = (to - from) * 0.15 || 1;
  const place = (x: number): string => `${((x - from + room) / (to - from + 2 * room)) * 100}%`;
  const range = h("i", { class: "range" }), mark = h("i", { class: "mark" });
  range.style.left = place(low);
  range.style.right = `calc(100% - ${place(high)})`;
  mark.style.left = place(value);
  return h("div", { class: "band", role: "img", "aria-label": `band from ${seconds(low)} to ${seconds(high)}` }, range, mark);
}

export function stepCard(result: Document): HTMLElement {
  const { step_time_s: step, low_s: low, high_s: high } = result;
  if (typeof low !== "number" || typeof high !== "number") return card("Step time", seconds(step));
  return card("Step time", seconds(step), `band ${seconds(low)} to ${seconds(high)}: ${result.band ?? ""}${result.in_range === false ? `. Out of range: ${(result.out_of_range ?? []).join("; ")}` : ""}`, bandBar(low, step, high));
}

/** The plan that was simulated, key by key: what nobody said is marked. */
function planCard(result: Document): HTMLElement | null {
  const plan = Object.entries((result.plan ?? {}) as Record<string, unknown>);
  if (plan.length === 0) return null;
  const byDefault = new Set((result.plan_by_default ?? []) as string[]);
  const part = ([key, value]: [string, unknown]): HTMLElement =>
    h("li", { class: byDefault.has(key) ? "by-default" : "", title: byDefault.has(key) ? `${key}: nobody said it, this is the default` : key },
      h("span", { class: "soft" }, key === "data_parallel.zero" ? "ZeRO" : key.slice(key.indexOf(".") + 1).replaceAll("_", " ")), " ", h("b", {}, value === true ? "yes" : value === false ? "no" : String(value)));
  return h("div", { class: "card whole" }, h("div", { class: "title" }, "Plan that was simulated"), h("ul", { class: "plan" }, ...plan.map(part)),
    byDefault.size > 0 && h("div", { class: "note" }, "Dashed: not said by the scenario, so the default."));
}

function summary(result: Document, detail: Detail | null): HTMLElement {
  const capacity = detail?.gpu.memory_bytes;
  const cards = [stepCard(result)];
  if (typeof result.measured_s === "number") cards.push(card("Measured", seconds(result.measured_s), `error of the forecast ${signedPercent(result.step_time_s / result.measured_s - 1)}`));
  if (typeof result.tokens_per_s === "number") cards.push(card("Tokens per second", count(result.tokens_per_s)));
  if (typeof result.samples_per_s === "number") cards.push(card("Samples per second", count(result.samples_per_s)));
  if (typeof result.mfu === "number") cards.push(card("MFU", percent(result.mfu), `${perSecond(result.model_flops_per_s_per_gpu, "FLOP")} of the model per GPU`));
  if (typeof result.peak_memory_bytes === "number") cards.push(card("Peak memory", bytes(result.peak_memory_bytes), capacity ? `of ${bytes(capacity)} on ${detail!.gpu.name}` : ""));
  if (typeof result.parameters === "number") cards.push(card("Parameters", count(result.parameters), `on ${result.gpus} GPUs`));
  if (result.busiest_link) cards.push(card("Busiest link", percent(result.busiest_link.utilisation), String(result.busiest_link.name)));
  const error = result.error ? h("p", { class: "wrong", role: "alert" }, String(result.error)) : null;
  const notes = (result.notes ?? []) as { key: string; text: string }[];
  return h("section", { "data-title": "Summary" }, h("h2", {}, "Summary"), error, h("div", { class: "cards" }, ...cards, planCard(result)),
    notes.length > 0 && h("details", {}, h("summary", {}, "Notes"), h("dl", {}, ...notes.flatMap((note) => [h("dt", {}, note.key), h("dd", {}, note.text)]))));
}

const colourOfPart = (key: string): string => meaning[key] ?? ({ optimizer: palette.green, bubble: theme().bubble, idle: theme().idle, host: theme().text, input: "#b3b3b3", checkpoint: "#666666" } as Record<string, string>)[key] ?? theme().soft;

/** Where stages' time goes, of one forecast or several: bars of parts that add up to the step. */
export function timeBars(names: string[], times: Record<string, number>[]): HTMLElement {
  const keys = Object.keys(partName).filter((key) => times.some((time) => (time[key] ?? 0) > 0));
  const longest = Math.max(...times.map((time) => keys.reduce((sum, key) => sum + (time[key] ?? 0), 0)));
  return h("div", {}, legend(keys.map((key) => ({ title: partName[key], colour: () => colourOfPart(key) }))), chart("Time of each stage by what it went into", Math.min(Math.max(names.length * 22 + 80, 150), 900), () => ({
    grid: { left: 8, right: 36, top: 8, bottom: 28, containLabel: true },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, valueFormatter: (value: unknown) => seconds(value as number) },
    xAxis: axis({ type: "value", max: longest, axisLabel: { formatter: (value: number) => seconds(value), showMaxLabel: false } }),
    yAxis: axis({ type: "category", data: names, inverse: true, axisLabel: { width: 220, overflow: "truncate" } }),
    series: keys.map((key) => ({
      name: partName[key], type: "bar", stack: "all", data: times.map((time) => time[key] ?? 0), barCategoryGap: "18%",
      itemStyle: { color: colourOfPart(key), borderColor: theme().surface, borderWidth: 0.5 },
    })),
  })));
}

function memory(result: Document, detail: Detail): HTMLElement {
  const stages = result.stages as StageResult[];
  let stage = detail.memory.reduce((most, _, i) => {
    const peak = (k: number): number => stages[detail.memory[k].stage]?.memory_bytes.peak ?? 0;
    return peak(i) > peak(most) ? i : most;
  }, 0);
  const box = h("div");
  const draw = (): void => {
    const { stage: number, at_s, activations_bytes, parts } = detail.memory[stage];
    const made = stages[number].memory_bytes;
    const kinds = detail.memory_kinds.filter(({ key }) => key !== "activations" && (made[key] ?? 0) > 0);
    const ends = [...at_s, detail.step_s];
    // One on top of the other: each area reaches from the ground to its top, the tallest behind the others.
    let below = ends.map(() => 0);
    const area = (name: string, colour: string, held: (i: number) => number): object => {
      const top = below.map((under, i) => under + held(i));
      const data = ends.map((at, i) => [at, top[i], held(i)]);
      below = top;
      return { name, type: "line", step: "end", symbol: "none", lineStyle: { width: 0 }, areaStyle: { color: colour, opacity: 1, origin: "start" }, itemStyle: { color: colour }, data };
    };
    const areas = [
      ...kinds.map(({ title, key }, i) => area(title, nth(i, palette.vermilion), () => made[key])),
      area("activations", palette.vermilion, (i) => activations_bytes[Math.min(i, activations_bytes.length - 1)]),
    ];
    box.replaceChildren(chart(`Memory of stage ${number} over the step`, 320, () => ({
      legend: {},
      grid: { left: 8, right: 24, top: 40, bottom: 62, containLabel: true },
      tooltip: { trigger: "axis", formatter: (points: any[]) => points.filter((point) => point.data).length === 0 ? "" : `${seconds(points[0].data[0])}: ${bytes(Math.max(...points.map((point) => point.data?.[1] ?? 0)))}\n${points.filter((point) => point.data).map((point) => `${point.seriesName} ${bytes(point.data[2])}`).join("\n")}` },
      dataZoom: [{ type: "slider", height: 18, bottom: 8, textStyle: { color: theme().soft }, labelFormatter: (value: number) => seconds(value) }, { type: "inside", zoomOnMouseWheel: "ctrl" }],
      xAxis: axis({ type: "value", min: 0, max: detail.step_s, axisLabel: { formatter: (value: number) => seconds(value), showMaxLabel: false }, axisPointer: { label: { formatter: ({ value }: { value: number }) => seconds(value) } } }),
      yAxis: axis({ type: "value", ...byteTicks(0, Math.max(detail.gpu.memory_bytes, made.peak) * 1.02), axisLabel: { formatter: (value: number) => bytes(value) } }),
      series: [
        ...[...areas].reverse(),
        { name: "capacity", type: "line", symbol: "none", data: [], itemStyle: { color: theme().text }, markLine: { silent: true, symbol: "none", lineStyle: { color: theme().text, type: "dashed", width: 1.5 }, label: { formatter: `capacity ${bytes(detail.gpu.memory_bytes)}`, color: theme().text, position: "insideEndTop" }, data: [{ yAxis: detail.gpu.memory_bytes }] } },
      ],
    })), ...(parts ? [h("p", { class: "soft" }, `Of each of ${parts} equal parts of the step the fullest moment is drawn.`)] : []));
  };
  const select = h("select", { id: "stage-of-memory", change: ((event: Event) => { stage = Number((event.target as HTMLSelectElement).value); draw(); }) as EventListener },
    ...detail.memory.map((each, i) => h("option", { value: i, selected: i === stage }, `stage ${each.stage}, peak ${bytes(stages[each.stage]?.memory_bytes.peak)}`)));
  draw();
  return h("div", {}, h("div", { class: "tools" }, h("label", { for: "stage-of-memory" }, "First GPU of "), select), box);
}

function traffic(detail: Detail): HTMLElement {
  const kinds = detail.traffic.filter((kind) => kind.ranks > 0);
  if (kinds.length === 0) return h("p", { class: "soft" }, "Nothing is communicated in this step.");
  return table("Collectives and sends of a step", [
    { title: "for", words: true, cell: (k) => k.name, by: (k) => k.name },
    { title: "operation", words: true, cell: (k) => k.operation, by: (k) => k.operation },
    { title: "algorithm", words: true, cell: (k) => k.algorithm || "-", by: (k) => k.algorithm },
    { title: "ranks", cell: (k) => String(k.ranks), by: (k) => k.ranks },
    { title: "size", cell: (k) => bytes(k.bytes), by: (k) => k.bytes },
    { title: "alone", cell: (k) => (k.alone_s > 0 ? seconds(k.alone_s) : "-"), by: (k) => k.alone_s },
    { title: "busbw", cell: (k) => perSecond(k.busbw_bytes_per_s, "B"), by: (k) => k.busbw_bytes_per_s },
    { title: "times in a step", cell: (k) => count(k.times), by: (k) => k.times },
    { title: "busiest link", words: true, cell: (k) => k.busiest_link || (k.inside_layers ? "inside its group" : "-") },
  ], kinds, 20);
}

function one(result: Document, detail: Detail | null): HTMLElement[] {
  const stages = (result.stages ?? []) as StageResult[];
  const out = [summary(result, detail)];
  if (detail) {
    const cut = detail.stretches.until_ns;
    out.push(section("Timeline", `What the first GPU of each stage does when, schedule ${detail.schedule}. A thin bar is a wait: a bubble is a wait for another stage to compute.${cut ? ` The step has more than a page holds: the first ${seconds(cut / 1e9)} are here.` : ""}`, timeline(detail)));
  }
  if (stages.length > 0)
    out.push(section("Where time goes", "Each stage's step: compute, exposed communication (which no compute hides), memory copies, and idle time by its cause. The parts add up to the step.", timeBars(stages.map((s) => `stage ${s.stage}`), stages.map((s) => s.time_s))));
  if (detail && detail.memory.length > 0) out.push(section("Memory", "What the first GPU of a stage holds over the step, by kind, under the line of what it has.", memory(result, detail)));
  else if (stages.length > 0)
    out.push(section("Memory", "The peak of each stage's GPUs by kind.", table("Memory", [
      { title: "stage", cell: (s) => String(s.stage), by: (s) => s.stage },
      ...Object.keys(stages[0].memory_bytes).map((key) => ({ title: key, cell: (s: StageResult) => bytes(s.memory_bytes[key]), by: (s: StageResult) => s.memory_bytes[key] })),
    ], stages, 12)));
  if (detail) {
    out.push(section("Links", "Colour says for which share of the step a link is busy. Click a link to see who used it. Traffic inside layers is drawn where the first stage's groups have it: every stage's is about the same.", linksPicture(detail)));
    out.push(section("Collectives", "Every kind of collective and send: its algorithm, its size, what it takes where nothing else is on its links, and busbw as nccl-tests counts it.", traffic(detail)));
    if (detail.blocks.length > 0) out.push(section("Step by step", "The step as a derivation, so that you can disagree with a line of it: each kernel of each block, its rate and where that comes from, up to the step.", derivation(result, detail)));
  }
  return out;
}

export function run(document: Document, detail: Detail | null): HTMLElement[] {
  const results = document.results as Document[];
  if (results.length === 1) return one(results[0], detail);
  const simulated = results.filter((r) => Array.isArray(r.stages) && r.stages.length > 0);
  const box = h("div");
  const pick = (r: Document): void => box.replaceChildren(h("h2", { tabindex: -1 }, String(r.name)), ...one(r, null));
  const mean = simulated.map((r) => r.stages[0].time_s as Record<string, number>);
  return [
    section("Scenarios", "Click a row to see it below.", table("Scenarios", [
      { title: "scenario", words: true, cell: (r) => String(r.name), by: (r) => String(r.name) },
      { title: "step", cell: (r) => seconds(r.step_time_s), by: (r) => r.step_time_s },
      { title: "band", cell: (r) => (typeof r.low_s === "number" ? `${seconds(r.low_s)} to ${seconds(r.high_s)}` : "-") },
      { title: "MFU", cell: (r) => percent(r.mfu), by: (r) => r.mfu },
      { title: "peak memory", cell: (r) => bytes(r.peak_memory_bytes), by: (r) => r.peak_memory_bytes },
      { title: "GPUs", cell: (r) => String(r.gpus ?? "-"), by: (r) => r.gpus },
      { title: "why not", words: true, cell: (r) => String(r.error ?? "") },
    ], results, 30, pick)),
    simulated.length > 0 ? section("Where time goes", "The first stage of each scenario.", timeBars(simulated.slice(0, 40).map((r) => String(r.name)), mean.slice(0, 40))) : h("span"),
    box,
  ];
}
