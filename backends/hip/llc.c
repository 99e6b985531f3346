/* The last-level cache. HIP tells the L2 alone, which on MI300 is 4 MB before
 * 256 MB of Infinity Cache: it is never taken for the last level. */
#include "hip_backend.h"

#include <stdio.h>

typedef struct visit {
  const kmbi_hsa_api *hsa;
  const kmbi_hip_place *place;
  uint64_t bytes;
} visit;

/* Ends the walk when the device is found. */
static kmbi_hsa_status look_at(kmbi_hsa_agent agent, void *user) {
  visit *v = user;
  const kmbi_hip_place *p = v->place;
  uint32_t kind = 0;
  uint32_t bdf = 0;
  uint32_t domain = 0;
  uint32_t caches[4] = {0};
  if (v->hsa->hsa_agent_get_info(agent, KMBI_HSA_INFO_DEVICE, &kind) ||
      kind != 1 || v->hsa->hsa_agent_get_info(agent, KMBI_HSA_INFO_BDF, &bdf) ||
      v->hsa->hsa_agent_get_info(agent, KMBI_HSA_INFO_DOMAIN, &domain))
    return KMBI_HSA_SUCCESS;
  if (bdf != (p->bus << 8 | p->device << 3 | p->function) ||
      domain != p->domain)
    return KMBI_HSA_SUCCESS;
  if (!v->hsa->hsa_agent_get_info(agent, KMBI_HSA_INFO_CACHES, caches))
    v->bytes = caches[2];
  return KMBI_HSA_BREAK;
}

static uint64_t ask_hsa(kmbi_hip *self) {
  kmbi_hip_failure failure;
  visit v = {kmbi_hip_hsa(&failure), &self->place, 0};
  if (!v.hsa || !self->place.known || v.hsa->hsa_init()) return 0;
  (void)v.hsa->hsa_iterate_agents(look_at, &v);
  (void)v.hsa->hsa_shut_down(); /* one reference less, HIP's stays */
  return v.bytes;
}

static uint64_t ask_smi(kmbi_hip *self) {
  const kmbi_smi_api *smi = kmbi_hip_find_smi(self);
  kmbi_smi_caches caches;
  uint64_t bytes = 0;
  memset(&caches, 0, sizeof caches);
  if (!smi || !smi->caches || smi->caches(self->smi_device, &caches)) return 0;
  for (uint32_t i = 0; i < caches.count && i < KMBI_SMI_CACHES; i++) {
    const kmbi_smi_cache *c = &caches.cache[i];
    uint64_t all = 0;
    if (c->level != 3) continue;
    /* How many there are is not known: nor is their sum. */
    if (!c->instances ||
        __builtin_mul_overflow((uint64_t)c->kib << 10, c->instances, &all) ||
        __builtin_add_overflow(bytes, all, &bytes))
      return 0;
  }
  return bytes;
}

/* From AMD's own tables of hardware; for a family of several sizes the largest
 * one. Where there is no cache behind the L2, the L2 of one device. */
static uint64_t ask_table(const char *arch) {
  static const struct {
    const char *arch;
    unsigned mib;
  } known[] = {{"gfx942", 256}, {"gfx950", 256}, {"gfx90a", 8},
               {"gfx908", 8},   {"gfx906", 4},   {"gfx1030", 128},
               {"gfx1031", 96}, {"gfx1032", 32}, {"gfx1034", 16},
               {"gfx1100", 96}, {"gfx1101", 64}, {"gfx1102", 32},
               {"gfx1200", 32}, {"gfx1201", 64}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp(known[i].arch, arch) == 0) return (uint64_t)known[i].mib << 20;
  return 0;
}

void kmbi_hip_find_llc(kmbi_hip *self) {
  kmbi_hip_llc *llc = &self->llc;
  if (kmbi_hip_kfd_llc(&self->place, &llc->bytes)) {
    snprintf(llc->source, sizeof llc->source, "KFD topology, level 3");
    return;
  }
  llc->bytes = ask_hsa(self);
  if (llc->bytes) {
    snprintf(llc->source, sizeof llc->source, "HSA agent, level 3");
    return;
  }
  llc->bytes = ask_smi(self);
  if (llc->bytes) {
    snprintf(llc->source, sizeof llc->source, "amd-smi, level 3");
    return;
  }
  llc->bytes = ask_table(self->arch);
  if (llc->bytes)
    snprintf(llc->source, sizeof llc->source,
             "libkmb's table by name (%s), not read from the device",
             self->arch);
  else
    snprintf(llc->source, sizeof llc->source,
             "neither KFD, nor HSA, nor amd-smi tells the last-level cache, "
             "and %s is in no table; set kmb_device_params.llc_bytes (HIP's L2 "
             "size is not it)",
             self->arch[0] ? self->arch : "the architecture");
}
