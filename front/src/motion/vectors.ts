// Vectors (x, y, z) and quaternions (w, x, y, z; Hamilton, body to world), as in Polhode's Python.

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

export const plus = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const minus = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scaled = (s: number, a: Vec3): Vec3 => [s * a[0], s * a[1], s * a[2]];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const cross = (a: Vec3, b: Vec3): Vec3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const lerp = (a: Vec3, b: Vec3, s: number): Vec3 => plus(a, scaled(s, minus(b, a)));

export const conjugate = (q: Quat): Quat => [q[0], -q[1], -q[2], -q[3]];

export function product(p: Quat, q: Quat): Quat {
  return [
    p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
    p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
    p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
    p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
  ];
}

/** From body axes to world axes: q r q*. */
export function toWorld(q: Quat, r: Vec3): Vec3 {
  const v: Vec3 = [q[1], q[2], q[3]];
  const t = scaled(2, cross(v, r));
  return plus(plus(r, scaled(q[0], t)), cross(v, t));
}

/** From world axes to body axes. */
export const toBody = (q: Quat, r: Vec3): Vec3 => toWorld(conjugate(q), r);

export function normalized(q: Quat): Quat {
  const size = Math.hypot(...q);
  return [q[0] / size, q[1] / size, q[2] / size, q[3] / size];
}

/** Quaternion of the rotation vector r. */
export function fromRotationVector(r: Vec3): Quat {
  const angle = length(r);
  const share = angle === 0 ? 0.5 : Math.sin(angle / 2) / angle;
  return [Math.cos(angle / 2), share * r[0], share * r[1], share * r[2]];
}

/** Rotation vector of a unit quaternion, at most half a turn. */
export function toRotationVector(q: Quat): Vec3 {
  const sign = q[0] < 0 ? -1 : 1;
  const v: Vec3 = [sign * q[1], sign * q[2], sign * q[3]];
  const sine = length(v);
  const angle = 2 * Math.atan2(sine, sign * q[0]);
  return sine === 0 ? [0, 0, 0] : scaled(angle / sine, v);
}
