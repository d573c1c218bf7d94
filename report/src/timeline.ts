// What every stage's streams do when, on a canvas: half a million stretches are moved at the pace of the screen because
// a frame draws no more than what its pixels can show.
import { legend } from "./chart";
import { h } from "./dom";
import type { Drawn } from "./results";
import { bytes, seconds } from "./text";
import { meaning, onTheme, theme, type Theme } from "./theme";
import { firstEndingAfter, unpack, type Row, type Stretches } from "./stretches";

const kAxis = 26; // pixels, of the ruler above the rows
const kNames = 92; // of the rows' names left of them
const kLeastPixels = 2; // what is narrower is drawn with what follows it
const kHighest = 640;

interface View { from: number; to: number; top: number }
interface Place { row: number; at: number }

const isIdle = (key: string): boolean => ["bubble", "idle", "host", "exposed_pipeline", "exposed_data"].includes(key);

/** Ticks at round steps, about so many pixels apart. */
function tickStep(span: number, width: number): number {
  const wish = (span / width) * 110;
  const power = 10 ** Math.floor(Math.log10(wish));
  return power * ([1, 2, 5, 10].find((k) => power * k >= wish) ?? 10);
}

class Timeline {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    class: "timeline", tabindex: 0, role: "application",
    "aria-label": "Timeline of the step. Arrow keys move, plus and minus zoom, 0 shows all, comma and period go from stretch to stretch.",
  }) as HTMLCanvasElement;
  private readonly hover = h("div", { class: "hover", hidden: true });
  private readonly told = h("p", { class: "told", "aria-live": "polite" });
  private readonly data: Stretches;
  private readonly length: number;
  private rows: Row[] = [];
  private view: View;
  private chosen: Place | null = null;
  private frame = 0;
  private all = false; // streams beside compute too
  private width = 800;
  private rowHeight = 18;
  /** Timelines that move and zoom with this one. */
  beside: Timeline[] = [];

  /** `length`: how much can be seen at most, in ns. */
  constructor(private readonly detail: Drawn, length: number) {
    this.data = unpack(detail);
    this.length = length;
    this.view = { from: 0, to: this.length, top: 0 };
    const button = (text: string, title: string, act: () => void): HTMLElement => h("button", { type: "button", title, "aria-label": title, click: act }, text);
    const streams = h("button", { type: "button", "aria-pressed": "false", click: () => {
      this.all = !this.all;
      streams.setAttribute("aria-pressed", String(this.all));
      this.layOut();
    } }, detail.kernels ? "Show each stream" : "Show communication streams");
    this.element = h("div", { class: "timeline-box" },
      h("div", { class: "tools" }, button("+", "Zoom in", () => this.zoom(0.5)), button("−", "Zoom out", () => this.zoom(2)),
        button("◀", "Earlier", () => this.pan(-0.25)), button("▶", "Later", () => this.pan(0.25)),
        button("All", "Show the whole step", () => this.show({ from: 0, to: this.length, top: 0 })),
        this.data.rows.some((row) => row.stream > 0) && streams,
        h("span", { class: "soft" }, "Drag to move, Ctrl and the wheel to zoom; keys: arrows, + and −, 0, comma and period.")),
      this.legend(), h("div", { class: "canvas-box" }, this.canvas, this.hover), this.told);
    this.listen();
    onTheme(() => this.redraw());
    new ResizeObserver(() => this.layOut()).observe(this.canvas.parentElement!);
    this.layOut();
  }

  private legend(): HTMLElement {
    const used = new Set<number>();
    for (const row of this.data.rows) for (const kind of row.kind) used.add(this.data.kinds[kind].doing);
    return legend([...used].sort((a, b) => a - b).map((doing) => {
      const { key, title } = this.detail.doings[doing];
      return { title, colour: () => this.colour(key, theme()), wait: isIdle(key) };
    }));
  }

  private colour(key: string, t: Theme): string {
    if (key === "bubble") return t.bubble;
    if (key === "idle") return t.idle;
    if (key === "host") return t.text;
    if (key === "exposed_pipeline") return meaning.exposed_pipeline;
    if (key === "exposed_data") return meaning.exposed_data;
    return meaning[key] ?? t.soft;
  }

  private layOut(): void {
    this.rows = this.data.rows.filter((row) => this.all || row.stream === 0);
    const box = this.canvas.parentElement!;
    this.width = Math.max(box.clientWidth, 320);
    this.rowHeight = Math.min(Math.max(Math.floor((kHighest - kAxis) / Math.max(this.rows.length, 1)), 9), 30);
    const height = Math.min(kAxis + this.rows.length * this.rowHeight + 2, kHighest);
    const ratio = devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.chosen = null;
    this.show(this.view);
  }

  private get height(): number { return this.canvas.height / (devicePixelRatio || 1); }
  private x(time: number): number { return kNames + ((time - this.view.from) / (this.view.to - this.view.from)) * (this.width - kNames); }
  private time(x: number): number { return this.view.from + ((x - kNames) / (this.width - kNames)) * (this.view.to - this.view.from); }

  private show(view: View): void {
    const span = Math.min(Math.max(view.to - view.from, 20), this.length);
    const from = Math.min(Math.max(view.from, 0), this.length - span);
    const most = Math.max(kAxis + this.rows.length * this.rowHeight + 2 - this.height, 0);
    this.view = { from, to: from + span, top: Math.min(Math.max(view.top, 0), most) };
    this.redraw();
    for (const other of this.beside) if (other.view.from !== from || other.view.to !== from + span) other.show({ ...other.view, from, to: from + span });
  }
  private zoom(factor: number, around = (this.view.from + this.view.to) / 2): void {
    const { from, to, top } = this.view;
    this.show({ from: around - (around - from) * factor, to: around + (to - around) * factor, top });
  }
  private pan(share: number, rows = 0): void {
    const by = share * (this.view.to - this.view.from);
    this.show({ from: this.view.from + by, to: this.view.to + by, top: this.view.top + rows * this.rowHeight });
  }

  private redraw(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  private draw(): void {
    const began = performance.now();
    const context = this.canvas.getContext("2d")!;
    const t = theme();
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const colours = this.detail.doings.map(({ key }) => this.colour(key, t));
    const first = Math.floor(this.view.top / this.rowHeight);
    const last = Math.min(this.rows.length, Math.ceil((this.view.top + this.height - kAxis) / this.rowHeight));
    let drawn = 0;
    context.save();
    context.beginPath();
    context.rect(kNames, kAxis, this.width - kNames, this.height - kAxis);
    context.clip();
    for (let i = first; i < last; ++i) drawn += this.drawRow(context, this.rows[i], kAxis + i * this.rowHeight - this.view.top, colours);
    context.restore();
    this.drawNames(context, t, first, last);
    this.drawRuler(context, t);
    if (this.chosen) this.drawChosen(context, t);
    // What tests read: how much a frame draws, and for people how long it took.
    this.canvas.dataset.drawn = String(drawn);
    this.canvas.dataset.stretches = String(this.data.count);
    this.canvas.dataset.view = `${Math.round(this.view.from)} ${Math.round(this.view.to)}`;
    this.canvas.dataset.frame = (performance.now() - began).toFixed(2);
  }

  /** Stretches of one row; how many rectangles that took, which is no more than its pixels allow. */
  private drawRow(context: CanvasRenderingContext2D, row: Row, y: number, colours: string[]): number {
    const perPixel = (this.view.to - this.view.from) / (this.width - kNames);
    const least = kLeastPixels * perPixel;
    const beside = row.stream > 0;
    const tall = this.rowHeight - (this.rowHeight > 12 ? 3 : 1);
    const high = beside ? Math.max(Math.round(tall * 0.6), 4) : tall;
    const top = y + (beside ? (tall - high) / 2 : 0);
    let drawn = 0;
    let brush = -1; // what the canvas paints with
    const owed = new Float64Array(this.detail.doings.length); // time of each kind that narrow stretches had and nothing drawn stands for
    // Which kind stands for stretches that share pixels: the one that is owed most, so that over many pixels each has its share.
    const stands = (first: number, end: number, draws: boolean): number => {
      const last = Math.min(end, first + 32);
      let sum = 0, most = -1;
      for (let k = first; k < last; ++k) {
        const time = row.end[k] - row.start[k];
        owed[this.data.kinds[row.kind[k]].doing] += time;
        sum += time;
      }
      for (let k = first; k < last; ++k) {
        const doing = this.data.kinds[row.kind[k]].doing;
        if (most === -1 || owed[doing] > owed[most]) most = doing;
      }
      if (draws) owed[most] -= sum;
      else for (let k = first; k < last; ++k) owed[this.data.kinds[row.kind[k]].doing] -= row.end[k] - row.start[k];
      return most;
    };
    for (let i = firstEndingAfter(row, this.view.from); i < row.start.length && row.start[i] < this.view.to; ) {
      const begin = row.start[i];
      const shown = i;
      let end = row.end[i], doing = this.data.kinds[row.kind[i]].doing, alone = true;
      i += 1;
      if (end - begin < least) {
        // Too narrow: one rectangle for all that begin in the same pixels, and for the next ones where the same kind stands for them.
        let from = begin;
        i = Math.max(firstEndingAfter(row, from + least), i);
        alone = i === shown + 1;
        doing = stands(shown, i, true);
        for (;;) {
          end = Math.max(row.end[i - 1], from + perPixel);
          from += least;
          if (i >= row.start.length || row.start[i] > this.view.to || row.end[i] - row.start[i] >= least || row.start[i] > from + least) break;
          const next = Math.max(firstEndingAfter(row, from + least), i + 1);
          if (stands(i, next, false) !== doing) break;
          stands(i, next, true);
          i = next;
          alone = false;
        }
      }
      const key = this.detail.doings[doing].key;
      const x = this.x(begin);
      const wide = this.x(end) - x;
      if (doing !== brush) {
        context.fillStyle = colours[doing];
        brush = doing;
      }
      const waits = isIdle(key) && !beside;
      if (waits) {
        context.globalAlpha = key === "bubble" || key === "idle" || key === "host" ? 1 : 0.75;
        context.fillRect(x, top + high * 0.36, wide, high * 0.28);
        context.globalAlpha = 1;
      } else {
        context.fillRect(x, top, wide > 3 ? wide - 0.6 : wide, high);
      }
      drawn += 1;
      if (wide <= 26 || high < 11) continue;
      brush = -1;
      this.drawLabel(context, row, shown, doing, waits, alone, Math.max(x, kNames), Math.min(x + wide, this.width), top + high / 2);
    }
    return drawn;
  }

  private drawLabel(context: CanvasRenderingContext2D, row: Row, at: number, doing: number, waits: boolean, alone: boolean, from: number, to: number, y: number): void {
    const kind = this.data.kinds[row.kind[at]], { key, title } = this.detail.doings[doing];
    const virtual = kind.virtualStage > 0 ? String.fromCharCode(97 + (kind.virtualStage % 26)) : "";
    const short: Record<string, string> = { forward: "F", backward: "B", weight: "W", together: "FB" };
    const named = kind.traffic < 0 ? undefined : this.detail.kernels?.[kind.traffic] ?? this.detail.traffic?.[kind.traffic]?.name;
    let text = key in short ? `${short[key]}${row.microBatch[at]}${virtual}` : named ?? key.replace("_", " ");
    if (!alone) text = title; // several that are alike
    else if (to - from > 120 && (waits || (this.detail.kernels && row.stream === 0))) text = title;
    if (context.measureText(text).width > to - from - 6) return;
    if (waits) {
      const t = theme();
      const wide = context.measureText(text).width;
      context.fillStyle = t.surface;
      context.fillRect((from + to - wide) / 2 - 3, y - 6, wide + 6, 12);
      context.fillStyle = t.soft;
    } else {
      context.fillStyle = key === "forward" || key === "optimizer" || key === "communication" ? "#fff" : "#111";
    }
    context.textAlign = "center";
    context.fillText(text, (from + to) / 2, y + 0.5);
  }

  private drawNames(context: CanvasRenderingContext2D, t: Theme, first: number, last: number): void {
    context.textAlign = "left";
    const every = Math.ceil(11 / this.rowHeight);
    for (let i = first; i < last; ++i) {
      if (i % every !== 0) continue;
      const row = this.rows[i];
      const y = kAxis + i * this.rowHeight - this.view.top + this.rowHeight / 2;
      if (y < kAxis + 4) continue;
      context.fillStyle = row.stream === 0 ? t.text : t.soft;
      context.fillText(row.stream === 0 ? this.nameOf(row) : `   ${this.detail.streams[row.stream] ?? row.stream}`, 4, y);
    }
  }

  private nameOf(row: Row): string { return this.detail.device === undefined ? `stage ${row.stage}` : `GPU ${this.detail.device}`; }

  private drawRuler(context: CanvasRenderingContext2D, t: Theme): void {
    const step = tickStep(this.view.to - this.view.from, this.width - kNames);
    context.fillStyle = t.soft;
    context.strokeStyle = t.line;
    context.textAlign = "left";
    context.beginPath();
    for (let time = Math.ceil(this.view.from / step) * step; time < this.view.to; time += step) {
      const x = Math.round(this.x(time)) + 0.5;
      context.moveTo(x, 4);
      context.lineTo(x, kAxis - 4);
      if (this.width - x > 60) context.fillText(seconds(time / 1e9), x + 4, kAxis / 2);
    }
    context.stroke();
  }

  private drawChosen(context: CanvasRenderingContext2D, t: Theme): void {
    const { row: i, at } = this.chosen!;
    const row = this.rows[i];
    const x = Math.max(this.x(row.start[at]), kNames);
    const y = kAxis + i * this.rowHeight - this.view.top;
    context.strokeStyle = t.text;
    context.lineWidth = 2;
    context.strokeRect(x, y - 0.5, Math.max(Math.min(this.x(row.end[at]), this.width - 1) - x, 3), this.rowHeight - 1);
    context.lineWidth = 1;
  }

  private found(x: number, y: number): Place | null {
    if (x < kNames || y < kAxis) return null;
    const row = Math.floor((y - kAxis + this.view.top) / this.rowHeight);
    if (row >= this.rows.length) return null;
    const time = this.time(x);
    const at = firstEndingAfter(this.rows[row], time);
    return at < this.rows[row].start.length && this.rows[row].start[at] <= time ? { row, at } : null;
  }

  /** What a stretch is, in words: a line for each fact. */
  private words({ row: i, at }: Place): string[] {
    const row = this.rows[i];
    const kind = this.data.kinds[row.kind[at]];
    const { key, title } = this.detail.doings[kind.doing];
    const took = `${seconds((row.end[at] - row.start[at]) / 1e9)}, from ${seconds(row.start[at] / 1e9)} to ${seconds(row.end[at] / 1e9)}`;
    if (this.detail.kernels) {
      const kernel = this.detail.kernels[kind.traffic]?.slice(0, 200);
      return [title, `${this.nameOf(row)}, ${row.stream === 0 ? "whatever stream it is on" : this.detail.streams[row.stream]}`, took, ...(kernel ? [kernel] : [])];
    }
    const traffic = this.detail.traffic?.[kind.traffic];
    const what = traffic ? traffic.name : title;
    const batch = isIdle(key) || key === "optimizer" ? "" : traffic && traffic.name !== "send" ? ` ${row.microBatch[at]}` : ` of micro-batch ${row.microBatch[at]}${kind.virtualStage > 0 ? `, virtual stage ${kind.virtualStage}` : ""}`;
    const lines = [`${what}${batch}`, `stage ${row.stage}, ${this.detail.streams[row.stream] ?? ""} stream`,
      took];
    if (traffic) {
      lines.push(`${traffic.operation}, ${bytes(traffic.bytes)}${traffic.ranks > 1 ? ` among ${traffic.ranks} ranks` : ""}${traffic.algorithm ? `, ${traffic.algorithm}` : ""}`);
      if (traffic.alone_s > 0) lines.push(`${seconds(traffic.alone_s)} where nothing else is on its links`);
      if (traffic.busiest_link) lines.push(`busiest link: ${traffic.busiest_link}`);
    }
    return lines;
  }

  private choose(place: Place | null): void {
    this.chosen = place;
    this.told.textContent = place ? this.words(place).join(" · ") : "";
    this.redraw();
  }

  /** The next stretch of the row, or the one before it; brought into view. */
  private step(by: number): void {
    const row = this.chosen?.row ?? Math.floor(this.view.top / this.rowHeight);
    if (row >= this.rows.length) return;
    const at = this.chosen ? this.chosen.at + by : firstEndingAfter(this.rows[row], this.view.from);
    if (at < 0 || at >= this.rows[row].start.length) return;
    this.choose({ row, at });
    const start = this.rows[row].start[at], end = this.rows[row].end[at];
    if (end < this.view.from || start > this.view.to) {
      const half = (this.view.to - this.view.from) / 2;
      this.show({ from: (start + end) / 2 - half, to: (start + end) / 2 + half, top: this.view.top });
    }
  }
  private stepRow(by: number): void {
    if (!this.chosen) return this.pan(0, by * 3);
    const row = this.chosen.row + by;
    if (row < 0 || row >= this.rows.length) return;
    const at = Math.min(firstEndingAfter(this.rows[row], this.rows[this.chosen.row].start[this.chosen.at]), this.rows[row].start.length - 1);
    this.choose({ row, at });
    const y = row * this.rowHeight;
    if (y < this.view.top || y > this.view.top + this.height - kAxis - this.rowHeight) this.show({ ...this.view, top: y - this.height / 2 });
  }

  private listen(): void {
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1), ArrowUp: () => this.stepRow(-1), ArrowDown: () => this.stepRow(1),
      "+": () => this.zoom(0.7), "=": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7), "0": () => this.show({ from: 0, to: this.length, top: this.view.top }),
      Home: () => this.pan(-1e9), End: () => this.pan(1e9), ".": () => this.step(1), ",": () => this.step(-1), Escape: () => this.choose(null),
    };
    this.canvas.addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    this.canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) this.zoom(1.0015 ** event.deltaY, this.time(event.offsetX));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / this.width);
      else return;
      event.preventDefault();
    }, { passive: false });
    let held: { x: number; y: number; view: View; moved: boolean } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.offsetX, y: event.offsetY, view: this.view, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!held) return this.showHover(event);
      held.moved = held.moved || Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 3;
      const by = ((held.x - event.offsetX) / (this.width - kNames)) * (held.view.to - held.view.from);
      this.hover.hidden = true;
      this.show({ from: held.view.from + by, to: held.view.to + by, top: held.view.top + held.y - event.offsetY });
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) this.choose(this.found(event.offsetX, event.offsetY));
      held = null;
    });
    this.canvas.addEventListener("pointercancel", () => { held = null; });
    this.canvas.addEventListener("pointerleave", () => { this.hover.hidden = true; });
    this.canvas.addEventListener("dblclick", (event) => this.zoom(0.4, this.time(event.offsetX)));
  }

  private showHover(event: PointerEvent): void {
    const place = this.found(event.offsetX, event.offsetY);
    this.hover.hidden = place === null;
    if (!place) return;
    const [title, ...lines] = this.words(place);
    this.hover.replaceChildren(h("b", {}, title), ...lines.map((line) => h("div", {}, line)));
    this.hover.style.left = `${Math.max(Math.min(event.offsetX + 14, this.width - this.hover.offsetWidth - 4), 0)}px`;
    this.hover.style.top = `${event.offsetY + 16}px`;
  }
}

const lengthOf = (detail: Drawn): number => Math.max((detail.stretches.until_ns ?? 0) || detail.step_s * 1e9, 1);

export function timeline(detail: Drawn): HTMLElement {
  return new Timeline(detail, lengthOf(detail)).element;
}

/** Several below each other, of one scale, which move and zoom together. */
export function timelines(all: { title: string; detail: Drawn }[]): HTMLElement {
  const length = Math.max(...all.map(({ detail }) => lengthOf(detail)));
  const made = all.map(({ detail }) => new Timeline(detail, length));
  for (const each of made) each.beside = made.filter((other) => other !== each);
  return h("div", {}, ...all.flatMap(({ title }, i) => [h("h3", {}, title), made[i].element]));
}
