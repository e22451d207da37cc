// The space view as seen from a uniformly rotating frame: the camera turns with the frame, and so do the paths, which
// are those that the frame sees.

import { Quaternion, Vector3, type PerspectiveCamera } from "three";
import type { Pose } from "../motion/pose.ts";
import { fromRotationVector, minus, plus, scaled, toBody, type Quat, type Vec3 } from "../motion/vectors.ts";
import type { ThirdFrame } from "./stage.ts";

/** Frame to world: along the world's axes at t = 0. */
export const frameAttitude = (frame: ThirdFrame | null, t: number): Quat =>
  frame === null ? [1, 0, 0, 0] : fromRotationVector(scaled(t, frame.angularVelocity));

export const quaternionOf = (q: Quat): Quaternion => new Quaternion(q[1], q[2], q[3], q[0]);

/** Turn a camera that was placed for t = 0 with the frame, about the point at which it looks. */
export function turnCamera(camera: PerspectiveCamera, frame: ThirdFrame | null, t: number): void {
  if (frame === null) return;
  const turn = quaternionOf(frameAttitude(frame, t));
  camera.position.applyQuaternion(turn);
  camera.quaternion.premultiply(turn);
  camera.updateMatrixWorld();
}

/** Rotation that takes z to another direction upward. */
function raising(up: Vec3 | undefined): Quaternion | null {
  if (up === undefined || (up[0] === 0 && up[1] === 0)) return null;
  return new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...up).normalize());
}

/** Turn a camera that was placed for z upward so that another direction is, about the point at which it looks. */
export function raiseCamera(camera: PerspectiveCamera, up: Vec3 | undefined): void {
  const turn = raising(up);
  if (turn === null) return;
  camera.position.applyQuaternion(turn);
  camera.quaternion.premultiply(turn);
  camera.updateMatrixWorld();
}

/** A direction of the space view in the axes in which its camera is placed, before it is raised and turned. */
export function asPlaced(direction: Vec3, up: Vec3 | undefined, frame: ThirdFrame | null, t: number): Vec3 {
  const unturned = new Vector3(...toBody(frameAttitude(frame, t), direction));
  return unturned.applyQuaternion((raising(up) ?? new Quaternion()).invert()).toArray();
}

/** The pose with the angular velocity that the frame sees. */
export const relativeTo = (frame: ThirdFrame | null, pose: Pose): Pose =>
  frame === null ? pose : { ...pose, angularVelocity: minus(pose.angularVelocity, frame.angularVelocity) };

/** Where a path that the frame sees lies in the world at time 0; points in m, relative to the record's origin. */
export function pathInFrame(path: Vec3[], times: ArrayLike<number>, frame: ThirdFrame, origin: Vec3): Vec3[] {
  const center = minus(frame.origin, origin);
  return path.map((x, k) => plus(center, toBody(frameAttitude(frame, times[k]), minus(x, center))));
}
