// Formulas as MathML, made by src/polhode/web/mathml.py.  Only elements and attributes of formulas are taken over.

const MATH = "http://www.w3.org/1998/Math/MathML";
const ELEMENTS = new Set(
  "math mrow mi mn mo mtext mspace mfrac msqrt msub msup msubsup munder mover munderover mtable mtr mtd".split(" "),
);
const ATTRIBUTES = new Set("display mathvariant stretchy symmetric accent width columnalign".split(" "));

/** The formula as an element; null if the text is not one. */
export function formulaElement(mathml: string): Element | null {
  const parsed = new DOMParser().parseFromString(mathml, "application/xml");
  return parsed.documentElement.localName === "math" ? copyElement(parsed.documentElement) : null;
}

function copyElement(source: Element): Element | null {
  if (source.namespaceURI !== MATH || !ELEMENTS.has(source.localName)) return null;
  const element = document.createElementNS(MATH, source.localName);
  for (const { name, value } of source.attributes) if (ATTRIBUTES.has(name)) element.setAttribute(name, value);
  for (const child of source.childNodes) {
    const copied = child instanceof Element ? copyElement(child) : document.createTextNode(child.textContent ?? "");
    if (copied !== null) element.append(copied);
  }
  return element;
}
