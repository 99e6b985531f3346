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
#define KMBI_REFERENCE_V1 KMBI_V1(kmb_reference, reserved)
#define KMBI_OP_V1 KMBI_V1(kmb_op, reserved)
#define KMBI_OCCUPANCY_V1 KMBI_V1(kmb_occupancy, register_step)
#define KMBI_MATMUL_SHAPE_V1 KMBI_V1(kmb_matmul_shape, reserved)
#define KMBI_GROUPED_SHAPE_V1 KMBI_V1(kmb_grouped_shape, reserved)
#define KMBI_MOE_SHAPE_V1 KMBI_V1(kmb_moe_shape, flags)
#define KMBI_NORM_SHAPE_V1 KMBI_V1(kmb_norm_shape, flags)
#define KMBI_ATTENTION_SHAPE_V1 KMBI_V1(kmb_attention_shape, pairs)
#define KMBI_MLA_SHAPE_V1 KMBI_V1(kmb_mla_shape, mask)
#define KMBI_COLLECTIVE_WORK_V1 KMBI_V1(kmb_collective_work, collective)
#define KMBI_GAPS_PARAMS_V1 KMBI_V1(kmb_gaps_params, reserved)
#define KMBI_GAPS_DEVICE_V1 KMBI_V1(kmb_gaps_device, reserved)
#define KMBI_GAPS_TRANSITION_V1 KMBI_V1(kmb_gaps_transition, to_kind)
#define KMBI_GAPS_NAME_V1 KMBI_V1(kmb_gaps_name, target)
#define KMBI_GAPS_STREAM_V1 KMBI_V1(kmb_gaps_stream, busy_ns)
#define KMBI_GAPS_TARGET_V1 KMBI_V1(kmb_gaps_target, potential_overlap)
#define KMBI_GAPS_LATENCY_V1 KMBI_V1(kmb_gaps_latency, median_ns)
#define KMBI_TRACE_INFO_V1 KMBI_V1(kmb_trace_info, reserved)
#define KMBI_RECORD_PARAMS_V1 KMBI_V1(kmb_record_params, reserved)
#define KMBI_CODE_KERNEL_V1 KMBI_V1(kmb_code_kernel, reserved)
#define KMBI_CODE_PAIR_V1 KMBI_V1(kmb_code_pair, reserved)
#define KMBI_CODE_INFO_V1 KMBI_V1(kmb_code_info, elsewhere)
#define KMBI_TRACE_OP_V1 KMBI_V1(kmb_trace_op, flags)
#define KMBI_TRACE_CALL_V1 KMBI_V1(kmb_trace_call, reserved)
#define KMBI_TRACE_RANGE_V1 KMBI_V1(kmb_trace_range, thread)
#define KMBI_TRACE_PARAMS_V1 KMBI_V1(kmb_trace_params, flags)
#define KMBI_COUNTERS_PARAMS_V1 KMBI_V1(kmb_counters_params, flags)
#define KMBI_COUNTERS_INFO_V1 KMBI_V1(kmb_counters_info, cache)
#define KMBI_CANDIDATE_V1 KMBI_V1(kmb_candidate, tune_at_count)
#define KMBI_COMPARE_PARAMS_V1 KMBI_V1(kmb_compare_params, flags)
#define KMBI_COMPARE_ROW_V1 KMBI_V1(kmb_compare_row, reserved)
#define KMBI_COMPARE_ARM_V1 KMBI_V1(kmb_compare_arm, status)
#define KMBI_PAYOFF_CHANGE_V1 KMBI_V1(kmb_payoff_change, reserved)
#define KMBI_PAYOFF_PARAMS_V1 KMBI_V1(kmb_payoff_params, reserved)
#define KMBI_PAYOFF_SUMMARY_V1 KMBI_V1(kmb_payoff_summary, reserved)
#define KMBI_PAYOFF_SHAPE_V1 KMBI_V1(kmb_payoff_shape, reserved)
#define KMBI_COMM_OPS_V1 KMBI_V1(kmb_comm_ops, size)
#define KMBI_COMM_PARAMS_V1 KMBI_V1(kmb_comm_params, multicast)
#define KMBI_RANK_V1 KMBI_V1(kmb_rank, node)
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
