// A coarser mesh of a body, for a crowd in which each is small on the screen.

/** At most about so many faces: vertices that share a cell of a grid become one. */
export function coarser(
  vertices: Float64Array,
  faces: Uint32Array,
  most: number,
): { vertices: Float64Array; faces: Uint32Array } {
  let found = { vertices, faces };
  for (let cells = 24; found.faces.length / 3 > most && cells >= 2; cells = Math.floor(cells * 0.75)) {
    found = clustered(vertices, faces, cells);
  }
  return found;
}

function clustered(vertices: Float64Array, faces: Uint32Array, cells: number) {
  let size = 0;
  for (const x of vertices) size = Math.max(size, Math.abs(x));
  const cell = (2 * size) / cells || 1;
  const places = new Map<string, { number: number; sum: number[]; count: number }>();
  const becomes = new Uint32Array(vertices.length / 3);
  for (let v = 0; v < becomes.length; v++) {
    const x = [0, 1, 2].map((i) => vertices[3 * v + i]);
    const key = x.map((c) => Math.floor((c + size) / cell)).join();
    const place = places.get(key) ?? { number: places.size, sum: [0, 0, 0], count: 0 };
    places.set(key, place);
    x.forEach((c, i) => (place.sum[i] += c));
    place.count += 1;
    becomes[v] = place.number;
  }
  const kept: number[] = [];
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [becomes[faces[f]], becomes[faces[f + 1]], becomes[faces[f + 2]]];
    if (a !== b && b !== c && c !== a) kept.push(a, b, c);
  }
  const means = new Float64Array(3 * places.size);
  for (const { number, sum, count } of places.values()) sum.forEach((s, i) => (means[3 * number + i] = s / count));
  return { vertices: means, faces: Uint32Array.from(kept) };
}
