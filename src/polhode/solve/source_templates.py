"""The parts of an exported program that are the same for all scenarios: how it walks through a run, and its main.

@words stand for the phrases of a language; see `polhode.ir.targets.source.translate`.
"""

from __future__ import annotations

COMMON = """\
// Write a sample: the time, then the numbers of each body.
@function polhode_write(@out out, @whole row, @whole unit, @in sample) {
  @integer at = (row * POLHODE_UNITS + unit) * (1 + POLHODE_SAMPLE_SIZE);
  out[at] = polhode_output_times[row];
  for (@integer i = 0; i < POLHODE_SAMPLE_SIZE; i++) out[at + 1 + i] = sample[i];
}

// The drift of the attitude is counted from the last sample on.
@function polhode_clear_drift(@out state) {
  for (@integer i = POLHODE_COLUMNS - 1; i < POLHODE_SAMPLE_SIZE; i += POLHODE_COLUMNS) state[i] = 0.0;
}

// Copy all but the drift.
@function polhode_copy_state(@out to, @in from) {
  for (@integer i = 0; i < POLHODE_SAMPLE_SIZE; i++) {
    if (i % POLHODE_COLUMNS != POLHODE_COLUMNS - 1) to[i] = from[i];
  }
}

@function polhode_load(@whole unit, @out state, @out parameters) {
  for (@integer i = 0; i < POLHODE_STATE_SIZE; i++) state[i] = polhode_initial_states[unit * POLHODE_STATE_SIZE + i];
  for (@integer i = 0; i < POLHODE_PARAMETER_SIZE; i++) {
    parameters[i] = polhode_initial_parameters[unit * POLHODE_PARAMETER_SIZE + i];
  }
}

// Read a sample that has been written; write it again, all but the drift.
@function polhode_reread(@in out, @whole row, @whole unit, @out state) {
  @integer at = (row * POLHODE_UNITS + unit) * (1 + POLHODE_SAMPLE_SIZE) + 1;
  for (@integer i = 0; i < POLHODE_SAMPLE_SIZE; i++) state[i] = out[at + i];
}

@function polhode_rewrite(@out out, @whole row, @whole unit, @in state) {
  @integer at = (row * POLHODE_UNITS + unit) * (1 + POLHODE_SAMPLE_SIZE) + 1;
  for (@integer i = 0; i < POLHODE_SAMPLE_SIZE; i++) {
    if (i % POLHODE_COLUMNS != POLHODE_COLUMNS - 1) out[at + i] = state[i];
  }
}
"""

END = """\
  // Impulses at the very end show in the last sample.
  polhode_reread(out, POLHODE_OUTPUTS - 1, unit, state);
  polhode_impulses(POLHODE_SEGMENTS, state, parameters);
  polhode_rewrite(out, POLHODE_OUTPUTS - 1, unit, state);
}
"""

FIXED = """\
// The whole run of a unit: an output off the grid of steps is reached by a shorter step on a copy.
@function polhode_run(@whole unit, @out out) {
  @array state[POLHODE_STATE_SIZE];
  @array copy[POLHODE_STATE_SIZE];
  @array parameters[POLHODE_PARAMETER_SIZE];
  polhode_load(unit, state, parameters);
  for (@integer segment = 0; segment < POLHODE_SEGMENTS; segment++) {
    polhode_impulses(segment, state, parameters);
    polhode_windows(segment, parameters);
    @real start = polhode_segment_starts[segment];
    @integer k = 0;
    for (@integer s = polhode_segment_stops[segment]; s < polhode_segment_stops[segment + 1]; s++) {
      for (; k < polhode_stop_steps[s]; k++) polhode_step(state, parameters, start + k * POLHODE_STEP, POLHODE_STEP);
      for (@integer i = 0; i < POLHODE_STATE_SIZE; i++) copy[i] = state[i];
      @real rest = polhode_stop_rests[s];
      if (rest > 0.0) polhode_step(copy, parameters, start + k * POLHODE_STEP, rest);
      if (polhode_stop_outputs[s] >= 0.0) polhode_write(out, polhode_stop_outputs[s], unit, copy);
      else polhode_copy_state(state, copy);
      polhode_clear_drift(state);
    }
  }
"""

CLOSED_FORM = """\
// The whole run of a unit: each sample straight from the last impulse.
@function polhode_run(@whole unit, @out out) {
  @array state[POLHODE_STATE_SIZE];
  @array sample[POLHODE_SAMPLE_SIZE];
  @array parameters[POLHODE_PARAMETER_SIZE];
  @real origin = POLHODE_START;
  polhode_load(unit, state, parameters);
  for (@integer segment = 0; segment < POLHODE_SEGMENTS; segment++) {
    if (polhode_segment_has_impulses[segment] > 0.0) {
      polhode_state_at(sample, state, parameters, origin, polhode_segment_starts[segment] - origin);
      polhode_copy_state(state, sample);
      polhode_impulses(segment, state, parameters);
      origin = polhode_segment_starts[segment];
    }
    for (@integer s = polhode_segment_stops[segment]; s < polhode_segment_stops[segment + 1]; s++) {
      polhode_state_at(sample, state, parameters, origin, polhode_output_times[s] - origin);
      polhode_write(out, s, unit, sample);
    }
  }
  if (polhode_segment_has_impulses[POLHODE_SEGMENTS] > 0.0) {  // impulses at the very end show in the last sample
    polhode_reread(out, POLHODE_OUTPUTS - 1, unit, state);
    polhode_impulses(POLHODE_SEGMENTS, state, parameters);
    polhode_state_at(sample, state, parameters, polhode_output_times[POLHODE_OUTPUTS - 1], 0.0);
    polhode_rewrite(out, POLHODE_OUTPUTS - 1, unit, sample);
  }
}
"""

ATTEMPT = """\
// One attempt at a step, at most to time end (from start on, in s); the clock in the state tells its result.
@function polhode_attempt(@out state, @in parameters, @out work, @number start, @number end) {
  polhode_try(state, parameters, work, start, end);
  polhode_finish(state, work, end);
}
"""

ADAPTIVE = """\
// Advance to time `end` (from POLHODE_START on) and beyond the outputs from `first` to `last`, which are written.
@function polhode_advance(
  @whole unit, @out state, @in parameters, @out work, @number end, @whole first, @whole last, @number through,
  @out out
) {
  @array sample[POLHODE_SAMPLE_SIZE];
  @integer s = first;
  while (true) {
    for (; s < last && polhode_output_times[s] - POLHODE_START <= state[POLHODE_TIME]; s++) {
      polhode_write(out, s, unit, state);
      polhode_clear_drift(state);
    }
    if (!(state[POLHODE_STEP_SIZE] > 0.0 && (s < last || (through > 0.0 && state[POLHODE_TIME] < end)))) return;
    polhode_try(state, parameters, work, POLHODE_START, end);
    @@INSIDE
    polhode_finish(state, work, end);
  }
}

// The whole run of a unit.  Samples that are not reached, since the step has shrunk to zero, are NaN.
@function polhode_run(@whole unit, @out out) {
  @array state[POLHODE_STATE_SIZE];
  @array parameters[POLHODE_PARAMETER_SIZE];
  @array work[POLHODE_WORK_SIZE];
  polhode_load(unit, state, parameters);
  for (@integer s = 0; s < POLHODE_OUTPUTS; s++) {
    @integer at = (s * POLHODE_UNITS + unit) * (1 + POLHODE_SAMPLE_SIZE) + 1;
    for (@integer i = 0; i < POLHODE_SAMPLE_SIZE; i++) out[at + i] = POLHODE_NOT_REACHED;
  }
  for (@integer segment = 0; segment < POLHODE_SEGMENTS; segment++) {
    polhode_impulses(segment, state, parameters);
    polhode_windows(segment, parameters);
    @real end = polhode_segment_ends[segment] - POLHODE_START;
    @integer first = polhode_segment_stops[segment];
    @integer last = polhode_segment_stops[segment + 1];
    polhode_advance(unit, state, parameters, work, end, first, last, polhode_segment_through[segment], out);
  }
"""

INSIDE = """\
@real t = state[POLHODE_TIME];
    @real reached = state[POLHODE_STEP_SIZE] < end - t ? t + state[POLHODE_STEP_SIZE] : end;
    if (work[POLHODE_STEP_ERROR] <= 1.0 && s < last && polhode_output_times[s] - POLHODE_START < reached) {
      polhode_fit(state, parameters, work, POLHODE_START);
      for (; s < last && polhode_output_times[s] - POLHODE_START < reached; s++) {
        @real theta = (polhode_output_times[s] - POLHODE_START - t) / work[POLHODE_STEP_TRIED];
        polhode_inside(sample, state, work, theta);
        polhode_write(out, s, unit, sample);
      }
    }
"""

C_HEAD = """\
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
"""

_C_PRINT = """\
  printf("%s\\n", "@@HEADER");
  for (long row = 0; row < (long)POLHODE_OUTPUTS * POLHODE_UNITS; row++) {
    const double *sample = out + row * (1 + POLHODE_SAMPLE_SIZE);
    for (long body = 0; body < POLHODE_BODIES; body++) {
      printf("%.17g,%ld", sample[0], row % POLHODE_UNITS * POLHODE_BODIES + body);
      for (long i = 0; i < POLHODE_COLUMNS; i++) printf(",%.17g", sample[1 + body * POLHODE_COLUMNS + i]);
      printf("\\n");
    }
  }
"""

C_MAIN = f"""\
#ifndef POLHODE_NO_MAIN
// Run all units and print their samples.
int main(void) {{
  double *out = malloc(sizeof(double) * POLHODE_OUTPUTS * POLHODE_UNITS * (1 + POLHODE_SAMPLE_SIZE));
  if (out == NULL) return 1;
  for (long unit = 0; unit < POLHODE_UNITS; unit++) polhode_run(unit, out);
{_C_PRINT}  free(out);
  return 0;
}}
#endif
"""

CUDA_HEAD = """\
#include <cmath>
#include <cstdio>
#include <cstdlib>
#ifndef __CUDACC__  // an ordinary C++ compiler: everything runs on the host
#define __device__
#define __global__
#endif
"""

CUDA_MAIN = f"""\
#ifndef POLHODE_NO_MAIN
#ifdef __CUDACC__
// One thread for each unit.
__global__ void polhode_kernel(double *out) {{
  const long unit = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (unit < POLHODE_UNITS) polhode_run(unit, out);
}}
#endif

// Run all units and print their samples.
int main() {{
  const size_t size = sizeof(double) * POLHODE_OUTPUTS * POLHODE_UNITS * (1 + POLHODE_SAMPLE_SIZE);
  double *out = (double *)malloc(size);
  if (out == NULL) return 1;
#ifdef __CUDACC__
  double *on_device = NULL;
  cudaMalloc(&on_device, size);
  polhode_kernel<<<(POLHODE_UNITS + 127) / 128, 128>>>(on_device);
  const cudaError_t error = cudaMemcpy(out, on_device, size, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {{
    fprintf(stderr, "%s\\n", cudaGetErrorString(error));
    return 1;
  }}
#else
  for (long unit = 0; unit < POLHODE_UNITS; unit++) polhode_run(unit, out);
#endif
{_C_PRINT}  free(out);
  return 0;
}}
#endif
"""

JAVASCRIPT_HEAD = """\
"use strict";
"""

JAVASCRIPT_MAIN = """\
// Run all units and print their samples.
function main() {
  const out = new Float64Array(POLHODE_OUTPUTS * POLHODE_UNITS * (1 + POLHODE_SAMPLE_SIZE));
  for (let unit = 0; unit < POLHODE_UNITS; unit++) polhode_run(unit, out);
  const text = (x) => (Object.is(x, -0) ? "-0" : String(x));
  const lines = ["@@HEADER"];
  for (let row = 0; row < POLHODE_OUTPUTS * POLHODE_UNITS; row++) {
    const at = row * (1 + POLHODE_SAMPLE_SIZE);
    for (let body = 0; body < POLHODE_BODIES; body++) {
      const start = at + 1 + body * POLHODE_COLUMNS;
      const who = (row % POLHODE_UNITS) * POLHODE_BODIES + body;
      const numbers = [out[at], who, ...out.subarray(start, start + POLHODE_COLUMNS)];
      lines.push(numbers.map(text).join(","));
    }
  }
  console.log(lines.join("\\n"));
}

if (typeof module !== "undefined") {  // Node; in a page or a worker the functions are there as they are
  module.exports = { @@EXPORTS };
  if (require.main === module) main();
}
"""
