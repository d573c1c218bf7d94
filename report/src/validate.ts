import { axis, chart } from "./chart";
import { h, section } from "./dom";
import type { Document } from "./results";
import { card } from "./run";
import { table } from "./table";
import { bytes, count, percent, seconds, signedPercent } from "./text";
import { nth, theme } from "./theme";

export function validate(document: Document): HTMLElement[] {
  const rows = (document.rows as Document[]).filter((row) => typeof row.measured_s === "number" && typeof row.predicted_s === "number");
  const tables = document.tables as Document[];
  const names = [...new Set(rows.map((row) => String(row.table || row.source || "scenarios")))];
  const ends = rows.flatMap((row) => [row.measured_s, row.predicted_s]).filter((x) => x > 0);
  const from = Math.min(...ends) / 1.5, to = Math.max(...ends) * 1.5;
  const worst = [...rows].sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  return [
    h("section", { "data-title": "Summary" }, h("h2", {}, "Summary"), h("div", { class: "cards" },
      card("Rows", String(document.rows.length), `of ${tables.length} ${tables.length === 1 ? "table" : "tables"}`), card("Mean absolute error", percent(document.mape)), card("Median error", signedPercent(document.median_error)),
      card("Rank correlation", typeof document.rank_correlation === "number" ? document.rank_correlation.toFixed(3) : "-"), card("Rows in their band", percent(document.in_band)), typeof document.failed_found === "number" ? card("Failed plans that were found to", percent(document.failed_found)) : null)),
    rows.length > 0 ? section("Predicted against measured", "A point is a run; on the line both agree. The thin lines are 10% off. An upright line is the band.", chart("Predicted against measured step times", 460, () => ({
      legend: names.length > 1 && names.length <= 14 ? { data: names } : undefined,
      grid: { left: 20, right: 24, top: 56, bottom: 44, containLabel: true },
      tooltip: { formatter: (point: any) => (point.data.row ? `${point.data.row.name}\nmeasured ${seconds(point.data.row.measured_s)}\npredicted ${seconds(point.data.row.predicted_s)} (${signedPercent(point.data.row.error)})\nband ${seconds(point.data.row.low_s)} to ${seconds(point.data.row.high_s)}` : "") },
      xAxis: axis({ type: "log", name: "measured", min: from, max: to, axisLabel: { formatter: (v: number) => seconds(v), showMaxLabel: false } }),
      yAxis: axis({ type: "log", name: "predicted", nameGap: 56, min: from, max: to, axisLabel: { formatter: (v: number) => seconds(v), showMaxLabel: false } }),
      series: [
        ...[0.9, 1, 1.1].map((k) => ({ type: "line", silent: true, symbol: "none", data: [[from, from * k], [to, to * k]], lineStyle: { color: theme().soft, width: k === 1 ? 1.5 : 0.7, type: k === 1 ? "solid" : "dashed" } })),
        { type: "custom", silent: true, data: rows.filter((row) => typeof row.low_s === "number").map((row) => [row.measured_s, row.low_s, row.high_s]), itemStyle: { color: theme().soft },
          renderItem: (_: unknown, api: any) => {
            const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]);
            return { type: "line", shape: { x1: low[0], y1: low[1], x2: high[0], y2: high[1] }, style: { stroke: theme().soft, lineWidth: 1, opacity: 0.45 } };
          } },
        ...names.map((name, i) => ({ name, type: "scatter", symbol: ["circle", "rect", "triangle", "diamond"][Math.floor(i / 8) % 4], symbolSize: 8, itemStyle: { color: nth(i), borderColor: theme().surface, borderWidth: 0.5 }, data: rows.filter((row) => String(row.table || row.source || "scenarios") === name).map((row) => ({ value: [row.measured_s, row.predicted_s], row })) })),
      ],
    }))) : h("span"),
    section("Error by table", "Mean absolute error of each table's rows.", chart("Mean absolute error by table", Math.min(tables.length * 22 + 70, 1200), () => ({
      grid: { left: 8, right: 40, top: 8, bottom: 30, containLabel: true },
      tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, valueFormatter: (v: unknown) => percent(v as number) },
      xAxis: axis({ type: "value", axisLabel: { formatter: (v: number) => percent(v, 0) } }),
      yAxis: axis({ type: "category", inverse: true, data: tables.map((t) => String(t.table || "scenarios")), axisLabel: { width: 260, overflow: "truncate" } }),
      series: [{ name: "mean absolute error", type: "bar", data: tables.map((t) => t.mape), itemStyle: { color: nth(0) } }],
    })), table("Tables", [
      { title: "table", words: true, cell: (t) => String(t.table || "-"), by: (t) => String(t.table) },
      { title: "rows", cell: (t) => String(t.rows), by: (t) => t.rows },
      { title: "mean absolute error", cell: (t) => percent(t.mape), by: (t) => t.mape },
      { title: "median error", cell: (t) => signedPercent(t.median_error), by: (t) => t.median_error },
      { title: "rank correlation", cell: (t) => (typeof t.rank_correlation === "number" ? t.rank_correlation.toFixed(3) : "-"), by: (t) => t.rank_correlation },
      { title: "in band", cell: (t) => percent(t.in_band, 0), by: (t) => t.in_band },
      { title: "memory error", cell: (t) => percent(t.memory_mape), by: (t) => t.memory_mape },
    ], tables, 20)),
    section("Rows", "The worst first.", table("Rows", [
      { title: "run", words: true, cell: (row) => String(row.name), by: (row) => String(row.name) },
      { title: "table", words: true, cell: (row) => String(row.table || "-"), by: (row) => String(row.table) },
      { title: "measured", cell: (row) => seconds(row.measured_s), by: (row) => row.measured_s },
      { title: "predicted", cell: (row) => seconds(row.predicted_s), by: (row) => row.predicted_s },
      { title: "error", cell: (row) => signedPercent(row.error), by: (row) => Math.abs(row.error) },
      { title: "band", cell: (row) => (typeof row.low_s === "number" ? `${seconds(row.low_s)} to ${seconds(row.high_s)}` : "-") },
      { title: "memory measured", cell: (row) => bytes(row.measured_bytes), by: (row) => row.measured_bytes },
      { title: "memory predicted", cell: (row) => bytes(row.predicted_bytes), by: (row) => row.predicted_bytes },
    ], worst, 25)),
    document.rows.length > rows.length ? h("p", { class: "soft" }, `${count(document.rows.length - rows.length)} rows have no step time to compare.`) : h("span"),
  ];
}
