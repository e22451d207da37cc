// The functions of FMI 3.0 for co-simulation, declared as in its specification.

#if defined(_WIN32)
#define FMI3_EXPORT __declspec(dllexport)
#else
#define FMI3_EXPORT __attribute__((visibility("default")))
#endif

typedef void* fmi3Instance;
typedef void* fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef const char* fmi3String;
typedef const uint8_t* fmi3Binary;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void (*fmi3LogMessageCallback)(void*, fmi3Status, fmi3String, fmi3String);

static fmi3Status fmi3_report(PolhodeInstance* c, fmi3Status status) {
  fmi3LogMessageCallback logger;
  memcpy(&logger, &c->logger, sizeof logger);
  if (logger != NULL) logger(c->environment, status, "logStatusError", c->message);
  return status;
}

static fmi3Status fmi3_result(PolhodeInstance* c, bool went_well) {
  return went_well ? fmi3OK : fmi3_report(c, fmi3Error);
}

static fmi3Status fmi3_refuse(fmi3Instance c, const char* why) {
  polhode_fail(c, why);
  return fmi3_report(c, fmi3Error);
}

FMI3_EXPORT const char* fmi3GetVersion(void) { return "3.0"; }

FMI3_EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, bool on, size_t n, const fmi3String categories[]) {
  (void)n, (void)categories;
  ((PolhodeInstance*)c)->logs_all = on;
  return fmi3OK;
}

FMI3_EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                     bool visible, bool on, bool event_mode, bool early_return,
                                                     const fmi3ValueReference required[], size_t n_required,
                                                     void* environment, fmi3LogMessageCallback logger,
                                                     void (*update)(void)) {
  (void)resources, (void)visible, (void)event_mode, (void)early_return, (void)required, (void)n_required, (void)update;
  PolhodeInstance* c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  polhode_reset(&c->motion);
  snprintf(c->name, sizeof c->name, "%s", name == NULL ? "" : name);
  c->logs_all = on;
  c->environment = environment;
  memcpy(&c->logger, &logger, sizeof c->logger);
  if (token != NULL && strcmp(token, POLHODE_TOKEN) == 0) return c;
  fmi3_refuse(c, "the instantiation token is not that of this FMU");
  free(c);
  return NULL;
}

FMI3_EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                      bool visible, bool on, void* environment,
                                                      fmi3LogMessageCallback logger) {
  (void)name, (void)token, (void)resources, (void)visible, (void)on;
  if (logger != NULL) logger(environment, fmi3Error, "logStatusError", "this FMU is for co-simulation");
  return NULL;
}

FMI3_EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                           bool visible, bool on, void* environment,
                                                           fmi3LogMessageCallback logger, void (*update)(void),
                                                           void (*lock)(void), void (*unlock)(void)) {
  (void)name, (void)token, (void)resources, (void)visible, (void)on, (void)update, (void)lock, (void)unlock;
  if (logger != NULL) logger(environment, fmi3Error, "logStatusError", "this FMU is for co-simulation");
  return NULL;
}

FMI3_EXPORT void fmi3FreeInstance(fmi3Instance c) { free(c); }

FMI3_EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, bool has_tolerance, double tolerance, double start,
                                                   bool has_stop, double stop) {
  (void)has_tolerance, (void)tolerance;
  return fmi3_result(c, polhode_set_experiment(c, start, has_stop, stop) && polhode_enter_initialization(c));
}

FMI3_EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  return fmi3_result(c, polhode_exit_initialization(c));
}

FMI3_EXPORT fmi3Status fmi3Terminate(fmi3Instance c) { return fmi3_result(c, polhode_terminate(c)); }

FMI3_EXPORT fmi3Status fmi3Reset(fmi3Instance c) {
  polhode_reset(&((PolhodeInstance*)c)->motion);
  ((PolhodeInstance*)c)->outputs_known = false;
  return fmi3OK;
}

// The number of values of a variable, by the value reference of its first; 0 if there is none.
static size_t fmi3_size(fmi3ValueReference reference) {
  for (size_t i = 0; i < POLHODE_VARIABLES; i++) {
    if (polhode_variables[i][0] == (long)reference) return (size_t)polhode_variables[i][1];
  }
  return 0;
}

static bool fmi3_fits(PolhodeInstance* c, const fmi3ValueReference vr[], size_t n, size_t n_values) {
  size_t total = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t size = fmi3_size(vr[i]);
    if (size == 0) return polhode_fail(c, "there is no variable with this value reference");
    total += size;
  }
  return total == n_values ? true : polhode_fail(c, "the number of values is not that of the variables");
}

FMI3_EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, double values[],
                                      size_t n_values) {
  if (!fmi3_fits(c, vr, n, n_values)) return fmi3_report(c, fmi3Error);
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < fmi3_size(vr[i]); k++) {
      if (!polhode_get(c, vr[i] + (fmi3ValueReference)k, values++)) return fmi3_report(c, fmi3Error);
    }
  }
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const double values[],
                                      size_t n_values) {
  const double* value = values;
  if (!fmi3_fits(c, vr, n, n_values)) return fmi3_report(c, fmi3Error);
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < fmi3_size(vr[i]); k++) {
      if (!polhode_can_set(c, vr[i] + (fmi3ValueReference)k, *value++)) return fmi3_report(c, fmi3Error);
    }
  }
  value = values;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < fmi3_size(vr[i]); k++) polhode_put(c, vr[i] + (fmi3ValueReference)k, *value++);
  }
  return fmi3OK;
}

#define FMI3_NO_SUCH_VARIABLES(kind, type)                                                                           \
  FMI3_EXPORT fmi3Status fmi3Get##kind(fmi3Instance c, const fmi3ValueReference vr[], size_t n, type values[],       \
                                       size_t n_values) {                                                            \
    (void)vr, (void)values, (void)n_values;                                                                          \
    return n == 0 ? fmi3OK : fmi3_refuse(c, "all variables of this FMU are of type Float64");                        \
  }                                                                                                                  \
  FMI3_EXPORT fmi3Status fmi3Set##kind(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const type values[], \
                                       size_t n_values) {                                                            \
    (void)vr, (void)values, (void)n_values;                                                                          \
    return n == 0 ? fmi3OK : fmi3_refuse(c, "all variables of this FMU are of type Float64");                        \
  }
FMI3_NO_SUCH_VARIABLES(Float32, float)
FMI3_NO_SUCH_VARIABLES(Int8, int8_t)
FMI3_NO_SUCH_VARIABLES(UInt8, uint8_t)
FMI3_NO_SUCH_VARIABLES(Int16, int16_t)
FMI3_NO_SUCH_VARIABLES(UInt16, uint16_t)
FMI3_NO_SUCH_VARIABLES(Int32, int32_t)
FMI3_NO_SUCH_VARIABLES(UInt32, uint32_t)
FMI3_NO_SUCH_VARIABLES(Int64, int64_t)
FMI3_NO_SUCH_VARIABLES(UInt64, uint64_t)
FMI3_NO_SUCH_VARIABLES(Boolean, bool)
FMI3_NO_SUCH_VARIABLES(String, fmi3String)

// Functions of what this FMU does not have: other kinds of variables, clocks, derivatives, model exchange.
#define FMI3_REFUSED(function, ...)                                        \
  FMI3_EXPORT fmi3Status function(fmi3Instance c, __VA_ARGS__) {           \
    return fmi3_refuse(c, #function ": this FMU has nothing of the kind"); \
  }
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
typedef const fmi3ValueReference* fmi3References;
FMI3_REFUSED(fmi3GetBinary, fmi3References vr, size_t n, size_t sizes[], fmi3Binary values[], size_t n_values)
FMI3_REFUSED(fmi3SetBinary, fmi3References vr, size_t n, const size_t sizes[], const fmi3Binary values[],
             size_t n_values)
FMI3_REFUSED(fmi3GetClock, fmi3References vr, size_t n, bool values[])
FMI3_REFUSED(fmi3SetClock, fmi3References vr, size_t n, const bool values[])
FMI3_REFUSED(fmi3GetNumberOfVariableDependencies, fmi3ValueReference vr, size_t* n)
FMI3_REFUSED(fmi3GetVariableDependencies, fmi3ValueReference vr, size_t i[], fmi3ValueReference of[], size_t k[],
             int kinds[], size_t n)
FMI3_REFUSED(fmi3GetDirectionalDerivative, fmi3References of, size_t n_of, fmi3References by, size_t n_by,
             const double seed[], size_t n_seed, double sensitivity[], size_t n_sensitivity)
FMI3_REFUSED(fmi3GetAdjointDerivative, fmi3References of, size_t n_of, fmi3References by, size_t n_by,
             const double seed[], size_t n_seed, double sensitivity[], size_t n_sensitivity)
FMI3_REFUSED(fmi3GetIntervalDecimal, fmi3References vr, size_t n, double intervals[], int qualifiers[])
FMI3_REFUSED(fmi3GetIntervalFraction, fmi3References vr, size_t n, uint64_t counters[], uint64_t resolutions[],
             int qualifiers[])
FMI3_REFUSED(fmi3GetShiftDecimal, fmi3References vr, size_t n, double shifts[])
FMI3_REFUSED(fmi3GetShiftFraction, fmi3References vr, size_t n, uint64_t counters[], uint64_t resolutions[])
FMI3_REFUSED(fmi3SetIntervalDecimal, fmi3References vr, size_t n, const double intervals[])
FMI3_REFUSED(fmi3SetIntervalFraction, fmi3References vr, size_t n, const uint64_t counters[],
             const uint64_t resolutions[])
FMI3_REFUSED(fmi3SetShiftDecimal, fmi3References vr, size_t n, const double shifts[])
FMI3_REFUSED(fmi3SetShiftFraction, fmi3References vr, size_t n, const uint64_t counters[], const uint64_t resolutions[])
FMI3_REFUSED(fmi3GetOutputDerivatives, fmi3References vr, size_t n, const int32_t orders[], double values[],
             size_t n_values)
FMI3_REFUSED(fmi3CompletedIntegratorStep, bool no_return, bool* enter_event_mode, bool* terminate)
FMI3_REFUSED(fmi3SetTime, double time)
FMI3_REFUSED(fmi3SetContinuousStates, const double states[], size_t n)
FMI3_REFUSED(fmi3GetContinuousStateDerivatives, double derivatives[], size_t n)
FMI3_REFUSED(fmi3GetEventIndicators, double indicators[], size_t n)
FMI3_REFUSED(fmi3GetContinuousStates, double states[], size_t n)
FMI3_REFUSED(fmi3GetNominalsOfContinuousStates, double nominals[], size_t n)
FMI3_REFUSED(fmi3GetNumberOfEventIndicators, size_t* n)
FMI3_REFUSED(fmi3GetNumberOfContinuousStates, size_t* n)
FMI3_REFUSED(fmi3ActivateModelPartition, fmi3ValueReference clock, double time)

#define FMI3_REFUSED_MODE(function) \
  FMI3_EXPORT fmi3Status function(fmi3Instance c) { return fmi3_refuse(c, #function ": this FMU has no such mode"); }
FMI3_REFUSED_MODE(fmi3EnterEventMode)
FMI3_REFUSED_MODE(fmi3EnterContinuousTimeMode)
FMI3_REFUSED_MODE(fmi3EnterStepMode)
FMI3_REFUSED_MODE(fmi3EnterConfigurationMode)
FMI3_REFUSED_MODE(fmi3ExitConfigurationMode)
FMI3_REFUSED_MODE(fmi3EvaluateDiscreteStates)

FMI3_EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, bool* again, bool* terminate, bool* nominals,
                                                bool* states, bool* has_next, double* next) {
  (void)c;
  *again = *terminate = *nominals = *states = *has_next = false;
  *next = 0.0;
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state) {
  PolhodeMotion* saved = polhode_save(c, *state);
  if (saved == NULL) return fmi3_refuse(c, "there is no memory for a state");
  *state = saved;
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
  if (state == NULL) return fmi3_refuse(c, "this is no state: get one first");
  polhode_restore(c, state);
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState* state) {
  (void)c;
  free(*state);
  *state = NULL;
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t* size) {
  (void)c, (void)state;
  *size = POLHODE_SAVED_SIZE;
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, uint8_t bytes[], size_t size) {
  if (state == NULL || size < POLHODE_SAVED_SIZE) return fmi3_refuse(c, "there is no state, or no room for its bytes");
  polhode_serialize(state, bytes);
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const uint8_t bytes[], size_t size,
                                               fmi3FMUState* state) {
  PolhodeMotion* saved = polhode_deserialize(c, bytes, size);
  if (saved == NULL) return fmi3_report(c, fmi3Error);
  free(*state);
  *state = saved;
  return fmi3OK;
}

FMI3_EXPORT fmi3Status fmi3DoStep(fmi3Instance c, double t, double step, bool no_return, bool* event, bool* terminate,
                                  bool* early_return, double* last_time) {
  (void)no_return;
  *event = *terminate = *early_return = false;
  const bool went_well = polhode_do_step(c, t, step);
  *last_time = ((PolhodeInstance*)c)->motion.time;
  return fmi3_result(c, went_well);
}
