// The functions of FMI 2.0 for co-simulation, declared as in section 2 and 4 of its specification.

#if defined(_WIN32)
#define FMI2_EXPORT __declspec(dllexport)
#else
#define FMI2_EXPORT __attribute__((visibility("default")))
#endif

typedef void* fmi2Component;
typedef void* fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char* fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void (*fmi2CallbackLogger)(void*, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
typedef struct {
  fmi2CallbackLogger logger;
  void* (*allocateMemory)(size_t, size_t);
  void (*freeMemory)(void*);
  void (*stepFinished)(void*, fmi2Status);
  void* componentEnvironment;
} fmi2CallbackFunctions;

static fmi2Status fmi2_report(PolhodeInstance* c, fmi2Status status) {
  fmi2CallbackLogger logger;
  memcpy(&logger, &c->logger, sizeof logger);
  if (logger != NULL) logger(c->environment, c->name, status, "logStatusError", "%s", c->message);
  return status;
}

static fmi2Status fmi2_result(PolhodeInstance* c, bool went_well) {
  return went_well ? fmi2OK : fmi2_report(c, fmi2Error);
}

static fmi2Status fmi2_refuse(fmi2Component c, const char* why) {
  polhode_fail(c, why);
  return fmi2_report(c, fmi2Error);
}

FMI2_EXPORT const char* fmi2GetTypesPlatform(void) { return "default"; }
FMI2_EXPORT const char* fmi2GetVersion(void) { return "2.0"; }

FMI2_EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]) {
  (void)n, (void)categories;
  ((PolhodeInstance*)c)->logs_all = on != 0;
  return fmi2OK;
}

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                                          const fmi2CallbackFunctions* functions, fmi2Boolean visible, fmi2Boolean on) {
  (void)resources, (void)visible;
  PolhodeInstance* c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  polhode_reset(&c->motion);
  snprintf(c->name, sizeof c->name, "%s", name == NULL ? "" : name);
  c->logs_all = on != 0;
  if (functions != NULL) {
    c->environment = functions->componentEnvironment;
    memcpy(&c->logger, &functions->logger, sizeof c->logger);
  }
  const char* wrong = NULL;
  if (type != fmi2CoSimulation) wrong = "this FMU is for co-simulation";
  if (token == NULL || strcmp(token, POLHODE_TOKEN) != 0) wrong = "the GUID is not that of this FMU";
  if (wrong == NULL) return c;
  fmi2_refuse(c, wrong);
  free(c);
  return NULL;
}

FMI2_EXPORT void fmi2FreeInstance(fmi2Component c) { free(c); }

FMI2_EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                           fmi2Real start, fmi2Boolean has_stop, fmi2Real stop) {
  (void)has_tolerance, (void)tolerance;
  return fmi2_result(c, polhode_set_experiment(c, start, has_stop != 0, stop));
}

FMI2_EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  return fmi2_result(c, polhode_enter_initialization(c));
}

FMI2_EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  return fmi2_result(c, polhode_exit_initialization(c));
}

FMI2_EXPORT fmi2Status fmi2Terminate(fmi2Component c) { return fmi2_result(c, polhode_terminate(c)); }

FMI2_EXPORT fmi2Status fmi2Reset(fmi2Component c) {
  polhode_reset(&((PolhodeInstance*)c)->motion);
  ((PolhodeInstance*)c)->outputs_known = false;
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
  for (size_t i = 0; i < n; i++) {
    if (!polhode_get(c, vr[i], &values[i])) return fmi2_report(c, fmi2Error);
  }
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
  for (size_t i = 0; i < n; i++) {
    if (!polhode_can_set(c, vr[i], values[i])) return fmi2_report(c, fmi2Error);
  }
  for (size_t i = 0; i < n; i++) polhode_put(c, vr[i], values[i]);
  return fmi2OK;
}

#define FMI2_NO_SUCH_VARIABLES(kind, type)                                                                        \
  FMI2_EXPORT fmi2Status fmi2Get##kind(fmi2Component c, const fmi2ValueReference vr[], size_t n, type values[]) { \
    (void)vr, (void)values;                                                                                       \
    return n == 0 ? fmi2OK : fmi2_refuse(c, "all variables of this FMU are real");                                \
  }                                                                                                               \
  FMI2_EXPORT fmi2Status fmi2Set##kind(fmi2Component c, const fmi2ValueReference vr[], size_t n,                  \
                                       const type values[]) {                                                     \
    (void)vr, (void)values;                                                                                       \
    return n == 0 ? fmi2OK : fmi2_refuse(c, "all variables of this FMU are real");                                \
  }
FMI2_NO_SUCH_VARIABLES(Integer, fmi2Integer)
FMI2_NO_SUCH_VARIABLES(Boolean, fmi2Boolean)
FMI2_NO_SUCH_VARIABLES(String, fmi2String)

FMI2_EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state) {
  PolhodeMotion* saved = polhode_save(c, *state);
  if (saved == NULL) return fmi2_refuse(c, "there is no memory for a state");
  *state = saved;
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  if (state == NULL) return fmi2_refuse(c, "this is no state: get one first");
  polhode_restore(c, state);
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state) {
  (void)c;
  free(*state);
  *state = NULL;
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t* size) {
  (void)c, (void)state;
  *size = POLHODE_SAVED_SIZE;
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  if (state == NULL || size < POLHODE_SAVED_SIZE) return fmi2_refuse(c, "there is no state, or no room for its bytes");
  polhode_serialize(state, bytes);
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                               fmi2FMUstate* state) {
  PolhodeMotion* saved = polhode_deserialize(c, bytes, size);
  if (saved == NULL) return fmi2_report(c, fmi2Error);
  free(*state);
  *state = saved;
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[],
                                                    size_t n_unknown, const fmi2ValueReference known[], size_t n_known,
                                                    const fmi2Real seed[], fmi2Real sensitivity[]) {
  (void)unknown, (void)n_unknown, (void)known, (void)n_known, (void)seed, (void)sensitivity;
  return fmi2_refuse(c, "this FMU provides no directional derivatives");
}

FMI2_EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                                   const fmi2Integer order[], const fmi2Real values[]) {
  (void)vr, (void)n, (void)order, (void)values;
  return fmi2_refuse(c, "this FMU holds its inputs over a step: it takes no derivatives of them");
}

FMI2_EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                                    const fmi2Integer order[], fmi2Real values[]) {
  (void)vr, (void)n, (void)order, (void)values;
  return fmi2_refuse(c, "this FMU provides no derivatives of its outputs");
}

FMI2_EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real step, fmi2Boolean no_return) {
  (void)no_return;
  return fmi2_result(c, polhode_do_step(c, t, step));
}

FMI2_EXPORT fmi2Status fmi2CancelStep(fmi2Component c) { return fmi2_refuse(c, "no step is pending"); }

FMI2_EXPORT fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status* value) {
  (void)c, (void)kind;
  *value = fmi2OK;
  return kind == fmi2DoStepStatus ? fmi2OK : fmi2Discard;
}

FMI2_EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real* value) {
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = ((PolhodeInstance*)c)->motion.time;
  return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer* value) {
  (void)c, (void)kind, (void)value;
  return fmi2Discard;
}

FMI2_EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean* value) {
  (void)c;
  *value = 0;
  return kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}

FMI2_EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String* value) {
  (void)c;
  *value = "";
  return kind == fmi2PendingStatus ? fmi2OK : fmi2Discard;
}
