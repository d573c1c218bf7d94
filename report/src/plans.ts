// Sweeps and searches: many plans beside each other.
import { axis, byteTicks, chart } from "./chart";
import { h, section } from "./dom";
import type { Document } from "./results";
import { card } from "./run";
import { table } from "./table";
import { bytes, count, percent, seconds } from "./text";
import { heat, heatStops, nth, palette, readableOn, theme } from "./theme";

interface Plan { settings: Record<string, unknown>; step: number | null; memory: number | null; fits: boolean; error: string; row: Document }

/** A value as people read it: of a list, equal numbers beside each other are counted, "1, 22 x 2, 1". */
function valueText(value: unknown): string {
  if (!Array.isArray(value)) return String(value ?? "-");
  const runs: [unknown, number][] = [];
  for (const each of value) {
    const last = runs[runs.length - 1];
    if (last && last[0] === each) last[1] += 1;
    else runs.push([each, 1]);
  }
  return runs.map(([each, times]) => (times > 2 ? `${times} x ${each}` : Array(times).fill(each).join(", "))).join(", ");
}
const said = (settings: Record<string, unknown>): string => Object.entries(settings).map(([key, value]) => `${key}=${valueText(value)}`).join(", ");
/** The same for people: keys without what they stand below. */
const saidShort = (settings: Record<string, unknown>): string => Object.entries(settings).map(([key, value]) => `${key.slice(key.indexOf(".") + 1).replaceAll("_", " ")} ${valueText(value)}`).join(", ");
/** Settings that differ between plans: what the pictures have as axes. */
function varied(plans: Plan[]): string[] {
  const keys = [...new Set(plans.flatMap((plan) => Object.keys(plan.settings)))];
  return keys.filter((key) => new Set(plans.map((plan) => String(plan.settings[key]))).size > 1);
}
const ordered = (values: unknown[]): string[] => [...new Set(values.map(String))].sort(new Intl.Collator("en", { numeric: true }).compare);

function heatMap(plans: Plan[]): HTMLElement {
  const keys = varied(plans);
  if (keys.length === 0) return h("p", { class: "soft" }, "All plans have the same settings.");
  const choose = (id: string, at: number): HTMLSelectElement => h("select", { id }, ...keys.map((key, i) => h("option", { value: key, selected: i === at }, key))) as HTMLSelectElement;
  const x = choose("axis-x", Math.min(1, keys.length - 1)), y = choose("axis-y", 0);
  const box = h("div");
  const draw = (): void => {
    const columns = ordered(plans.map((plan) => plan.settings[x.value])), rows = ordered(plans.map((plan) => plan.settings[y.value]));
    const best = new Map<string, Plan>();
    for (const plan of plans) {
      const key = `${columns.indexOf(String(plan.settings[x.value]))} ${rows.indexOf(String(plan.settings[y.value]))}`;
      const other = best.get(key);
      const better = !other || (plan.fits && !other.fits) || (plan.fits === other.fits && (plan.step ?? Infinity) < (other.step ?? Infinity));
      if (better) best.set(key, plan);
    }
    const cells = [...best].map(([key, plan]) => ({ at: key.split(" ").map(Number), plan }));
    const times = cells.filter(({ plan }) => plan.fits && plan.step !== null).map(({ plan }) => plan.step as number);
    const fastest = Math.min(...times), slowest = Math.max(...times);
    const readable = (step: number): string => (slowest > fastest ? readableOn(heat((slowest - step) / (slowest - fastest))) : "#fff");
    const cell = ({ at, plan }: { at: number[]; plan: Plan }): object => ({ value: [...at, plan.step ?? 0], plan });
    box.replaceChildren(chart("Step time of plans; those that do not fit are marked", Math.min(Math.max(rows.length * 46 + 120, 220), 760), () => ({
      grid: { left: 8, right: 24, top: 44, bottom: 44, containLabel: true },
      tooltip: { formatter: ({ data }: any) => `${said(data.plan.settings)}\n${data.plan.step === null ? "not simulated" : seconds(data.plan.step)}${data.plan.memory === null ? "" : `, ${bytes(data.plan.memory)}`}${data.plan.error ? `\n${data.plan.error}` : ""}` },
      visualMap: slowest > fastest ? { min: fastest, max: slowest + 1e-12, seriesIndex: 0, orient: "horizontal", right: 0, top: 0, calculable: true, itemHeight: 120, itemWidth: 12, inRange: { color: heatStops().reverse() }, formatter: (v: number) => seconds(v), textStyle: { color: theme().soft } } : undefined,
      xAxis: axis({ type: "category", data: columns, name: x.value, splitArea: { show: false } }),
      yAxis: axis({ type: "category", data: rows, name: y.value, nameLocation: "end", nameGap: 12, nameTextStyle: { color: theme().soft, align: "left" } }),
      series: [
        { name: "fits", type: "heatmap", data: cells.filter(({ plan }) => plan.fits && plan.step !== null).map((each) => ({ ...cell(each), label: { color: readable(each.plan.step as number) } })), label: { show: cells.length <= 80, formatter: ({ data }: any) => seconds(data.plan.step) }, itemStyle: { borderColor: theme().surface, borderWidth: 2 } },
        { name: "does not fit", type: "scatter", symbol: "path://M0,0 L10,10 M10,0 L0,10", symbolSize: 14, itemStyle: { color: "transparent", borderColor: palette.vermilion, borderWidth: 2 }, data: cells.filter(({ plan }) => !plan.fits || plan.step === null).map(cell) },
      ],
    })));
  };
  x.addEventListener("change", draw);
  y.addEventListener("change", draw);
  draw();
  return h("div", {}, h("div", { class: "tools" }, h("span", {}, h("label", { for: "axis-y" }, "Rows "), y), h("span", {}, h("label", { for: "axis-x" }, "Columns "), x)), box);
}

function front(plans: Plan[]): HTMLElement {
  const known = plans.filter((plan) => plan.step !== null && plan.memory !== null);
  const sorted = known.filter((plan) => plan.fits).sort((a, b) => (a.step as number) - (b.step as number));
  const best: Plan[] = [];
  for (const plan of sorted) if (best.length === 0 || (plan.memory as number) < (best[best.length - 1].memory as number)) best.push(plan);
  const point = (plan: Plan): object => ({ value: [plan.step, plan.memory], plan });
  const held = known.map((plan) => plan.memory as number);
  if (known.length < 2) return h("p", { class: "soft" }, "Fewer than two plans were simulated.");
  return chart("Step time against peak memory", 380, () => ({
    legend: {},
    grid: { left: 30, right: 24, top: 40, bottom: 46, containLabel: true },
    tooltip: { formatter: ({ data }: any) => (data.plan ? `${said(data.plan.settings)}\n${seconds(data.plan.step)}, ${bytes(data.plan.memory)}` : "") },
    xAxis: axis({ type: "value", scale: true, name: "step time", axisLabel: { formatter: (v: number) => seconds(v) } }),
    yAxis: axis({ type: "value", ...byteTicks(Math.min(...held), Math.max(...held)), name: "peak memory of a GPU", nameGap: 54, axisLabel: { formatter: (v: number) => bytes(v) } }),
    series: [
      { name: "plans that fit", type: "scatter", symbolSize: 9, itemStyle: { color: palette.sky }, data: known.filter((plan) => plan.fits).map(point) },
      ...(known.every((plan) => plan.fits) ? [] : [{ name: "do not fit", type: "scatter", symbol: "triangle", symbolSize: 8, itemStyle: { color: palette.vermilion }, data: known.filter((plan) => !plan.fits).map(point) }]),
      { name: "Pareto front", type: "line", step: "end", symbolSize: 9, lineStyle: { color: palette.blue }, itemStyle: { color: palette.blue }, data: best.map(point) },
    ],
  }));
}

function curve(plans: Plan[], key: string): HTMLElement {
  const values = ordered(plans.map((plan) => plan.settings[key]));
  return chart(`Step time over ${key}`, 320, () => ({
    grid: { left: 24, right: 24, top: 20, bottom: 46, containLabel: true },
    tooltip: { trigger: "axis", valueFormatter: (v: unknown) => seconds(v as number) },
    xAxis: axis({ type: "category", data: values, name: key }),
    yAxis: axis({ type: "value", axisLabel: { formatter: (v: number) => seconds(v) } }),
    series: [{ name: "step time", type: "line", symbolSize: 8, lineStyle: { color: nth(0) }, itemStyle: { color: nth(0) }, data: values.map((value) => plans.find((plan) => String(plan.settings[key]) === value && plan.fits)?.step ?? null) }],
  }));
}

function planTable(plans: Plan[]): HTMLElement {
  const keys = varied(plans);
  return table("Plans", [
    ...(keys.length > 0 ? keys : []).map((key) => ({ title: key, words: true, cell: (plan: Plan) => valueText(plan.settings[key]), by: (plan: Plan) => plan.settings[key] as string | number })),
    { title: "step", cell: (plan: Plan) => seconds(plan.step), by: (plan: Plan) => plan.step },
    { title: "band", cell: (plan: Plan) => (typeof plan.row.low_s === "number" ? `${seconds(plan.row.low_s)} to ${seconds(plan.row.high_s)}` : "-") },
    { title: "peak memory", cell: (plan: Plan) => bytes(plan.memory), by: (plan: Plan) => plan.memory },
    { title: "MFU", cell: (plan: Plan) => percent(plan.row.mfu), by: (plan: Plan) => plan.row.mfu },
    { title: "why not", words: true, cell: (plan: Plan) => plan.error },
  ], plans, 25);
}

function pictures(plans: Plan[]): HTMLElement[] {
  const keys = varied(plans);
  return [
    keys.length === 1 ? section("Curve", "A gap is a value that cannot run or does not fit.", curve(plans, keys[0])) : section("Heat map of plans", "Each field is the best plan with these two settings. A cross: it does not fit, or cannot run.", heatMap(plans)),
    section("Pareto front", "Plans on the line are beaten in both step time and memory by none that is here.", front(plans)),
    section("All plans", "", planTable(plans)),
  ];
}

export function sweep(document: Document): HTMLElement[] {
  const plans: Plan[] = (document.points as Document[]).map((row) => ({ settings: row.settings ?? {}, step: row.step_time_s ?? null, memory: row.peak_memory_bytes ?? null, fits: row.fits !== false && !row.error, error: String(row.error ?? ""), row }));
  const fit = plans.filter((plan) => plan.fits && plan.step !== null);
  const best = fit.reduce<Plan | null>((a, b) => (a === null || (b.step as number) < (a.step as number) ? b : a), null);
  return [h("section", { "data-title": "Summary" }, h("h2", {}, "Summary"), h("div", { class: "cards" }, card("Points", String(plans.length), `${fit.length} fit`), card("Fastest that fits", best ? seconds(best.step) : "-", best ? saidShort(best.settings) : ""))), ...pictures(plans)];
}

export function search(document: Document): HTMLElement[] {
  const seen = new Set<string>();
  const plans: Plan[] = [...((document.plans ?? []) as Document[]), ...((document.front ?? []) as Document[])]
    .filter((row) => !seen.has(said(row.settings)) && seen.add(said(row.settings)))
    .map((row) => ({ settings: row.settings ?? {}, step: row.step_time_s ?? null, memory: row.peak_memory_bytes ?? null, fits: true, error: "", row }));
  const best = plans[0];
  const refused = document.refused;
  return [h("section", { "data-title": "Summary" }, h("h2", {}, "Summary"), h("div", { class: "cards" },
    card("Best step time", best ? seconds(best.step) : "no plan fits", best ? saidShort(Object.fromEntries(varied(plans).map((key) => [key, best.settings[key]]))) : ""), card("Screened", count(document.screened), typeof refused === "number" ? `${count(refused)} refused` : ""), card("Simulated", count(document.simulated)),
    card("Gap to the bound", percent(document.gap)))), ...(plans.length > 0 ? pictures(plans) : [])];
}
