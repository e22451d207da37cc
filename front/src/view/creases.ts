// Normals and edges of a mesh: sharp where faces meet at an angle, smooth where they approximate a curved surface.

/** Crease angle in rad: faces that meet at less are shaded as one curved surface. */
export const CREASE = (35 * Math.PI) / 180;
/** Edges are not drawn for a body with more sharp edges than this, such as an asteroid. */
const MAX_EDGES = 3000;

export interface CreasedMesh {
  /** Three corners per face, three coordinates per corner. */
  positions: Float32Array;
  normals: Float32Array;
  /** Two ends per edge, three coordinates per end. */
  edges: Float32Array;
}

export function splitAtCreases(vertices: ArrayLike<number>, faces: ArrayLike<number>, scale = 1, crease = CREASE): CreasedMesh {
  const corner = mergeCorners(vertices, faces);
  const count = faces.length / 3;
  const unit = faceNormals(vertices, faces);
  const angle = cornerAngles(vertices, faces);
  const limit = Math.cos(crease);
  const positions = new Float32Array(9 * count);
  const normals = new Float32Array(9 * count);
  const around = cornersAround(corner);
  for (let k = 0; k < 3 * count; k++) {
    const face = Math.floor(k / 3);
    const sum = [0, 0, 0];
    for (const other of around[corner[k]]) {
      const f = Math.floor(other / 3);
      if (dot3(unit, face, f) < limit) continue;
      for (let i = 0; i < 3; i++) sum[i] += unit[3 * f + i] * angle[other];
    }
    const length = Math.hypot(sum[0], sum[1], sum[2]) || 1;
    for (let i = 0; i < 3; i++) {
      positions[3 * k + i] = vertices[3 * faces[k] + i] * scale;
      normals[3 * k + i] = sum[i] / length;
    }
  }
  return { positions, normals, edges: sharpEdges(corner, positions, unit, limit) };
}

/** An index for each corner of each face, the same for corners at the same position. */
function mergeCorners(vertices: ArrayLike<number>, faces: ArrayLike<number>): Uint32Array {
  let size = 0;
  for (let i = 0; i < vertices.length; i++) size = Math.max(size, Math.abs(vertices[i]));
  const grain = size > 0 ? 1e6 / size : 1;
  const known = new Map<string, number>();
  return Uint32Array.from(faces, (v) => {
    const key = [0, 1, 2].map((i) => Math.round(vertices[3 * v + i] * grain)).join();
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  });
}

function faceNormals(v: ArrayLike<number>, faces: ArrayLike<number>): Float64Array {
  const count = faces.length / 3;
  const unit = new Float64Array(3 * count);
  for (let f = 0; f < count; f++) {
    const [a, b, c] = [faces[3 * f], faces[3 * f + 1], faces[3 * f + 2]];
    const u = [0, 1, 2].map((i) => v[3 * b + i] - v[3 * a + i]);
    const w = [0, 1, 2].map((i) => v[3 * c + i] - v[3 * a + i]);
    const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
    const length = Math.hypot(n[0], n[1], n[2]);
    for (let i = 0; i < 3; i++) unit[3 * f + i] = length > 0 ? n[i] / length : 0;
  }
  return unit;
}

/** Angle of each face at each of its corners, in rad: its weight in the vertex normal. */
function cornerAngles(v: ArrayLike<number>, faces: ArrayLike<number>): Float64Array {
  return Float64Array.from(faces, (here, k) => {
    const first = k - (k % 3);
    const [a, b] = [1, 2].map((step) => {
      const there = faces[first + ((k + step) % 3)];
      return [0, 1, 2].map((i) => v[3 * there + i] - v[3 * here + i]);
    });
    const lengths = Math.hypot(a[0], a[1], a[2]) * Math.hypot(b[0], b[1], b[2]);
    const cosine = lengths > 0 ? (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / lengths : 1;
    return Math.acos(Math.max(-1, Math.min(1, cosine)));
  });
}

function cornersAround(corner: Uint32Array): number[][] {
  const around: number[][] = [];
  corner.forEach((c, k) => (around[c] ??= []).push(k));
  return around;
}

function sharpEdges(corner: Uint32Array, positions: Float32Array, unit: Float64Array, limit: number): Float32Array {
  const sides = new Map<string, number[]>();
  for (let k = 0; k < corner.length; k++) {
    const next = k % 3 === 2 ? k - 2 : k + 1;
    const [a, b] = [corner[k], corner[next]];
    if (a === b) continue;
    const key = a < b ? `${a},${b}` : `${b},${a}`;
    const found = sides.get(key);
    if (found) found.push(k);
    else sides.set(key, [k]);
  }
  const ends: number[] = [];
  for (const meeting of sides.values()) {
    const [k, other] = meeting;
    if (meeting.length === 2 && dot3(unit, Math.floor(k / 3), Math.floor(other / 3)) >= limit) continue;
    const next = k % 3 === 2 ? k - 2 : k + 1;
    ends.push(...positions.subarray(3 * k, 3 * k + 3), ...positions.subarray(3 * next, 3 * next + 3));
  }
  return ends.length > 6 * MAX_EDGES ? new Float32Array(0) : Float32Array.from(ends);
}

const dot3 = (n: Float64Array, a: number, b: number): number =>
  n[3 * a] * n[3 * b] + n[3 * a + 1] * n[3 * b + 1] + n[3 * a + 2] * n[3 * b + 2];
