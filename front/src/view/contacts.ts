// Floors, walls and slopes with a grid, and the points of contact of recent impacts with arrows along the impulses.

import {
  BufferGeometry,
  Color,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  ShadowMaterial,
  SphereGeometry,
  type PerspectiveCamera,
} from "three";
import { vectorAt, type ContactPatch } from "../motion/record.ts";
import { length, scaled, type Vec3 } from "../motion/vectors.ts";
import { Arrow, pixelAt } from "./arrows.ts";
import { toView, type Instant, type ViewContext } from "./context.ts";
import { formatLength } from "./ground.ts";

/** An impact is shown for this long, in s of motion, or for this fraction of the motion if that is shorter. */
const SECONDS = 0.3;
const FRACTION = 0.1;
/** Points of contact that are shown at once, at most. */
const MAX_POINTS = 24;
const DOT_PIXELS = 4;
/** The arrow of the largest impulse, relative to half the width of the view. */
const LONGEST = 0.5;

interface Mark {
  arrow: Arrow;
  dot: Mesh<SphereGeometry, MeshBasicMaterial>;
}

export class Contacts extends Group {
  /** In m, relative to the record's origin. */
  private readonly patches = new Group();
  private readonly marks: Mark[] = [];
  private readonly ball = new SphereGeometry(1, 16, 12);
  private readonly largest: number;
  private readonly window: number;

  constructor(private readonly context: ViewContext) {
    super();
    const { record, framing } = context;
    this.patches.visible = framing.displacements === null;
    for (const patch of record.patches) this.patches.add(...this.drawPatch(patch));
    this.add(this.patches);
    const { impacts } = record;
    let largest = 0;
    for (let i = 0; impacts !== null && i < impacts.time.length; i++) largest = Math.max(largest, length(vectorAt(impacts.impulse, i)));
    this.largest = largest;
    this.window = Math.min(SECONDS, FRACTION * (record.time[record.times - 1] - record.time[0]));
  }

  update(isShown: boolean, instant: Instant, radius: number): void {
    const { record, framing, watched } = this.context;
    this.patches.scale.setScalar(1 / framing.unit);
    this.patches.position.set(...scaled(-1 / framing.unit, instant.focus));
    const { impacts } = record;
    const isDrawn = isShown && impacts !== null && framing.displacements === null;
    // Of an ensemble only those of the watched member: those of all would hide it.
    const isMine = (i: number): boolean => record.axis !== "member" || impacts?.body[i] === watched;
    const recent = isDrawn ? recentImpacts(impacts.time, instant.t, this.window, isMine) : [];
    while (this.marks.length < recent.length) this.addMark();
    this.marks.forEach(({ arrow, dot }, k) => {
      const i = recent[k];
      dot.visible = i !== undefined;
      if (i === undefined || impacts === null) return arrow.point([0, 0, 0], [0, 0, 0]);
      const at = toView(framing, instant.focus, vectorAt(impacts.point, i), 0);
      const strength = fading(instant.t - impacts.time[i], this.window);
      const scale = this.largest > 0 ? (LONGEST * radius * strength) / this.largest : 0;
      arrow.point(at, scaled(scale, vectorAt(impacts.impulse, i)));
      dot.position.set(...at);
      dot.material.opacity = strength;
    });
  }

  fit(camera: PerspectiveCamera, height: number): void {
    for (const { arrow, dot } of this.marks) {
      arrow.fit(camera, height);
      dot.scale.setScalar(DOT_PIXELS * pixelAt(camera, dot.position, height));
    }
  }

  /** Side of a square of the grid, as text. */
  description(): string {
    const [first] = this.context.record.patches;
    return first && this.patches.visible ? `${first.name}: grid ${formatLength(first.cell)}` : "";
  }

  dispose(): void {
    this.ball.dispose();
    for (const { arrow, dot } of this.marks) {
      arrow.dispose();
      dot.material.dispose();
    }
    this.patches.traverse((part) => {
      if (!(part instanceof Mesh || part instanceof LineSegments)) return;
      part.geometry.dispose();
      part.material.dispose();
    });
  }

  private addMark(): void {
    const { impact } = this.context.colors;
    const material = new MeshBasicMaterial({ color: impact, transparent: true, depthTest: false });
    const mark: Mark = { arrow: new Arrow(impact), dot: new Mesh(this.ball, material) };
    mark.dot.renderOrder = 3;
    this.marks.push(mark);
    this.add(mark.arrow, mark.dot);
  }

  private drawPatch({ corners, lines }: ContactPatch): (Mesh | LineSegments)[] {
    const { colors, effects } = this.context;
    const tone = (share: number): Color => new Color(colors.muted).lerp(new Color(colors.paper), share);
    const face = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(fan(corners).flat(), 3));
    face.computeVertexNormals();
    const grid = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(lines.flat(), 3));
    const fill = new MeshBasicMaterial({ color: tone(0.5), transparent: true, opacity: 0.22, side: DoubleSide, depthWrite: false });
    const line = new LineBasicMaterial({ color: tone(0.25), transparent: true, opacity: 0.45, depthWrite: false });
    const parts: (Mesh | LineSegments)[] = [new Mesh(face, fill), new LineSegments(grid, line)];
    if (effects === "high") {
      const shadow = new Mesh(face, new ShadowMaterial({ opacity: 0.18, depthWrite: false, side: DoubleSide }));
      shadow.receiveShadow = true;
      parts.push(shadow);
    }
    // Behind the bodies, which never are inside.
    parts.forEach((part, i) => (part.renderOrder = -3 + i));
    return parts;
  }
}

/** The triangles of a convex polygon. */
export function fan(corners: Vec3[]): Vec3[] {
  return corners.slice(2).flatMap((corner, i) => [corners[0], corners[i + 1], corner]);
}

/** 1 at the impact, 0 when it is over; a little before the impact it rises. */
export function fading(age: number, window: number): number {
  if (!(window > 0)) return 0;
  return age < 0 ? Math.max(0, 1 + (6 * age) / window) : Math.max(0, 1 - age / window) ** 0.7;
}

/** Indices of the impacts that are shown at t, the last ones first. */
export function recentImpacts(time: Float64Array, t: number, window: number, isMine: (i: number) => boolean): number[] {
  const found: number[] = [];
  for (let i = time.length - 1; i >= 0 && found.length < MAX_POINTS; i--)
    if (fading(t - time[i], window) > 0 && isMine(i)) found.push(i);
  return found;
}
