// Dark and light: what the system says, until the switch says otherwise. Colours of meaning are those of Okabe and Ito
// (2008), which people with any colour vision tell apart; they are the same in both.

export const palette = {
  blue: "#0072b2",
  orange: "#e69f00",
  green: "#009e73",
  sky: "#56b4e9",
  vermilion: "#d55e00",
  purple: "#cc79a7",
  yellow: "#f0e442",
  grey: "#999999",
};

const order = [palette.blue, palette.orange, palette.green, palette.purple, palette.sky, palette.vermilion, palette.yellow, palette.grey];
/** The colour of the i-th of several; never `taken`, which something else has. */
export const nth = (i: number, taken?: string): string => {
  const free = order.filter((colour) => colour !== taken);
  return free[i % free.length];
};

/** By the key of what a stage does, or where its time goes. */
export const meaning: Record<string, string> = {
  forward: palette.blue,
  backward: palette.orange,
  weight: palette.purple,
  together: palette.sky,
  optimizer: palette.green,
  compression: palette.yellow,
  communication: palette.vermilion,
  compute: palette.blue,
  exposed_tensor: palette.yellow,
  exposed_pipeline: palette.vermilion,
  exposed_data: palette.purple,
  offload: palette.sky,
  // Kernels of a recorded step: as far as there are enough, other colours than the passes of a forecast beside it.
  multiplies: palette.purple,
  attention: palette.orange,
  memory_bound: palette.sky,
  copy: palette.yellow,
};

export interface Theme {
  text: string;
  soft: string;
  line: string;
  surface: string;
  idle: string;
  bubble: string;
}

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];

export const isDark = (): boolean => (root.dataset.theme === undefined ? system.matches : root.dataset.theme === "dark");

export function theme(): Theme {
  const style = getComputedStyle(root);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return { text: read("text"), soft: read("soft"), line: read("line"), surface: read("surface"), idle: read("idle"), bubble: read("bubble") };
}

/** Calls `draw` whenever the theme has changed. */
export function onTheme(draw: () => void): void {
  listeners.push(draw);
}

export function switchTheme(): void {
  root.dataset.theme = isDark() ? "light" : "dark";
  for (const draw of listeners) draw();
}

system.addEventListener("change", () => listeners.forEach((draw) => draw()));

/** From nothing to full: light to dark, told apart by brightness alone (after viridis). */
export function heat(share: number): string {
  const stops = isDark()
    ? [[70, 60, 110], [49, 104, 142], [53, 183, 121], [253, 231, 37]]
    : [[196, 220, 236], [86, 180, 233], [0, 114, 178], [68, 1, 84]];
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const mix = stops[i].map((from, k) => Math.round(from + (stops[i + 1][k] - from) * (at - i)));
  return `rgb(${mix.join(",")})`;
}
/** Black or white, whichever is read more easily on "rgb(r,g,b)" (its brightness as ITU-R BT.601 weighs it). */
export function readableOn(colour: string): string {
  const [r, g, b] = (colour.match(/\d+/g) ?? []).map(Number);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
}
export const heatStops = (): string[] => [0, 0.33, 0.66, 1].map(heat);
