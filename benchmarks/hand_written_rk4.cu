// RK4 of a rigid body with gravity and quadratic drag, as one would write it by hand: the yardstick for emitted kernels.
//   nvcc -O3 -arch=native -o hand_written_rk4 hand_written_rk4.cu && ./hand_written_rk4 4194304 1000
// State: position, quaternion (w, x, y, z), momentum, angular momentum about the center of mass (constant: no torque).
// "same": the formulas of the emitted kernel, gravity and wind as vectors, rotations by q/|q| in every stage.
// "lean": gravity along z, no wind, and q taken for a unit quaternion inside a step; other numbers, a bit less work.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int NUMBERS = 25;  // of a body: state, drift, mass, forces, moments

template <typename real> struct vec { real x, y, z; };
template <typename real> struct quat { real w, x, y, z; };
template <typename real> struct rate { vec<real> v; quat<real> q; vec<real> f; };

template <typename real> struct constants {
  real inverse_mass, drag;
  vec<real> weight, inverse_moments, wind;
};

template <typename real, bool lean>
__device__ inline vec<real> to_body(const quat<real> &q, const vec<real> &a) {  // R^T a
  const real s = lean ? (real)2 : 2 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const vec<real> t = {q.z * a.y - q.y * a.z, q.x * a.z - q.z * a.x, q.y * a.x - q.x * a.y};
  return {a.x + s * (q.w * t.x + (q.z * t.y - q.y * t.z)), a.y + s * (q.w * t.y + (q.x * t.z - q.z * t.x)),
          a.z + s * (q.w * t.z + (q.y * t.x - q.x * t.y))};
}

template <typename real, bool lean>
__device__ inline rate<real> derivative(const quat<real> &q, const vec<real> &p, const vec<real> &spin,
                                        const constants<real> &body) {
  const vec<real> v = {p.x * body.inverse_mass, p.y * body.inverse_mass, p.z * body.inverse_mass};
  const vec<real> u = lean ? v : vec<real>{v.x - body.wind.x, v.y - body.wind.y, v.z - body.wind.z};
  const vec<real> l = to_body<real, lean>(q, spin), &i = body.inverse_moments;  // halved
  const vec<real> w = {l.x * i.x, l.y * i.y, l.z * i.z};
  const real c = -body.drag * sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
  vec<real> f = {c * u.x, c * u.y, c * u.z + body.weight.z};
  if (!lean) f = {f.x + body.weight.x, f.y + body.weight.y, f.z};
  return {v,
          {-q.x * w.x - q.y * w.y - q.z * w.z, q.w * w.x + q.y * w.z - q.z * w.y, q.w * w.y + q.z * w.x - q.x * w.z,
           q.w * w.z + q.x * w.y - q.y * w.x},
          f};
}

template <typename real, bool lean>
__global__ void __launch_bounds__(128, 4) advance(real *bodies, long count, real h, long steps) {
  const long n = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (n >= count) return;
  real *b = bodies + n * NUMBERS;
  vec<real> x = {b[0], b[1], b[2]}, p = {b[7], b[8], b[9]};
  quat<real> q = {b[3], b[4], b[5], b[6]};
  const vec<real> spin = {b[10], b[11], b[12]};
  const constants<real> body = {
      b[14], b[15], {b[16], b[17], b[18]}, {b[19] / 2, b[20] / 2, b[21] / 2}, {b[22], b[23], b[24]}};
  real drift = 0;
  for (long k = 0; k < steps; ++k) {
    const auto at = [&](const rate<real> &d, real s) {
      return derivative<real, lean>({q.w + s * d.q.w, q.x + s * d.q.x, q.y + s * d.q.y, q.z + s * d.q.z},
                              {p.x + s * d.f.x, p.y + s * d.f.y, p.z + s * d.f.z}, spin, body);
    };
    const rate<real> a = derivative<real, lean>(q, p, spin, body);
    const rate<real> c = at(a, h / 2), d = at(c, h / 2), e = at(d, h);
    const real s = h / 6;
    x.x += s * (a.v.x + 2 * (c.v.x + d.v.x) + e.v.x);
    x.y += s * (a.v.y + 2 * (c.v.y + d.v.y) + e.v.y);
    x.z += s * (a.v.z + 2 * (c.v.z + d.v.z) + e.v.z);
    p.x += s * (a.f.x + 2 * (c.f.x + d.f.x) + e.f.x);
    p.y += s * (a.f.y + 2 * (c.f.y + d.f.y) + e.f.y);
    p.z += s * (a.f.z + 2 * (c.f.z + d.f.z) + e.f.z);
    q.w += s * (a.q.w + 2 * (c.q.w + d.q.w) + e.q.w);
    q.x += s * (a.q.x + 2 * (c.q.x + d.q.x) + e.q.x);
    q.y += s * (a.q.y + 2 * (c.q.y + d.q.y) + e.q.y);
    q.z += s * (a.q.z + 2 * (c.q.z + d.q.z) + e.q.z);
    const real length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z), over = 1 / length;
    drift = max(drift, abs(length - 1));  // how far the attitude was from a rotation, as Polhode reports it
    q = {q.w * over, q.x * over, q.y * over, q.z * over};
  }
  b[0] = x.x; b[1] = x.y; b[2] = x.z; b[3] = q.w; b[4] = q.x; b[5] = q.y; b[6] = q.z;
  b[7] = p.x; b[8] = p.y; b[9] = p.z; b[13] = drift;
}

template <typename real, bool lean>
static int measure(const char *name, long count, long steps) {
  std::vector<real> host(count * NUMBERS);
  for (long n = 0; n < count; ++n) {
    const real turn = (real)(n % 1000) / 1000;
    const real body[NUMBERS] = {0, 0, 100, 1, 0, 0, 0, 1 + turn, -turn, 2, turn, 1, 2, 0, 1, (real)0.1,
                                0, 0, (real)-9.80665, 1, (real)0.5, (real)0.4, 0, 0, 0};
    for (int i = 0; i < NUMBERS; ++i) host[n * NUMBERS + i] = body[i];
  }
  real *bodies = NULL;
  if (cudaMalloc(&bodies, sizeof(real) * host.size()) != cudaSuccess) return 1;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = 1e30f;
  for (int round = 0; round < 5; ++round) {
    cudaMemcpy(bodies, host.data(), sizeof(real) * host.size(), cudaMemcpyHostToDevice);
    cudaEventRecord(begin);
    advance<real, lean><<<(count + 127) / 128, 128>>>(bodies, count, (real)1e-3, steps);
    cudaEventRecord(end);
    if (cudaEventSynchronize(end) != cudaSuccess) return 1;
    float milliseconds;
    cudaEventElapsedTime(&milliseconds, begin, end);
    if (milliseconds < best) best = milliseconds;
  }
  std::vector<real> first(NUMBERS);
  cudaMemcpy(first.data(), bodies, sizeof(real) * NUMBERS, cudaMemcpyDeviceToHost);
  printf("%s %.6e %.17g\n", name, (double)count * steps / (best * 1e-3), (double)first[2]);
  cudaFree(bodies);
  return 0;
}

int main(int, char **given) {
  const long count = atol(given[1]), steps = atol(given[2]);
  return measure<double, false>("double_same", count, steps) || measure<float, false>("single_same", count, steps) ||
         measure<double, true>("double_lean", count, steps) || measure<float, true>("single_lean", count, steps);
}
