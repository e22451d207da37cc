// Light or dark: as the machine says, or as a person has chosen; remembered where the browser lets us.

import { coloursOf } from "../colors.ts";
import type { Choices } from "../options.ts";
import { made } from "./dom.ts";

const KEY = "polhode-theme";
const WORDS = { auto: "Auto", light: "Light", dark: "Dark" };
type Theme = keyof typeof WORDS;

export class ThemeSwitch {
  readonly element: HTMLElement;
  private readonly select = made("select");
  private readonly machine = matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly choices: Choices) {
    for (const [value, words] of Object.entries(WORDS)) this.select.append(made("option", { text: words, is: { value } }));
    this.select.value = remembered();
    this.select.addEventListener("change", () => {
      remember(this.select.value);
      this.apply();
    });
    this.machine.addEventListener("change", () => this.apply());
    this.element = made("label", { class: "theme", title: "Auto follows the system" }, "Theme", this.select);
    this.apply();
  }

  private apply(): void {
    const dark = this.select.value === "dark" || (this.select.value === "auto" && this.machine.matches);
    const root = document.documentElement;
    root.dataset["theme"] = dark ? "dark" : "light";
    // The sheet of styles and the views share one table of colours.
    for (const [name, colour] of Object.entries(coloursOf(dark))) root.style.setProperty(`--${name}`, colour);
    if (this.choices.now.dark !== dark) this.choices.set({ dark });
  }
}

/** A page in a sandbox, or from a file, may have no storage: reading it throws. */
function remembered(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found !== null && found in WORDS ? (found as Theme) : "auto";
  } catch {
    return "auto";
  }
}

function remember(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Then it holds for this visit only.
  }
}
