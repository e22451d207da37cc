/* A spring-damper as an FMU, written by hand: FMI 2.0, co-simulation.
 *
 * It joins a point of a body to an anchor in the world.  Position, orientation and velocities of the body go in; the
 * force on the body and its torque about the center of mass come out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { POSITION = 0, QUATERNION = 3, VELOCITY = 7, ANGULAR_VELOCITY = 10, FORCE = 13, TORQUE = 16 };
enum { STIFFNESS = 19, DAMPING, LENGTH, ANCHOR, POINT_BODY = 25, COUNT = 28 };

typedef struct {
  double value[COUNT]; /* by value reference */
  double time;
} Spring;

static void cross(const double* a, const double* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/* v + 2 w (e x v) + 2 e x (e x v) for the unit quaternion (w, e) */
static void rotate(const double* q, const double* v, double* out) {
  double u[3], uu[3];
  cross(q + 1, v, u);
  cross(q + 1, u, uu);
  for (int i = 0; i < 3; i++) out[i] = v[i] + 2.0 * (q[0] * u[i] + uu[i]);
}

static void evaluate(Spring* s) {
  double *x = s->value, arm[3], swing[3], away[3], velocity[3], distance = 0.0, speed = 0.0;
  rotate(x + QUATERNION, x + POINT_BODY, arm);
  cross(x + ANGULAR_VELOCITY, arm, swing);
  for (int i = 0; i < 3; i++) {
    away[i] = x[POSITION + i] + arm[i] - x[ANCHOR + i];
    velocity[i] = x[VELOCITY + i] + swing[i];
    distance += away[i] * away[i];
    speed += away[i] * velocity[i];
  }
  distance = sqrt(distance);
  const double pull =
      distance > 0.0 ? (x[STIFFNESS] * (distance - x[LENGTH]) + x[DAMPING] * speed / distance) / distance : 0.0;
  for (int i = 0; i < 3; i++) x[FORCE + i] = -pull * away[i];
  cross(arm, x + FORCE, x + TORQUE);
}

EXPORT const char* fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char* fmi2GetVersion(void) { return "2.0"; }
EXPORT int fmi2SetDebugLogging(void* c, int on, size_t n, const char* const* names) { return 0; }

EXPORT void* fmi2Instantiate(const char* name, int type, const char* guid, const char* resources, const void* functions,
                             int visible, int on) {
  Spring* s = calloc(1, sizeof *s);
  if (s != NULL) s->value[QUATERNION] = 1.0;
  return s;
}

EXPORT void fmi2FreeInstance(void* c) { free(c); }

EXPORT int fmi2SetupExperiment(void* c, int has_tolerance, double tolerance, double start, int has_stop, double stop) {
  ((Spring*)c)->time = start;
  return 0;
}

EXPORT int fmi2EnterInitializationMode(void* c) { return 0; }
EXPORT int fmi2ExitInitializationMode(void* c) { return 0; }
EXPORT int fmi2Terminate(void* c) { return 0; }

EXPORT int fmi2Reset(void* c) {
  memset(c, 0, sizeof(Spring));
  ((Spring*)c)->value[QUATERNION] = 1.0;
  return 0;
}

EXPORT int fmi2GetReal(void* c, const unsigned* vr, size_t n, double* values) {
  evaluate(c);
  for (size_t i = 0; i < n; i++) {
    if (vr[i] >= COUNT) return 3;
    values[i] = ((Spring*)c)->value[vr[i]];
  }
  return 0;
}

EXPORT int fmi2SetReal(void* c, const unsigned* vr, size_t n, const double* values) {
  for (size_t i = 0; i < n; i++) {
    if (vr[i] >= COUNT) return 3;
    ((Spring*)c)->value[vr[i]] = values[i];
  }
  return 0;
}

EXPORT int fmi2DoStep(void* c, double time, double step, int no_return) {
  ((Spring*)c)->time = time + step;
  return 0;
}

EXPORT int fmi2GetFMUstate(void* c, void** state) {
  if (*state == NULL) *state = malloc(sizeof(Spring));
  if (*state == NULL) return 3;
  memcpy(*state, c, sizeof(Spring));
  return 0;
}

EXPORT int fmi2SetFMUstate(void* c, void* state) {
  memcpy(c, state, sizeof(Spring));
  return 0;
}

EXPORT int fmi2FreeFMUstate(void* c, void** state) {
  free(*state);
  *state = NULL;
  return 0;
}

/* What importers look for, and this FMU does not have: every call is answered with the status "error". */
#define NOT_PROVIDED(function) \
  EXPORT int function(void* c) { return 3; }
NOT_PROVIDED(fmi2GetInteger)
NOT_PROVIDED(fmi2GetBoolean)
NOT_PROVIDED(fmi2GetString)
NOT_PROVIDED(fmi2SetInteger)
NOT_PROVIDED(fmi2SetBoolean)
NOT_PROVIDED(fmi2SetString)
NOT_PROVIDED(fmi2SerializedFMUstateSize)
NOT_PROVIDED(fmi2SerializeFMUstate)
NOT_PROVIDED(fmi2DeSerializeFMUstate)
NOT_PROVIDED(fmi2GetDirectionalDerivative)
NOT_PROVIDED(fmi2SetRealInputDerivatives)
NOT_PROVIDED(fmi2GetRealOutputDerivatives)
NOT_PROVIDED(fmi2CancelStep)
NOT_PROVIDED(fmi2GetStatus)
NOT_PROVIDED(fmi2GetRealStatus)
NOT_PROVIDED(fmi2GetIntegerStatus)
NOT_PROVIDED(fmi2GetBooleanStatus)
NOT_PROVIDED(fmi2GetStringStatus)
