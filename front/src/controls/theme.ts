// Light or dark theme: the system setting or the user's choice, which is stored if the browser allows it.

import { colorsOf } from "../colors.ts";
import type { Choices } from "../options.ts";
import { create } from "./dom.ts";

const KEY = "polhode-theme";
const WORDS = { auto: "Auto", light: "Light", dark: "Dark" };
type Theme = keyof typeof WORDS;

export class ThemeSwitch {
  readonly element: HTMLElement;
  private readonly select = create("select");
  private readonly system = matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly choices: Choices) {
    for (const [value, words] of Object.entries(WORDS)) this.select.append(create("option", { text: words, attributes: { value } }));
    this.select.value = storedTheme();
    this.select.addEventListener("change", () => {
      storeTheme(this.select.value);
      this.apply();
    });
    this.system.addEventListener("change", () => this.apply());
    this.element = create("label", { class: "theme", title: "Auto follows the system" }, "Theme", this.select);
    this.apply();
  }

  private apply(): void {
    const dark = this.select.value === "dark" || (this.select.value === "auto" && this.system.matches);
    const root = document.documentElement;
    root.dataset["theme"] = dark ? "dark" : "light";
    // The style sheet and the views share one table of colors.
    for (const [name, color] of Object.entries(colorsOf(dark))) root.style.setProperty(`--${name}`, color);
    if (this.choices.now.dark !== dark) this.choices.set({ dark });
  }
}

/** Reading storage throws in a sandbox, and may throw in a local file. */
function storedTheme(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found !== null && found in WORDS ? (found as Theme) : "auto";
  } catch {
    return "auto";
  }
}

function storeTheme(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice then holds for this visit only.
  }
}
