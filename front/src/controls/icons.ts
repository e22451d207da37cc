// Button icons, 24 by 24, in the text color.

const SVG = "http://www.w3.org/2000/svg";

const FILLED: Record<string, string> = {
  play: "M7 4.5v15l12.5-7.5z",
  pause: "M6.5 5h4v14h-4zM13.5 5h4v14h-4z",
  back: "M15.5 5v14L6 12zM17 5h2v14h-2z",
  forward: "M8.5 5v14L18 12zM5 5h2v14H5z",
  start: "M5 5h2.2v14H5zM19 5v14l-10.5-7z",
  both: "M3 4h18v16H3zM5 6v12h6V6zM13 6v12h6V6z",
  space: "M3 4h18v16H3zM13 6v12h6V6z",
  body: "M3 4h18v16H3zM5 6v12h6V6z",
  end: "M16.8 5H19v14h-2.2zM5 5v14l10.5-7z",
};

const STROKED: Record<string, string> = {
  loop: "M17 3l3.5 3.5L17 10M20 6.5H8a4.5 4.5 0 0 0-4.5 4.5v1M7 21l-3.5-3.5L7 14M4 17.5h12a4.5 4.5 0 0 0 4.5-4.5v-1",
  menu: "M4 6.5h16M4 12h16M4 17.5h16",
  close: "M6 6l12 12M18 6L6 18",
  tick: "M4.5 12.5l5 5 10-11",
  cross: "M6 6l12 12M18 6L6 18",
  expand: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  shrink: "M9 4v5H4M20 9h-5V4M15 20v-5h5M4 15h5v5",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 1 0 0-5.6",
  down: "M7 10l5 5 5-5",
  save: "M12 4v11M7.5 10.5L12 15l4.5-4.5M5 19.5h14",
};

const LINE = { fill: "none", stroke: "currentColor", "stroke-width": "2", "stroke-linecap": "round", "stroke-linejoin": "round" };

export function icon(name: string): SVGSVGElement {
  const svg = svgElement("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" });
  const path = name in FILLED ? { d: FILLED[name], fill: "currentColor" } : { d: STROKED[name], ...LINE };
  svg.append(svgElement("path", path));
  return svg;
}

function svgElement<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string>): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
