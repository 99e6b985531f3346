/* Metadata. What NVML cannot tell is absent with the reason. */
#include "cupti_session.h"

#include <stdio.h>

static void emit_u64(kmb_emit_fn emit, void *user, const char *key,
                     unsigned long long value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", value);
  emit(user, key, text, NULL);
}

static void emit_version(kmb_emit_fn emit, void *user, const char *key,
                         int version) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
  emit(user, key, text, NULL);
}

const kmbi_nvml_api *kmbi_cuda_find_nvml(kmbi_cuda *self) {
  kmbi_cuda_failure *failure = &self->nvml_failure;
  if (self->nvml_tried)
    return self->nvml_device ? kmbi_cuda_nvml(failure) : NULL;
  const kmbi_nvml_api *nvml = kmbi_cuda_nvml(failure);
  self->nvml_tried = true;
  if (!nvml) return NULL;
  char mig[sizeof self->uuid];
  kmbi_nvml_result result = nvml->by_uuid(self->uuid, &self->nvml_device);
  if (result && self->uuid[0]) {
    snprintf(mig, sizeof mig, "MIG%s", self->uuid + 3);
    if (!nvml->by_uuid(mig, &self->nvml_device)) {
      snprintf(self->uuid, sizeof self->uuid, "%s", mig);
      return nvml;
    }
  }
  if (result && nvml->by_pci)
    result = nvml->by_pci(self->pci_bus, &self->nvml_device);
  if (!result) return nvml;
  self->nvml_device = NULL;
  kmbi_cuda_failed(failure, KMB_ERR_UNAVAILABLE, (int64_t)result,
                   "NVML knows no device %s at %s (%u)", self->uuid,
                   self->pci_bus, result);
  return NULL;
}

/* CUDA names a slice by its profile, NVML by its UUID. */
bool kmbi_cuda_is_slice(kmbi_cuda *self) {
  if (strstr(self->name, " MIG ")) return true;
  (void)kmbi_cuda_find_nvml(self);
  return strncmp(self->uuid, "MIG", 3) == 0;
}

static void emit_mode(kmb_emit_fn emit, void *user, const char *key, bool known,
                      kmbi_nvml_result result, unsigned mode) {
  char text[64];
  snprintf(text, sizeof text, "NVML answered %u", result);
  if (!known)
    emit(user, key, NULL, "this NVML has no such function");
  else if (result)
    emit(user, key, NULL, text);
  else
    emit(user, key, mode ? "on" : "off", NULL);
}

static void describe_nvml(kmbi_cuda *self, kmb_emit_fn emit, void *user) {
  const kmbi_nvml_api *nvml = kmbi_cuda_find_nvml(self);
  char text[KMBI_NVML_TEXT] = "";
  unsigned now = 0;
  unsigned pending = 0;
  if (!nvml) {
    static const char *const keys[] = {"device.ecc", "device.mig",
                                       "device.persistence",
                                       "device.driver_version"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
      emit(user, keys[i], NULL, self->nvml_failure.text);
    return;
  }
  kmbi_nvml_result result = 1;
  if (nvml->driver_version) result = nvml->driver_version(text, sizeof text);
  text[sizeof text - 1] = '\0';
  emit(user, "device.driver_version", result ? NULL : text,
       result ? "NVML does not tell the driver's version" : NULL);
  result = nvml->ecc ? nvml->ecc(self->nvml_device, &now, &pending) : 1;
  emit_mode(emit, user, "device.ecc", nvml->ecc != NULL, result, now);
  result = nvml->mig ? nvml->mig(self->nvml_device, &now, &pending) : 1;
  if (kmbi_cuda_is_slice(self))
    emit(user, "device.mig", "on", NULL);
  else
    emit_mode(emit, user, "device.mig", nvml->mig != NULL, result, now);
  result = nvml->persistence ? nvml->persistence(self->nvml_device, &now) : 1;
  emit_mode(emit, user, "device.persistence", nvml->persistence != NULL, result,
            now);
}

void kmbi_cuda_describe(void *opened, kmb_emit_fn emit, void *user) {
  kmbi_cuda *self = opened;
  kmbi_cuda_failure failure;
  const kmbi_cupti_api *cupti = kmbi_cuda_cupti(&failure);
  emit_version(emit, user, "device.cuda_driver_api", self->driver->version);
  emit(user, "device.pci_bus", self->pci_bus, NULL);
  int mps = 0;
  bool known = kmbi_cuda_attribute(self, KMBI_CU_ATTR_MPS_ENABLED, &mps);
  emit(user, "device.mps", known ? (mps ? "on" : "off") : NULL,
       known ? NULL : "the driver does not tell (CUDA 12.1)");
  if (cupti) {
    emit_u64(emit, user, "device.cupti_api", cupti->version);
    emit(user, "device.cupti_path", kmbi_cuda_cupti_path(), NULL);
    const char *calls = kmbi_cupti_correlation();
    emit(user, "cupti.correlation", calls,
         calls ? NULL : "nothing has been traced in this process");
  } else {
    emit(user, "device.cupti_api", NULL, failure.text);
  }
  if (self->lost)
    emit(user, "device.state", "lost", NULL);
  else
    describe_nvml(self, emit, user);
}
