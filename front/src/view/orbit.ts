// The camera of a view, in units of what the view shows: it stays where it is when the motion, and with it the scale of the
// view, changes.  (The controls of three.js move a camera in absolute lengths, and weigh ten times as much.)

import { Matrix4, Vector3, type PerspectiveCamera } from "three";
import { dot, length, plus, scaled, type Vec3 } from "../motion/vectors.ts";
import { INITIAL_VIEW } from "./framing.ts";
import type { StageCamera } from "./stage.ts";

const ZOOMS = { least: 0.1, most: 40 };
/** Farthest that a view can be moved, in half widths. */
const FARTHEST = 6;
/** Half the field of view of the camera, in rad. */
export const HALF_VIEW = (14 * Math.PI) / 180;
const DEGREE = Math.PI / 180;

/** Where a camera is: direction from the center of the view, zoom, and the displacement of the center, in half widths. */
export interface CameraState {
  azimuthDeg: number;
  elevationDeg: number;
  zoom: number;
  pan: Vec3;
}

export const INITIAL_CAMERA: CameraState = {
  azimuthDeg: INITIAL_VIEW.azimuth / DEGREE,
  elevationDeg: INITIAL_VIEW.elevation / DEGREE,
  zoom: 1,
  pan: [0, 0, 0],
};

/** Unit vectors of a camera: to the right, up, and from the center to the camera; defined at the poles too. */
export function cameraAxes(azimuthDeg: number, elevationDeg: number): { right: Vec3; up: Vec3; back: Vec3 } {
  const [a, e] = [azimuthDeg * DEGREE, elevationDeg * DEGREE];
  const [ca, sa, ce, se] = [Math.cos(a), Math.sin(a), Math.cos(e), Math.sin(e)];
  return { right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce], back: [ce * ca, ce * sa, se] };
}

/** Azimuth and elevation of a direction; a vertical one keeps the azimuth. */
export function anglesOf(direction: Vec3, azimuthDeg: number): { azimuthDeg: number; elevationDeg: number } {
  const [x, y, z] = direction;
  const flat = Math.hypot(x, y);
  const isVertical = flat < 1e-6 * length(direction);
  return { azimuthDeg: isVertical ? azimuthDeg : Math.atan2(y, x) / DEGREE, elevationDeg: Math.atan2(z, flat) / DEGREE };
}

/** Half the height of a view, relative to half its smaller side. */
const halfHeight = (aspect: number): number => 1 / Math.min(1, aspect);

export class Orbit {
  private now: CameraState = INITIAL_CAMERA;
  /** Where `reset` goes. */
  home: CameraState = INITIAL_CAMERA;

  /** `changed` is called whenever the camera moves. */
  constructor(private readonly changed: () => void) {}

  get state(): CameraState {
    return this.now;
  }

  /** Values out of range, such as from a link, are moved into it; those that are no numbers are ignored. */
  set(state: Partial<CameraState>): void {
    const known = Object.entries(state).filter(([, value]) => [value].flat().every(Number.isFinite));
    const next = { ...this.now, ...Object.fromEntries(known) };
    const far = length(next.pan);
    this.now = {
      azimuthDeg: next.azimuthDeg % 360,
      elevationDeg: clamp(next.elevationDeg, -90, 90),
      zoom: clamp(next.zoom, ZOOMS.least, ZOOMS.most),
      pan: far > FARTHEST ? scaled(FARTHEST / far, next.pan) : next.pan,
    };
    this.changed();
  }

  /** Start somewhere else; null for the usual place. */
  startAt(camera: StageCamera | null): void {
    const { azimuthDeg, elevationDeg, zoom } = camera ?? INITIAL_CAMERA;
    this.home = { azimuthDeg, elevationDeg, zoom, pan: [0, 0, 0] };
    this.reset();
  }

  reset(): void {
    this.set(this.home);
  }

  /** In degrees. */
  rotate(azimuth: number, elevation: number): void {
    this.set({ azimuthDeg: this.now.azimuthDeg + azimuth, elevationDeg: this.now.elevationDeg + elevation });
  }

  /** Move what is seen by a distance on the screen, in half heights of the view. */
  pan(right: number, up: number, aspect: number): void {
    this.set({ pan: plus(this.now.pan, this.across(-right, -up, halfHeight(aspect) / this.now.zoom)) });
  }

  /** Zoom in by a factor.  What is at a place of the screen, in half heights from its center, stays there. */
  zoomBy(factor: number, right = 0, up = 0, aspect = 1): void {
    const zoom = clamp(this.now.zoom * factor, ZOOMS.least, ZOOMS.most);
    const gain = halfHeight(aspect) * (1 / this.now.zoom - 1 / zoom);
    this.set({ zoom, pan: plus(this.now.pan, this.across(right, up, gain)) });
  }

  /** Place the camera so that a ball of this radius about a point fills the view, but for zoom and displacement. */
  aim(camera: PerspectiveCamera, at: Vec3, radius: number, aspect: number): void {
    const { azimuthDeg, elevationDeg, zoom, pan } = this.now;
    const { right, up, back } = cameraAxes(azimuthDeg, elevationDeg);
    const distance = (radius * halfHeight(aspect)) / Math.tan(HALF_VIEW) / zoom;
    const center = plus(at, scaled(radius, pan));
    camera.position.set(...plus(center, scaled(distance, back)));
    camera.up.set(...up);
    const [x, y, z] = [right, up, back].map((axis) => new Vector3(...axis));
    camera.quaternion.setFromRotationMatrix(new Matrix4().makeBasis(x, y, z));
    camera.aspect = aspect;
    camera.near = distance * 0.02;
    camera.far = Math.max(distance, dot(plus(scaled(radius, pan), scaled(distance, back)), back)) + 40 * radius;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }

  private across(x: number, y: number, size: number): Vec3 {
    const { right, up } = cameraAxes(this.now.azimuthDeg, this.now.elevationDeg);
    return plus(scaled(x * size, right), scaled(y * size, up));
  }
}

const clamp = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));
