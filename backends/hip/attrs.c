/* What the device says of itself. */
#include "hip_backend.h"

#include <stdio.h>
#include <stdlib.h>

bool kmbi_hip_attribute(kmbi_hip *self, int attribute, int *value) {
  if (!self->api->hipDeviceGetAttribute(value, (kmbi_hip_enum)attribute,
                                        self->device))
    return true;
  (void)self->api->hipGetLastError();
  return false;
}

static void write_uuid(const unsigned char *bytes, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "GPU-");
  /* HIP gives the 16 hexadecimal digits of the unique id as text. */
  bool printable = true;
  for (int i = 0; i < 16; i++)
    printable = printable && bytes[i] > ' ' && bytes[i] < 0x7f;
  for (int i = 0; i < 16; i++)
    used += (size_t)snprintf(text + used, size - used,
                             printable ? "%c" : "%02x", bytes[i]);
}

static bool is_arch_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' ||
         c == '+' || c == '-' || c == '_';
}

/* The name of the architecture has no attribute. The structure that holds it
 * changed with ROCm 6; units, which an attribute tells too, show whether it is
 * laid out as it is taken for. */
void kmbi_hip_read_arch(kmbi_hip *self) {
  unsigned char room[KMBI_HIP_PROPERTIES_ROOM];
  bool newer = self->api->layout == KMBI_HIP_R0600;
  int units = 0;
  int stated = 0;
  const char *why = NULL;
  if (self->isa[0]) return;
  memset(room, 0, sizeof room);
  if (!self->api->properties)
    why = "this HIP has no hipGetDeviceProperties";
  else if (self->api->properties(room, self->device))
    why = "HIP gives no device properties";
  if (why) (void)self->api->hipGetLastError();
  memcpy(&units, room + (newer ? KMBI_HIP_R0600_UNITS : KMBI_HIP_R0000_UNITS),
         sizeof units);
  if (!why &&
      (!kmbi_hip_attribute(self, KMBI_HIP_ATTR_MultiprocessorCount, &stated) ||
       stated != units))
    why = "HIP's device properties are not laid out as in ROCm 5 to 7";
  const char *arch =
      (const char *)room + (newer ? KMBI_HIP_R0600_ARCH : KMBI_HIP_R0000_ARCH);
  size_t length = 0;
  while (length < KMBI_HIP_ARCH_BYTES - 1 && is_arch_byte(arch[length]))
    length++;
  if (!why && (!length || arch[length]))
    why = "HIP's device properties hold no name of an architecture";
  if (why) {
    snprintf(self->arch_absent, sizeof self->arch_absent, "%s", why);
    return;
  }
  snprintf(self->isa, sizeof self->isa, "%.*s", (int)length, arch);
  snprintf(self->arch, sizeof self->arch, "%.*s", (int)strcspn(arch, ":"),
           arch);
}

/* "DDDD:BB:DD.F", in hexadecimal digits. */
static bool parse_place(const char *text, kmbi_hip_place *p) {
  unsigned *const parts[] = {&p->domain, &p->bus, &p->device, &p->function};
  static const char ends[] = {':', ':', '.', '\0'};
  for (int i = 0; i < 4; i++) {
    char *end = NULL;
    unsigned long part = strtoul(text, &end, 16);
    if (end == text || *end != ends[i] || part > UINT32_MAX) return false;
    *parts[i] = (unsigned)part;
    text = end + 1;
  }
  return true;
}

static void read_place(kmbi_hip *self) {
  kmbi_hip_place *p = &self->place;
  uint64_t vendor = 0;
  uint64_t device = 0;
  p->known = parse_place(self->pci_bus, p);
  for (char *c = self->pci_bus; *c; c++)
    if (*c >= 'A' && *c <= 'F') *c = (char)(*c - 'A' + 'a');
  if (kmbi_hip_sysfs(self, "vendor", &vendor) &&
      kmbi_hip_sysfs(self, "device", &device))
    snprintf(self->pci_id, sizeof self->pci_id, "%04x:%04x", (unsigned)vendor,
             (unsigned)device);
}

kmb_status kmbi_hip_identify(kmbi_hip *self) {
  const kmbi_hip_api *api = self->api;
  unsigned char uuid[16] = {0};
  kmb_status status = KMBI_HIP(self, hipDeviceGetName, self->name,
                               (int)sizeof self->name, self->device);
  if (!status)
    status = KMBI_HIP(self, hipDeviceGetPCIBusId, self->pci_bus,
                      (int)sizeof self->pci_bus, self->device);
  if (status) return status;
  if (api->hipDeviceGetUuid) {
    if (api->hipDeviceGetUuid((struct hipUUID_t *)(void *)uuid, self->device))
      (void)api->hipGetLastError();
    else
      write_uuid(uuid, self->uuid, sizeof self->uuid);
  }
  read_place(self);
  kmbi_hip_read_arch(self);
  return KMB_OK;
}

static kmb_status unavailable(kmbi_hip *self, const char *why) {
  return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, 0, "hip:%d: %s", self->device,
                       why);
}

static kmb_status unknown(kmbi_hip *self, kmb_device_attr attr) {
  return KMBI_HIP_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                       "hip:%d has no attribute "
                       "%d",
                       self->device, (int)attr);
}

static kmb_status attribute(kmbi_hip *self, int which, uint64_t *value,
                            const char *absent) {
  int got = 0;
  if (!kmbi_hip_attribute(self, which, &got) || got <= 0)
    return unavailable(self, absent);
  *value = (uint64_t)got;
  return KMB_OK;
}

kmb_status kmbi_hip_attr_u64(void *opened, kmb_device_attr attr,
                             uint64_t *value) {
  kmbi_hip *self = opened;
  size_t bytes = 0;
  kmb_status status = KMB_OK;
  switch (attr) {
  case KMB_DEVICE_UNITS:
    return attribute(self, KMBI_HIP_ATTR_MultiprocessorCount, value,
                     "HIP gives no number of compute units");
  case KMB_DEVICE_MEMORY_BYTES:
    status = KMBI_HIP(self, hipDeviceTotalMem, &bytes, self->device);
    *value = bytes;
    return status;
  case KMB_DEVICE_L2_BYTES:
    return attribute(self, KMBI_HIP_ATTR_L2CacheSize, value,
                     "HIP gives no size of the L2 cache");
  case KMB_DEVICE_LLC_BYTES:
    *value = self->llc.bytes;
    return self->llc.bytes ? KMB_OK : unavailable(self, self->llc.source);
  case KMB_DEVICE_NUMA_NODE:
    if (kmbi_hip_sysfs(self, "numa_node", value)) return KMB_OK;
    return unavailable(self, "the kernel knows no NUMA node nearest to it");
  case KMB_DEVICE_L1_BYTES:
    return unavailable(self, "HIP gives no size of the L1 cache");
  case KMB_DEVICE_NUMA_NODES:
    return unavailable(self, "NUMA nodes are counted by the host");
  case KMB_DEVICE_THREADS:
    return unavailable(self, "the work of a GPU uses no core of the host");
  default:
    return unknown(self, attr);
  }
}

/* Events are stamped with the device's constant clock. */
kmb_status kmbi_hip_attr_f64(void *opened, kmb_device_attr attr,
                             double *value) {
  kmbi_hip *self = opened;
  int khz = 0;
  if (attr != KMB_DEVICE_CLOCK_TICK_NS) return unknown(self, attr);
  if (!kmbi_hip_attribute(self, KMBI_HIP_ATTR_WallClockRate, &khz) || khz <= 0)
    return unavailable(self, "HIP (before ROCm 6) does not tell the rate of "
                             "the clock that stamps events");
  *value = 1e6 / khz;
  return KMB_OK;
}

static kmb_status text_of(kmbi_hip *self, const char *have, const char *absent,
                          const char **text) {
  *text = have;
  return *have ? KMB_OK : unavailable(self, absent);
}

kmb_status kmbi_hip_attr_text(void *opened, kmb_device_attr attr,
                              const char **text) {
  kmbi_hip *self = opened;
  switch (attr) {
  case KMB_DEVICE_NAME:
    return text_of(self, self->name, "HIP gives no name", text);
  case KMB_DEVICE_ARCH:
    kmbi_hip_read_arch(self);
    return text_of(self, self->arch, self->arch_absent, text);
  case KMB_DEVICE_ISA:
    kmbi_hip_read_arch(self);
    return text_of(self, self->isa, self->arch_absent, text);
  case KMB_DEVICE_UUID:
    return text_of(self, self->uuid, "this HIP gives no UUID", text);
  case KMB_DEVICE_PCI_ID:
    return text_of(self, self->pci_id,
                   "sysfs shows no PCI vendor and device number", text);
  case KMB_DEVICE_LLC_SOURCE:
    *text = self->llc.source;
    return self->llc.bytes ? KMB_OK : unavailable(self, self->llc.source);
  case KMB_DEVICE_BINDING:
    return unavailable(self, "a GPU has no cores to be bound to");
  default:
    return unknown(self, attr);
  }
}
