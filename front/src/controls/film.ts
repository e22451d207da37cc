// Films of the page, rendered frame by frame at any pace.  Where the browser cannot encode frames, the film is recorded
// while it plays.

import { writeWebm, type EncodedFrame } from "./webm.ts";

export const FRAMES_PER_SECOND = 30;
/** Seconds between key frames, to which players jump. */
const KEY_SECONDS = 4;
const BITS_PER_PIXEL = 0.14;
const NO_FILM = "This browser cannot write WebM films; `polhode film` on the command line can.";
const CODECS = [
  { name: "vp09.00.40.08", id: "V_VP9" },
  { name: "vp8", id: "V_VP8" },
];

export interface Film {
  /** Times of the motion, in s, and seconds of motion per second of film. */
  from: number;
  to: number;
  pace: number;
  /** Draws a time of the motion. */
  draw(t: number): HTMLCanvasElement;
  /** Told the share that is done; false stops the film. */
  progress(share: number): boolean;
}

/** Number of frames; the last one shows the end. */
export const frameCount = ({ from, to, pace }: Pick<Film, "from" | "to" | "pace">): number =>
  Math.max(2, Math.round(((to - from) / pace) * FRAMES_PER_SECOND) + 1);

/** The film, or null if it was stopped. */
export async function makeFilm(film: Film): Promise<Blob | null> {
  const canvas = film.draw(film.from);
  const { width, height } = canvas;
  const settings = { width, height, framerate: FRAMES_PER_SECOND, bitrate: Math.round(width * height * FRAMES_PER_SECOND * BITS_PER_PIXEL) };
  if (typeof VideoEncoder !== "undefined")
    for (const { name, id } of CODECS) {
      const config: VideoEncoderConfig = { ...settings, codec: name, latencyMode: "quality" };
      const { supported } = await VideoEncoder.isConfigSupported(config);
      if (supported) return encodeFilm(film, config, id);
    }
  if (typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported("video/webm")) return recordFilm(film, canvas, settings.bitrate);
  throw new Error(NO_FILM);
}

async function encodeFilm(film: Film, config: VideoEncoderConfig, codec: string): Promise<Blob | null> {
  const frames: EncodedFrame[] = [];
  let failure: unknown = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      frames.push({ data, at: Math.round(chunk.timestamp / 1000), isKey: chunk.type === "key" });
    },
    error: (error) => (failure = error),
  });
  encoder.configure(config);
  const count = frameCount(film);
  try {
    for (let k = 0; k < count; k++) {
      const canvas = film.draw(film.from + ((film.to - film.from) * k) / (count - 1));
      const frame = new VideoFrame(canvas, { timestamp: Math.round((k * 1e6) / FRAMES_PER_SECOND), duration: Math.round(1e6 / FRAMES_PER_SECOND) });
      encoder.encode(frame, { keyFrame: k % (KEY_SECONDS * FRAMES_PER_SECOND) === 0 });
      frame.close();
      if (!film.progress((k + 1) / count)) return null;
      // The page stays alive, and the encoder does not fall behind by more than a few frames.
      do await new Promise((resolve) => setTimeout(resolve));
      while (encoder.encodeQueueSize > 3 && failure === null);
      if (failure !== null) throw failure;
    }
    await encoder.flush();
  } finally {
    if (encoder.state !== "closed") encoder.close();
  }
  const { width, height } = config;
  return writeWebm(frames, { codec, width, height, duration: (1000 * count) / FRAMES_PER_SECOND });
}

/** Recorded in real time: frames that come too late are left out, the pace is right. */
async function recordFilm(film: Film, canvas: HTMLCanvasElement, bitrate: number): Promise<Blob | null> {
  const recorder = new MediaRecorder(canvas.captureStream(FRAMES_PER_SECOND), { mimeType: "video/webm", videoBitsPerSecond: bitrate });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const stopped = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start();
  const start = performance.now();
  let isWanted = true;
  for (let share = 0; share < 1 && isWanted; ) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    share = Math.min(1, (((performance.now() - start) / 1000) * film.pace) / (film.to - film.from));
    film.draw(film.from + share * (film.to - film.from));
    isWanted = film.progress(share);
  }
  recorder.stop();
  await stopped;
  return isWanted ? new Blob(parts, { type: "video/webm" }) : null;
}
