/* What Linux says of the device in files. */
#include "hip_backend.h"

#include <stdio.h>
#include <stdlib.h>

#define KFD "/sys/class/kfd/kfd/topology/nodes"
enum { NODES = 256, CACHES = 4096, HWMONS = 64 };

bool kmbi_hip_read_number(const char *path, const char *key, uint64_t *value) {
  char line[256];
  bool found = false;
  FILE *file = fopen(path, "re");
  if (!file) return false;
  while (!found && fgets(line, sizeof line, file)) {
    const char *at = line;
    char *end = NULL;
    if (key) {
      size_t length = strlen(key);
      if (strncmp(line, key, length) != 0 || line[length] != ' ') continue;
      at = line + length + 1;
    }
    if (*at == '-') break;
    *value = strtoull(at, &end, 0);
    found = end != at;
    if (!key) break;
  }
  (void)fclose(file);
  return found;
}

/* location_id is the bus above the device above the function. */
static bool is_node_of(unsigned node, const kmbi_hip_place *place,
                       bool *exists) {
  char path[128];
  uint64_t location = 0;
  uint64_t domain = 0;
  snprintf(path, sizeof path, KFD "/%u/properties", node);
  *exists = kmbi_hip_read_number(path, "location_id", &location);
  if (!*exists) return false;
  (void)kmbi_hip_read_number(path, "domain", &domain);
  return location == (place->bus << 8 | place->device << 3 | place->function) &&
         domain == place->domain;
}

/* Of one node, the caches of level 3 together. */
static uint64_t level_3_of(unsigned node) {
  uint64_t bytes = 0;
  for (unsigned i = 0; i < CACHES; i++) {
    char path[128];
    uint64_t level = 0;
    uint64_t kib = 0;
    snprintf(path, sizeof path, KFD "/%u/caches/%u/properties", node, i);
    if (!kmbi_hip_read_number(path, "level", &level)) break;
    if (level == 3 && kmbi_hip_read_number(path, "size", &kib) &&
        kib <= UINT32_MAX)
      bytes += kib << 10;
  }
  return bytes;
}

bool kmbi_hip_kfd_llc(const kmbi_hip_place *place, uint64_t *bytes) {
  bool exists = true;
  *bytes = 0;
  for (unsigned node = 0; place->known && exists && node < NODES; node++)
    if (is_node_of(node, place, &exists)) {
      *bytes = level_3_of(node);
      break;
    }
  return *bytes != 0;
}

bool kmbi_hip_sysfs(const kmbi_hip *self, const char *file, uint64_t *value) {
  char path[128];
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", self->pci_bus,
           file);
  return self->place.known && kmbi_hip_read_number(path, NULL, value);
}

bool kmbi_hip_hwmon(const kmbi_hip *self, const char *file, uint64_t *value) {
  char below[64];
  for (int i = 0; i < HWMONS; i++) {
    snprintf(below, sizeof below, "hwmon/hwmon%d/%.32s", i, file);
    if (kmbi_hip_sysfs(self, below, value)) return true;
  }
  return false;
}
