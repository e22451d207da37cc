// Three short lines in the corner of a pane: how its axes lie, seen from the camera.

import { Vector3, type PerspectiveCamera } from "three";

const SPACE = "http://www.w3.org/2000/svg";
const HALF = 34;
const LONG = 22;

export class Triad {
  readonly element = document.createElement("div");
  private readonly lines: SVGLineElement[];
  private readonly words: SVGTextElement[];

  constructor(pane: HTMLElement, names: [string, string, string]) {
    const picture = document.createElementNS(SPACE, "svg");
    picture.setAttribute("viewBox", `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`);
    picture.setAttribute("aria-hidden", "true");
    this.lines = names.map(() => document.createElementNS(SPACE, "line"));
    this.words = names.map((name) => {
      const word = document.createElementNS(SPACE, "text");
      word.textContent = name;
      return word;
    });
    picture.append(...this.lines, ...this.words);
    this.element.className = "view-triad";
    this.element.append(picture);
    pane.append(this.element);
  }

  show(camera: PerspectiveCamera, colours: [string, string, string]): void {
    const axis = new Vector3();
    colours.forEach((colour, i) => {
      axis.setFromMatrixColumn(camera.matrixWorldInverse, i);
      const [x, y] = [axis.x, -axis.y];
      this.lines[i].setAttribute("x2", (LONG * x).toFixed(1));
      this.lines[i].setAttribute("y2", (LONG * y).toFixed(1));
      this.lines[i].setAttribute("stroke", colour);
      // An axis that points at the eye is short: its name keeps a little away from the others all the same.
      const far = Math.max(Math.hypot(x, y), 1e-3);
      const away = Math.max(LONG * far + 8, 10) / far;
      this.words[i].setAttribute("x", (away * x).toFixed(1));
      this.words[i].setAttribute("y", (away * y).toFixed(1));
      this.words[i].setAttribute("fill", colour);
    });
  }
}
