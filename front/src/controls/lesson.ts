// "What is this?" beside the views: explanation, formulas, steps to try, and sources.

import type { About, Lesson, TryThis } from "../transport/protocol.ts";
import { button, create } from "./dom.ts";
import { formula, sentence } from "./format.ts";
import { icon } from "./icons.ts";
import { keyboardHelp } from "./keyboard.ts";
import { formulaElement } from "./mathml.ts";

/** Sizes of formulas, relative to the text. */
const LARGEST = 1.15;
const SMALLEST = 0.75;
/** Left and right of a formula, in pixels. */
const PADDING = 20;

export class LessonPanel {
  private readonly contents = create("div", { class: "lesson" });
  private isWanted: boolean | null = null;

  /** `onOpen` hears whether the panel is open; `tryStep` does what a step says. */
  constructor(
    private readonly root: HTMLElement,
    version: string,
    private readonly onOpen: (open: boolean) => void,
    private readonly tryStep: (step: TryThis) => void,
  ) {
    const close = button("Close the explanation", { class: "bare" }, () => this.open(false), icon("close"));
    const head = create("div", { class: "head" }, create("h2", { text: "What is this?" }), create("span", { class: "grow" }), close);
    const page = create("div", { class: "lesson-page" }, keyboardHelp());
    if (version !== "") page.append(create("p", { class: "quiet", text: `Polhode ${version}` }));
    new ResizeObserver(() => this.fitFormulas()).observe(root);
    root.classList.add("card");
    root.append(head, this.contents, page);
  }

  toggle(): void {
    this.open(this.root.hidden !== false);
    if (!this.root.hidden) this.root.scrollIntoView({ block: "nearest" });
  }

  explain({ explanation, source, lesson }: About): void {
    const paragraphs = explanation.split(/\n\s*\n/).map((text) => create("p", { text: formula(text.replace(/\s+/g, " ")) }));
    this.contents.replaceChildren(...paragraphs, ...(lesson === null ? [] : this.lessonParts(lesson)));
    if (lesson === null || lesson.references.length === 0)
      if (source !== "") this.contents.append(create("p", { class: "quiet", text: `Source: ${source}` }));
    this.root.scrollTop = 0;
    this.show(true);
  }

  /** For a motion that does not belong to a model. */
  describe(sentences: string[]): void {
    const paragraphs = sentences.filter((text) => text !== "");
    this.contents.replaceChildren(...paragraphs.map((text) => create("p", { text: sentence(text) })));
    this.show(false);
  }

  /** Open at first where it explains something; then as the user wants. */
  private show(explains: boolean): void {
    const open = this.isWanted ?? explains;
    this.root.hidden = !open;
    this.fitFormulas();
    this.onOpen(open);
  }

  private open(yes: boolean): void {
    this.isWanted = yes;
    this.show(yes);
  }

  /** Formulas cannot be broken: a long one is drawn in smaller letters where there is little room. */
  private fitFormulas(): void {
    for (const figure of this.contents.querySelectorAll<HTMLElement>(".formula")) {
      const drawn = figure.querySelector("math") as MathMLElement | null;
      if (drawn === null) continue;
      drawn.style.fontSize = "";
      const share = (figure.clientWidth - PADDING) / (figure.scrollWidth - PADDING / 2);
      if (figure.scrollWidth <= figure.clientWidth) continue;
      drawn.style.fontSize = `${Math.max(SMALLEST, share * LARGEST)}em`;
    }
  }

  private lessonParts({ formulas, steps, references }: Lesson): HTMLElement[] {
    const parts: HTMLElement[] = [];
    for (const { mathml, words } of formulas) {
      const drawn = formulaElement(mathml);
      const figure = create("figure", { class: "formula" });
      if (drawn !== null) figure.append(drawn);
      if (words !== "") figure.append(create("figcaption", { text: formula(words) }));
      parts.push(figure);
    }
    if (steps.length > 0) {
      const rows = steps.map((step) => create("li", {}, button(formula(step.text), { class: "step" }, () => this.tryStep(step))));
      parts.push(create("h3", { text: "Try this" }), create("ol", { class: "steps" }, ...rows));
    }
    if (references.length > 0) {
      const rows = references.map(({ text, doi }) => create("li", {}, `${text}. `, doi === "" ? null : doiLink(doi)));
      parts.push(create("h3", { text: "Sources" }), create("ul", { class: "sources" }, ...rows));
    }
    return parts;
  }
}

const doiLink = (doi: string): HTMLElement =>
  create("a", { text: `doi:${doi}`, attributes: { href: `https://doi.org/${encodeURI(doi)}`, target: "_blank", rel: "noopener noreferrer" } });
