// Normals and edges of meshes for which they are known.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decimateMesh } from "../src/view/decimation.ts";
import { splitAtCreases } from "../src/view/creases.ts";

const CUBE = {
  vertices: Float64Array.from({ length: 24 }, (_, i) => ((Math.floor(i / 3) >> i % 3) & 1 ? 1 : -1)),
  faces: Uint32Array.from([
    0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5,
  ]),
};

/** A ball of rings and slices with duplicate vertices at the seam and the poles. */
function ball(rings: number, slices: number) {
  const vertices: number[] = [];
  const faces: number[] = [];
  for (let j = 0; j <= rings; j++) {
    for (let i = 0; i <= slices; i++) {
      const [down, round] = [(Math.PI * j) / rings, (2 * Math.PI * i) / slices];
      vertices.push(Math.sin(down) * Math.cos(round), Math.sin(down) * Math.sin(round), Math.cos(down));
    }
  }
  for (let j = 0; j < rings; j++) {
    for (let i = 0; i < slices; i++) {
      const [a, b] = [j * (slices + 1) + i, (j + 1) * (slices + 1) + i];
      if (j > 0) faces.push(a, b, a + 1);
      if (j < rings - 1) faces.push(a + 1, b, b + 1);
    }
  }
  return { vertices: Float64Array.from(vertices), faces: Uint32Array.from(faces) };
}

test("a cube has flat faces and its twelve edges, without the diagonals of its faces", () => {
  const { positions, normals, edges } = splitAtCreases(CUBE.vertices, CUBE.faces, 2);
  assert.equal(edges.length / 6, 12);
  assert.equal(positions.length, 3 * CUBE.faces.length);
  for (let k = 0; k < normals.length; k += 3) {
    const n = normals.subarray(k, k + 3);
    assert.deepEqual(Array.from(n, Math.abs).sort(), [0, 0, 1]);
    assert.equal(n.reduce((sum, c, i) => sum + c * positions[k + i], 0), 2);
  }
});

test("a ball is smooth across its seam and has no edges: its normals are radial", () => {
  const { vertices, faces } = ball(24, 48);
  const { positions, normals, edges } = splitAtCreases(vertices, faces);
  assert.equal(edges.length, 0);
  for (let k = 0; k < normals.length; k++) assert.ok(Math.abs(normals[k] - positions[k]) < 0.02);
});

test("a body of 1e-10 m has the same creases as one of 1 m", () => {
  const small = splitAtCreases(CUBE.vertices.map((x) => 1e-10 * x), CUBE.faces, 1e10);
  const large = splitAtCreases(CUBE.vertices, CUBE.faces);
  assert.equal(small.edges.length, large.edges.length);
  small.normals.forEach((n, i) => assert.ok(Math.abs(n - large.normals[i]) < 1e-6));
});

test("a decimated ball has at most the requested number of faces, and about the same size", () => {
  const { vertices, faces } = ball(40, 80);
  const coarse = decimateMesh(vertices, faces, 300);
  assert.ok(coarse.faces.length / 3 <= 300 && coarse.faces.length / 3 > 50);
  assert.ok(coarse.faces.every((v) => v < coarse.vertices.length / 3));
  for (let v = 0; v < coarse.vertices.length; v += 3) {
    const radius = Math.hypot(...coarse.vertices.subarray(v, v + 3));
    assert.ok(radius > 0.75 && radius < 1.01);
  }
});
