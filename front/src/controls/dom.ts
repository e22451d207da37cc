// Helpers that create elements.  Text is always inserted as text, never as HTML.

export interface ElementOptions {
  class?: string;
  id?: string;
  text?: string;
  title?: string;
  hidden?: boolean;
  /** HTML attributes, such as role and aria-*. */
  attributes?: Record<string, string>;
}

export type Child = Node | string | null;

export function create<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: ElementOptions = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (options.class) element.className = options.class;
  if (options.id) element.id = options.id;
  if (options.title) element.title = options.title;
  if (options.hidden) element.hidden = true;
  if (options.text !== undefined) element.textContent = options.text;
  for (const [name, value] of Object.entries(options.attributes ?? {})) element.setAttribute(name, value);
  element.append(...children.filter((child): child is Node | string => child !== null));
  return element;
}

export function button(words: string, options: ElementOptions, pressed: () => void, ...children: Child[]): HTMLButtonElement {
  const element = create("button", { ...options, attributes: { type: "button", ...options.attributes } }, ...children);
  if (children.length === 0) element.textContent = words;
  else {
    element.setAttribute("aria-label", words);
    element.title = options.title ?? words;
  }
  element.addEventListener("click", pressed);
  return element;
}

/** An element of page.html, by its id. */
export function requireElement(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element "${id}": its HTML and its script do not match`);
  return found;
}

let count = 0;
export const uniqueId = (stem: string): string => `${stem}-${++count}`;

/** Set the text of an element only when it changes, so that screen readers do not repeat it. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute only when it changes: also the same value makes browsers work. */
export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
