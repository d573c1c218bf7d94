import { h, scrolled } from "./dom";

export interface Column<Row> {
  title: string;
  /** What is shown. */
  cell: (row: Row) => string | Node;
  /** What rows are ordered by; none: they are not. Numbers stand right. */
  by?: (row: Row) => number | string | null | undefined;
  words?: boolean;
}

/** A table whose columns are ordered by a click or a key. At most `first` rows are shown until more are asked for. */
export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[], first = 25, pick?: (row: Row) => void): HTMLElement {
  let shown = first;
  let order: { column: number; down: boolean } | null = null;
  const body = h("tbody");
  const more = h("button", { class: "more", type: "button" });
  const heads = columns.map((column, i) => {
    const button = column.by
      ? h("button", { type: "button", click: () => { order = { column: i, down: !(order?.column === i && order.down) }; fill(); } }, column.title)
      : column.title;
    return h("th", { scope: "col", class: column.words ? "words" : undefined }, button);
  });
  const sorted = (): Row[] => {
    const by = order && columns[order.column].by;
    if (!order || !by) return rows;
    const sign = order.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const x = by(a), y = by(b);
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return x < y ? -sign : sign;
    });
  };
  const fill = (): void => {
    heads.forEach((head, i) => head.setAttribute("aria-sort", order?.column === i ? (order.down ? "descending" : "ascending") : "none"));
    body.replaceChildren(
      ...sorted().slice(0, shown).map((row) => {
        const cells = columns.map((column) => h("td", { class: column.words ? "words" : undefined }, column.cell(row)));
        if (!pick) return h("tr", {}, ...cells);
        return h("tr", { tabindex: 0, class: "pick", click: () => pick(row), keydown: ((event: KeyboardEvent) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(row); } }) as EventListener }, ...cells);
      }),
    );
    more.textContent = `Show ${Math.min(rows.length - shown, 200)} more of ${rows.length}`;
    more.hidden = rows.length <= shown;
  };
  more.addEventListener("click", () => { shown += 200; fill(); });
  fill();
  return scrolled(caption, h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, ...heads)), body), more);
}
