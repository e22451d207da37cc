// Poinsot's construction: the inertia ellipsoid rho . I rho = 1 rolls without slipping on the invariable plane, which is
// fixed because L and the energy are conserved; the point of contact is along omega.

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
import { locateTime } from "../motion/pose.ts";
import { quaternionAt, vectorAt } from "../motion/record.ts";
import { dot, length, minus, scaled, type Vec3 } from "../motion/vectors.ts";
import { pixelAt } from "./arrows.ts";
import { trajectoryOf } from "./trajectory.ts";
import { WideLine } from "./lines.ts";
import type { Frame, Instant, FramePose, ViewContext } from "./context.ts";

/** Longest semi-axis of the ellipsoid, relative to the reach of the body. */
const HALF_AXIS = 1.45;
const DOT_PIXELS = 5;
/** Number of candidate positions of the label of the herpolhode, and factor by which another must be better. */
const CANDIDATES = 24;
const HYSTERESIS = 1.1;

export class Poinsot extends Group {
  private readonly ellipsoid = new Group();
  private readonly plane = new Group();
  private contact: Mesh<SphereGeometry, MeshBasicMaterial> | null = null;
  private polhode: WideLine | null = null;
  private herpolhode: WideLine | null = null;
  private times: Float64Array = new Float64Array(0);
  private curves: { text: string; color: string; at: Vector3; from: Vector3; rotates: boolean }[] = [];
  private candidates: Vector3[] = [];
  /** Factor from omega to the point of contact, relative to the reach of the body. */
  private perOmega = 0;
  private isBuilt = false;

  constructor(private readonly context: ViewContext, private readonly frame: Frame) {
    super();
  }

  /** The motion of the context is another one; the construction is drawn when it is next shown. */
  reload(): void {
    this.dispose();
    for (const part of [this.ellipsoid, this.plane, this]) part.clear();
    this.contact = this.polhode = this.herpolhode = null;
    this.curves = [];
    this.candidates = [];
    this.perOmega = 0;
    this.isBuilt = false;
  }

  private build(): void {
    this.isBuilt = true;
    const { context, frame } = this;
    const { record, watched, colors } = context;
    const moments = vectorAt(record.moments, watched);
    const trajectory = trajectoryOf(record, watched);
    const first = trajectory.poses[0];
    const twiceEnergy = first ? dot(first.angularVelocity, first.angularMomentum) : 0;
    if (!record.isFree || !(twiceEnergy > 0) || !moments.every((I) => I > 0)) return;
    const scale = HALF_AXIS * Math.sqrt(Math.min(...moments));
    this.perOmega = scale / Math.sqrt(twiceEnergy);
    this.times = trajectory.times;
    const semiAxes = moments.map((I) => scale / Math.sqrt(I)) as Vec3;
    const [w, x, y, z] = quaternionAt(record.axes, watched);
    this.ellipsoid.add(shape(semiAxes, colors.path, colors.ink, new Quaternion(x, y, z, w)));
    const polhode = trajectory.poses.map((p) => scaled(this.perOmega, p.angularVelocityBody));
    const herpolhode = trajectory.poses.map((p) => scaled(this.perOmega, p.angularVelocity));
    this.polhode = new WideLine(flat(polhode), colors.omega, colors.paper, 2.6);
    this.ellipsoid.add(this.polhode);
    const third = Math.floor(polhode.length / 3);
    if (isCurve(polhode)) {
      const at = new Vector3(...polhode[third]);
      this.curves.push({ text: "polhode", color: colors.omega, at, from: new Vector3(), rotates: true });
    }
    this.contact = new Mesh(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ color: colors.ink }));
    this.add(this.ellipsoid, this.contact);
    if (frame === "body") return;
    this.herpolhode = new WideLine(flat(herpolhode), colors.torque, colors.paper, 2.6);
    const L = first.angularMomentum;
    const far = (scale * Math.sqrt(twiceEnergy)) / length(L);
    const wide = Math.max(1.3, 1.2 * Math.max(...herpolhode.map((r) => Math.sqrt(Math.max(0, dot(r, r) - far * far)))));
    const normal = new Vector3(...L).normalize();
    this.plane.add(disc(wide, colors.path));
    this.plane.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
    this.plane.position.copy(normal).multiplyScalar(far);
    this.add(this.plane, this.herpolhode);
    const foot = this.plane.position.clone();
    if (!isCurve(herpolhode)) return;
    const places = Array.from({ length: CANDIDATES }, (_, k) => herpolhode[Math.floor((k * herpolhode.length) / CANDIDATES)]);
    this.candidates.push(...places.map((place) => new Vector3(...place)));
    const at = new Vector3(...herpolhode[third]);
    this.curves.push({ text: "herpolhode", color: colors.torque, at, from: foot, rotates: false });
  }

  update(isOn: boolean, instant: Instant, framePose: FramePose): void {
    if (isOn && !this.isBuilt) this.build();
    this.visible = isOn && this.perOmega > 0 && instant.isPresent;
    if (!this.visible) return;
    this.position.set(...framePose.anchor);
    this.scale.setScalar(instant.reach);
    this.ellipsoid.quaternion.set(framePose.attitude[1], framePose.attitude[2], framePose.attitude[3], framePose.attitude[0]);
    this.contact!.position.set(...scaled(this.perOmega, framePose.along(instant.pose.angularVelocity)));
    const { before, share } = locateTime(this.times, instant.t);
    for (const line of [this.polhode, this.herpolhode]) if (line) line.until = before + share;
  }

  fit(camera: PerspectiveCamera, width: number, height: number): void {
    if (!this.visible) return;
    const place = this.contact!.position.clone().multiplyScalar(this.scale.x).add(this.position);
    this.contact!.scale.setScalar((DOT_PIXELS * pixelAt(camera, place, height)) / this.scale.x);
    this.polhode?.setPixels(width, height);
    this.herpolhode?.setPixels(width, height);
  }

  /** Labels of the curves; they are placed away from `from`. */
  labels(camera: PerspectiveCamera): { text: string; color: string; at: Vector3; from: Vector3 }[] {
    if (!this.visible) return [];
    this.updateMatrixWorld();
    this.moveHerpolhodeLabel(camera);
    return this.curves.map(({ text, color, at, from, rotates }) => {
      const { matrixWorld } = rotates ? this.ellipsoid : this;
      return { text, color, at: at.clone().applyMatrix4(matrixWorld), from: from.clone().applyMatrix4(matrixWorld) };
    });
  }

  /** Label the herpolhode where it is farthest from the body on the screen. */
  private moveHerpolhodeLabel(camera: PerspectiveCamera): void {
    const curve = this.curves.find(({ rotates }) => !rotates);
    if (curve === undefined) return;
    const onScreen = (place: Vector3): Vector3 => {
      const { x, y } = place.clone().applyMatrix4(this.matrixWorld).project(camera);
      return new Vector3(camera.aspect * x, y, 0);
    };
    const body = onScreen(new Vector3());
    const isSeen = ({ x, y }: Vector3): boolean => Math.abs(x) < camera.aspect && Math.abs(y) < 1;
    const distance = (candidate: Vector3): number => {
      const place = onScreen(candidate);
      return isSeen(place) ? place.distanceTo(body) : 0;
    };
    for (const candidate of this.candidates) if (distance(candidate) > HYSTERESIS * distance(curve.at)) curve.at = candidate;
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

/** The ellipsoid with its three principal sections. */
function shape(semiAxes: Vec3, color: string, ink: string, axes: Quaternion): Group {
  const group = new Group();
  const skin = { color, transparent: true, opacity: 0.2, depthWrite: false };
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
  group.scale.set(...semiAxes);
  group.quaternion.copy(axes);
  return group;
}

/** A disc of the plane, with a grid. */
function disc(radius: number, color: string): Group {
  const group = new Group();
  const skin = { color, transparent: true, opacity: 0.12, depthWrite: false, side: DoubleSide };
  const squares: number[] = [];
  const step = radius / 6;
  for (let i = -5; i <= 5; i++) {
    const [at, half] = [i * step, Math.sqrt(radius ** 2 - (i * step) ** 2)];
    squares.push(at, -half, 0, at, half, 0, -half, at, 0, half, at, 0);
  }
  group.add(new Mesh(new CircleGeometry(radius, 96), new MeshBasicMaterial(skin)), thin(squares, color, 0.35));
  return group;
}

function thin(ends: number[], color: string, opacity: number): LineSegments {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(ends), 3));
  return new LineSegments(geometry, new LineBasicMaterial({ color, transparent: true, opacity, depthWrite: false }));
}

/** Whether a path is more than a point, as it is for steady spin. */
const isCurve = (path: Vec3[]): boolean => path.some((x) => length(minus(x, path[0])) > 0.04);

const flat = (points: Vec3[]): Float32Array => Float32Array.from(points.flat());
