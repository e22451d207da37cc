// The models with their pictures: the featured ones first, then all by theme, with a search box.

import type { Choices } from "../options.ts";
import type { Model } from "../transport/protocol.ts";
import { create, setText } from "./dom.ts";
import { capitalize, titleFromName } from "./format.ts";

interface Row {
  model: Model;
  item: HTMLElement;
  link: HTMLAnchorElement;
  picture: HTMLImageElement | null;
}

/** Whether every word is found in the model's name, title, theme or explanation. */
export function matches(model: Model, words: string): boolean {
  const text = [titleFromName(model.name), model.name, model.title, model.theme, model.explanation].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The models that come first, the best of them at the top. */
export const featuredOf = (models: Model[]): Model[] => models.filter(({ rank }) => rank > 0).sort((a, b) => a.rank - b.rank);

/** Address of a model's picture, with the same token as the page. */
export function pictureAddress(file: string, isDark: boolean, search: string): string {
  const token = new URLSearchParams(search).get("token");
  const query = token === null ? "" : `?${new URLSearchParams({ token }).toString()}`;
  return `pictures/${isDark ? file.replace(/\.webp$/, "-dark.webp") : file}${query}`;
}

/** The theme of models that are not the gallery's; they come first. */
const OWN_THEME = "your models";

export class Gallery {
  private readonly rows: Row[] = [];
  private readonly groups: { section: HTMLElement; rows: Row[]; isFeatured: boolean }[] = [];
  private readonly noMatch = create("p", { class: "quiet", attributes: { role: "status" } });

  constructor(
    root: HTMLElement,
    themes: string[],
    models: Model[],
    private readonly addressOf: (model: Model) => string,
    private readonly onChosen: (model: Model) => void,
    private readonly choices: Choices,
  ) {
    const filter = create("input", { attributes: { type: "search", placeholder: "Find a model", "aria-label": "Find a model" } });
    filter.addEventListener("input", () => this.filter(filter.value.trim()));
    const list = create("div", { class: "list" });
    const others = models.map((m) => m.theme).filter((theme) => !themes.includes(theme));
    const ofThemes = (names: string[]): HTMLElement[] => names.flatMap((theme) => this.group(capitalize(theme), models.filter((m) => m.theme === theme), false));
    list.append(...ofThemes(themes.filter((theme) => theme === OWN_THEME)));
    list.append(...this.group("Featured", featuredOf(models), true));
    list.append(...ofThemes([...themes.filter((theme) => theme !== OWN_THEME), ...new Set(others)]));
    list.append(this.noMatch);
    root.replaceChildren(create("div", { class: "find" }, filter), list);
    choices.onChange((changed) => {
      if ("dark" in changed) this.showPictures();
    });
    this.showPictures();
  }

  /** Mark the current model; `scroll` brings it into view. */
  mark(name: string, scroll: boolean): void {
    const found = this.rows.filter(({ model }) => model.name === name);
    for (const { link } of this.rows) link.removeAttribute("aria-current");
    for (const { link } of found) link.setAttribute("aria-current", "page");
    if (scroll) found[0]?.link.scrollIntoView({ block: "nearest" });
  }

  private group(name: string, models: Model[], isFeatured: boolean): HTMLElement[] {
    if (models.length === 0) return [];
    const rows = models.map((model) => this.row(model));
    const list = create("ul", { class: isFeatured ? "featured" : "" }, ...rows.map((r) => r.item));
    const section = create("section", {}, create("h2", { text: name }), list);
    this.rows.push(...rows);
    this.groups.push({ section, rows, isFeatured });
    return [section];
  }

  private row(model: Model): Row {
    const picture = model.picture === "" ? null : create("img", { attributes: { alt: "", loading: "lazy", decoding: "async", width: "320", height: "200" } });
    const attributes = { href: this.addressOf(model), "data-name": model.name };
    const link = create("a", { title: model.title, attributes }, ...(picture ? [picture] : []), create("span", { text: titleFromName(model.name) }));
    link.addEventListener("click", (event) => {
      // Opening another tab or window is left to the browser.
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      this.onChosen(model);
    });
    return { model, link, picture, item: create("li", {}, link) };
  }

  private showPictures(): void {
    for (const { model, picture } of this.rows) if (picture) picture.src = pictureAddress(model.picture, this.choices.now.dark, location.search);
  }

  private filter(words: string): void {
    for (const { model, item } of this.rows) item.hidden = !matches(model, words);
    // Who searches wants one list, without repetitions.
    for (const { section, rows, isFeatured } of this.groups) section.hidden = (isFeatured && words !== "") || rows.every(({ item }) => item.hidden);
    setText(this.noMatch, this.rows.every(({ item }) => item.hidden) ? `No model matches "${words}".` : "");
  }
}
