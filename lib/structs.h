/* Growing structs: the one place that knows how sizes are reconciled. */
#ifndef KMB_LIB_STRUCTS_H
#define KMB_LIB_STRUCTS_H

#include <kmb/base.h>

/* Sizes of the first versions, up to their last member: fixed for ever. */
#define KMBI_V1(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
#define KMBI_HOOKS_V1 KMBI_V1(kmb_hooks, cancel)
#define KMBI_DEVICE_PARAMS_V1 KMBI_V1(kmb_device_params, flags)
#define KMBI_BUFFER_DESC_V1 KMBI_V1(kmb_buffer_desc, residency)
#define KMBI_BUFFERS_PARAMS_V1 KMBI_V1(kmb_buffers_params, flags)
#define KMBI_BUFFERS_INFO_V1 KMBI_V1(kmb_buffers_info, slots_limit)
#define KMBI_WORK_V1 KMBI_V1(kmb_work, flags)
#define KMBI_CEILING_V1 KMBI_V1(kmb_ceiling, source)
#define KMBI_ROOFLINE_PARAMS_V1 KMBI_V1(kmb_roofline_params, time_ns)
#define KMBI_ROOFLINE_V1 KMBI_V1(kmb_roofline, flags)
#define KMBI_METADATA_PARAMS_V1 KMBI_V1(kmb_metadata_params, flags)
#define KMBI_METADATA_ENTRY_V1 KMBI_V1(kmb_metadata_entry, reason)
#define KMBI_FINDING_V1 KMBI_V1(kmb_finding, severity)
#define KMBI_BENCH_PARAMS_V1 KMBI_V1(kmb_bench_params, reserved)

/* Copy a caller's struct over zeroes. `size` is this library's sizeof,
 * `first_size` that of the struct's first version. Too small a struct_size is
 * INVALID; bytes that this library does not know and that are not zero are
 * UNSUPPORTED. `to`'s struct_size becomes `size`. */
kmb_status kmbi_copy_in(void *to, size_t size, size_t first_size,
                        const void *from, const char *what);

/* Write at most the caller's struct_size, which stays as it was. */
kmb_status kmbi_copy_out(void *to, const void *from, size_t size,
                         size_t first_size, const char *what);

#endif
