// Apache ECharts, of which only what is drawn here is brought along. Its tooltips are drawn on the canvas: the page's
// policy allows no styles in HTML, and text on a canvas cannot be markup.
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { init, use, type EChartsCoreOption } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { h } from "./dom";
import { onTheme, theme } from "./theme";

use([BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent, CanvasRenderer]);

export interface Axis {
  [key: string]: unknown;
}

/** An axis in the page's colours. */
export function axis(more: Axis): Axis {
  const t = theme();
  return {
    nameLocation: "middle",
    nameGap: 30,
    nameTextStyle: { color: t.soft },
    axisLabel: { color: t.soft, ...((more.axisLabel as object) ?? {}) },
    axisLine: { lineStyle: { color: t.line } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: t.line, opacity: 0.6 } },
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== "axisLabel")),
  };
}

/** What colours stand for, in lines that break where the page ends. `wait`: drawn as a thin bar. */
export function legend(entries: { title: string; colour: () => string; wait?: boolean }[]): HTMLElement {
  return h("ul", { class: "legend" }, ...entries.map(({ title, colour, wait }) => {
    const swatch = h("i", { class: wait ? "swatch wait" : "swatch" });
    const paint = (): void => swatch.style.setProperty("--swatch", colour());
    paint();
    onTheme(paint);
    return h("li", {}, swatch, title);
  }));
}

/** Least, most and ticks of an axis, so that ticks are round numbers of the largest of these units that is below its length. */
function roundTicks(low: number, high: number, units: number[]): Axis {
  const unit = units.find((each) => high - low >= 2 * each) ?? units[units.length - 1];
  const rough = Math.max((high - low) / unit / 5, 1e-9), power = 10 ** Math.floor(Math.log10(rough));
  const interval = unit * power * ([1, 2, 5, 10].find((step) => step * power >= rough) ?? 10);
  return { min: Math.floor(low / interval) * interval, max: Math.ceil(high / interval) * interval, interval };
}
export const byteTicks = (low: number, high: number): Axis => roundTicks(low, high, [2 ** 40, 2 ** 30, 2 ** 20, 2 ** 10, 1]);
export const timeTicks = (low: number, high: number): Axis => roundTicks(low, high, [86400, 3600, 1]);

const legendLine = 20, mostLegendLines = 8;

/** Lines of a legend of these names in so many pixels: each has its swatch in front and a gap behind. */
function legendLines(names: string[], width: number): number {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return 1;
  pen.font = "12px system-ui, sans-serif";
  let lines = 1, filled = 0;
  for (const name of names) {
    const needed = 14 + 5 + Math.ceil(pen.measureText(name).width) + 10;
    if (filled > 0 && filled + needed > width - 16) {
      lines += 1;
      filled = 0;
    }
    filled += needed;
  }
  return lines;
}

/** What the legend of an option names. */
function legendNames(option: Record<string, object>): string[] {
  const said = option.legend as { data?: string[] } | undefined;
  if (!said) return [];
  const series = [option.series ?? []].flat() as { name?: string }[];
  return said.data ?? [...new Set(series.flatMap((each) => each.name ?? []))];
}

/** A chart of so many pixels' height, and more where its legend takes several lines. `about` says in words what it shows. `option` is asked anew when colours change. */
export function chart(about: string, height: number, option: () => EChartsCoreOption): HTMLElement {
  const box = h("div", { class: "chart", role: "img", "aria-label": about, tabindex: 0 });
  box.style.height = `${height}px`;
  const start = (): void => {
    const drawn = init(box, null, { renderer: "canvas" });
    let lines = 1;
    const draw = (): void => {
      const t = theme();
      const asked = option() as Record<string, object>;
      lines = legendLines(legendNames(asked), box.clientWidth);
      // Of very many names those behind the last line are on further pages, which its arrows turn.
      const paged = lines > mostLegendLines, below = paged ? 0 : (lines - 1) * legendLine;
      box.style.height = `${height + below}px`;
      box.dataset.legendLines = String(paged ? 1 : lines);
      drawn.resize();
      const grid = asked.grid as { top?: number } | undefined;
      drawn.setOption(
        {
          animation: false,
          aria: { enabled: false },
          textStyle: { fontFamily: "inherit", color: t.text },
          ...asked,
          grid: grid && below > 0 ? { ...grid, top: (grid.top ?? 0) + below } : grid,
          legend: asked.legend && { textStyle: { color: t.text }, pageTextStyle: { color: t.soft }, pageIconColor: t.text, pageIconInactiveColor: t.line, type: paged ? "scroll" : "plain", top: 2, padding: 4, itemWidth: 14, itemHeight: 10, ...asked.legend },
          tooltip: {
            renderMode: "richText",
            confine: true,
            backgroundColor: t.surface,
            borderColor: t.line,
            textStyle: { color: t.text, fontSize: 12, fontFamily: "system-ui, sans-serif" },
            ...asked.tooltip,
          },
        },
        true,
      );
      box.dataset.drawn = "1";
    };
    draw();
    onTheme(draw);
    new ResizeObserver(() => {
      if (legendLines(legendNames(option() as Record<string, object>), box.clientWidth) !== lines) draw();
      else drawn.resize();
    }).observe(box);
    matchMedia("print").addEventListener("change", () => drawn.resize());
  };
  // Charts that are hidden have no size yet.
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      seen.disconnect();
      start();
    }
  }, { rootMargin: "600px" });
  seen.observe(box);
  addEventListener("beforeprint", () => {
    if (box.dataset.drawn === undefined && box.clientWidth > 0) {
      seen.disconnect();
      start();
    }
  });
  return box;
}
