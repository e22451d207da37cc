// The attitude of a uniformly rotating frame.

import { fromRotationVector, scaled, type Quat } from "../../motion/vectors.ts";
import type { ThirdFrame } from "../stage.ts";

/** Frame to world: along the world's axes at t = 0. */
export const frameAttitude = (frame: ThirdFrame | null, t: number): Quat =>
  frame === null ? [1, 0, 0, 0] : fromRotationVector(scaled(t, frame.angularVelocity));
