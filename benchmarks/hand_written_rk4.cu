// RK4 of a rigid body with gravity and quadratic drag, as one would write it by hand: the yardstick for emitted kernels.
//   nvcc -O3 -arch=native -o hand_written_rk4 hand_written_rk4.cu && ./hand_written_rk4 4194304 1000
// State: position, quaternion (w, x, y, z), momentum, angular momentum about the center of mass (constant: no torque).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename real> struct vec { real x, y, z; };
template <typename real> struct quat { real w, x, y, z; };
template <typename real> struct rate { vec<real> v; quat<real> q; vec<real> f; };

template <typename real>
__device__ inline vec<real> to_body(const quat<real> &q, const vec<real> &a) {  // R^T a
  const vec<real> t = {2 * (q.z * a.y - q.y * a.z), 2 * (q.x * a.z - q.z * a.x), 2 * (q.y * a.x - q.x * a.y)};
  return {a.x + q.w * t.x + (q.z * t.y - q.y * t.z), a.y + q.w * t.y + (q.x * t.z - q.z * t.x),
          a.z + q.w * t.z + (q.y * t.x - q.x * t.y)};
}

template <typename real>
__device__ inline rate<real> derivative(const quat<real> &q, const vec<real> &p, const vec<real> &spin,
                                        real inverse_mass, real weight, const vec<real> &inverse_moments, real drag) {
  const vec<real> v = {p.x * inverse_mass, p.y * inverse_mass, p.z * inverse_mass};
  const vec<real> l = to_body(q, spin);
  const vec<real> w = {l.x * inverse_moments.x / 2, l.y * inverse_moments.y / 2, l.z * inverse_moments.z / 2};
  const real c = -drag * sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  return {v,
          {-q.x * w.x - q.y * w.y - q.z * w.z, q.w * w.x + q.y * w.z - q.z * w.y, q.w * w.y + q.z * w.x - q.x * w.z,
           q.w * w.z + q.x * w.y - q.y * w.x},
          {c * v.x, c * v.y, c * v.z - weight}};
}

template <typename real>
__global__ void __launch_bounds__(128, 4) advance(real *bodies, long count, real h, long steps) {
  const long n = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (n >= count) return;
  real *b = bodies + n * 20;
  vec<real> x = {b[0], b[1], b[2]}, p = {b[7], b[8], b[9]};
  quat<real> q = {b[3], b[4], b[5], b[6]};
  const vec<real> spin = {b[10], b[11], b[12]}, inverse_moments = {b[15], b[16], b[17]};
  const real inverse_mass = b[13], weight = b[14], drag = b[18];
  real drift = 0;
  for (long k = 0; k < steps; ++k) {
    const auto at = [&](const rate<real> &d, real s) {
      return derivative<real>({q.w + s * d.q.w, q.x + s * d.q.x, q.y + s * d.q.y, q.z + s * d.q.z},
                              {p.x + s * d.f.x, p.y + s * d.f.y, p.z + s * d.f.z}, spin, inverse_mass, weight,
                              inverse_moments, drag);
    };
    const rate<real> a = derivative(q, p, spin, inverse_mass, weight, inverse_moments, drag);
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
  b[7] = p.x; b[8] = p.y; b[9] = p.z; b[19] = drift;
}

template <typename real>
static int measure(const char *name, long count, long steps) {
  std::vector<real> host(count * 20);
  for (long n = 0; n < count; ++n) {
    const real turn = (real)(n % 1000) / 1000;
    const real body[20] = {0, 0, 100, 1, 0, 0, 0, 1 + turn, -turn, 2, turn, 1, 2, 1, 9.80665, 1, 0.5, 0.4, 0.1, 0};
    for (int i = 0; i < 20; ++i) host[n * 20 + i] = body[i];
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
    advance<real><<<(count + 127) / 128, 128>>>(bodies, count, (real)1e-3, steps);
    cudaEventRecord(end);
    if (cudaEventSynchronize(end) != cudaSuccess) return 1;
    float milliseconds;
    cudaEventElapsedTime(&milliseconds, begin, end);
    if (milliseconds < best) best = milliseconds;
  }
  std::vector<real> first(20);
  cudaMemcpy(first.data(), bodies, sizeof(real) * 20, cudaMemcpyDeviceToHost);
  printf("%s %.6e %.17g\n", name, (double)count * steps / (best * 1e-3), (double)first[2]);
  cudaFree(bodies);
  return 0;
}

int main(int, char **given) {
  const long count = atol(given[1]), steps = atol(given[2]);
  return measure<double>("double", count, steps) || measure<float>("float", count, steps);
}
