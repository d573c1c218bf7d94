// Elements are made here and nowhere else, of text only: nothing of a result is ever parsed as HTML.

export type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(typeof child === "number" ? String(child) : child);
}

/** An HTML element. Attributes that are functions are listeners. */
export function h(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** The same of SVG. */
export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** What is wider than the page, such as a table, in a box that the keyboard can scroll too. `label`: what it is. */
export function scrolled(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

/** A part of a page under a heading that the menu of the page can name. */
export function section(title: string, about: string, ...children: Child[]): HTMLElement {
  return h("section", { "data-title": title }, h("h2", {}, title), about !== "" && h("p", { class: "about" }, about), ...children);
}
