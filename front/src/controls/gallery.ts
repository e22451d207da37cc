// The list of models by theme, with a box to find one.

import type { Model } from "../transport/protocol.ts";
import { made, say } from "./dom.ts";
import { capital, headed } from "./format.ts";

interface Row {
  model: Model;
  item: HTMLElement;
  link: HTMLAnchorElement;
}

/** Whether every word is found in the model's name, title, theme or explanation. */
export function matches(model: Model, words: string): boolean {
  const text = [headed(model.name), model.name, model.title, model.theme, model.explanation].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

export class Gallery {
  private readonly rows: Row[] = [];
  private readonly groups: { section: HTMLElement; rows: Row[] }[] = [];
  private readonly nothing = made("p", { class: "quiet", is: { role: "status" } });

  constructor(
    root: HTMLElement,
    themes: string[],
    models: Model[],
    addressOf: (model: Model) => string,
    chosen: (model: Model) => void,
  ) {
    const filter = made("input", { is: { type: "search", placeholder: "Find a model", "aria-label": "Find a model" } });
    filter.addEventListener("input", () => this.find(filter.value.trim()));
    const list = made("div", { class: "list" });
    const others = models.map((m) => m.theme).filter((theme) => !themes.includes(theme));
    for (const theme of [...themes, ...new Set(others)]) {
      const rows = models.filter((m) => m.theme === theme).map((model) => rowOf(model, addressOf(model), chosen));
      if (rows.length === 0) continue;
      const section = made("section", {}, made("h2", { text: capital(theme) }), made("ul", {}, ...rows.map((r) => r.item)));
      this.rows.push(...rows);
      this.groups.push({ section, rows });
      list.append(section);
    }
    list.append(this.nothing);
    root.replaceChildren(made("div", { class: "find" }, filter), list);
  }

  /** `bring`: it may lie out of sight. */
  mark(name: string, bring: boolean): void {
    for (const { model, link } of this.rows) {
      if (model.name !== name) link.removeAttribute("aria-current");
      else {
        link.setAttribute("aria-current", "page");
        if (bring) link.scrollIntoView({ block: "center" });
      }
    }
  }

  private find(words: string): void {
    for (const { model, item } of this.rows) item.hidden = !matches(model, words);
    for (const { section, rows } of this.groups) section.hidden = rows.every(({ item }) => item.hidden);
    say(this.nothing, this.rows.every(({ item }) => item.hidden) ? `No model speaks of "${words}".` : "");
  }
}

function rowOf(model: Model, address: string, chosen: (model: Model) => void): Row {
  const link = made("a", { text: headed(model.name), title: model.title, is: { href: address, "data-name": model.name } });
  link.addEventListener("click", (event) => {
    // Another tab or window is the browser's affair.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    chosen(model);
  });
  return { model, link, item: made("li", {}, link) };
}
