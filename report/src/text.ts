// Numbers as people read them: three figures and the unit that fits.

function figures(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value: number, base: number, units: string[]): string {
  let unit = 0;
  let left = value;
  while (Math.abs(left) >= base && unit + 1 < units.length) {
    left /= base;
    unit += 1;
  }
  return `${figures(left)} ${units[unit]}`;
}

const missing = (value: unknown): boolean => typeof value !== "number" || !Number.isFinite(value);

export function seconds(value: number | null | undefined): string {
  if (missing(value)) return "-";
  const s = value as number;
  const size = Math.abs(s);
  if (size === 0) return "0 s";
  if (size >= 2 * 86400) return `${figures(s / 86400)} days`;
  if (size >= 2 * 3600) return `${figures(s / 3600)} h`;
  if (size >= 1) return `${size >= 100 ? Number(s.toFixed(1)) : Number(s.toPrecision(4))} s`;
  if (size >= 1e-3) return `${figures(s * 1e3)} ms`;
  return size >= 1e-6 ? `${figures(s * 1e6)} µs` : `${figures(s * 1e9)} ns`;
}

export const bytes = (value: number | null | undefined): string =>
  missing(value) ? "-" : scaled(value as number, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
export const perSecond = (value: number | null | undefined, of: string): string =>
  missing(value) ? "-" : scaled(value as number, 1000, ["", "K", "M", "G", "T", "P", "E"].map((p) => `${p}${of}/s`));
export const count = (value: number | null | undefined): string =>
  missing(value) ? "-" : Math.abs(value as number) < 1e3 ? figures(value as number) : Math.abs(value as number) < 1e6 ? Math.round(value as number).toLocaleString("en") : scaled(value as number, 1000, ["", "thousand", "million", "billion", "trillion"]);
export const percent = (value: number | null | undefined, digits = 1): string =>
  missing(value) ? "-" : `${(100 * (value as number)).toFixed(digits)}%`;
/** Shown with its sign. */
export const signed = (value: number, show: (value: number) => string): string => `${value > 0 ? "+" : ""}${show(value)}`;
export const signedPercent = (value: number | null | undefined): string =>
  missing(value) ? "-" : `${(value as number) > 0 ? "+" : ""}${percent(value)}`;
