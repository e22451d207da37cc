"""The driver of a compiled run in JavaScript, and its header in C; @@words are filled in."""

from __future__ import annotations

JAVASCRIPT = """\
// @@TITLE.
// Written by Polhode: it runs @@NAME.wasm, which lies beside it, in Node and in pages.
//   import { load } from "./@@NAME.mjs";
//   const { times, samples, columns } = (await load()).run();
// Sample s of body b begins at (s * RUN.bodies + b) * columns.length; NaN: it was not reached.

export const RUN = @@RUN;
export const columns = RUN.columns;
const TIMES = @@TIMES;
const IMAGE = "@@IMAGE";

/** Compile the module: of these bytes, or of the file beside this one. */
export async function load(bytes) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil((RUN.base + RUN.size) / 65536) });
  const __stack_pointer = new WebAssembly.Global({ value: "i32", mutable: true }, RUN.base);
  const env = { __linear_memory: memory, __stack_pointer, fmod: (x, y) => x % y };
  const { instance } = await WebAssembly.instantiate(bytes ?? (await read()), { env });
  return new Run(memory, instance.exports.advance);
}

async function read() {
  const url = new URL("@@NAME.wasm", import.meta.url);
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url);
  return (await fetch(url)).arrayBuffer();
}

class Run {
  constructor(memory, advance) {
    this.memory = memory;
    this.advance = advance;
    this.image = Uint8Array.from(atob(IMAGE), (letter) => letter.charCodeAt(0));
  }

  /** The numbers of an array by name, in memory. */
  view(name) {
    const { at, length, kind } = RUN.arrays[name];
    const kinds = { f: Float64Array, i: BigInt64Array, b: Uint8Array, V: Float64Array };
    return new kinds[kind](this.memory.buffer, RUN.base + at, length);
  }

  /** Compute the run from its beginning; `change` may change numbers before: (view) => { view("buffer")[0] = 1; }. */
  run(change = () => {}) {
    new Uint8Array(this.memory.buffer, RUN.base, RUN.size).fill(0).set(this.image);
    this.view("out").fill(NaN);
    const view = (name) => this.view(name), log = [];
    change(view);
    const words = new BigInt64Array(this.memory.buffer, RUN.base, this.image.length / 8);
    for (const segment of RUN.segments) {
      for (const [word, bits] of segment.changes) words[word] = BigInt(bits);
      do {
        clearLog(view);
        this.advance(RUN.base + segment.record, 0n, BigInt(RUN.units));
        readLog(view, log);
      } while (isGoing(view, segment));
    }
    return { times: TIMES.slice(), samples: this.samples(), columns, log, failure: failureOf(view) };
  }

  samples() {
    const { systems, each, blocks, lanes, bodies } = RUN, width = columns.length;
    const out = this.view("out"), samples = new Float64Array(TIMES.length * bodies * width);
    let i = 0;
    for (let s = 0; s < TIMES.length * systems; s++) {
      for (let b = 0; b < each; b++) {
        const at = (s * blocks + Math.floor(b / lanes)) * width * lanes + (b % lanes);
        for (let c = 0; c < width; c++) samples[i++] = out[at + c * lanes];
      }
    }
    return samples;
  }
}
"""

JAVASCRIPT_PARTS = {
    "straight": """
function clearLog() {}
function readLog() {}
const isGoing = () => false;
const failureOf = () => null;
""",
    "clocked": """
// A row of the log is an event: its number, its clock, the body, the time, and the sample.
function clearLog(view) {
  view("found")[0] = 0n;
}

function readLog(view, log) {
  const words = view("log"), whole = new BigInt64Array(words.buffer, words.byteOffset, words.length);
  for (let i = 0; i < Number(view("found")[0]); i++) {
    const at = i * RUN.logWidth, row = words.slice(at, at + RUN.logWidth);
    for (let k = 0; k < RUN.logWhole; k++) row[k] = Number(whole[at + k]);
    log.push(row);
  }
}

/** Whether a clock with outputs before it, or time to the end of the segment, still makes steps. */
function isGoing(view, segment) {
  const buffer = view("buffer"), done = new BigInt64Array(buffer.buffer, RUN.base + segment.done, RUN.clocks);
  for (let c = 0; c < RUN.clocks; c++) {
    const at = Math.floor(c / RUN.slots) * RUN.stride + (c % RUN.slots);
    const isLeft = Number(done[c]) < segment.outputs || buffer[at + RUN.timeAt] < segment.end;
    if (isLeft && buffer[at + RUN.stepAt] > 0) return true;
  }
  return false;
}

const failureOf = () => null;
""",
    "contact": """
// A row of the log is a point of an impact: time, body, other, surface, point, normal, normal impulse, tangential
// impulse, energy lost, kind, and last the system.
function clearLog(view) {
  for (let u = 0; u < RUN.units; u++) view("memory")[u * RUN.memory + RUN.loggedAt] = 0;
}

function readLog(view, log) {
  const rows = view("log");
  for (let u = 0; u < RUN.units; u++) {
    for (let i = 0; i < view("memory")[u * RUN.memory + RUN.loggedAt]; i++) {
      const at = (u * RUN.logRows + i) * RUN.logWidth;
      log.push(Float64Array.from([...rows.subarray(at, at + RUN.logWidth), u]));
    }
  }
}

const statuses = (view) => Array.from({ length: RUN.units }, (_, u) => view("memory")[u * RUN.memory + RUN.statusAt]);
const isGoing = (view) => statuses(view).some((status) => status === RUN.running || status === RUN.logFull);

/** Why the first system that failed did so. */
function failureOf(view) {
  const system = statuses(view).findIndex((status) => status > RUN.logFull);
  return system < 0 ? null : { system, reason: RUN.failures[statuses(view)[system]] };
}
""",
}

HEADER = """\
// @@TITLE.
// Written by Polhode, for @@NAME.o.  To use it: include this file in one source file, and link with @@NAME.o and -lm.
//   void *memory = aligned_alloc(64, POLHODE_MEMORY);
//   polhode_load(memory);
//   polhode_run(memory, NULL);
//   double x = polhode_sample(memory, POLHODE_OUTPUTS - 1, 0, 0);
// The numbers of a sample: @@COLUMNS.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

void advance(void *record, int64_t first, int64_t last);

@@DEFINES
static const double polhode_times[] = {@@TIMES};
// What is in memory before the run, and which of these words are addresses.
static const uint64_t polhode_image[] = {@@IMAGE};
static const uint32_t polhode_addresses[] = {@@ADDRESSES};
// Between two times that no step crosses: where the record is, how many outputs there are and where they are counted,
// the end if it must be reached, and how many changes of the words of memory (place, new bits) are made before it.
static const struct {
  int64_t record, outputs, done;
  double end;
  int64_t changes;
} polhode_segments[] = {@@SEGMENTS};
static const uint64_t polhode_changes[][2] = {@@CHANGES};

static inline double *polhode_doubles(void *memory, int64_t at) { return (double *)((char *)memory + at); }

// Fill memory: POLHODE_MEMORY bytes, whose address is a multiple of 64.
static inline void polhode_load(void *memory) {
  memset(memory, 0, POLHODE_MEMORY);
  memcpy(memory, polhode_image, sizeof polhode_image);
  for (size_t i = 0; i < sizeof polhode_addresses / sizeof *polhode_addresses; i++) {
    ((uint64_t *)memory)[polhode_addresses[i]] += (uint64_t)(uintptr_t)memory;
  }
  memset((char *)memory + POLHODE_AT_out, 0xff, POLHODE_SIZE_out);  // NaN: not reached
}

// A number of a sample.  Bodies are counted through: those of the first member, then of the second, and so on.
static inline double polhode_sample(void *memory, int64_t output, int64_t body, int64_t column) {
  const int64_t system = body / POLHODE_EACH, b = body % POLHODE_EACH;
  const int64_t block = (output * POLHODE_SYSTEMS + system) * POLHODE_BLOCKS + b / POLHODE_LANES;
  const double *numbers = polhode_doubles(memory, POLHODE_AT_out) + block * POLHODE_COLUMNS * POLHODE_LANES;
  return numbers[column * POLHODE_LANES + b % POLHODE_LANES];
}
@@PARTS
// The whole run; `logged` takes the rows of the log, and may be NULL.
static inline void polhode_run(void *memory, void (*logged)(const double *row)) {
  int64_t change = 0;
  for (int s = 0; s < (int)(sizeof polhode_segments / sizeof *polhode_segments); s++) {
    for (; change < polhode_segments[s].changes; change++) {
      ((uint64_t *)memory)[polhode_changes[change][0]] = polhode_changes[change][1];
    }
    do {
      polhode_clear_log(memory);
      advance((char *)memory + polhode_segments[s].record, 0, POLHODE_UNITS);
      polhode_read_log(memory, logged);
    } while (polhode_is_going(memory, s));
  }
}
"""

HEADER_PARTS = {
    "straight": """
static inline void polhode_clear_log(void *memory) { (void)memory; }
static inline void polhode_read_log(void *memory, void (*logged)(const double *)) { (void)memory, (void)logged; }
static inline int polhode_is_going(void *memory, int segment) { return (void)memory, (void)segment, 0; }
""",
    "clocked": """
#define POLHODE_FOUND(memory) (*(int64_t *)((char *)(memory) + POLHODE_AT_found))
static inline void polhode_clear_log(void *memory) { POLHODE_FOUND(memory) = 0; }

// A row is an event: its number, its clock, the body, the time, and the sample.
static inline void polhode_read_log(void *memory, void (*logged)(const double *)) {
  for (int64_t i = 0; logged && i < POLHODE_FOUND(memory); i++) {
    double row[POLHODE_LOG_WIDTH];
    const double *words = polhode_doubles(memory, POLHODE_AT_log) + i * POLHODE_LOG_WIDTH;
    for (int k = 0; k < POLHODE_LOG_WIDTH; k++) {
      row[k] = k < POLHODE_LOG_WHOLE ? (double)((const int64_t *)words)[k] : words[k];
    }
    logged(row);
  }
}

// Whether a clock with outputs before it, or time to the end of the segment, still makes steps.
static inline int polhode_is_going(void *memory, int segment) {
  const int64_t *done = (const int64_t *)((char *)memory + polhode_segments[segment].done);
  for (int64_t c = 0; c < POLHODE_CLOCKS; c++) {
    const int64_t at = c / POLHODE_SLOTS * POLHODE_STRIDE + c % POLHODE_SLOTS;
    const double *clock = polhode_doubles(memory, POLHODE_AT_buffer) + at;
    const int is_left = done[c] < polhode_segments[segment].outputs ||
                        clock[POLHODE_TIME_AT] < polhode_segments[segment].end;
    if (is_left && clock[POLHODE_STEP_AT] > 0.0) return 1;
  }
  return 0;
}
""",
    "contact": """
static inline double *polhode_status(void *memory, int64_t unit) {
  return polhode_doubles(memory, POLHODE_AT_memory) + unit * POLHODE_MEMORY_SIZE;
}

static inline void polhode_clear_log(void *memory) {
  for (int64_t u = 0; u < POLHODE_UNITS; u++) polhode_status(memory, u)[POLHODE_LOGGED_AT] = 0.0;
}

// A row is a point of an impact: time, body, other, surface, point, normal, normal impulse, tangential impulse, energy
// lost, kind.
static inline void polhode_read_log(void *memory, void (*logged)(const double *)) {
  for (int64_t u = 0; logged && u < POLHODE_UNITS; u++) {
    for (int64_t i = 0; i < (int64_t)polhode_status(memory, u)[POLHODE_LOGGED_AT]; i++) {
      logged(polhode_doubles(memory, POLHODE_AT_log) + (u * POLHODE_LOG_ROWS + i) * POLHODE_LOG_WIDTH);
    }
  }
}

// Whether a system is still on its way.  A status above POLHODE_LOG_FULL says that it has failed.
static inline int polhode_is_going(void *memory, int segment) {
  (void)segment;
  for (int64_t u = 0; u < POLHODE_UNITS; u++) {
    const double status = polhode_status(memory, u)[POLHODE_STATUS_AT];
    if (status == POLHODE_RUNNING || status == POLHODE_LOG_FULL) return 1;
  }
  return 0;
}
""",
}
