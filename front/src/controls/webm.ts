// Encoded frames as a WebM file.  [Matroska element specification, RFC 9559]

export interface EncodedFrame {
  data: Uint8Array;
  /** Time in ms, a whole number. */
  at: number;
  isKey: boolean;
}

export interface FilmFormat {
  /** V_VP8 or V_VP9. */
  codec: string;
  width: number;
  height: number;
  /** Duration in ms. */
  duration: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** A whole number in as many bytes as it needs, or as given. */
function number(value: number, size = Math.max(1, Math.ceil(Math.log2(value + 1) / 8))): Bytes {
  const bytes = new Uint8Array(size);
  for (let k = size - 1, rest = value; k >= 0; k--, rest = Math.floor(rest / 256)) bytes[k] = rest % 256;
  return bytes;
}

/** An element: its id, its size in 8 bytes, its contents. */
function element(id: number, ...contents: Uint8Array[]): Bytes {
  const size = contents.reduce((sum, { length }) => sum + length, 0);
  const head = number(id);
  const bytes = new Uint8Array(head.length + 8 + size);
  bytes.set(head);
  bytes.set(number(size, 8), head.length);
  bytes[head.length] = 1;
  let at = head.length + 8;
  for (const part of contents) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const text = (words: string): Bytes => new TextEncoder().encode(words) as Bytes;

function float(value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

/** Frames in order of time, the first of which is a key frame; each key frame begins a cluster, to which players can jump. */
export function writeWebm(frames: EncodedFrame[], { codec, width, height, duration }: FilmFormat): Blob {
  const head = element(
    0x1a45dfa3,
    element(0x4286, number(1)),
    element(0x42f7, number(1)),
    element(0x42f2, number(4)),
    element(0x42f3, number(8)),
    element(0x4282, text("webm")),
    element(0x4287, number(4)),
    element(0x4285, number(2)),
  );
  const millisecond = element(0x2ad7b1, number(1_000_000));
  const info = element(0x1549a966, millisecond, element(0x4d80, text("Polhode")), element(0x5741, text("Polhode")), element(0x4489, float(duration)));
  const size = element(0xe0, element(0xb0, number(width)), element(0xba, number(height)));
  const track = element(0xae, element(0xd7, number(1)), element(0x73c5, number(1)), element(0x83, number(1)), element(0x86, text(codec)), size);
  const tracks = element(0x1654ae6b, track);
  const starts = frames.flatMap(({ isKey }, k) => (isKey ? [k] : []));
  const clusters = starts.map((start, k) => cluster(frames.slice(start, starts[k + 1])));
  const cuesOf = (positions: number[]): Bytes => element(0x1c53bb6b, ...starts.map((start, k) => cue(frames[start].at, positions[k])));
  // Positions take 8 bytes each, so that the size of the table of clusters does not depend on them.
  let at = info.length + tracks.length + cuesOf(starts.map(() => 0)).length;
  const cues = cuesOf(clusters.map(({ length }) => (at += length) - length));
  return new Blob([head, element(0x18538067, info, tracks, cues, ...clusters)], { type: "video/webm" });
}

const cue = (time: number, position: number): Bytes =>
  element(0xbb, element(0xb3, number(time, 8)), element(0xb7, element(0xf7, number(1)), element(0xf1, number(position, 8))));

function cluster(frames: EncodedFrame[]): Bytes {
  const start = frames[0].at;
  const blocks = frames.map(({ data, at, isKey }) => element(0xa3, Uint8Array.of(0x81), number(at - start, 2), Uint8Array.of(isKey ? 0x80 : 0), data));
  return element(0x1f43b675, element(0xe7, number(start, 8)), ...blocks);
}
