// The machine as a picture: devices in rows from GPUs up to the fabric, links coloured by their use. A click on a link
// says who used it.
import { h, svg } from "./dom";
import type { Detail, LinkRow } from "./results";
import { table } from "./table";
import { bytes, percent, perSecond } from "./text";
import { heat, heatStops, onTheme } from "./theme";

const kWide = 960, kRow = 92, kMostLinks = 400, kMostDevices = 120;

/** Rows of devices, from the bottom. */
const layers = [/\bgpu\b/i, /nvswitch|nvlink/i, /pcie|switch \d+$/i, /cpu|socket|host|numa/i, /nic|hca|adapter/i, /leaf|tor\b|edge|rail/i, /spine|aggregat|group/i, /core|top/i];
const isInside = (name: string): boolean => /^node \d+ \/ /.test(name);
function layer(name: string): number {
  const own = ownName(name);
  const inside = isInside(name);
  const at = inside ? layers.slice(0, 5).findIndex((pattern) => pattern.test(own)) : layers.slice(5).findIndex((pattern) => pattern.test(own)) + 5;
  return at < (inside ? 0 : 5) ? (inside ? 3 : 6) : at;
}
const partOf = (name: string): string => (isInside(name) ? name.slice(0, name.indexOf(" / ")) : "the fabric");
const ownName = (name: string): string => (isInside(name) ? name.slice(name.indexOf(" / ") + 3) : name);
const natural = new Intl.Collator("en", { numeric: true });

function users(detail: Detail, link: LinkRow): HTMLElement {
  const { devices } = detail.links;
  const head = h("h3", {}, `${devices[link.from]} → ${devices[link.to]}`);
  const facts = h("p", {}, `${link.kind}, ${perSecond(link.bytes_per_s, "B")}; busy for ${percent(link.utilisation)} of the step.`);
  if (link.users.length === 0) return h("div", {}, head, facts, h("p", { class: "soft" }, "Every transfer was simulated; of whom each was is not kept."));
  return h("div", {}, head, facts, table("Who uses it", [
    { title: "traffic", words: true, cell: ([who]) => detail.traffic[who].name },
    { title: "operation", words: true, cell: ([who]) => detail.traffic[who].operation },
    { title: "bytes", cell: ([who]) => (detail.traffic[who].bytes > 0 ? bytes(detail.traffic[who].bytes) : "-"), by: ([who]) => detail.traffic[who].bytes },
    { title: "share of the step", cell: ([, share]) => percent(share, 2), by: ([, share]) => share },
  ], link.users as [number, number][], 12));
}

export function linksPicture(detail: Detail): HTMLElement {
  const { devices, rows } = detail.links;
  if (rows.length === 0) return h("p", { class: "soft" }, "No link carries anything in this step.");
  const parts = new Map<string, LinkRow[]>();
  for (const link of rows)
    for (const part of new Set([partOf(devices[link.from]), partOf(devices[link.to])])) (parts.get(part) ?? parts.set(part, []).get(part)!).push(link);
  const names = [...parts.keys()].sort((a, b) => Number(a === "the fabric") - Number(b === "the fabric") || natural.compare(a, b));
  const select = h("select", { id: "part-of-machine" }, ...names.map((name) => h("option", { value: name }, `${name}, busiest link ${percent(parts.get(name)![0].utilisation)}`))) as HTMLSelectElement;
  select.value = partOf(devices[rows[0].from]);
  const picture = h("div", { class: "picture" });
  const side = h("div", { class: "side", "aria-live": "polite" });
  const most = rows[0].utilisation;
  let chosen: LinkRow | null = null;
  const pick = (link: LinkRow): void => {
    chosen = link;
    side.replaceChildren(users(detail, link));
    if (!parts.get(select.value)!.includes(link)) select.value = partOf(devices[link.from]);
    draw();
  };
  const draw = (): void => picture.replaceChildren(drawn(detail, parts.get(select.value)!, most, chosen, pick));
  select.addEventListener("change", draw);
  onTheme(draw);
  draw();
  side.replaceChildren(users(detail, rows[0]));
  const scale = h("span", { class: "scale", "aria-hidden": "true" }, "idle ", ...heatStops().map((_, i) => {
    const step = h("i", {});
    const paint = (): void => step.style.setProperty("--swatch", heatStops()[i]);
    paint();
    onTheme(paint);
    return step;
  }), ` busy for ${percent(most)} of the step`);
  return h("div", {},
    h("div", { class: "tools" }, h("label", { for: "part-of-machine" }, "Part of the machine "), select, scale),
    h("div", { class: "two" }, picture, side),
    table("Busiest links", [
      { title: "from", words: true, cell: (link) => devices[link.from], by: (link) => devices[link.from] },
      { title: "to", words: true, cell: (link) => devices[link.to], by: (link) => devices[link.to] },
      { title: "kind", words: true, cell: (link) => link.kind, by: (link) => link.kind },
      { title: "rate", cell: (link) => perSecond(link.bytes_per_s, "B"), by: (link) => link.bytes_per_s },
      { title: "busy", cell: (link) => percent(link.utilisation, 2), by: (link) => link.utilisation },
      { title: "mostly with", words: true, cell: (link) => (link.users.length > 0 ? detail.traffic[link.users[0][0]].name : "-") },
    ], rows, 8, pick),
    detail.links.left_out > 0 && h("p", { class: "soft" }, `${detail.links.left_out} links that are less busy are left out.`));
}

function drawn(detail: Detail, all: LinkRow[], most: number, chosen: LinkRow | null, pick: (link: LinkRow) => void): SVGElement {
  const { devices } = detail.links;
  const links: LinkRow[] = [];
  const here = new Set<number>();
  for (const link of all) {
    if (links.length === kMostLinks || here.size > kMostDevices) break;
    links.push(link);
    here.add(link.from).add(link.to);
  }
  const rows = new Map<number, number[]>();
  for (const device of here) (rows.get(layer(devices[device])) ?? rows.set(layer(devices[device]), []).get(layer(devices[device]))!).push(device);
  const used = [...rows.keys()].sort((a, b) => b - a);
  const place = new Map<number, { x: number; y: number }>();
  used.forEach((at, row) => {
    const inRow = rows.get(at)!.sort((a, b) => natural.compare(devices[a], devices[b]));
    inRow.forEach((device, i) => place.set(device, { x: ((i + 0.5) / inRow.length) * kWide, y: 34 + row * kRow }));
  });
  const height = 34 + (used.length - 1) * kRow + 40;
  const lines = [...links].reverse().map((link) => {
    const a = place.get(link.from)!, b = place.get(link.to)!;
    const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const side = 3.2; // the two directions beside each other
    const dx = ((b.y - a.y) / long) * side, dy = (-(b.x - a.x) / long) * side;
    const share = most > 0 ? link.utilisation / most : 0;
    const bend = a.y === b.y ? -30 : 0;
    const path = `M${a.x + dx},${a.y + dy} Q${(a.x + b.x) / 2 + dx},${(a.y + b.y) / 2 + dy + bend} ${b.x + dx},${b.y + dy}`;
    const words = `${devices[link.from]} → ${devices[link.to]}: ${percent(link.utilisation, 2)}`;
    return svg("g", { class: link === chosen ? "link chosen" : "link", click: () => pick(link) },
      svg("title", {}, words),
      svg("path", { d: path, stroke: heat(share), "stroke-width": (link === chosen ? 3 : 0) + 1.4 + 3 * share, fill: "none" }),
      svg("path", { d: path, stroke: "transparent", "stroke-width": 9, fill: "none" }));
  });
  const marks = [...place].map(([device, { x, y }]) => {
    const inRow = rows.get(layer(devices[device]))!.length;
    const wide = Math.min(kWide / inRow - 6, 110);
    const text = ownName(devices[device]);
    return svg("g", {}, svg("title", {}, devices[device]),
      svg("rect", { class: "device", x: x - wide / 2, y: y - 12, width: Math.max(wide, 4), height: 24, rx: 6 }),
      wide > 8 * Math.min(text.length, 6) && svg("text", { x, y: y + 4, "text-anchor": "middle" }, text.length * 6.6 > wide ? text.replace(/^(\w)\w* (\d+)$/, "$1$2") : text));
  });
  return svg("svg", { viewBox: `0 0 ${kWide} ${height}`, role: "img", "aria-label": `Links of the machine, coloured by use; ${links.length} are drawn`, "data-links": links.length }, ...lines, ...marks);
}
