// The packed stretches of a step (app/report/stretch_rows.h), as arrays that a timeline can search.
import type { Drawn } from "./results";

export interface StretchKind { doing: number; virtualStage: number; traffic: number }

/** One stream of a stage: stretches in order of time, which do not overlap. Times in ns. */
export interface Row {
  stage: number;
  stream: number;
  start: Float64Array;
  end: Float64Array;
  kind: Uint32Array;
  microBatch: Uint32Array;
}

export interface Stretches { kinds: StretchKind[]; rows: Row[]; count: number }

function* numbers(packed: string): Generator<number, void> {
  const text = atob(packed);
  let value = 0;
  let factor = 1;
  for (let i = 0; i < text.length; ++i) {
    const byte = text.charCodeAt(i);
    value += (byte & 0x7f) * factor; // past 32 bits, where shifts end
    if (byte & 0x80) {
      factor *= 128;
    } else {
      yield value;
      value = 0;
      factor = 1;
    }
  }
}

const signed = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

export function unpack(detail: Drawn): Stretches {
  const { kinds: packedKinds, rows: packedRows } = detail.stretches;
  const kinds: StretchKind[] = [];
  const place = new Map<string, number>();
  const kindAt = (doing: number, virtualStage: number, traffic: number): number => {
    const key = `${doing} ${virtualStage} ${traffic}`;
    let at = place.get(key);
    if (at === undefined) {
      at = kinds.length;
      place.set(key, at);
      kinds.push({ doing, virtualStage, traffic });
    }
    return at;
  };
  const known = packedKinds.map(([doing, virtualStage, traffic, duration]) => ({ kind: kindAt(doing, virtualStage, traffic), duration }));
  let count = 0;
  const rows = packedRows.map(({ stage, stream, packed }) => {
    const start: number[] = [], end: number[] = [], kind: number[] = [], microBatch: number[] = [];
    const all = numbers(packed);
    const next = (): number => all.next().value as number;
    let now = 0;
    let batch = 0;
    for (let first = all.next(); !first.done; first = all.next()) {
      let at: number, duration: number;
      if (first.value > 0) {
        ({ kind: at, duration } = known[first.value - 1]);
      } else {
        at = kindAt(next(), next(), next() - 1);
        duration = next();
      }
      batch += signed(next());
      now += signed(next());
      start.push(now);
      now += duration;
      end.push(now);
      kind.push(at);
      microBatch.push(batch);
    }
    count += start.length;
    return { stage, stream, start: Float64Array.from(start), end: Float64Array.from(end), kind: Uint32Array.from(kind), microBatch: Uint32Array.from(microBatch) };
  });
  return { kinds, rows, count };
}

/** The first stretch of a row that ends behind a moment; the row's length where none does. */
export function firstEndingAfter(row: Row, moment: number): number {
  let low = 0;
  let high = row.end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.end[middle] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}
