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
    return new { f: Float64Array, i: BigInt64Array, b: Uint8Array }[kind](this.memory.buffer, RUN.base + at, length);
  }

  /** Compute the run from its beginning; `change` may change numbers before: (view) => { view("buffer")[0] = 1; }. */
  run(change = () => {}) {
    new Uint8Array(this.memory.buffer, RUN.base, RUN.size).fill(0).set(this.image);
    this.view("out").fill(NaN);
    const view = (name) => this.view(name), log = [];
    change(view);
    do {
      clearLog(view);
      this.advance(RUN.base, 0n, BigInt(RUN.units));
      readLog(view, log);
    } while (isGoing(view));
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
  for (let i = 0; i < Number(view("found")[0]); i++) {
    log.push(view("log").slice(i * RUN.logWidth, (i + 1) * RUN.logWidth));
  }
}

/** Whether a clock that has outputs before it still makes steps. */
function isGoing(view) {
  const done = view("done"), buffer = view("buffer");
  for (let c = 0; c < RUN.clocks; c++) {
    const step = buffer[Math.floor(c / RUN.slots) * RUN.stride + RUN.stepAt + (c % RUN.slots)];
    if (Number(done[c]) < TIMES.length && step > 0) return true;
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
#include <stdint.h>
#include <string.h>

void advance(void *record, int64_t first, int64_t last);

@@DEFINES
static const double polhode_times[] = {@@TIMES};
// What is in memory before the run, and which of these words are addresses.
static const uint64_t polhode_image[] = {@@IMAGE};
static const uint32_t polhode_addresses[] = {@@ADDRESSES};

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
  do {
    polhode_clear_log(memory);
    advance(memory, 0, POLHODE_UNITS);
    polhode_read_log(memory, logged);
  } while (polhode_is_going(memory));
}
"""

HEADER_PARTS = {
    "straight": """
static inline void polhode_clear_log(void *memory) { (void)memory; }
static inline void polhode_read_log(void *memory, void (*logged)(const double *)) { (void)memory, (void)logged; }
static inline int polhode_is_going(void *memory) { return (void)memory, 0; }
""",
    "clocked": """
#define POLHODE_FOUND(memory) (*(int64_t *)((char *)(memory) + POLHODE_AT_found))
static inline void polhode_clear_log(void *memory) { POLHODE_FOUND(memory) = 0; }

// A row is an event: its number, its clock, the body, the time, and the sample.
static inline void polhode_read_log(void *memory, void (*logged)(const double *)) {
  for (int64_t i = 0; logged && i < POLHODE_FOUND(memory); i++) {
    logged(polhode_doubles(memory, POLHODE_AT_log) + i * POLHODE_LOG_WIDTH);
  }
}

// Whether a clock that has outputs before it still makes steps.
static inline int polhode_is_going(void *memory) {
  const int64_t *done = (const int64_t *)((char *)memory + POLHODE_AT_done);
  const double *buffer = polhode_doubles(memory, POLHODE_AT_buffer);
  for (int64_t c = 0; c < POLHODE_CLOCKS; c++) {
    const double step = buffer[c / POLHODE_SLOTS * POLHODE_STRIDE + POLHODE_STEP_AT + c % POLHODE_SLOTS];
    if (done[c] < POLHODE_OUTPUTS && step > 0.0) return 1;
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
static inline int polhode_is_going(void *memory) {
  for (int64_t u = 0; u < POLHODE_UNITS; u++) {
    const double status = polhode_status(memory, u)[POLHODE_STATUS_AT];
    if (status == POLHODE_RUNNING || status == POLHODE_LOG_FULL) return 1;
  }
  return 0;
}
""",
}
