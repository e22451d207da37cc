// Small helpers to make elements.  Texts always go in as text, never as HTML.

export interface Given {
  class?: string;
  id?: string;
  text?: string;
  title?: string;
  hidden?: boolean;
  /** Attributes, such as role and aria-*. */
  is?: Record<string, string>;
}

export type Child = Node | string | null;

export function made<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  given: Given = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (given.class) element.className = given.class;
  if (given.id) element.id = given.id;
  if (given.title) element.title = given.title;
  if (given.hidden) element.hidden = true;
  if (given.text !== undefined) element.textContent = given.text;
  for (const [name, value] of Object.entries(given.is ?? {})) element.setAttribute(name, value);
  element.append(...children.filter((child): child is Node | string => child !== null));
  return element;
}

export function button(words: string, given: Given, pressed: () => void, ...children: Child[]): HTMLButtonElement {
  const element = made("button", { ...given, is: { type: "button", ...given.is } }, ...children);
  if (children.length === 0) element.textContent = words;
  else {
    element.setAttribute("aria-label", words);
    element.title = given.title ?? words;
  }
  element.addEventListener("click", pressed);
  return element;
}

/** A place of the page's skeleton; without it nothing can be shown. */
export function place(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element "${id}": its skeleton and its script do not belong together`);
  return found;
}

let count = 0;
export const freshId = (stem: string): string => `${stem}-${++count}`;

/** Text for a place that is read aloud: set only when it changes. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
