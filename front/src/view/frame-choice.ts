// From where the space view is seen: the inertial frame or, if the stage has one, a rotating frame.

import { create } from "../controls/dom.ts";
import { capitalize } from "../controls/format.ts";
import type { Choices } from "../options.ts";
import type { Pane } from "./renderer.ts";
import type { Stage } from "./stage.ts";

export class FrameChoice {
  private readonly name: string;
  private readonly buttons: HTMLButtonElement[];

  constructor(private readonly pane: Pane, private readonly choices: Choices) {
    this.name = pane.caption.textContent ?? "";
    this.buttons = [false, true].map((turning) => {
      const button = create("button", { class: "frame-choice", attributes: { type: "button" } });
      button.addEventListener("click", () => choices.set({ turning }));
      // The pane under it rotates the camera.
      for (const event of ["pointerdown", "dblclick"] as const) button.addEventListener(event, (e) => e.stopPropagation());
      return button;
    });
    choices.onChange((changed) => {
      if ("turning" in changed) this.mark();
    });
  }

  show({ frame, shows }: Stage): void {
    this.pane.element.setAttribute("aria-label", shows === "" ? this.name : `${this.name}: ${shows}`);
    if (frame === null) {
      this.pane.caption.replaceChildren(this.name);
      return;
    }
    this.buttons[0].textContent = this.name;
    this.buttons[1].textContent = `${capitalize(frame.name)} frame`;
    if (!this.pane.caption.contains(this.buttons[0])) this.pane.caption.replaceChildren(...this.buttons);
    this.mark();
  }

  private mark(): void {
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(this.choices.now.turning === (i === 1))));
  }
}
