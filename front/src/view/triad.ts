// The axes triad in the corner of a pane.

import { Vector3, type PerspectiveCamera } from "three";

const SPACE = "http://www.w3.org/2000/svg";
const HALF = 34;
const AXIS_LENGTH = 22;

export class Triad {
  readonly element = document.createElement("div");
  private readonly lines: SVGLineElement[];
  private readonly labels: SVGTextElement[];
  /** What is drawn: setting attributes, even to the same values, makes the browser paint the pane again. */
  private drawn = "";

  constructor(pane: HTMLElement, names: [string, string, string]) {
    const picture = document.createElementNS(SPACE, "svg");
    picture.setAttribute("viewBox", `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`);
    picture.setAttribute("aria-hidden", "true");
    this.lines = names.map(() => document.createElementNS(SPACE, "line"));
    this.labels = names.map((name) => {
      const label = document.createElementNS(SPACE, "text");
      label.textContent = name;
      return label;
    });
    picture.append(...this.lines, ...this.labels);
    this.element.className = "view-triad";
    this.element.append(picture);
    pane.append(this.element);
  }

  show(camera: PerspectiveCamera, colors: [string, string, string]): void {
    const wanted = [camera.matrixWorldInverse.elements.slice(0, 11).map((x) => x.toFixed(3)), colors].join();
    if (wanted === this.drawn) return;
    this.drawn = wanted;
    const axis = new Vector3();
    colors.forEach((color, i) => {
      axis.setFromMatrixColumn(camera.matrixWorldInverse, i);
      const [x, y] = [axis.x, -axis.y];
      this.lines[i].setAttribute("x2", (AXIS_LENGTH * x).toFixed(1));
      this.lines[i].setAttribute("y2", (AXIS_LENGTH * y).toFixed(1));
      this.lines[i].setAttribute("stroke", color);
      // The label of an axis that points at the camera keeps a minimum distance.
      const far = Math.max(Math.hypot(x, y), 1e-3);
      const away = Math.max(AXIS_LENGTH * far + 8, 10) / far;
      this.labels[i].setAttribute("x", (away * x).toFixed(1));
      this.labels[i].setAttribute("y", (away * y).toFixed(1));
      this.labels[i].setAttribute("fill", color);
    });
  }
}
