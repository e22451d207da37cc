// A mesh with fewer faces, for ensembles in which each body is small on the screen.

/** Reduce a mesh to at most about `most` faces by merging the vertices in each cell of a grid. */
export function decimateMesh(
  vertices: Float64Array,
  faces: Uint32Array,
  most: number,
): { vertices: Float64Array; faces: Uint32Array } {
  let found = { vertices, faces };
  for (let cells = 24; found.faces.length / 3 > most && cells >= 2; cells = Math.floor(cells * 0.75)) {
    found = clusterVertices(vertices, faces, cells);
  }
  return found;
}

function clusterVertices(vertices: Float64Array, faces: Uint32Array, cells: number) {
  let size = 0;
  for (const x of vertices) size = Math.max(size, Math.abs(x));
  const cell = (2 * size) / cells || 1;
  const clusters = new Map<string, { number: number; sum: number[]; count: number }>();
  const clusterOf = new Uint32Array(vertices.length / 3);
  for (let v = 0; v < clusterOf.length; v++) {
    const x = [0, 1, 2].map((i) => vertices[3 * v + i]);
    const key = x.map((c) => Math.floor((c + size) / cell)).join();
    const cluster = clusters.get(key) ?? { number: clusters.size, sum: [0, 0, 0], count: 0 };
    clusters.set(key, cluster);
    x.forEach((c, i) => (cluster.sum[i] += c));
    cluster.count += 1;
    clusterOf[v] = cluster.number;
  }
  const kept: number[] = [];
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [clusterOf[faces[f]], clusterOf[faces[f + 1]], clusterOf[faces[f + 2]]];
    if (a !== b && b !== c && c !== a) kept.push(a, b, c);
  }
  const means = new Float64Array(3 * clusters.size);
  for (const { number, sum, count } of clusters.values()) sum.forEach((s, i) => (means[3 * number + i] = s / count));
  return { vertices: means, faces: Uint32Array.from(kept) };
}
