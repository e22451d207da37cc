// Poinsot's construction: the inertia ellipsoid rho . I rho = 1 rolls, without sliding, on a plane that stays where it
// is because L and the energy do; it touches the plane where omega points.

import {
  BufferAttribute,
  BufferGeometry,
  CircleGeometry,
  DoubleSide,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
  type PerspectiveCamera,
} from "three";
import { placeOf } from "../motion/pose.ts";
import { quaternionAt, vectorAt } from "../motion/record.ts";
import { dot, length, minus, scaled, type Vec3 } from "../motion/vectors.ts";
import { pixelAt } from "./arrows.ts";
import { courseOf } from "./trajectory.ts";
import { WideLine } from "./lines.ts";
import type { Frame, Instant, Stand, Subject } from "./context.ts";

/** The longest half-axis of the ellipsoid, in the body's reach. */
const HALF_AXIS = 1.45;
const DOT_PIXELS = 5;
/** How many places of the herpolhode its name may stand at, and by how much another must be better to move there. */
const SPOTS = 24;
const BETTER = 1.1;

export class Poinsot extends Group {
  private readonly ellipsoid = new Group();
  private readonly plane = new Group();
  private readonly touch: Mesh<SphereGeometry, MeshBasicMaterial> | null = null;
  private readonly polhode: WideLine | null = null;
  private readonly herpolhode: WideLine | null = null;
  private readonly times: Float64Array = new Float64Array(0);
  private readonly curves: { text: string; colour: string; at: Vector3; from: Vector3; turns: boolean }[] = [];
  private readonly spots: Vector3[] = [];
  /** From omega to the place of contact, in the body's reach. */
  private perOmega = 0;

  constructor(subject: Subject, frame: Frame) {
    super();
    const { record, watched, colours } = subject;
    const moments = vectorAt(record.moments, watched);
    const course = courseOf(record, watched);
    const first = course.poses[0];
    const twiceEnergy = first ? dot(first.angularVelocity, first.angularMomentum) : 0;
    if (!record.isFree || !(twiceEnergy > 0) || !moments.every((I) => I > 0)) return;
    const scale = HALF_AXIS * Math.sqrt(Math.min(...moments));
    this.perOmega = scale / Math.sqrt(twiceEnergy);
    this.times = course.times;
    const halves = moments.map((I) => scale / Math.sqrt(I)) as Vec3;
    const [w, x, y, z] = quaternionAt(record.axes, watched);
    this.ellipsoid.add(shape(halves, colours.path, colours.ink, new Quaternion(x, y, z, w)));
    const polhode = course.poses.map((p) => scaled(this.perOmega, p.angularVelocityBody));
    const herpolhode = course.poses.map((p) => scaled(this.perOmega, p.angularVelocity));
    this.polhode = new WideLine(flat(polhode), colours.omega, colours.paper, 2.6);
    this.ellipsoid.add(this.polhode);
    const third = Math.floor(polhode.length / 3);
    if (isCurve(polhode)) {
      const at = new Vector3(...polhode[third]);
      this.curves.push({ text: "polhode", colour: colours.omega, at, from: new Vector3(), turns: true });
    }
    this.touch = new Mesh(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ color: colours.ink }));
    this.add(this.ellipsoid, this.touch);
    if (frame === "body") return;
    this.herpolhode = new WideLine(flat(herpolhode), colours.torque, colours.paper, 2.6);
    const L = first.angularMomentum;
    const far = (scale * Math.sqrt(twiceEnergy)) / length(L);
    const wide = Math.max(1.3, 1.2 * Math.max(...herpolhode.map((r) => Math.sqrt(Math.max(0, dot(r, r) - far * far)))));
    const normal = new Vector3(...L).normalize();
    this.plane.add(disc(wide, colours.path));
    this.plane.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
    this.plane.position.copy(normal).multiplyScalar(far);
    this.add(this.plane, this.herpolhode);
    const foot = this.plane.position.clone();
    if (!isCurve(herpolhode)) return;
    const places = Array.from({ length: SPOTS }, (_, k) => herpolhode[Math.floor((k * herpolhode.length) / SPOTS)]);
    this.spots.push(...places.map((place) => new Vector3(...place)));
    const at = new Vector3(...herpolhode[third]);
    this.curves.push({ text: "herpolhode", colour: colours.torque, at, from: foot, turns: false });
  }

  update(isOn: boolean, instant: Instant, stand: Stand): void {
    this.visible = isOn && this.perOmega > 0 && instant.isThere;
    if (!this.visible) return;
    this.position.set(...stand.anchor);
    this.scale.setScalar(instant.reach);
    this.ellipsoid.quaternion.set(stand.turn[1], stand.turn[2], stand.turn[3], stand.turn[0]);
    this.touch!.position.set(...scaled(this.perOmega, stand.along(instant.pose.angularVelocity)));
    const { before, share } = placeOf(this.times, instant.t);
    for (const line of [this.polhode, this.herpolhode]) if (line) line.until = before + share;
  }

  fit(camera: PerspectiveCamera, width: number, height: number): void {
    if (!this.visible) return;
    const place = this.touch!.position.clone().multiplyScalar(this.scale.x).add(this.position);
    this.touch!.scale.setScalar((DOT_PIXELS * pixelAt(camera, place, height)) / this.scale.x);
    this.polhode?.setPixels(width, height);
    this.herpolhode?.setPixels(width, height);
  }

  /** What its curves are called, and where; the word goes away from `from`. */
  names(camera: PerspectiveCamera): { text: string; colour: string; at: Vector3; from: Vector3 }[] {
    if (!this.visible) return [];
    this.updateMatrixWorld();
    this.moveNameAside(camera);
    return this.curves.map(({ text, colour, at, from, turns }) => {
      const { matrixWorld } = turns ? this.ellipsoid : this;
      return { text, colour, at: at.clone().applyMatrix4(matrixWorld), from: from.clone().applyMatrix4(matrixWorld) };
    });
  }

  /** The herpolhode is named where it is farthest from the body on the screen: it may pass behind it. */
  private moveNameAside(camera: PerspectiveCamera): void {
    const curve = this.curves.find(({ turns }) => !turns);
    if (curve === undefined) return;
    const onScreen = (place: Vector3): Vector3 => {
      const { x, y } = place.clone().applyMatrix4(this.matrixWorld).project(camera);
      return new Vector3(camera.aspect * x, y, 0);
    };
    const body = onScreen(new Vector3());
    const isSeen = ({ x, y }: Vector3): boolean => Math.abs(x) < camera.aspect && Math.abs(y) < 1;
    const distance = (spot: Vector3): number => {
      const place = onScreen(spot);
      return isSeen(place) ? place.distanceTo(body) : 0;
    };
    for (const spot of this.spots) if (distance(spot) > BETTER * distance(curve.at)) curve.at = spot;
  }

  dispose(): void {
    this.traverse((part) => {
      if (part instanceof Mesh || part instanceof LineSegments) {
        part.geometry.dispose();
        part.material.dispose();
      }
    });
  }
}

/** The ellipsoid, and its three sections that show how it turns. */
function shape(halves: Vec3, colour: string, ink: string, axes: Quaternion): Group {
  const group = new Group();
  const skin = { color: colour, transparent: true, opacity: 0.2, depthWrite: false };
  const ball = new Mesh(new SphereGeometry(1, 64, 40), new MeshLambertMaterial(skin));
  const rings: number[] = [];
  for (let i = 0; i < 3; i++) {
    for (let k = 0; k < 96; k++) {
      for (const angle of [k, k + 1].map((n) => (n * Math.PI) / 48)) {
        const ring = [0, 0, 0];
        ring[(i + 1) % 3] = Math.cos(angle);
        ring[(i + 2) % 3] = Math.sin(angle);
        rings.push(...ring);
      }
    }
  }
  group.add(ball, thin(rings, ink, 0.35));
  group.scale.set(...halves);
  group.quaternion.copy(axes);
  return group;
}

/** A round part of the plane, with squares. */
function disc(radius: number, colour: string): Group {
  const group = new Group();
  const skin = { color: colour, transparent: true, opacity: 0.12, depthWrite: false, side: DoubleSide };
  const squares: number[] = [];
  const step = radius / 6;
  for (let i = -5; i <= 5; i++) {
    const [at, half] = [i * step, Math.sqrt(radius ** 2 - (i * step) ** 2)];
    squares.push(at, -half, 0, at, half, 0, -half, at, 0, half, at, 0);
  }
  group.add(new Mesh(new CircleGeometry(radius, 96), new MeshBasicMaterial(skin)), thin(squares, colour, 0.35));
  return group;
}

function thin(ends: number[], color: string, opacity: number): LineSegments {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(ends), 3));
  return new LineSegments(geometry, new LineBasicMaterial({ color, transparent: true, opacity, depthWrite: false }));
}

/** A body that spins steadily draws a point. */
const isCurve = (path: Vec3[]): boolean => path.some((x) => length(minus(x, path[0])) > 0.04);

const flat = (points: Vec3[]): Float32Array => Float32Array.from(points.flat());
