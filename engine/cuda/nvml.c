#include "engine/cuda/nvml.h"

#include <dlfcn.h>

#define NVML_LIBRARY "libnvidia-ml.so.1"

/* dlsym() gives an object pointer; POSIX lets it be stored as a function pointer this way. */
static void nvml_resolve(void *library, const char *name, void *function) {
  *(void **)function = dlsym(library, name);
}

enum status nvml_load(struct nvml *nvml, struct error *err) {
  *nvml = (struct nvml){.library = dlopen(NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL)};
  if (nvml->library == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "there is no NVML here: %s", dlerror());
  }
  nvml_resolve(nvml->library, "nvmlErrorString", &nvml->nvmlErrorString);
#define NVML_RESOLVE_(name, arguments) nvml_resolve(nvml->library, #name, &nvml->name);
  NVML_FUNCTION_LIST(NVML_RESOLVE_)
#undef NVML_RESOLVE_
  int result = NVML_CALL(nvml, nvmlInit_v2);
  if (result == NVML_OK) {
    return STATUS_OK;
  }
  enum status status =
      error_set_native(err, result == NVML_NO_PERMISSION ? STATUS_DENIED : STATUS_UNSUPPORTED,
                       result, "NVML does not start: %s", nvml_text(nvml, result));
  (void)dlclose(nvml->library);
  *nvml = (struct nvml){0};
  return status;
}

void nvml_unload(struct nvml *nvml) {
  if (nvml->library != NULL) {
    (void)NVML_CALL(nvml, nvmlShutdown);
    (void)dlclose(nvml->library);
  }
  *nvml = (struct nvml){0};
}

enum fact_state nvml_fact_state(int result) {
  if (result == NVML_OK) {
    return FACT_OK;
  }
  return result == NVML_NO_PERMISSION ? FACT_DENIED : FACT_UNAVAILABLE;
}

const char *nvml_text(const struct nvml *nvml, int result) {
  if (result == NVML_FUNCTION_NOT_FOUND) {
    return "this driver's NVML has no such function";
  }
  const char *text = nvml->nvmlErrorString == NULL ? NULL : nvml->nvmlErrorString(result);
  return text == NULL ? "unknown NVML error" : text;
}

static bool field_value(const struct nvml_field *field, unsigned long long *value) {
  switch (field->value_type) {
  case NVML_VALUE_DOUBLE:
    *value = (unsigned long long)field->value.number;
    return field->value.number >= 0;
  case NVML_VALUE_UINT:
    *value = field->value.uint_value;
    return true;
  case NVML_VALUE_ULONG:
    *value = field->value.ulong_value;
    return true;
  case NVML_VALUE_ULLONG:
    *value = field->value.ullong_value;
    return true;
  case NVML_VALUE_SLLONG:
    *value = (unsigned long long)field->value.sllong_value;
    return field->value.sllong_value >= 0;
  }
  return false;
}

void nvml_read_fields(const struct nvml *nvml, struct nvml_device *device, unsigned count,
                      const unsigned field_ids[], unsigned long long values[], bool known[]) {
  struct nvml_field fields[NVML_FIELDS_MAX];
  for (unsigned i = 0; i < count; i++) {
    /* Where the result is an error already, driver 580 leaves the field alone. */
    fields[i] = (struct nvml_field){.field_id = field_ids[i], .value_type = -1, .result = NVML_OK};
  }
  const bool answered =
      NVML_CALL(nvml, nvmlDeviceGetFieldValues, device, (int)count, fields) == NVML_OK;
  for (unsigned i = 0; i < count; i++) {
    known[i] = answered && fields[i].result == NVML_OK && field_value(&fields[i], &values[i]);
  }
}

bool nvml_read_field(const struct nvml *nvml, struct nvml_device *device, unsigned field_id,
                     unsigned scope_id, unsigned long long *value) {
  /* Where the result is an error already, driver 580 leaves the field alone. */
  struct nvml_field field = {
      .field_id = field_id, .scope_id = scope_id, .value_type = -1, .result = NVML_OK};
  return NVML_CALL(nvml, nvmlDeviceGetFieldValues, device, 1, &field) == NVML_OK &&
         field.result == NVML_OK && field_value(&field, value);
}
