/* nvml.h - NVML (libnvidia-ml.so.1), loaded at run time: what the driver says of GPUs without a
 * CUDA context.
 *
 * The declarations are our own, on purpose even where nvml.h is installed: it is a package of its
 * own that few machines have, and two sets of declarations would mean one that is never compiled.
 * The binary interface of NVML is fixed by name: a changed signature gets a new name (_v2, _v3).
 * Types and numbers are those of the public NVML reference; the test compares them with nvml.h
 * where there is one. Every function is optional: call through NVML_CALL(). */
#pragma once

#include "engine/base/error.h"
#include "engine/case/states.h"

/* nvmlReturn_t, the values that are told apart. */
enum {
  NVML_OK = 0,
  NVML_UNINITIALIZED = 1,
  NVML_INVALID_ARGUMENT = 2,
  NVML_NOT_SUPPORTED = 3,
  NVML_NO_PERMISSION = 4,
  NVML_NOT_FOUND = 6,
  NVML_INSUFFICIENT_SIZE = 7,
  NVML_DRIVER_NOT_LOADED = 9,
  NVML_TIMED_OUT = 10,
  NVML_FUNCTION_NOT_FOUND = 13,
};

enum { NVML_CLOCK_OF_GRAPHICS = 0, NVML_CLOCK_OF_SM = 1, NVML_CLOCK_OF_MEMORY = 2 };
enum { NVML_SENSOR_OF_GPU = 0 };
enum { NVML_AFFINITY_OF_NODE = 0 };
enum { NVML_LINKS_MAX = 64 }; /* more than any GPU has: asking past the last is an error */

/* nvmlIntNvLinkDeviceType_t: what a link ends in. */
enum {
  NVML_REMOTE_GPU = 0,
  NVML_REMOTE_CPU = 1,
  NVML_REMOTE_SWITCH = 2,
  NVML_REMOTE_UNKNOWN = 255
};

/* Fields of nvmlDeviceGetFieldValues(); speeds in 10^6 bytes per second and one direction. */
enum {
  NVML_FIELD_MEMORY_TEMPERATURE = 82, /* in degrees Celsius */
  NVML_FIELD_NVLINK_SPEED_COMMON = 90,
  NVML_FIELD_NVLINK_SPEED = 164, /* scope: the link */
  NVML_FIELD_C2C_LINK_COUNT = 170,
  NVML_FIELD_C2C_LINK_STATUS = 171, /* scope: the link; 1 = active */
  NVML_FIELD_C2C_LINK_SPEED = 172,  /* scope: the link */
};

/* nvmlClocksThrottleReasons: why clocks are what they are. */
enum {
  NVML_THROTTLE_GPU_IDLE = 0x1,
  NVML_THROTTLE_APPLICATION_CLOCKS = 0x2,
  NVML_THROTTLE_SW_POWER_CAP = 0x4,
  NVML_THROTTLE_HW_SLOWDOWN = 0x8,
  NVML_THROTTLE_SYNC_BOOST = 0x10,
  NVML_THROTTLE_SW_THERMAL = 0x20,
  NVML_THROTTLE_HW_THERMAL = 0x40,
  NVML_THROTTLE_HW_POWER_BRAKE = 0x80,
  NVML_THROTTLE_DISPLAY_CLOCK = 0x100,
};

struct nvml_device; /* what nvmlDevice_t points to */

struct nvml_pci_info { /* nvmlPciInfo_t */
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32]; /* "00000000:06:00.0" */
};

struct nvml_memory { /* nvmlMemory_t */
  unsigned long long total_bytes;
  unsigned long long free_bytes;
  unsigned long long used_bytes;
};

struct nvml_bar1 { /* nvmlBAR1Memory_t */
  unsigned long long total_bytes;
  unsigned long long free_bytes;
  unsigned long long used_bytes;
};

/* nvmlGpuFabricState_t: how far the GPU has come in joining the NVLink switches. */
enum {
  NVML_FABRIC_NOT_SUPPORTED = 0,
  NVML_FABRIC_NOT_STARTED = 1,
  NVML_FABRIC_IN_PROGRESS = 2,
  NVML_FABRIC_COMPLETED = 3,
};

struct nvml_fabric { /* nvmlGpuFabricInfo_t */
  unsigned char cluster_uuid[16];
  int status; /* nvmlReturn_t, of a registration that is completed */
  unsigned clique;
  unsigned char state; /* NVML_FABRIC_... */
};

struct nvml_confidential { /* nvmlConfComputeSystemState_t */
  unsigned environment;
  unsigned feature; /* 0 = off */
  unsigned developer_tools;
};

struct nvml_c2c { /* nvmlC2cModeInfo_v1_t, which has no version */
  unsigned enabled;
};

struct nvml_utilization { /* nvmlUtilization_t */
  unsigned gpu_percent;
  unsigned memory_percent;
};

enum { NVML_VALUE_DOUBLE, NVML_VALUE_UINT, NVML_VALUE_ULONG, NVML_VALUE_ULLONG, NVML_VALUE_SLLONG };

struct nvml_field { /* nvmlFieldValue_t */
  unsigned field_id;
  unsigned scope_id;
  long long timestamp;
  long long latency_us;
  int value_type; /* NVML_VALUE_... */
  int result;
  union {
    double number;
    unsigned uint_value;
    unsigned long ulong_value;
    unsigned long long ullong_value;
    long long sllong_value;
  } value;
};

struct nvml_event_set; /* what nvmlEventSet_t points to */
enum { NVML_EVENT_XID = 8 };

struct nvml_event { /* nvmlEventData_t */
  struct nvml_device *device;
  unsigned long long event_type; /* NVML_EVENT_... */
  unsigned long long event_data; /* of an Xid: its number */
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct nvml_process { /* nvmlProcessInfo_t of version 2 on */
  unsigned pid;
  unsigned long long used_memory_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct nvml_process_utilization { /* nvmlProcessUtilizationSample_t */
  unsigned pid;
  unsigned long long timestamp_us;
  unsigned sm_percent;
  unsigned memory_percent;
  unsigned encoder_percent;
  unsigned decoder_percent;
};

/* X(name, (arguments)); all but nvmlErrorString return nvmlReturn_t. */
#define NVML_FUNCTION_LIST(X)                                                                      \
  X(nvmlInit_v2, (void))                                                                           \
  X(nvmlShutdown, (void))                                                                          \
  X(nvmlSystemGetDriverVersion, (char *text, unsigned size))                                       \
  X(nvmlSystemGetCudaDriverVersion_v2, (int *version))                                             \
  X(nvmlDeviceGetCount_v2, (unsigned *count))                                                      \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, struct nvml_device **device))                  \
  X(nvmlDeviceGetName, (struct nvml_device * device, char *text, unsigned size))                   \
  X(nvmlDeviceGetUUID, (struct nvml_device * device, char *text, unsigned size))                   \
  X(nvmlDeviceGetPciInfo_v3, (struct nvml_device * device, struct nvml_pci_info * info))           \
  X(nvmlDeviceGetVbiosVersion, (struct nvml_device * device, char *text, unsigned size))           \
  X(nvmlDeviceGetEccMode, (struct nvml_device * device, int *current, int *pending))               \
  X(nvmlDeviceGetMigMode, (struct nvml_device * device, unsigned *current, unsigned *pending))     \
  X(nvmlDeviceGetPersistenceMode, (struct nvml_device * device, int *mode))                        \
  X(nvmlDeviceGetEnforcedPowerLimit, (struct nvml_device * device, unsigned *milliwatts))          \
  X(nvmlDeviceGetPowerManagementDefaultLimit, (struct nvml_device * device, unsigned *milliwatts)) \
  X(nvmlDeviceGetBAR1MemoryInfo, (struct nvml_device * device, struct nvml_bar1 * memory))         \
  X(nvmlDeviceGetGpuFabricInfo, (struct nvml_device * device, struct nvml_fabric * fabric))        \
  X(nvmlDeviceGetC2cModeInfoV, (struct nvml_device * device, struct nvml_c2c * c2c))               \
  X(nvmlSystemGetConfComputeState, (struct nvml_confidential * state))                             \
  X(nvmlDeviceGetClockInfo, (struct nvml_device * device, int clock, unsigned *mhz))               \
  X(nvmlDeviceGetMaxClockInfo, (struct nvml_device * device, int clock, unsigned *mhz))            \
  X(nvmlDeviceGetApplicationsClock, (struct nvml_device * device, int clock, unsigned *mhz))       \
  X(nvmlDeviceGetDefaultApplicationsClock,                                                         \
    (struct nvml_device * device, int clock, unsigned *mhz))                                       \
  X(nvmlDeviceGetPowerUsage, (struct nvml_device * device, unsigned *milliwatts))                  \
  X(nvmlDeviceGetTotalEnergyConsumption,                                                           \
    (struct nvml_device * device, unsigned long long *millijoules))                                \
  X(nvmlDeviceGetTemperature, (struct nvml_device * device, int sensor, unsigned *celsius))        \
  X(nvmlDeviceGetUtilizationRates,                                                                 \
    (struct nvml_device * device, struct nvml_utilization * utilization))                          \
  X(nvmlDeviceGetCurrPcieLinkGeneration, (struct nvml_device * device, unsigned *generation))      \
  X(nvmlDeviceGetCurrPcieLinkWidth, (struct nvml_device * device, unsigned *width))                \
  X(nvmlDeviceGetMaxPcieLinkGeneration, (struct nvml_device * device, unsigned *generation))       \
  X(nvmlDeviceGetMaxPcieLinkWidth, (struct nvml_device * device, unsigned *width))                 \
  X(nvmlDeviceGetCurrentClocksThrottleReasons,                                                     \
    (struct nvml_device * device, unsigned long long *reasons))                                    \
  X(nvmlDeviceGetNvLinkState, (struct nvml_device * device, unsigned link, int *active))           \
  X(nvmlDeviceGetNvLinkVersion, (struct nvml_device * device, unsigned link, unsigned *version))   \
  X(nvmlDeviceGetNvLinkRemotePciInfo_v2,                                                           \
    (struct nvml_device * device, unsigned link, struct nvml_pci_info *info))                      \
  X(nvmlDeviceGetNvLinkRemoteDeviceType, (struct nvml_device * device, unsigned link, int *type))  \
  X(nvmlDeviceGetFieldValues, (struct nvml_device * device, int count, struct nvml_field *fields)) \
  X(nvmlDeviceGetMemoryInfo, (struct nvml_device * device, struct nvml_memory * memory))           \
  X(nvmlDeviceGetMemoryBusWidth, (struct nvml_device * device, unsigned *bits))                    \
  X(nvmlDeviceGetGspFirmwareVersion, (struct nvml_device * device, char *text_of_64))              \
  X(nvmlDeviceGetGspFirmwareMode,                                                                  \
    (struct nvml_device * device, unsigned *enabled, unsigned *default_mode))                      \
  X(nvmlDeviceGetComputeRunningProcesses_v3,                                                       \
    (struct nvml_device * device, unsigned *count, struct nvml_process *processes))                \
  X(nvmlDeviceGetProcessUtilization,                                                               \
    (struct nvml_device * device, struct nvml_process_utilization * processes, unsigned *count,    \
     unsigned long long since_us))                                                                 \
  X(nvmlDeviceGetSupportedEventTypes, (struct nvml_device * device, unsigned long long *types))    \
  X(nvmlEventSetCreate, (struct nvml_event_set * *set))                                            \
  X(nvmlEventSetFree, (struct nvml_event_set * set))                                               \
  X(nvmlDeviceRegisterEvents,                                                                      \
    (struct nvml_device * device, unsigned long long types, struct nvml_event_set *set))           \
  X(nvmlEventSetWait_v2,                                                                           \
    (struct nvml_event_set * set, struct nvml_event * event, unsigned timeout_ms))                 \
  X(nvmlDeviceGetMemoryAffinity,                                                                   \
    (struct nvml_device * device, unsigned words, unsigned long *nodes, int scope))

struct nvml {
  void *library; /* NULL = not loaded */
  const char *(*nvmlErrorString)(int result);
#define NVML_FUNCTION_MEMBER_(name, arguments) int(*name) arguments;
  NVML_FUNCTION_LIST(NVML_FUNCTION_MEMBER_)
#undef NVML_FUNCTION_MEMBER_
};

/* The result of nvml->function(...), or NVML_FUNCTION_NOT_FOUND where this driver lacks it. */
#define NVML_CALL(nvml, function, ...)                                                             \
  ((nvml)->function == NULL ? NVML_FUNCTION_NOT_FOUND : (nvml)->function(__VA_ARGS__))

/* Load and initialise. STATUS_UNSUPPORTED: there is no library or no driver, or they do not fit
 * each other; STATUS_DENIED: not for this user. */
enum status nvml_load(struct nvml *nvml, struct error *err) CHECK_RESULT;
void nvml_unload(struct nvml *nvml);

/* What a result means for a fact, and its text: "Not Supported". */
enum fact_state nvml_fact_state(int result);
const char *nvml_text(const struct nvml *nvml, int result);
/* Values of that many fields, NVML_FIELDS_MAX at most, in one call, as whole numbers; known[i]
 * false = not available. */
enum { NVML_FIELDS_MAX = 16 };
void nvml_read_fields(const struct nvml *nvml, struct nvml_device *device, unsigned count,
                      const unsigned field_ids[], unsigned long long values[], bool known[]);
/* The same of one field; false = not available. */
bool nvml_read_field(const struct nvml *nvml, struct nvml_device *device, unsigned field_id,
                     unsigned scope_id, unsigned long long *value);
