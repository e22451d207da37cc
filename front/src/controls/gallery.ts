// The list of models by theme, with a search box.

import type { Model } from "../transport/protocol.ts";
import { create, setText } from "./dom.ts";
import { capitalize, titleFromName } from "./format.ts";

interface Row {
  model: Model;
  item: HTMLElement;
  link: HTMLAnchorElement;
}

/** Whether every word is found in the model's name, title, theme or explanation. */
export function matches(model: Model, words: string): boolean {
  const text = [titleFromName(model.name), model.name, model.title, model.theme, model.explanation].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

export class Gallery {
  private readonly rows: Row[] = [];
  private readonly groups: { section: HTMLElement; rows: Row[] }[] = [];
  private readonly noMatch = create("p", { class: "quiet", attributes: { role: "status" } });

  constructor(
    root: HTMLElement,
    themes: string[],
    models: Model[],
    addressOf: (model: Model) => string,
    onChosen: (model: Model) => void,
  ) {
    const filter = create("input", { attributes: { type: "search", placeholder: "Find a model", "aria-label": "Find a model" } });
    filter.addEventListener("input", () => this.filter(filter.value.trim()));
    const list = create("div", { class: "list" });
    const others = models.map((m) => m.theme).filter((theme) => !themes.includes(theme));
    for (const theme of [...themes, ...new Set(others)]) {
      const rows = models.filter((m) => m.theme === theme).map((model) => rowOf(model, addressOf(model), onChosen));
      if (rows.length === 0) continue;
      const section = create("section", {}, create("h2", { text: capitalize(theme) }), create("ul", {}, ...rows.map((r) => r.item)));
      this.rows.push(...rows);
      this.groups.push({ section, rows });
      list.append(section);
    }
    list.append(this.noMatch);
    root.replaceChildren(create("div", { class: "find" }, filter), list);
  }

  /** Mark the current model; `scroll` brings it into view. */
  mark(name: string, scroll: boolean): void {
    for (const { model, link } of this.rows) {
      if (model.name !== name) link.removeAttribute("aria-current");
      else {
        link.setAttribute("aria-current", "page");
        if (scroll) link.scrollIntoView({ block: "center" });
      }
    }
  }

  private filter(words: string): void {
    for (const { model, item } of this.rows) item.hidden = !matches(model, words);
    for (const { section, rows } of this.groups) section.hidden = rows.every(({ item }) => item.hidden);
    setText(this.noMatch, this.rows.every(({ item }) => item.hidden) ? `No model matches "${words}".` : "");
  }
}

function rowOf(model: Model, address: string, onChosen: (model: Model) => void): Row {
  const link = create("a", { text: titleFromName(model.name), title: model.title, attributes: { href: address, "data-name": model.name } });
  link.addEventListener("click", (event) => {
    // Opening another tab or window is left to the browser.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onChosen(model);
  });
  return { model, link, item: create("li", {}, link) };
}
