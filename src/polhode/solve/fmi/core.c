// The motion of an instance, whatever the version of FMI: how it begins, advances, and is kept.
//
// Inputs are held over a communication step.  While they stay as they are, the communication points do not change the
// steps: a state between two steps of a fixed length is reached by a shorter step on a copy, one inside an adaptive
// step by dense output.  Where an input changes, a step ends and the next begins, as at a break of a run.

enum { POLHODE_INSTANTIATED, POLHODE_INITIALIZING, POLHODE_READY, POLHODE_TERMINATED };

// Everything that a motion depends on, without a pointer: this is what an FMU state holds.
typedef struct {
  double settings[POLHODE_SETTING_COUNT];
  double inputs[POLHODE_INPUT_COUNT];
  double applied[POLHODE_INPUT_COUNT];                // the inputs with which the steps since the last break were made
  double state[POLHODE_UNITS * POLHODE_STATE_SIZE];   // at the last step on the grid, or the last accepted one
  double sample[POLHODE_UNITS * POLHODE_STATE_SIZE];  // at the communication point
  double parameters[POLHODE_UNITS * POLHODE_PARAMETER_SIZE];
  double start_time, stop_time, time;
  double origin;  // where the grid of fixed steps begins
  double steps;   // made since then
  int32_t segment;
  int32_t phase;
  int32_t has_stop_time;
  int32_t unused;  // no gap: the bytes of equal motions are equal
} PolhodeMotion;

typedef struct {
  PolhodeMotion motion;
  PolhodeMotion before;  // a step that fails leaves the motion as it was
  double outputs[POLHODE_OUTPUT_COUNT];
  bool outputs_known;
  char name[256];
  void* environment;
  void* logger;
  bool logs_all;
  char message[512];
} PolhodeInstance;

static void polhode_reset(PolhodeMotion* m) {
  memset(m, 0, sizeof *m);
  memcpy(m->settings, polhode_default_settings, sizeof m->settings);
  memcpy(m->parameters, polhode_initial_parameters, sizeof m->parameters);
  m->start_time = m->time = POLHODE_START;
  m->phase = POLHODE_INSTANTIATED;
}

static bool polhode_same(const double* a, const double* b, long n) {
  for (long i = 0; i < n; i++) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

static bool polhode_finite(const double* x, long n) {
  for (long i = 0; i < n; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

// Constants of a body that is not the one of the scenario ------------------------------------------------------------

// The eigenvalues of a symmetric matrix, and its eigenvectors as columns of a rotation, by Jacobi rotations.
static void polhode_diagonalize(const double tensor[9], double moments[3], double axes[9]) {
  double a[9];
  memcpy(a, tensor, sizeof a);
  for (int i = 0; i < 9; i++) axes[i] = i % 4 == 0 ? 1.0 : 0.0;
  for (int sweep = 0; sweep < 64; sweep++) {
    if (a[1] == 0.0 && a[2] == 0.0 && a[5] == 0.0) break;
    for (int p = 0; p < 2; p++) {
      for (int q = p + 1; q < 3; q++) {
        const double apq = a[3 * p + q], app = a[4 * p], aqq = a[4 * q];
        if (apq == 0.0) continue;
        if (fabs(apq) <= 0.125 * DBL_EPSILON * sqrt(fabs(app)) * sqrt(fabs(aqq))) {
          a[3 * p + q] = a[3 * q + p] = 0.0;
          continue;
        }
        const double theta = (aqq - app) / (2.0 * apq);
        const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        const int r = 3 - p - q;
        const double arp = a[3 * r + p], arq = a[3 * r + q];
        a[4 * p] = app - t * apq;
        a[4 * q] = aqq + t * apq;
        a[3 * p + q] = a[3 * q + p] = 0.0;
        a[3 * r + p] = a[3 * p + r] = c * arp - s * arq;
        a[3 * r + q] = a[3 * q + r] = s * arp + c * arq;
        for (int i = 0; i < 3; i++) {
          const double vip = axes[3 * i + p], viq = axes[3 * i + q];
          axes[3 * i + p] = c * vip - s * viq;
          axes[3 * i + q] = s * vip + c * viq;
        }
      }
    }
  }
  for (int i = 0; i < 3; i++) moments[i] = a[4 * i];
}

// The unit quaternion (w, x, y, z) of a rotation matrix, from its largest component.
static void polhode_quaternion(const double r[9], double q[4]) {
  const double squares[4] = {1.0 + r[0] + r[4] + r[8], 1.0 + r[0] - r[4] - r[8], 1.0 - r[0] + r[4] - r[8],
                             1.0 - r[0] - r[4] + r[8]};
  int largest = 0;
  for (int i = 1; i < 4; i++) {
    if (squares[i] > squares[largest]) largest = i;
  }
  const double twice = sqrt(squares[largest]), s = 0.5 / twice;
  const double pairs[6] = {r[7] - r[5], r[2] - r[6], r[3] - r[1], r[1] + r[3], r[2] + r[6], r[5] + r[7]};
  // Products of components: wx, wy, wz, xy, xz, yz.
  static const int where[4][4] = {{-1, 0, 1, 2}, {0, -1, 3, 4}, {1, 3, -1, 5}, {2, 4, 5, -1}};
  double norm = 0.0;
  for (int i = 0; i < 4; i++) {
    q[i] = i == largest ? 0.5 * twice : s * pairs[where[largest][i]];
    norm += q[i] * q[i];
  }
  for (int i = 0; i < 4; i++) q[i] /= sqrt(norm);
}

// Principal moments, their reciprocals and the principal axes of a tensor; a diagonal one keeps its axes.
static void polhode_principal(const double tensor[9], bool is_particle, double found[10]) {
  if (tensor[1] == 0.0 && tensor[2] == 0.0 && tensor[5] == 0.0) {
    for (int i = 0; i < 3; i++) found[i] = tensor[4 * i];
    found[6] = 1.0;
    found[7] = found[8] = found[9] = 0.0;
  } else {
    double axes[9];
    polhode_diagonalize(tensor, found, axes);
    polhode_quaternion(axes, found + 6);
  }
  const double least = is_particle ? 1e-12 * fmax(found[0], fmax(found[1], found[2])) : 0.0;
  for (int i = 0; i < 3; i++) found[3 + i] = found[i] > least ? 1.0 / found[i] : 0.0;
}

static const char* polhode_check_moments(const double* moments) {
  const double a = fmin(moments[0], fmin(moments[1], moments[2])), c = fmax(moments[0], fmax(moments[1], moments[2]));
  const double b = fmax(fmin(moments[0], moments[1]), fmin(fmax(moments[0], moments[1]), moments[2]));
  if (!(a > 0.0)) return "the inertia tensor is not positive: check the signs of its entries";
#ifndef POLHODE_ALLOW_UNPHYSICAL
  if (c > (a + b) * (1.0 + 1e-12)) {
    return "the principal moments belong to no solid: the largest exceeds the sum of the other two";
  }
#else
  (void)b, (void)c;
#endif
  return NULL;
}

// The constants of body b from its mass and inertia; those of the scenario, where neither was changed.
static const char* polhode_set_body(PolhodeMotion* m, long b) {
  const double *s = m->settings + b * POLHODE_BODY_SETTINGS,
               *given = polhode_default_settings + b * POLHODE_BODY_SETTINGS;
  const long* places = polhode_body_places[b];
  const bool is_particle = polhode_is_particle[b] > 0.0;
  const bool same_mass = polhode_same(s, given, 1), same_inertia = polhode_same(s + 1, given + 1, 6);
  if (!(s[0] > 0.0)) return "mass must be greater than 0 kg";
  m->parameters[places[0]] = s[0];
  m->parameters[places[1]] = 1.0 / s[0];
  if (same_inertia && (same_mass || !POLHODE_PIVOTED)) return NULL;
  const double tensor[9] = {s[1], s[4], s[5], s[4], s[2], s[6], s[5], s[6], s[3]};
  double about_com[10], about_pivot[10];
  if (same_inertia) {
    for (int i = 0; i < 10; i++) about_com[i] = m->parameters[places[(POLHODE_PIVOTED ? 12 : 2) + i]];
  } else {
    polhode_principal(tensor, is_particle, about_com);
    const char* wrong = is_particle ? NULL : polhode_check_moments(about_com);
    if (wrong != NULL) return wrong;
  }
  if (POLHODE_PIVOTED) {  // the parallel axis theorem
    const double x = polhode_com_to_pivot[3 * b], y = polhode_com_to_pivot[3 * b + 1],
                 z = polhode_com_to_pivot[3 * b + 2];
    const double rr = (x * x + y * y) + z * z;
    const double shifted[9] = {
        tensor[0] + s[0] * (rr - x * x), tensor[1] - s[0] * (x * y),      tensor[2] - s[0] * (x * z),
        tensor[3] - s[0] * (y * x),      tensor[4] + s[0] * (rr - y * y), tensor[5] - s[0] * (y * z),
        tensor[6] - s[0] * (z * x),      tensor[7] - s[0] * (z * y),      tensor[8] + s[0] * (rr - z * z)};
    polhode_principal(shifted, is_particle, about_pivot);
    for (int i = 0; i < 10; i++) m->parameters[places[2 + i]] = about_pivot[i];
    for (int i = 0; i < 10; i++) m->parameters[places[12 + i]] = about_com[i];
  } else {
    for (int i = 0; i < 10; i++) m->parameters[places[2 + i]] = about_com[i];
  }
  return NULL;
}

// q/|q|; where |q| is 1 to rounding, q itself.
static const char* polhode_normalize(double q[4]) {
  const double squares = ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3];
  if (fabs(squares - 1.0) <= 8.0 * DBL_EPSILON) return NULL;
  const double largest = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  if (largest == 0.0) return "the quaternion (0, 0, 0, 0) is not a rotation: for no rotation give (1, 0, 0, 0)";
  for (int i = 0; i < 4; i++) q[i] /= largest;
  const double s = 1.0 / sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
  for (int i = 0; i < 4; i++) q[i] = s * q[i];
  return NULL;
}

#ifdef POLHODE_ADAPTIVE
// Errors of position, attitude, momentum and spin that no tolerance forbids.
static void polhode_set_error_floor(PolhodeMotion* m) {
  double sizes[POLHODE_ALL_BODIES], largest = 0.0;
  for (long b = 0; b < POLHODE_ALL_BODIES; b++) {
    const double* x = m->settings + b * POLHODE_BODY_SETTINGS + 7;
    sizes[b] = sqrt((x[0] * x[0] + x[1] * x[1]) + x[2] * x[2]);
    largest = fmax(largest, sizes[b]);
  }
  for (long b = 0; b < POLHODE_ALL_BODIES; b++) {
    const double size = POLHODE_COUPLED ? largest : sizes[b], *p = m->parameters;
    const long *places = polhode_body_places[b], *least = polhode_least_places[b];
    const double unit = POLHODE_KEEPS_MOMENTA ? fmax(fmax(p[places[2]], p[places[3]]), p[places[4]]) : 1.0;
    m->parameters[least[0]] = POLHODE_COUPLED ? POLHODE_RTOL_POSITION * size : 0.0;
    m->parameters[least[1]] = 0.0;
    m->parameters[least[2]] = POLHODE_RTOL_POSITION * p[places[0]] * size / POLHODE_DURATION;
    m->parameters[least[3]] = POLHODE_RTOL_ATTITUDE * unit / POLHODE_DURATION;
  }
}
#endif

// Beginning ----------------------------------------------------------------------------------------------------------

static double polhode_segment_end(const PolhodeMotion* m) {
  return m->segment < POLHODE_EDGES ? polhode_edges[m->segment] : INFINITY;
}

static void polhode_begin_segment(PolhodeMotion* m, double t, bool strikes) {
  for (long u = 0; u < POLHODE_UNITS; u++) {
    double *state = m->state + u * POLHODE_STATE_SIZE, *parameters = m->parameters + u * POLHODE_PARAMETER_SIZE;
    if (strikes) polhode_impulses(m->segment, state, parameters);
    polhode_windows(m->segment, parameters);
  }
  m->origin = t;
  m->steps = 0.0;
}

// The state at the start, from the settings; returns what is wrong with them, or NULL.
static const char* polhode_begin(PolhodeMotion* m) {
  double start[POLHODE_SETTING_COUNT];
  memcpy(m->parameters, polhode_initial_parameters, sizeof m->parameters);
  memcpy(m->state, polhode_initial_states, sizeof m->state);
  memcpy(start, m->settings, sizeof start);
  for (long b = 0; b < POLHODE_ALL_BODIES; b++) {
    const char* wrong = polhode_set_body(m, b);
    if (wrong == NULL) wrong = polhode_normalize(start + b * POLHODE_BODY_SETTINGS + 10);
    if (wrong != NULL) return wrong;
  }
#ifdef POLHODE_ADAPTIVE
  polhode_set_error_floor(m);
#else
  if (!(m->settings[POLHODE_SETTING_COUNT - 1] > 0.0)) return "step must be greater than 0 s";
#endif
  polhode_start(m->state, m->parameters, start);
  memcpy(m->applied, m->inputs, sizeof m->applied);
  for (long i = 0; i < POLHODE_INPUT_COUNT; i++) m->parameters[polhode_input_places[i]] = m->inputs[i];
  m->time = m->start_time;
  m->segment = 0;
  while (m->segment < POLHODE_EDGES && polhode_edges[m->segment] <= m->time) m->segment++;
  polhode_begin_segment(m, m->time, m->segment > 0 && polhode_edges[m->segment - 1] == m->time);
  memcpy(m->sample, m->state, sizeof m->sample);
  return polhode_finite(m->sample, POLHODE_UNITS * POLHODE_STATE_SIZE) ? NULL : "the start is not finite";
}

// Advancing ----------------------------------------------------------------------------------------------------------

#ifdef POLHODE_ADAPTIVE
// To time t; the steps may go on to time `end`.  False if the step has shrunk to nothing.
static bool polhode_reach(PolhodeMotion* m, double t, double end) {
  double work[POLHODE_WORK_SIZE];
  const double wanted = t - m->start_time, last = end - m->start_time;
  for (long u = 0; u < POLHODE_UNITS; u++) {
    double *state = m->state + u * POLHODE_STATE_SIZE, *sample = m->sample + u * POLHODE_STATE_SIZE;
    const double* parameters = m->parameters + u * POLHODE_PARAMETER_SIZE;
    bool is_inside = false;
    while (state[POLHODE_TIME] < wanted) {
      if (!(state[POLHODE_STEP_SIZE] > 0.0)) return false;
      polhode_try(state, parameters, work, m->start_time, last);
      const double now = state[POLHODE_TIME];
      const double reached = state[POLHODE_STEP_SIZE] < last - now ? now + state[POLHODE_STEP_SIZE] : last;
      is_inside = work[POLHODE_STEP_ERROR] <= 1.0 && wanted < reached;
      if (is_inside) {
        polhode_fit(state, parameters, work, m->start_time);
        polhode_inside(sample, state, work, (wanted - now) / work[POLHODE_STEP_TRIED]);
        break;
      }
      polhode_finish(state, work, last);
    }
    if (!is_inside) memcpy(sample, state, sizeof(double) * POLHODE_STATE_SIZE);
  }
  return true;
}

// A step ends at the communication point.
static bool polhode_break(PolhodeMotion* m) { return polhode_reach(m, m->time, m->time); }
#else
static bool polhode_reach(PolhodeMotion* m, double t, double end) {
  const double h = m->settings[POLHODE_SETTING_COUNT - 1], steps = (t - m->origin) / h, nearest = rint(steps);
  const bool is_on_grid = fabs(steps - nearest) <= 4.0 * DBL_EPSILON * fmax(1.0, fabs(t) / h);
  const double whole = is_on_grid ? nearest : floor(steps);
  const double rest = is_on_grid ? 0.0 : t - (m->origin + whole * h);
  (void)end;
  for (long u = 0; u < POLHODE_UNITS; u++) {
    double *state = m->state + u * POLHODE_STATE_SIZE, *sample = m->sample + u * POLHODE_STATE_SIZE;
    const double* parameters = m->parameters + u * POLHODE_PARAMETER_SIZE;
    for (double k = m->steps; k < whole; k++) polhode_step(state, parameters, m->origin + k * h, h);
    memcpy(sample, state, sizeof(double) * POLHODE_STATE_SIZE);
    if (rest > 0.0) polhode_step(sample, parameters, m->origin + whole * h, rest);
  }
  m->steps = fmax(m->steps, whole);
  return true;
}

static bool polhode_break(PolhodeMotion* m) {
  memcpy(m->state, m->sample, sizeof m->state);
  return true;
}
#endif

// Advance to time t; returns what is wrong, or NULL.
static const char* polhode_advance(PolhodeMotion* m, double t) {
  static const char* const lost = "the motion has become infinite or NaN, or its step has shrunk to nothing";
  const double nothing = 8.0 * DBL_EPSILON * fmax(fabs(t), fabs(t - m->time));
  if (m->has_stop_time && fabs(t - m->stop_time) <= nothing) t = m->stop_time;
  if (!polhode_same(m->inputs, m->applied, POLHODE_INPUT_COUNT)) {
    if (m->time > m->start_time && !polhode_break(m)) return lost;
    for (long i = 0; i < POLHODE_INPUT_COUNT; i++) m->parameters[polhode_input_places[i]] = m->inputs[i];
    memcpy(m->applied, m->inputs, sizeof m->applied);
    m->origin = m->time;
    m->steps = 0.0;
  }
  for (;;) {
    double end = polhode_segment_end(m);
    if (fabs(t - end) <= nothing) t = end;
    if (t < end) {
      const double last = m->has_stop_time ? m->stop_time : POLHODE_END;  // where a run of the scenario ends
      if (!polhode_reach(m, t, t <= last && last < end ? last : end)) return lost;
      break;
    }
    if (!polhode_reach(m, end, end)) return lost;
    memcpy(m->state, m->sample, sizeof m->state);
    m->segment++;
    polhode_begin_segment(m, end, true);
    if (t == end) {
      memcpy(m->sample, m->state, sizeof m->sample);
      break;
    }
  }
  m->time = t;
  return polhode_finite(m->sample, POLHODE_UNITS * POLHODE_STATE_SIZE) ? NULL : lost;
}

// What an importer calls ---------------------------------------------------------------------------------------------

static bool polhode_fail(PolhodeInstance* c, const char* message) {
  snprintf(c->message, sizeof c->message, "%s", message);
  return false;
}

static bool polhode_do_step(PolhodeInstance* c, double t, double step) {
  PolhodeMotion* m = &c->motion;
  if (m->phase != POLHODE_READY) return polhode_fail(c, "a step before the initialization, or after the end");
  if (!isfinite(t) || !isfinite(step) || !(step > 0.0)) {
    return polhode_fail(c, "the communication step must be a number greater than 0 s: time goes forward");
  }
  if (fabs(t - m->time) > 1e-9 * fmax(fmax(fabs(t), fabs(m->time)), step)) {
    snprintf(c->message, sizeof c->message, "this instance is at t = %.17g s, but the step begins at %.17g s", m->time,
             t);
    return false;
  }
  const double to = t + step;
  if (!(to > m->time)) return polhode_fail(c, "the communication step is lost in the rounding of the time");
  if (m->has_stop_time && to - m->stop_time > 1e-9 * fmax(fabs(to), fabs(to - m->start_time))) {
    snprintf(c->message, sizeof c->message, "the step ends at t = %.17g s, after the stop time %.17g s", to,
             m->stop_time);
    return false;
  }
  memcpy(&c->before, m, sizeof *m);
  c->outputs_known = false;
  const char* wrong = polhode_advance(m, to);
  if (wrong == NULL) return true;
  memcpy(m, &c->before, sizeof *m);
  snprintf(c->message, sizeof c->message,
           "between t = %.17g s and %.17g s %s; the state at the start of the step is kept", m->time, to, wrong);
  return false;
}

static bool polhode_set_experiment(PolhodeInstance* c, double start, bool has_stop, double stop) {
  PolhodeMotion* m = &c->motion;
  if (m->phase != POLHODE_INSTANTIATED) return polhode_fail(c, "the experiment is set up before the initialization");
  if (!isfinite(start) || (has_stop && !(stop >= start))) {
    return polhode_fail(c, "the start time must be a number, and the stop time must not precede it");
  }
  m->start_time = m->time = start;
  m->has_stop_time = has_stop && isfinite(stop);
  m->stop_time = m->has_stop_time ? stop : 0.0;
  c->outputs_known = false;
  return true;
}

static bool polhode_enter_initialization(PolhodeInstance* c) {
  if (c->motion.phase != POLHODE_INSTANTIATED)
    return polhode_fail(c, "the initialization has begun before: reset first");
  c->motion.phase = POLHODE_INITIALIZING;
  c->outputs_known = false;
  return true;
}

static bool polhode_exit_initialization(PolhodeInstance* c) {
  if (c->motion.phase != POLHODE_INITIALIZING) return polhode_fail(c, "the initialization has not begun");
  const char* wrong = polhode_begin(&c->motion);
  c->outputs_known = false;
  if (wrong != NULL) return polhode_fail(c, wrong);
  c->motion.phase = POLHODE_READY;
  return true;
}

static bool polhode_terminate(PolhodeInstance* c) {
  if (c->motion.phase != POLHODE_READY) return polhode_fail(c, "only a running instance can be terminated");
  c->motion.phase = POLHODE_TERMINATED;
  return true;
}

static bool polhode_know_outputs(PolhodeInstance* c) {
  if (c->outputs_known) return true;
  if (c->motion.phase <= POLHODE_INITIALIZING) {  // what they will be
    const char* wrong = polhode_begin(&c->motion);
    if (wrong != NULL) return polhode_fail(c, wrong);
  }
  polhode_outputs(c->outputs, c->motion.sample, c->motion.parameters, c->motion.time);
  c->outputs_known = true;
  return true;
}

// Value references count through: time, inputs, settings, outputs.
static bool polhode_get(PolhodeInstance* c, uint32_t reference, double* value) {
  long i = (long)reference;
  if (i == 0) {
    *value = c->motion.time;
    return true;
  }
  i -= 1;
  if (i < POLHODE_INPUT_COUNT) {
    *value = c->motion.inputs[i];
    return true;
  }
  i -= POLHODE_INPUT_COUNT;
  if (i < POLHODE_SETTING_COUNT) {
    *value = c->motion.settings[i];
    return true;
  }
  i -= POLHODE_SETTING_COUNT;
  if (i >= POLHODE_OUTPUT_COUNT) return polhode_fail(c, "there is no variable with this value reference");
  if (!polhode_know_outputs(c)) return false;
  *value = c->outputs[i];
  return true;
}

// Whether a value may be set: nothing is taken before all have been checked.
static bool polhode_can_set(PolhodeInstance* c, uint32_t reference, double value) {
  const long i = (long)reference - 1;
  if (i < 0 || i >= POLHODE_INPUT_COUNT + POLHODE_SETTING_COUNT) {
    return polhode_fail(c, "only inputs and parameters can be set");
  }
  if (i >= POLHODE_INPUT_COUNT && c->motion.phase > POLHODE_INITIALIZING) {
    return polhode_fail(c, "mass, inertia, step and start are fixed: set them before the end of the initialization");
  }
  if (!isfinite(value)) return polhode_fail(c, "a value is infinite or NaN: it is not taken, the last one stays");
  return true;
}

static void polhode_put(PolhodeInstance* c, uint32_t reference, double value) {
  const long i = (long)reference - 1;
  if (i < POLHODE_INPUT_COUNT) {
    c->motion.inputs[i] = value;
  } else {
    c->motion.settings[i - POLHODE_INPUT_COUNT] = value;
    c->outputs_known = false;
  }
}

// FMU states, and their serialized form: a mark, then the bytes of the motion.
enum { POLHODE_MARK_SIZE = 64, POLHODE_SAVED_SIZE = POLHODE_MARK_SIZE + sizeof(PolhodeMotion) };

static PolhodeMotion* polhode_save(const PolhodeInstance* c, PolhodeMotion* room) {
  if (room == NULL) room = malloc(sizeof *room);
  if (room != NULL) memcpy(room, &c->motion, sizeof *room);
  return room;
}

static void polhode_restore(PolhodeInstance* c, const PolhodeMotion* saved) {
  memcpy(&c->motion, saved, sizeof *saved);
  c->outputs_known = false;
}

static void polhode_serialize(const PolhodeMotion* saved, void* bytes) {
  char mark[POLHODE_MARK_SIZE] = {0};
  snprintf(mark, sizeof mark, "polhode %s", POLHODE_TOKEN);
  memcpy(bytes, mark, sizeof mark);
  memcpy((char*)bytes + POLHODE_MARK_SIZE, saved, sizeof *saved);
}

static PolhodeMotion* polhode_deserialize(PolhodeInstance* c, const void* bytes, size_t size) {
  char mark[POLHODE_MARK_SIZE] = {0};
  snprintf(mark, sizeof mark, "polhode %s", POLHODE_TOKEN);
  if (bytes == NULL || size != POLHODE_SAVED_SIZE || memcmp(bytes, mark, sizeof mark) != 0) {
    polhode_fail(c, "these bytes are not a state of this FMU");
    return NULL;
  }
  PolhodeMotion* saved = malloc(sizeof *saved);
  if (saved != NULL) memcpy(saved, (const char*)bytes + POLHODE_MARK_SIZE, sizeof *saved);
  return saved;
}
