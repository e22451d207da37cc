"""C99, and CUDA C++, which differs in a few phrases."""

from __future__ import annotations

from polhode.ir.targets.phrases import INFIX, Language

_HEAD = """\
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
"""

_PRINT = """\
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

_MAIN = f"""\
#ifndef POLHODE_NO_MAIN
// Run all units and print their samples.
int main(void) {{
  double *out = malloc(sizeof(double) * POLHODE_OUTPUTS * POLHODE_UNITS * (1 + POLHODE_SAMPLE_SIZE));
  if (out == NULL) return 1;
  for (long unit = 0; unit < POLHODE_UNITS; unit++) polhode_run(unit, out);
{_PRINT}  free(out);
  return 0;
}}
#endif
"""

_TABLE = "double {0}[{1}] = {{\n{2}\n}};"
C = Language(
    name="c",
    title="C",
    suffixes=(".c",),
    command="gcc -O2 -ffp-contract=off {0}.c -o {0} -lm && ./{0}",
    operations={
        **INFIX,
        "sqrt": "sqrt({0})",
        "floor": "floor({0})",
        "fmod": "fmod({0}, {1})",
        "sel": "{0} ? {1} : {2}",
    },
    entry="{0}[{1}]",
    whole="(long){0}",
    number="(double){0}",
    infinity="INFINITY",
    nan="NAN",
    table=f"static const {_TABLE}",
    whole_constant="enum {{ {0} = {1} }};",
    number_constant="#define {0} {1}",
    arguments={"out": "double *{0}", "in": "const double *{0}", "number": "double {0}", "whole": "long {0}"},
    function="static void {0}({1}) {{",
    declare={
        "value": "const double {0} = {1};",
        "truth": "const int {0} = {1};",
        "number": "double {0} = {1};",
        "whole": "long {0} = {1};",
        "out": "double {0}[{1}] = {{0.0}};",
    },
    repeat="for (long {0} = {1}; {0} < {2}; {0}++) {{",
    during="while ({0}) {{",
    when="if ({0}) {{",
    kept_before="",
    kept="double kept[{1}];",
    head=_HEAD,
    main=_MAIN,
)

_CUDA_HEAD = """\
#include <cmath>
#include <cstdio>
#include <cstdlib>
#ifndef __CUDACC__  // an ordinary C++ compiler: everything runs on the host
#define __device__
#define __global__
#endif
"""

_CUDA_MAIN = f"""\
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
{_PRINT}  free(out);
  return 0;
}}
#endif
"""

CUDA = C._replace(
    name="cuda",
    title="CUDA C++",
    suffixes=(".cu",),
    command="nvcc -O2 --fmad=false {0}.cu -o {0} && ./{0}",
    table=f"__device__ const {_TABLE}",
    function="__device__ void {0}({1}) {{",
    head=_CUDA_HEAD,
    main=_CUDA_MAIN,
)
