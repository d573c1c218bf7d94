// Collectives, machines, sensitivities and whole runs.
import { axis, chart, timeTicks } from "./chart";
import { h, section } from "./dom";
import type { Document } from "./results";
import { card } from "./run";
import { table } from "./table";
import { bytes, count, percent, perSecond, seconds } from "./text";
import { heatStops, nth, palette, theme } from "./theme";

export function collective(document: Document): HTMLElement[] {
  const rows = document.rows as Document[];
  const names = [...new Set(rows.map((row) => String(row.algorithm)))];
  const curves = (what: string, key: string, show: (v: number) => string, log: boolean): HTMLElement => chart(`${what} over size`, 360, () => ({
    legend: {},
    grid: { left: 24, right: 24, top: 44, bottom: 46, containLabel: true },
    tooltip: { trigger: "axis", valueFormatter: (v: unknown) => show(v as number) },
    xAxis: axis({ type: "log", logBase: 2, name: "size", min: "dataMin", axisLabel: { formatter: (v: number) => bytes(v) }, axisPointer: { label: { formatter: ({ value }: { value: number }) => bytes(value) } } }),
    yAxis: axis({ type: log ? "log" : "value", axisLabel: { formatter: (v: number) => show(v) } }),
    series: [
      ...names.map((name, i) => ({ name, type: "line", symbolSize: 5, symbol: ["circle", "rect", "triangle", "diamond"][i % 4], lineStyle: { color: nth(i), width: 2, type: i < 8 ? "solid" : "dashed" }, itemStyle: { color: nth(i) }, data: rows.filter((row) => String(row.algorithm) === name).map((row) => [row.size_bytes, row[key]]) })),
      ...(key === "time_s" && rows.some((row) => typeof row.measured_s === "number") ? [{ name: "measured", type: "scatter", symbol: "diamond", symbolSize: 8, itemStyle: { color: theme().text }, data: rows.filter((row) => typeof row.measured_s === "number").map((row) => [row.size_bytes, row.measured_s]) }] : []),
    ],
  }));
  return [
    section("busbw", "Bus bandwidth as nccl-tests counts it, over the size, by algorithm.", curves("busbw", "busbw_GBps", (v) => `${typeof v === "number" ? Number(v.toPrecision(4)) : "-"} GB/s`, false)),
    section("Time", "", curves("Time", "time_s", seconds, true)),
    section("All sizes", "", table("Sizes", [
      { title: "size", cell: (row) => bytes(row.size_bytes), by: (row) => row.size_bytes },
      { title: "algorithm", words: true, cell: (row) => String(row.algorithm), by: (row) => String(row.algorithm) },
      { title: "protocol", words: true, cell: (row) => String(row.protocol || "-") },
      { title: "ranks", cell: (row) => String(row.ranks) },
      { title: "time", cell: (row) => seconds(row.time_s), by: (row) => row.time_s },
      { title: "algbw, GB/s", cell: (row) => Number(row.algbw_GBps).toFixed(2), by: (row) => row.algbw_GBps },
      { title: "busbw, GB/s", cell: (row) => Number(row.busbw_GBps).toFixed(2), by: (row) => row.busbw_GBps },
    ], rows, 40)),
    (document.notes ?? []).length > 0 ? section("Notes", "", h("ul", {}, ...(document.notes as string[]).map((note) => h("li", {}, String(note))))) : h("span"),
  ];
}

export function topology(document: Document): HTMLElement[] {
  const pairs = document.pairs as Document[];
  const n = Math.max(...pairs.map((pair) => Math.max(pair.from, pair.to)), 0) + 1;
  const names = [...Array(n).keys()].map((i) => `GPU${i}`);
  const matrix = (what: string, key: string, show: (v: number) => string): HTMLElement => {
    const values = pairs.map((pair) => pair[key] as number);
    return chart(what, Math.min(n * 26 + 150, 720), () => ({
      grid: { left: 8, right: 24, top: 44, bottom: 10, containLabel: true },
      tooltip: { formatter: ({ data }: any) => `GPU${data[1]} to GPU${data[0]}: ${show(data[2])}` },
      visualMap: { min: Math.min(...values), max: Math.max(...values) + 1e-15, orient: "horizontal", right: 0, top: 0, itemHeight: 120, itemWidth: 12, calculable: true, inRange: { color: heatStops() }, formatter: (v: number) => show(v), textStyle: { color: theme().soft } },
      xAxis: axis({ type: "category", data: names, position: "top" }),
      yAxis: axis({ type: "category", data: names, inverse: true }),
      series: [{ type: "heatmap", data: pairs.map((pair) => [pair.to, pair.from, pair[key]]), itemStyle: { borderColor: theme().surface, borderWidth: n > 64 ? 0 : 1 } }],
    }));
  };
  const kinds = [...new Set(pairs.map((pair) => String(pair.kind)))];
  return [
    h("section", { "data-title": "Summary" }, h("h2", {}, "Summary"), h("div", { class: "cards" }, card("GPUs", String(document.gpus), `on ${document.nodes} nodes`), card("Bisection bandwidth", perSecond(document.bisection_bytes_per_s, "B")), card("Kinds of ways", String(kinds.length), kinds.slice(0, 8).join(", ")))),
    section("Bandwidth", "Of one flow between each two GPUs.", matrix("Bandwidth between GPUs", "bandwidth_bytes_per_s", (v) => perSecond(v, "B"))),
    section("Latency", "", matrix("Latency between GPUs", "latency_s", seconds)),
    section("Hops", "", matrix("Hops between GPUs", "hops", (v) => String(Math.round(v)))),
  ];
}

export function sensitivity(document: Document): HTMLElement[] {
  const rows = [...(document.resources as Document[])].sort((a, b) => Math.abs(b.elasticity) - Math.abs(a.elasticity));
  const step = document.step_time_s as number;
  return [
    h("section", { "data-title": "Summary" }, h("h2", {}, "Summary"), h("div", { class: "cards" }, card("Step time", seconds(step)), card("Waits most for", rows[0] ? String(rows[0].resource) : "-", rows[0] ? `1% more of it makes the step ${percent(-rows[0].elasticity_if_better / 100, 2)} shorter` : ""))),
    section("Tornado", "How the step time moves where one resource gets 1% better or 1% worse, all else the same.", chart("Step time by resource, 1% better and 1% worse", rows.length * 30 + 90, () => ({
      legend: {},
      grid: { left: 8, right: 30, top: 40, bottom: 30, containLabel: true },
      tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, valueFormatter: (v: unknown) => percent(v as number, 3) },
      xAxis: axis({ type: "value", axisLabel: { formatter: (v: number) => percent(v, 2) } }),
      yAxis: axis({ type: "category", inverse: true, data: rows.map((row) => String(row.resource)) }),
      series: ([["1% better", "better_step_time_s", palette.blue], ["1% worse", "worse_step_time_s", palette.vermilion]] as const).map(([name, key, color]) => ({ name, type: "bar", stack: "t", itemStyle: { color }, data: rows.map((row) => row[key] / step - 1) })),
    }))),
    section("Twice as good", "", table("Resources", [
      { title: "resource", words: true, cell: (row) => String(row.resource), by: (row) => String(row.resource) },
      { title: "rated at", cell: (row) => (row.rated_at === null ? "-" : perSecond(row.rated_at, String(row.rated_in).replace("/s", ""))), by: (row) => row.rated_at },
      { title: "elasticity", cell: (row) => Number(row.elasticity).toFixed(3), by: (row) => row.elasticity },
      { title: "step, 1% better", cell: (row) => seconds(row.better_step_time_s), by: (row) => row.better_step_time_s },
      { title: "step, 1% worse", cell: (row) => seconds(row.worse_step_time_s), by: (row) => row.worse_step_time_s },
      { title: "step, twice as good", cell: (row) => seconds(row.twice_step_time_s), by: (row) => row.twice_step_time_s },
      { title: "price of a second", cell: (row) => (row.price_per_second === null ? "-" : count(row.price_per_second)), by: (row) => row.price_per_second },
    ], rows, 20)),
  ];
}

export function plan(document: Document): HTMLElement[] {
  return (document.runs as Document[]).flatMap((run) => {
    const p = run.plan as Document | null;
    if (!p) return [section(String(run.name), "", h("p", { class: "wrong" }, String(run.error ?? "no plan")))];
    const parts: [string, number][] = [["useful", p.useful_s], ["checkpoints", p.checkpoints_s], ["lost to failures", p.lost_s], ["restarts", p.restarts_s]];
    const batches = (run.batches?.plans ?? []) as Document[];
    const times = batches.map((row) => row.time_s as number);
    return [
      h("section", { "data-title": String(run.name) }, h("h2", {}, String(run.name)), h("div", { class: "cards" },
        card("Whole run", seconds(p.time_s), typeof run.low_s === "number" ? `band ${seconds(run.low_s)} to ${seconds(run.high_s)}` : ""), card("Step time", seconds(p.step_time_s), `${count(p.steps)} steps`), card("GPU-hours", count(p.gpu_hours), `on ${count(p.gpus)} GPUs`),
        p.money === null ? null : card("Money", `${count(p.money)} ${p.currency ?? ""}`), p.energy_kwh === null ? null : card("Energy", `${count(p.energy_kwh)} kWh`), card("Goodput", p.failures === null ? "-" : percent(p.goodput), p.failures === null ? "nothing is known of failures" : `${count(p.failures)} failures expected`))),
      section("Where the run's time goes", "", chart("Time of the run by what it goes into", 130, () => ({
        legend: {}, grid: { left: 8, right: 24, top: 40, bottom: 26, containLabel: true }, tooltip: { valueFormatter: (v: unknown) => seconds(v as number) },
        xAxis: axis({ type: "value", ...timeTicks(0, p.time_s), axisLabel: { formatter: (v: number) => seconds(v) } }), yAxis: axis({ type: "category", data: ["run"] }),
        series: parts.map(([name, value], i) => ({ name, type: "bar", stack: "run", data: [value], itemStyle: { color: nth(i) } })),
      }))),
      batches.length > 1 ? section("Batches and GPUs", "The time of the run against what it costs in GPU-hours.", chart("Time against GPU-hours", 340, () => ({
        grid: { left: 24, right: 24, top: 20, bottom: 46, containLabel: true },
        tooltip: { formatter: ({ data }: any) => `${count(data.row.gpus)} GPUs, batch ${count(data.row.batch)}\n${seconds(data.row.time_s)}, ${count(data.row.gpu_hours)} GPU-hours` },
        xAxis: axis({ type: "value", ...timeTicks(Math.min(...times), Math.max(...times)), name: "time", axisLabel: { formatter: (v: number) => seconds(v) } }), yAxis: axis({ type: "value", scale: true, name: "GPU-hours", nameGap: 70, axisLabel: { formatter: (v: number) => count(v) } }),
        series: [{ type: "scatter", symbolSize: 10, itemStyle: { color: nth(0) }, data: batches.map((row) => ({ value: [row.time_s, row.gpu_hours], row })) }],
      })), table("Batches", [
        { title: "GPUs", cell: (row) => count(row.gpus), by: (row) => row.gpus }, { title: "batch", cell: (row) => count(row.batch), by: (row) => row.batch }, { title: "step", cell: (row) => seconds(row.step_time_s), by: (row) => row.step_time_s },
        { title: "run", cell: (row) => seconds(row.time_s), by: (row) => row.time_s }, { title: "GPU-hours", cell: (row) => count(row.gpu_hours), by: (row) => row.gpu_hours }, { title: "money", cell: (row) => (row.money === null ? "-" : count(row.money)), by: (row) => row.money },
      ], batches, 20)) : h("span"),
      (run.open ?? []).length > 0 ? section("What is not known", "", h("dl", {}, ...(run.open as Document[]).flatMap((open) => [h("dt", {}, `${open.about}: ${(open.keys ?? []).join(", ")}`), h("dd", {}, String(open.worth))]))) : h("span"),
    ];
  });
}
