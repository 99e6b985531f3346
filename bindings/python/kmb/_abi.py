"""The C interface for ctypes. Written by scripts/python_abi.py."""
# pylint: disable=too-many-lines,line-too-long
import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, \
    c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, Tuple

# Constants.
KMB_OK = 0
KMB_ERR_INVALID = -1
KMB_ERR_UNSUPPORTED = -2
KMB_ERR_NOMEM = -3
KMB_ERR_UNAVAILABLE = -4
KMB_ERR_BUSY = -5
KMB_ERR_PERM = -6
KMB_ERR_TIMEOUT = -7
KMB_ERR_LOST = -8
KMB_ERR_INCORRECT = -9
KMB_ERR_CAPTURE = -10
KMB_ERR_STALE = -11
KMB_ERR_FORKED = -12
KMB_ERR_CANCELLED = -13
KMB_ERR_IO = -14
KMB_ERR_FORMAT = -15
KMB_ERR_VENDOR = -16
KMB_ERR_INTERNAL = -17
KMB_U8 = 1
KMB_I8 = 2
KMB_I32 = 3
KMB_I64 = 4
KMB_F16 = 5
KMB_BF16 = 6
KMB_F32 = 7
KMB_F64 = 8
KMB_TF32 = 9
KMB_F8_E4M3 = 10
KMB_F8_E5M2 = 11
KMB_F4_E2M1 = 12
KMB_I4 = 13
KMB_LOG_ERROR = 1
KMB_LOG_WARNING = 2
KMB_LOG_INFO = 3
KMB_LOG_DEBUG = 4
KMB_DEVICE_BIND = 1
KMB_DEVICE_BACKEND = 1
KMB_DEVICE_NAME = 2
KMB_DEVICE_ARCH = 3
KMB_DEVICE_UUID = 4
KMB_DEVICE_PCI_ID = 5
KMB_DEVICE_UNITS = 6
KMB_DEVICE_MEMORY_BYTES = 7
KMB_DEVICE_L1_BYTES = 8
KMB_DEVICE_L2_BYTES = 9
KMB_DEVICE_LLC_BYTES = 10
KMB_DEVICE_LLC_SOURCE = 11
KMB_DEVICE_NUMA_NODES = 12
KMB_DEVICE_NUMA_NODE = 13
KMB_DEVICE_THREADS = 14
KMB_DEVICE_BINDING = 15
KMB_DEVICE_CLOCK_TICK_NS = 16
KMB_DEVICE_MEMORY_BUDGET = 17
KMB_DEVICE_ISA = 18
KMB_DEVICE_SPEC = 19
KMB_INPUT = 1
KMB_OUTPUT = 2
KMB_INOUT = 3
KMB_SCRATCH = 4
KMB_FILL_DEFAULT = 0
KMB_FILL_RANDOM = 1
KMB_FILL_COPY = 2
KMB_FILL_CALLBACK = 3
KMB_FILL_CALLER = 4
KMB_FILL_ZERO = 5
KMB_RESIDENT_COLD = 0
KMB_RESIDENT_WARM = 1
KMB_BUFFER_SEED = 1
KMB_BUFFER_RANGE = 2
KMB_BUFFER_ALIAS = 4
KMB_BARRIER_AUTO = 0
KMB_BARRIER_FLAG = 1
KMB_BARRIER_STREAM = 2
KMB_BARRIER_NCCL = 3
KMB_BARRIER_CALLER = 4
KMB_BARRIER_HOST = 5
KMB_MULTICAST_UNDECLARED = 0
KMB_MULTICAST_ON = 1
KMB_MULTICAST_OFF = 2
KMB_TIMER_AUTO = 0
KMB_TIMER_TRACE = 1
KMB_TIMER_GRAPH = 2
KMB_TIMER_EVENT = 3
KMB_TIMER_HOST = 4
KMB_LAUNCH_AUTO = 0
KMB_LAUNCH_PLAIN = 1
KMB_LAUNCH_GRAPH = 2
KMB_CACHE_DEFAULT = 0
KMB_CACHE_COLD = 1
KMB_CACHE_ROTATED = 2
KMB_CACHE_WARM = 3
KMB_BENCH_SEED = 1
KMB_BENCH_TOLERANCE = 2
KMB_BENCH_NO_WARMUP = 4
KMB_BENCH_NO_CONFIRM = 8
KMB_BENCH_NO_CEILINGS = 16
KMB_BENCH_REQUIRE_TIMER = 32
KMB_BENCH_REQUIRE_CACHE = 64
KMB_BENCH_REQUIRE_LAUNCH = 128
KMB_BENCH_REQUIRE_CHECK = 256
KMB_BENCH_CONFIRM_COLD = 512
KMB_BENCH_COUNTERS = 1024
KMB_BENCH_KEEP_COUNTERS = 2048
KMB_CODE_HASH_SIZE = 65
KMB_CODE_HAS_ATTRIBUTES = 1
KMB_CODE_HAS_OCCUPANCY = 2
KMB_CODE_HAS_SCALARS = 4
KMB_CODE_HAS_ACCUMULATORS = 8
KMB_CODE_HAS_SPILLS = 16
KMB_VALUE_NAME = 1
KMB_VALUE_TIME = 2
KMB_VALUE_RAW_MEDIAN = 3
KMB_VALUE_INTERVAL_LOW = 4
KMB_VALUE_INTERVAL_HIGH = 5
KMB_VALUE_INTERVAL_PCT = 6
KMB_VALUE_DESIGN_EFFECT = 7
KMB_VALUE_SAMPLES = 8
KMB_VALUE_SAMPLES_DROPPED = 9
KMB_VALUE_SAMPLES_INVALID = 10
KMB_VALUE_BATCH = 11
KMB_VALUE_ITERATIONS = 12
KMB_VALUE_WARMUP_ITERATIONS = 13
KMB_VALUE_MEAN = 14
KMB_VALUE_STDEV = 15
KMB_VALUE_MAD = 16
KMB_VALUE_MIN = 17
KMB_VALUE_P25 = 18
KMB_VALUE_P75 = 19
KMB_VALUE_P95 = 20
KMB_VALUE_P99 = 21
KMB_VALUE_MAX = 22
KMB_VALUE_STOP_REASON = 23
KMB_VALUE_TARGET_PCT = 24
KMB_VALUE_SEED = 25
KMB_VALUE_TIMER = 26
KMB_VALUE_TIMER_REASON = 27
KMB_VALUE_LAUNCH_MODE = 28
KMB_VALUE_ZERO_REFERENCE = 29
KMB_VALUE_BIAS = 30
KMB_VALUE_BIAS_UNCERTAINTY = 31
KMB_VALUE_OVERHEAD = 32
KMB_VALUE_CLOCK_TICK = 33
KMB_VALUE_CACHE_STATE = 34
KMB_VALUE_CACHE_REQUESTED = 35
KMB_VALUE_CACHE_METHOD = 36
KMB_VALUE_CACHE_PROOF = 37
KMB_VALUE_LLC_BYTES = 38
KMB_VALUE_REUSE_BYTES = 39
KMB_VALUE_SWEEP_BYTES = 40
KMB_VALUE_SLOTS = 41
KMB_VALUE_ALLOCATED_BYTES = 42
KMB_VALUE_TOUCHED_BYTES = 43
KMB_VALUE_FLOPS = 44
KMB_VALUE_LEAST_BYTES = 45
KMB_VALUE_READ_BYTES = 46
KMB_VALUE_WRITE_BYTES = 47
KMB_VALUE_WORK_CONVENTION = 48
KMB_VALUE_WORK_DTYPE = 49
KMB_VALUE_INTENSITY = 50
KMB_VALUE_RIDGE = 51
KMB_VALUE_MEMORY_CEILING = 52
KMB_VALUE_MEMORY_CEILING_NAME = 53
KMB_VALUE_COMPUTE_CEILING = 54
KMB_VALUE_COMPUTE_CEILING_NAME = 55
KMB_VALUE_THREADS = 56
KMB_VALUE_PREDICTED_BOUND = 57
KMB_VALUE_PREDICTED_TIME = 58
KMB_VALUE_OBSERVED_BOUND = 59
KMB_VALUE_ATTAINABLE_FLOPS = 60
KMB_VALUE_ACHIEVED_FLOPS = 61
KMB_VALUE_ACHIEVED_BYTES = 62
KMB_VALUE_SOL_PCT = 63
KMB_VALUE_MEMORY_PCT = 64
KMB_VALUE_COMPUTE_PCT = 65
KMB_VALUE_READING = 66
KMB_VALUE_CHECK = 67
KMB_VALUE_CHECK_ERROR = 68
KMB_VALUE_TOLERANCE = 69
KMB_VALUE_CONFIRM_TIME = 70
KMB_VALUE_CONFIRM_LOW = 71
KMB_VALUE_CONFIRM_HIGH = 72
KMB_VALUE_CONFIRM_METHOD = 73
KMB_VALUE_ROUNDS = 74
KMB_VALUE_ROUND_LOW = 75
KMB_VALUE_ROUND_HIGH = 76
KMB_VALUE_MEASURE_WALL = 77
KMB_VALUE_TOTAL_WALL = 78
KMB_VALUE_BUSY = 79
KMB_VALUE_SUM = 80
KMB_VALUE_DEVICE_OPS = 81
KMB_VALUE_FILL = 82
KMB_VALUE_CONFIG = 83
KMB_VALUE_DRIFT_PCT = 84
KMB_VALUE_CEILING_SOURCE = 85
KMB_VALUE_RATE_CEILING = 86
KMB_VALUE_RATE_CEILING_NAME = 87
KMB_VALUE_RATE_PCT = 88
KMB_VALUE_REFERENCE_PCT = 89
KMB_VALUE_REFERENCE_NAME = 90
KMB_VALUE_READING_PREDICTION = 91
KMB_VALUE_READING_SOL = 92
KMB_VALUE_READING_MEMORY = 93
KMB_VALUE_READING_OCCUPANCY = 94
KMB_VALUE_GAPS = 95
KMB_VALUE_OP_SAMPLES = 96
KMB_VALUE_OP_SAMPLES_OTHER = 97
KMB_VALUE_OPS_OMITTED = 98
KMB_VALUE_COUNTER_PASSES = 99
KMB_VALUE_COUNTER_MODE = 100
KMB_VALUE_COUNTER_KERNEL = 101
KMB_VALUE_COLD_RATIO = 102
KMB_VALUE_DRAM_READ = 103
KMB_VALUE_DRAM_WRITE = 104
KMB_VALUE_DRAM_RATE = 105
KMB_VALUE_NCU_COMPUTE = 106
KMB_VALUE_NCU_MEMORY = 107
KMB_VALUE_L2_HIT = 108
KMB_VALUE_NCU_MEM_BUSY = 109
KMB_VALUE_NCU_BANDWIDTH = 110
KMB_VALUE_NCU_MEM_PIPES = 111
KMB_VALUE_OCCUPANCY = 112
KMB_VALUE_WORLD_SIZE = 120
KMB_VALUE_RANK = 121
KMB_VALUE_NODES = 122
KMB_VALUE_GPUS_PER_NODE = 123
KMB_VALUE_COMM = 124
KMB_VALUE_BARRIER = 125
KMB_VALUE_COLLECTIVE = 126
KMB_VALUE_MULTICAST = 127
KMB_VALUE_TOPOLOGY = 128
KMB_VALUE_BOUNDARY = 129
KMB_VALUE_RELEASE_SKEW = 130
KMB_VALUE_RELEASE_SKEW_P99 = 131
KMB_VALUE_RANK_SPREAD_PCT = 132
KMB_VALUE_GLOBAL_FLOPS = 133
KMB_VALUE_GLOBAL_LEAST_BYTES = 134
KMB_VALUE_AGREEMENT = 135
KMB_VALUE_ALLOCATION = 136
KMB_VALUE_FABRIC = 137
KMB_VALUE_LAUNCH_KERNEL = 138
KMB_VALUE_LAUNCH_GRID = 139
KMB_VALUE_LAUNCH_BLOCK = 140
KMB_VALUE_REGISTERS = 141
KMB_VALUE_LOCAL_BYTES = 142
KMB_VALUE_STATIC_SHARED = 143
KMB_VALUE_DYNAMIC_SHARED = 144
KMB_VALUE_WAVES = 145
KMB_VALUE_BLOCKS_PER_UNIT = 146
KMB_VALUE_THEORETICAL = 147
KMB_VALUE_OCCUPANCY_LIMIT = 148
KMB_VALUE_OCCUPANCY_CHECK = 149
KMB_VALUE_CODE_OMITTED = 150
KMB_VALUE_CODE_UNSEEN = 151
KMB_NOTE = 1
KMB_WARNING = 2
KMB_DOUBT = 3
KMB_FINDING_FALLBACK_TIMER = 1
KMB_FINDING_UNCALIBRATED = 2
KMB_FINDING_TIMERS_DISAGREE = 3
KMB_FINDING_NOT_COLD = 4
KMB_FINDING_HOST_BOUND = 5
KMB_FINDING_ABOVE_PEAK = 6
KMB_FINDING_THROTTLED = 7
KMB_FINDING_CLOCK_DRIFT = 8
KMB_FINDING_UNSTABLE = 9
KMB_FINDING_BIMODAL = 10
KMB_FINDING_DRIFT = 11
KMB_FINDING_RECORDS_DROPPED = 12
KMB_FINDING_RECORDS_MISSING = 13
KMB_FINDING_INVALID_TIMESTAMPS = 14
KMB_FINDING_STALE_OUTPUT = 15
KMB_FINDING_STATE_CARRIED = 16
KMB_FINDING_CHECK_SKIPPED = 17
KMB_FINDING_FEW_SAMPLES = 18
KMB_FINDING_RESOLUTION = 19
KMB_FINDING_OVERHEAD = 20
KMB_FINDING_NOT_QUIET = 21
KMB_FINDING_ITERATIONS_OVERLAP = 22
KMB_FINDING_COMPILED_WHILE_TIMED = 23
KMB_FINDING_OTHER_THREADS = 24
KMB_FINDING_RANK_SKEW = 25
KMB_FINDING_SYNC_OUTLIER = 26
KMB_FINDING_MULTICAST_OFF = 27
KMB_FINDING_CUPTI_ATTACHED = 28
KMB_FINDING_ZERO_DATA = 29
KMB_FINDING_UNKNOWN_PEAK = 30
KMB_FINDING_SHARED_DEVICE = 31
KMB_FINDING_FAR_FROM_DEVICE = 32
KMB_FINDING_NOT_WARM = 33
KMB_FINDING_NOT_CONVERGED = 34
KMB_FINDING_UNCONFIRMED = 35
KMB_FINDING_GRAPHS_NOT_TRACED = 36
KMB_FINDING_GRAPHS_AS_SPANS = 37
KMB_FINDING_CAUSE_UNKNOWN = 38
KMB_FINDING_UNKNOWN_DEVICE = 39
KMB_FINDING_GRAPH_UNSEEN = 40
KMB_OP_KERNEL = 1
KMB_OP_MEMCPY = 2
KMB_OP_MEMSET = 3
KMB_OP_GRAPH = 4
KMB_OP_HAS_LAUNCH = 1
KMB_CODE_UNKNOWN = 0
KMB_CODE_SAME = 1
KMB_CODE_DIFFERENT = 2
KMB_TREE_UNKNOWN = 0
KMB_TREE_CLEAN = 1
KMB_TREE_DIRTY = 2
KMB_OPERATION_OTHER = 0
KMB_OPERATION_GEMM = 1
KMB_OPERATION_ATTENTION = 2
KMB_OPERATION_COPY = 3
KMB_SCALES_NONE = 0
KMB_SCALES_NVFP4 = 1
KMB_SCALES_MX = 2
KMB_SCALES_BLOCK_128 = 3
KMB_MATMUL_BETA = 1
KMB_MATMUL_BIAS = 2
KMB_MATMUL_EPILOGUE = 4
KMB_MATMUL_COMPLEX = 8
KMB_GROUPED_USED_B = 1
KMB_MASK_NONE = 0
KMB_MASK_CAUSAL_TOP_LEFT = 1
KMB_MASK_CAUSAL_BOTTOM_RIGHT = 2
KMB_ATTENTION_FORWARD = 0
KMB_ATTENTION_BACKWARD = 1
KMB_ATTENTION_BOTH = 2
KMB_PAIRS_EXACT = 0
KMB_PAIRS_AVERAGE = 1
KMB_MOE_UNGATED = 1
KMB_NORM_RMS = 1
KMB_NORM_LAYER = 2
KMB_NORM_RESIDUAL = 1
KMB_ALL_REDUCE = 1
KMB_REDUCE_SCATTER = 2
KMB_ALL_GATHER = 3
KMB_ALL_TO_ALL = 4
KMB_BROADCAST = 5
KMB_REDUCE = 6
KMB_ALL_REDUCE_IN_NETWORK = 7
KMB_CEILING_READ = 1
KMB_CEILING_COPY = 2
KMB_CEILING_TRIAD = 3
KMB_CEILING_FMA = 4
KMB_CEILING_MATRIX = 5
KMB_CEILING_MEMORY = 6
KMB_SOURCE_MEASURED = 1
KMB_SOURCE_CALLER = 2
KMB_SOURCE_DATASHEET = 3
KMB_SOURCE_RATE = 4
KMB_SOURCE_REFERENCE = 5
KMB_CEILING_SPARSE = 1
KMB_BOUND_UNKNOWN = 0
KMB_BOUND_MEMORY = 1
KMB_BOUND_COMPUTE = 2
KMB_BOUND_NEITHER = 3
KMB_ROOFLINE_INTENSITY = 1
KMB_ROOFLINE_RIDGE = 2
KMB_ROOFLINE_ATTAINABLE_FLOPS = 4
KMB_ROOFLINE_SOL_TIME = 8
KMB_ROOFLINE_SOL_PCT = 16
KMB_ROOFLINE_ACHIEVED_FLOPS = 32
KMB_ROOFLINE_ACHIEVED_BYTES = 64
KMB_ROOFLINE_MEMORY_PCT = 128
KMB_ROOFLINE_COMPUTE_PCT = 256
KMB_ROOFLINE_ABOVE_PEAK = 512
KMB_ROOFLINE_REFERENCE_PCT = 1024
KMB_PART_VENDOR = 1
KMB_PART_NAME = 2
KMB_PART_LABELS = 3
KMB_PART_DRIVER_NAMES = 4
KMB_PART_PCI_IDS = 5
KMB_PART_PCI_REV = 6
KMB_PART_ARCH = 7
KMB_PART_PART = 8
KMB_PART_UNITS = 9
KMB_PART_BOOST_CLOCK = 10
KMB_PART_TENSOR_CLOCK = 11
KMB_PART_MEMORY = 12
KMB_PART_BANDWIDTH = 13
KMB_PART_L2 = 14
KMB_PART_LLC = 15
KMB_PART_FP64 = 16
KMB_PART_FP64_TENSOR = 17
KMB_PART_FP32 = 18
KMB_PART_FP32_MATRIX = 19
KMB_PART_TF32 = 20
KMB_PART_FP16 = 21
KMB_PART_BF16 = 22
KMB_PART_FP8 = 23
KMB_PART_FP6 = 24
KMB_PART_FP4 = 25
KMB_PART_INT8 = 26
KMB_PART_SPARSE = 27
KMB_PART_NEVER_FROM_RATES = 28
KMB_PART_SOURCE = 29
KMB_PART_ORIGIN = 30
KMB_COMPARE_SEED = 1
KMB_COMPARE_ANY_TIMER = 2
KMB_COMPARE_ANY_LAUNCH = 4
KMB_COMPARE_ANY_CACHE = 8
KMB_COMPARE_ANY_WORK = 16
KMB_COMPARE_ANY_AXES = 32
KMB_VERDICT_BASELINE = 0
KMB_VERDICT_FASTER = 1
KMB_VERDICT_SLOWER = 2
KMB_VERDICT_SAME = 3
KMB_VERDICT_UNRESOLVED = 4
KMB_ROW_RATIO = 1
KMB_ROW_INTERVAL = 2
KMB_ROW_TUNED = 4
KMB_ROW_UNTUNED = 8
KMB_REPLAY_AUTO = 0
KMB_REPLAY_LAUNCH = 1
KMB_REPLAY_KERNEL = 2
KMB_REPLAY_GRAPH = 3
KMB_COUNTERS_LIST = 1
KMB_COUNTERS_KEEP = 2
KMB_COUNTERS_SOL_DRAM_READ = 0
KMB_COUNTERS_SOL_DRAM_WRITE = 1
KMB_COUNTERS_SOL_OCCUPANCY = 2
KMB_COUNTERS_SOL_L2_HIT = 3
KMB_COUNTERS_SOL_COMPUTE = 4
KMB_COUNTERS_SOL_MEMORY = 5
KMB_COUNTERS_SOL_MEM_BUSY = 6
KMB_COUNTERS_SOL_MEM_BANDWIDTH = 7
KMB_COUNTERS_SOL_MEM_ISSUE = 8
KMB_COUNTERS_SOL_COUNT = 9
KMB_OCCUPANCY_HAS_LIMITS = 1
KMB_OCCUPANCY_CHECKED = 2
KMB_TRACE_AUTO = 0
KMB_TRACE_NSYS_CSV = 1
KMB_TRACE_NSYS_SQLITE = 2
KMB_TRACE_NVPROF = 3
KMB_TRACE_NSYS_REP = 4
KMB_TRACE_ROCPROF_CSV = 5
KMB_TRACE_CHROME_JSON = 6
KMB_TRACE_KMB = 7
KMB_CALL_LAUNCH = 1
KMB_CALL_GRAPH_LAUNCH = 2
KMB_CALL_SYNC = 3
KMB_CALL_OTHER = 4
KMB_TRACE_NO_SHAPES = 1
KMB_OP_HAS_DEVICE = 1
KMB_OP_HAS_STREAM = 2
KMB_OP_HAS_BYTES = 4
KMB_OP_HAS_CORRELATION = 8
KMB_OP_HAS_CALL = 16
KMB_OP_HAS_SHAPE = 32
KMB_GAPS_DEVICE = 1
KMB_GAPS_FROM = 2
KMB_GAPS_TO = 4
KMB_GAPS_HAS_DEVICE = 1
KMB_GAPS_HAS_CAUSES = 2
KMB_PAYOFF_HAS_ISOLATED = 1
KMB_PAYOFF_HAS_ISOLATED_INTERVAL = 2
KMB_PAYOFF_IS_COLD = 4
KMB_PAYOFF_IS_WARM = 8
KMB_PAYOFF_HAS_SHAPE = 16
KMB_PAYOFF_ALL_NAMES = 1
KMB_PAYOFF_ANY_DEVICE = 2
KMB_PAYOFF_ALL_SHAPES = 4
KMB_PAYOFF_ONE_SHAPE = 8
KMB_PAYOFF_MATCHED = 1
KMB_PAYOFF_PREDICTED = 2
KMB_PAYOFF_HAS_STEP_INTERVAL = 4
KMB_PAYOFF_HAS_RATIO_INTERVAL = 8
KMB_PAYOFF_STEP_DIFFERS = 16
KMB_PAYOFF_OTHER_DEVICE = 32
KMB_PAYOFF_RECORDS_DROPPED = 64
KMB_PAYOFF_STREAMS_APART = 128
KMB_PAYOFF_SHAPES_KNOWN = 256
KMB_PAYOFF_BY_SHAPE = 512
KMB_PAYOFF_BY_CODE = 1024
KMB_PAYOFF_SAME_CODE = 2048
KMB_PAYOFF_SCALED = 1
KMB_PAYOFF_CODE_SAME = 2
KMB_PAYOFF_CODE_OTHER = 4
KMB_PAYOFF_CODE_SEVERAL = 8
KMB_RECORD_NO_CALLS = 1

# Names, as in the maps of the headers.
VALUES: List[Tuple[Any, ...]] = [
    ("NAME", 1, "TEXT", "name", ""),
    ("TIME", 2, "F64", "time_ns", "ns"),
    ("RAW_MEDIAN", 3, "F64", "raw_median_ns", "ns"),
    ("INTERVAL_LOW", 4, "F64", "interval_low_ns", "ns"),
    ("INTERVAL_HIGH", 5, "F64", "interval_high_ns", "ns"),
    ("INTERVAL_PCT", 6, "F64", "interval_pct", "%"),
    ("DESIGN_EFFECT", 7, "F64", "design_effect", "1"),
    ("SAMPLES", 8, "U64", "samples", "1"),
    ("SAMPLES_DROPPED", 9, "U64", "samples_dropped", "1"),
    ("SAMPLES_INVALID", 10, "U64", "samples_invalid", "1"),
    ("BATCH", 11, "U64", "batch", "1"),
    ("ITERATIONS", 12, "U64", "iterations", "1"),
    ("WARMUP_ITERATIONS", 13, "U64", "warmup_iterations", "1"),
    ("MEAN", 14, "F64", "mean_ns", "ns"),
    ("STDEV", 15, "F64", "stdev_ns", "ns"),
    ("MAD", 16, "F64", "mad_ns", "ns"),
    ("MIN", 17, "F64", "min_ns", "ns"),
    ("P25", 18, "F64", "p25_ns", "ns"),
    ("P75", 19, "F64", "p75_ns", "ns"),
    ("P95", 20, "F64", "p95_ns", "ns"),
    ("P99", 21, "F64", "p99_ns", "ns"),
    ("MAX", 22, "F64", "max_ns", "ns"),
    ("STOP_REASON", 23, "TEXT", "stop_reason", ""),
    ("TARGET_PCT", 24, "F64", "target_pct", "%"),
    ("SEED", 25, "U64", "seed", "1"),
    ("TIMER", 26, "TEXT", "timer", ""),
    ("TIMER_REASON", 27, "TEXT", "timer_reason", ""),
    ("LAUNCH_MODE", 28, "TEXT", "launch_mode", ""),
    ("ZERO_REFERENCE", 29, "TEXT", "zero_reference", ""),
    ("BIAS", 30, "F64", "bias_ns", "ns"),
    ("BIAS_UNCERTAINTY", 31, "F64", "bias_uncertainty_ns", "ns"),
    ("OVERHEAD", 32, "F64", "overhead_upper_ns", "ns"),
    ("CLOCK_TICK", 33, "F64", "clock_tick_ns", "ns"),
    ("CACHE_STATE", 34, "TEXT", "cache_state", ""),
    ("CACHE_REQUESTED", 35, "TEXT", "cache_requested", ""),
    ("CACHE_METHOD", 36, "TEXT", "cache_method", ""),
    ("CACHE_PROOF", 37, "TEXT", "cache_proof", ""),
    ("LLC_BYTES", 38, "U64", "llc_bytes", "B"),
    ("REUSE_BYTES", 39, "U64", "reuse_bytes", "B"),
    ("SWEEP_BYTES", 40, "U64", "sweep_bytes", "B"),
    ("SLOTS", 41, "U64", "slots", "1"),
    ("ALLOCATED_BYTES", 42, "U64", "allocated_bytes", "B"),
    ("TOUCHED_BYTES", 43, "U64", "touched_bytes", "B"),
    ("FLOPS", 44, "U64", "flops", "FLOP"),
    ("LEAST_BYTES", 45, "U64", "least_bytes", "B"),
    ("READ_BYTES", 46, "U64", "read_bytes", "B"),
    ("WRITE_BYTES", 47, "U64", "write_bytes", "B"),
    ("WORK_CONVENTION", 48, "TEXT", "work_convention", ""),
    ("WORK_DTYPE", 49, "TEXT", "work_dtype", ""),
    ("INTENSITY", 50, "F64", "intensity", "FLOP/B"),
    ("RIDGE", 51, "F64", "ridge", "FLOP/B"),
    ("MEMORY_CEILING", 52, "F64", "memory_ceiling", "B/s"),
    ("MEMORY_CEILING_NAME", 53, "TEXT", "memory_ceiling_name", ""),
    ("COMPUTE_CEILING", 54, "F64", "compute_ceiling", "FLOP/s"),
    ("COMPUTE_CEILING_NAME", 55, "TEXT", "compute_ceiling_name", ""),
    ("THREADS", 56, "U64", "threads", "1"),
    ("PREDICTED_BOUND", 57, "TEXT", "predicted_bound", ""),
    ("PREDICTED_TIME", 58, "F64", "predicted_time_ns", "ns"),
    ("OBSERVED_BOUND", 59, "TEXT", "observed_bound", ""),
    ("ATTAINABLE_FLOPS", 60, "F64", "attainable_flops", "FLOP/s"),
    ("ACHIEVED_FLOPS", 61, "F64", "achieved_flops", "FLOP/s"),
    ("ACHIEVED_BYTES", 62, "F64", "achieved_bytes_per_s", "B/s"),
    ("SOL_PCT", 63, "F64", "sol_pct", "%"),
    ("MEMORY_PCT", 64, "F64", "memory_pct", "%"),
    ("COMPUTE_PCT", 65, "F64", "compute_pct", "%"),
    ("READING", 66, "TEXT", "reading", ""),
    ("CHECK", 67, "TEXT", "check", ""),
    ("CHECK_ERROR", 68, "F64", "check_error", "1"),
    ("TOLERANCE", 69, "F64", "tolerance", "1"),
    ("CONFIRM_TIME", 70, "F64", "confirm_time_ns", "ns"),
    ("CONFIRM_LOW", 71, "F64", "confirm_low_ns", "ns"),
    ("CONFIRM_HIGH", 72, "F64", "confirm_high_ns", "ns"),
    ("CONFIRM_METHOD", 73, "TEXT", "confirm_method", ""),
    ("ROUNDS", 74, "U64", "rounds", "1"),
    ("ROUND_LOW", 75, "F64", "round_low_ns", "ns"),
    ("ROUND_HIGH", 76, "F64", "round_high_ns", "ns"),
    ("MEASURE_WALL", 77, "F64", "measure_wall_ns", "ns"),
    ("TOTAL_WALL", 78, "F64", "total_wall_ns", "ns"),
    ("BUSY", 79, "F64", "busy_ns", "ns"),
    ("SUM", 80, "F64", "sum_ns", "ns"),
    ("DEVICE_OPS", 81, "U64", "device_ops", "1"),
    ("FILL", 82, "TEXT", "fill", ""),
    ("CONFIG", 83, "U64", "config", "1"),
    ("DRIFT_PCT", 84, "F64", "drift_pct", "%"),
    ("CEILING_SOURCE", 85, "TEXT", "ceiling_source", ""),
    ("RATE_CEILING", 86, "F64", "rate_ceiling", "FLOP/s"),
    ("RATE_CEILING_NAME", 87, "TEXT", "rate_ceiling_name", ""),
    ("RATE_PCT", 88, "F64", "rate_pct", "%"),
    ("REFERENCE_PCT", 89, "F64", "reference_pct", "%"),
    ("REFERENCE_NAME", 90, "TEXT", "reference_name", ""),
    ("READING_PREDICTION", 91, "TEXT", "reading_prediction", ""),
    ("READING_SOL", 92, "TEXT", "reading_sol", ""),
    ("READING_MEMORY", 93, "TEXT", "reading_memory", ""),
    ("READING_OCCUPANCY", 94, "TEXT", "reading_occupancy", ""),
    ("GAPS", 95, "F64", "gaps_ns", "ns"),
    ("OP_SAMPLES", 96, "U64", "op_samples", "1"),
    ("OP_SAMPLES_OTHER", 97, "U64", "op_samples_other", "1"),
    ("OPS_OMITTED", 98, "U64", "ops_omitted", "1"),
    ("COUNTER_PASSES", 99, "U64", "counter_passes", "1"),
    ("COUNTER_MODE", 100, "TEXT", "counter_mode", ""),
    ("COUNTER_KERNEL", 101, "TEXT", "counter_kernel", ""),
    ("COLD_RATIO", 102, "F64", "cold_ratio", "1"),
    ("DRAM_READ", 103, "F64", "dram_read_bytes", "B"),
    ("DRAM_WRITE", 104, "F64", "dram_write_bytes", "B"),
    ("DRAM_RATE", 105, "F64", "dram_bytes_per_s", "B/s"),
    ("NCU_COMPUTE", 106, "F64", "ncu_compute_pct", "%"),
    ("NCU_MEMORY", 107, "F64", "ncu_memory_pct", "%"),
    ("L2_HIT", 108, "F64", "l2_hit_pct", "%"),
    ("NCU_MEM_BUSY", 109, "F64", "ncu_mem_busy_pct", "%"),
    ("NCU_BANDWIDTH", 110, "F64", "ncu_max_bandwidth_pct", "%"),
    ("NCU_MEM_PIPES", 111, "F64", "ncu_mem_pipes_busy_pct", "%"),
    ("OCCUPANCY", 112, "F64", "achieved_occupancy_pct", "%"),
    ("WORLD_SIZE", 120, "U64", "world_size", "1"),
    ("RANK", 121, "U64", "rank", "1"),
    ("NODES", 122, "U64", "nodes", "1"),
    ("GPUS_PER_NODE", 123, "U64", "gpus_per_node", "1"),
    ("COMM", 124, "TEXT", "comm", ""),
    ("BARRIER", 125, "TEXT", "barrier", ""),
    ("COLLECTIVE", 126, "TEXT", "collective", ""),
    ("MULTICAST", 127, "TEXT", "multicast", ""),
    ("TOPOLOGY", 128, "TEXT", "topology", ""),
    ("BOUNDARY", 129, "TEXT", "boundary", ""),
    ("RELEASE_SKEW", 130, "F64", "release_skew_ns", "ns"),
    ("RELEASE_SKEW_P99", 131, "F64", "release_skew_p99_ns", "ns"),
    ("RANK_SPREAD_PCT", 132, "F64", "rank_spread_pct", "%"),
    ("GLOBAL_FLOPS", 133, "U64", "global_flops", "FLOP"),
    ("GLOBAL_LEAST_BYTES", 134, "U64", "global_least_bytes", "B"),
    ("AGREEMENT", 135, "F64", "agreement_ns", "ns"),
    ("ALLOCATION", 136, "TEXT", "allocation", ""),
    ("FABRIC", 137, "TEXT", "fabric", ""),
    ("LAUNCH_KERNEL", 138, "TEXT", "launch_kernel", ""),
    ("LAUNCH_GRID", 139, "TEXT", "launch_grid", ""),
    ("LAUNCH_BLOCK", 140, "TEXT", "launch_block", ""),
    ("REGISTERS", 141, "U64", "registers_per_thread", "1"),
    ("LOCAL_BYTES", 142, "U64", "local_bytes_per_thread", "B"),
    ("STATIC_SHARED", 143, "U64", "static_shared_bytes", "B"),
    ("DYNAMIC_SHARED", 144, "U64", "dynamic_shared_bytes", "B"),
    ("WAVES", 145, "F64", "waves", "1"),
    ("BLOCKS_PER_UNIT", 146, "U64", "blocks_per_unit", "1"),
    ("THEORETICAL", 147, "F64", "theoretical_occupancy_pct", "%"),
    ("OCCUPANCY_LIMIT", 148, "TEXT", "occupancy_limit", ""),
    ("OCCUPANCY_CHECK", 149, "TEXT", "occupancy_check", ""),
    ("CODE_OMITTED", 150, "U64", "code_omitted", "1"),
    ("CODE_UNSEEN", 151, "U64", "code_unseen", "1"),
]
ATTRIBUTES: List[Tuple[Any, ...]] = [
    ("BACKEND", 1, "TEXT", "backend"),
    ("NAME", 2, "TEXT", "name"),
    ("ARCH", 3, "TEXT", "arch"),
    ("UUID", 4, "TEXT", "uuid"),
    ("PCI_ID", 5, "TEXT", "pci_id"),
    ("UNITS", 6, "U64", "units"),
    ("MEMORY_BYTES", 7, "U64", "memory_bytes"),
    ("L1_BYTES", 8, "U64", "l1_bytes"),
    ("L2_BYTES", 9, "U64", "l2_bytes"),
    ("LLC_BYTES", 10, "U64", "llc_bytes"),
    ("LLC_SOURCE", 11, "TEXT", "llc_source"),
    ("NUMA_NODES", 12, "U64", "numa_nodes"),
    ("NUMA_NODE", 13, "U64", "numa_node"),
    ("THREADS", 14, "U64", "threads"),
    ("BINDING", 15, "TEXT", "binding"),
    ("CLOCK_TICK_NS", 16, "F64", "clock_tick_ns"),
    ("MEMORY_BUDGET", 17, "U64", "memory_budget"),
    ("ISA", 18, "TEXT", "isa"),
    ("SPEC", 19, "TEXT", "spec"),
]
DTYPES: List[Tuple[Any, ...]] = [
    ("U8", 1, 8, "u8"),
    ("I8", 2, 8, "i8"),
    ("I32", 3, 32, "i32"),
    ("I64", 4, 64, "i64"),
    ("F16", 5, 16, "f16"),
    ("BF16", 6, 16, "bf16"),
    ("F32", 7, 32, "f32"),
    ("F64", 8, 64, "f64"),
    ("TF32", 9, 32, "tf32"),
    ("F8_E4M3", 10, 8, "f8_e4m3"),
    ("F8_E5M2", 11, 8, "f8_e5m2"),
    ("F4_E2M1", 12, 4, "f4_e2m1"),
    ("I4", 13, 4, "i4"),
]
STATUSES: List[Tuple[Any, ...]] = [
    ("OK", 0, "success"),
    ("ERR_INVALID", -1, "invalid argument"),
    ("ERR_UNSUPPORTED", -2, "not supported by this build, backend or version"),
    ("ERR_NOMEM", -3, "out of memory"),
    ("ERR_UNAVAILABLE", -4, "library, device or value absent"),
    ("ERR_BUSY", -5, "in use by somebody else"),
    ("ERR_PERM", -6, "not permitted"),
    ("ERR_TIMEOUT", -7, "deadline passed"),
    ("ERR_LOST", -8, "device lost"),
    ("ERR_INCORRECT", -9, "wrong result"),
    ("ERR_CAPTURE", -10, "graph capture failed"),
    ("ERR_STALE", -11, "outdated pointer or graph"),
    ("ERR_FORKED", -12, "handle belongs to the parent process"),
    ("ERR_CANCELLED", -13, "cancelled"),
    ("ERR_IO", -14, "reading or writing failed"),
    ("ERR_FORMAT", -15, "malformed input"),
    ("ERR_VENDOR", -16, "error from a vendor library"),
    ("ERR_INTERNAL", -17, "internal error"),
]
FINDINGS: List[Tuple[Any, ...]] = [
    ("FALLBACK_TIMER", 1),
    ("UNCALIBRATED", 2),
    ("TIMERS_DISAGREE", 3),
    ("NOT_COLD", 4),
    ("HOST_BOUND", 5),
    ("ABOVE_PEAK", 6),
    ("THROTTLED", 7),
    ("CLOCK_DRIFT", 8),
    ("UNSTABLE", 9),
    ("BIMODAL", 10),
    ("DRIFT", 11),
    ("RECORDS_DROPPED", 12),
    ("RECORDS_MISSING", 13),
    ("INVALID_TIMESTAMPS", 14),
    ("STALE_OUTPUT", 15),
    ("STATE_CARRIED", 16),
    ("CHECK_SKIPPED", 17),
    ("FEW_SAMPLES", 18),
    ("RESOLUTION", 19),
    ("OVERHEAD", 20),
    ("NOT_QUIET", 21),
    ("ITERATIONS_OVERLAP", 22),
    ("COMPILED_WHILE_TIMED", 23),
    ("OTHER_THREADS", 24),
    ("RANK_SKEW", 25),
    ("SYNC_OUTLIER", 26),
    ("MULTICAST_OFF", 27),
    ("CUPTI_ATTACHED", 28),
    ("ZERO_DATA", 29),
    ("UNKNOWN_PEAK", 30),
    ("SHARED_DEVICE", 31),
    ("FAR_FROM_DEVICE", 32),
    ("NOT_WARM", 33),
    ("NOT_CONVERGED", 34),
    ("UNCONFIRMED", 35),
    ("GRAPHS_NOT_TRACED", 36),
    ("GRAPHS_AS_SPANS", 37),
    ("CAUSE_UNKNOWN", 38),
    ("UNKNOWN_DEVICE", 39),
    ("GRAPH_UNSEEN", 40),
]
OP_KINDS: List[Tuple[Any, ...]] = [
    ("KERNEL", 1, "kernel"),
    ("MEMCPY", 2, "memcpy"),
    ("MEMSET", 3, "memset"),
    ("GRAPH", 4, "graph"),
]
COUNTERS_SOL: List[Tuple[Any, ...]] = [
    ("DRAM_READ", 0, "dram__bytes_read.sum", "B", "read from DRAM"),
    ("DRAM_WRITE", 1, "dram__bytes_write.sum", "B", "written to DRAM"),
    ("OCCUPANCY", 2, "sm__warps_active.avg.pct_of_peak_sustained_active", "%", "ncu's Achieved Occupancy"),
    ("L2_HIT", 3, "lts__t_sector_hit_rate.pct", "%", "ncu's L2 Hit Rate"),
    ("COMPUTE", 4, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "ncu's Compute (SM) Throughput"),
    ("MEMORY", 5, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", "ncu's Memory Throughput"),
    ("MEM_BUSY", 6, "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed", "%", "ncu's Mem Busy"),
    ("MEM_BANDWIDTH", 7, "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed", "%", "ncu's Max Bandwidth"),
    ("MEM_ISSUE", 8, "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", "ncu's Mem Pipes Busy"),
]


class kmb_pair(ctypes.Structure):
    """Fields below."""


class kmb_progress(ctypes.Structure):
    """Fields below."""


class kmb_hooks(ctypes.Structure):
    """Fields below."""


class kmb_device_params(ctypes.Structure):
    """Fields below."""


class kmb_buffer_desc(ctypes.Structure):
    """Fields below."""


class kmb_buffers_params(ctypes.Structure):
    """Fields below."""


class kmb_buffers_info(ctypes.Structure):
    """Fields below."""


class kmb_comm_ops(ctypes.Structure):
    """Fields below."""


class kmb_comm_params(ctypes.Structure):
    """Fields below."""


class kmb_launch(ctypes.Structure):
    """Fields below."""


class kmb_check(ctypes.Structure):
    """Fields below."""


class kmb_bench_params(ctypes.Structure):
    """Fields below."""


class kmb_code_kernel(ctypes.Structure):
    """Fields below."""


class kmb_code_info(ctypes.Structure):
    """Fields below."""


class kmb_figure(ctypes.Structure):
    """Fields below."""


class kmb_finding(ctypes.Structure):
    """Fields below."""


class kmb_op(ctypes.Structure):
    """Fields below."""


class kmb_code_pair(ctypes.Structure):
    """Fields below."""


class kmb_rank(ctypes.Structure):
    """Fields below."""


class kmb_metadata_params(ctypes.Structure):
    """Fields below."""


class kmb_metadata_entry(ctypes.Structure):
    """Fields below."""


class kmb_work(ctypes.Structure):
    """Fields below."""


class kmb_matmul_shape(ctypes.Structure):
    """Fields below."""


class kmb_grouped_shape(ctypes.Structure):
    """Fields below."""


class kmb_attention_shape(ctypes.Structure):
    """Fields below."""


class kmb_mla_shape(ctypes.Structure):
    """Fields below."""


class kmb_moe_shape(ctypes.Structure):
    """Fields below."""


class kmb_norm_shape(ctypes.Structure):
    """Fields below."""


class kmb_collective_work(ctypes.Structure):
    """Fields below."""


class kmb_ceiling(ctypes.Structure):
    """Fields below."""


class kmb_reference(ctypes.Structure):
    """Fields below."""


class kmb_roofline_params(ctypes.Structure):
    """Fields below."""


class kmb_roofline(ctypes.Structure):
    """Fields below."""


class kmb_knob(ctypes.Structure):
    """Fields below."""


class kmb_candidate(ctypes.Structure):
    """Fields below."""


class kmb_compare_params(ctypes.Structure):
    """Fields below."""


class kmb_compare_row(ctypes.Structure):
    """Fields below."""


class kmb_compare_arm(ctypes.Structure):
    """Fields below."""


class kmb_counters_params(ctypes.Structure):
    """Fields below."""


class kmb_occupancy(ctypes.Structure):
    """Fields below."""


class kmb_counters_info(ctypes.Structure):
    """Fields below."""


class kmb_trace_params(ctypes.Structure):
    """Fields below."""


class kmb_trace_info(ctypes.Structure):
    """Fields below."""


class kmb_trace_op(ctypes.Structure):
    """Fields below."""


class kmb_trace_call(ctypes.Structure):
    """Fields below."""


class kmb_trace_range(ctypes.Structure):
    """Fields below."""


class kmb_gaps_params(ctypes.Structure):
    """Fields below."""


class kmb_gaps_device(ctypes.Structure):
    """Fields below."""


class kmb_gaps_transition(ctypes.Structure):
    """Fields below."""


class kmb_gaps_name(ctypes.Structure):
    """Fields below."""


class kmb_gaps_stream(ctypes.Structure):
    """Fields below."""


class kmb_gaps_target(ctypes.Structure):
    """Fields below."""


class kmb_gaps_interval(ctypes.Structure):
    """Fields below."""


class kmb_gaps_latency(ctypes.Structure):
    """Fields below."""


class kmb_payoff_change(ctypes.Structure):
    """Fields below."""


class kmb_payoff_params(ctypes.Structure):
    """Fields below."""


class kmb_payoff_summary(ctypes.Structure):
    """Fields below."""


class kmb_payoff_candidate(ctypes.Structure):
    """Fields below."""


class kmb_payoff_shape(ctypes.Structure):
    """Fields below."""


class kmb_record_params(ctypes.Structure):
    """Fields below."""


kmb_pair._fields_ = [
    ("key", c_char_p),
    ("value", c_char_p),
]

kmb_progress._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("stage", c_char_p),
    ("samples", c_uint64),
    ("elapsed_ns", c_double),
    ("limit_ns", c_double),
    ("median_ns", c_double),
    ("round", c_uint32),
    ("rounds", c_uint32),
]

kmb_hooks._fields_ = [
    ("struct_size", c_size_t),
    ("log", CFUNCTYPE(None, c_void_p, c_int32, c_char_p)),
    ("log_user", c_void_p),
    ("alloc", CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t)),
    ("free", CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)),
    ("alloc_user", c_void_p),
    ("device_alloc", CFUNCTYPE(c_int32, c_void_p, c_uint64, c_uint64, POINTER(c_void_p))),
    ("device_free", CFUNCTYPE(None, c_void_p, c_void_p, c_uint64)),
    ("device_alloc_user", c_void_p),
    ("progress", CFUNCTYPE(None, c_void_p, POINTER(kmb_progress))),
    ("progress_user", c_void_p),
    ("cancel", POINTER(c_int32)),
]

kmb_device_params._fields_ = [
    ("struct_size", c_size_t),
    ("hooks", POINTER(kmb_hooks)),
    ("llc_bytes", c_uint64),
    ("memory_budget", c_uint64),
    ("threads", c_uint32),
    ("flags", c_uint32),
]

kmb_buffer_desc._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("bytes", c_uint64),
    ("touched_bytes", c_uint64),
    ("alignment", c_uint64),
    ("seed", c_uint64),
    ("low", c_double),
    ("high", c_double),
    ("source", c_void_p),
    ("fill_fn", CFUNCTYPE(c_int32, c_void_p, c_void_p, c_uint64, c_uint32)),
    ("fill_user", c_void_p),
    ("pointers", POINTER(c_void_p)),
    ("pointer_count", c_uint64),
    ("alias_offset", c_uint64),
    ("alias_of", c_uint32),
    ("flags", c_uint32),
    ("role", c_int32),
    ("dtype", c_int32),
    ("fill", c_int32),
    ("residency", c_int32),
]

kmb_buffers_params._fields_ = [
    ("struct_size", c_size_t),
    ("rotation_bytes", c_uint64),
    ("reuse_factor", c_double),
    ("slots", c_uint32),
    ("flags", c_uint32),
]

kmb_buffers_info._fields_ = [
    ("struct_size", c_size_t),
    ("count", c_uint64),
    ("allocated_bytes", c_uint64),
    ("touched_bytes", c_uint64),
    ("cold_bytes", c_uint64),
    ("reuse_bytes", c_uint64),
    ("slots", c_uint32),
    ("slots_limit", c_uint32),
]

kmb_comm_ops._fields_ = [
    ("struct_size", c_size_t),
    ("ctx", c_void_p),
    ("start", CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(c_void_p))),
    ("test", CFUNCTYPE(c_int32, c_void_p, c_void_p, POINTER(c_int32))),
    ("release", CFUNCTYPE(None, c_void_p, c_void_p)),
    ("arrived", CFUNCTYPE(c_int32, c_void_p, c_void_p, c_int32, POINTER(c_int32))),
    ("device_barrier", CFUNCTYPE(c_int32, c_void_p, c_void_p)),
    ("abort", CFUNCTYPE(None, c_void_p, c_int32, c_char_p)),
    ("close", CFUNCTYPE(None, c_void_p)),
    ("name", c_char_p),
    ("rank", c_int32),
    ("size", c_int32),
]

kmb_comm_params._fields_ = [
    ("struct_size", c_size_t),
    ("hooks", POINTER(kmb_hooks)),
    ("deadline_ns", c_double),
    ("first_deadline_ns", c_double),
    ("collective", c_char_p),
    ("topology", c_char_p),
    ("fabric", c_char_p),
    ("nccl", c_void_p),
    ("abort", CFUNCTYPE(None, c_void_p, c_int32, c_char_p)),
    ("abort_user", c_void_p),
    ("skew_samples", c_uint64),
    ("barrier", c_int32),
    ("multicast", c_int32),
]

kmb_launch._fields_ = [
    ("struct_size", c_size_t),
    ("stream", c_void_p),
    ("args", POINTER(c_void_p)),
    ("arg_count", c_uint64),
    ("iteration", c_uint64),
    ("slot", c_uint32),
    ("config", c_uint32),
]

kmb_check._fields_ = [
    ("struct_size", c_size_t),
    ("before", POINTER(c_void_p)),
    ("after", POINTER(c_void_p)),
    ("bytes", POINTER(c_uint64)),
    ("count", c_uint64),
    ("tolerance", c_double),
    ("error", c_double),
    ("slot", c_uint32),
    ("config", c_uint32),
]

kmb_bench_params._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("axes", POINTER(kmb_pair)),
    ("axis_count", c_uint64),
    ("launch", CFUNCTYPE(c_int32, c_void_p, POINTER(kmb_launch))),
    ("launch_user", c_void_p),
    ("setup", CFUNCTYPE(c_int32, c_void_p, c_uint32, c_uint32)),
    ("setup_user", c_void_p),
    ("reset", CFUNCTYPE(c_int32, c_void_p, c_uint32, c_void_p)),
    ("reset_user", c_void_p),
    ("check", CFUNCTYPE(c_int32, c_void_p, POINTER(kmb_check))),
    ("check_user", c_void_p),
    ("tolerance", c_double),
    ("buffers", c_void_p),
    ("work", POINTER(kmb_work)),
    ("memory_ceiling", POINTER(kmb_ceiling)),
    ("compute_ceiling", POINTER(kmb_ceiling)),
    ("metadata", POINTER(kmb_metadata_params)),
    ("stream", c_void_p),
    ("target_pct", c_double),
    ("min_wall_ns", c_double),
    ("max_wall_ns", c_double),
    ("warmup_ns", c_double),
    ("idle_ns", c_double),
    ("min_samples", c_uint64),
    ("max_samples", c_uint64),
    ("batch", c_uint64),
    ("seed", c_uint64),
    ("rounds", c_uint32),
    ("threads", c_uint32),
    ("config", c_uint32),
    ("flags", c_uint32),
    ("timer", c_int32),
    ("launch_mode", c_int32),
    ("cache", c_int32),
    ("reserved", c_int32),
    ("peaks", c_void_p),
    ("graphs", POINTER(c_void_p)),
    ("graph_count", c_uint64),
    ("comm", c_void_p),
    ("boundary", c_char_p),
    ("code", c_void_p),
]

kmb_code_kernel._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("arch", c_char_p),
    ("hash", c_char_p),
    ("reason", c_char_p),
    ("launches", c_uint64),
    ("registers", c_uint64),
    ("static_shared_bytes", c_uint64),
    ("local_bytes", c_uint64),
    ("max_threads", c_uint64),
    ("dynamic_shared_bytes", c_uint64),
    ("blocks_per_unit", c_uint64),
    ("grid_x", c_uint32),
    ("grid_y", c_uint32),
    ("grid_z", c_uint32),
    ("block_x", c_uint32),
    ("block_y", c_uint32),
    ("block_z", c_uint32),
    ("flags", c_uint32),
    ("reserved", c_uint32),
    ("demangled", c_char_p),
    ("file", c_char_p),
    ("code_hash", c_char_p),
    ("code_offset", c_uint64),
    ("code_bytes", c_uint64),
    ("scalar_registers", c_uint64),
    ("accumulator_registers", c_uint64),
    ("spilled_registers", c_uint64),
    ("spilled_scalar_registers", c_uint64),
]

kmb_code_info._fields_ = [
    ("struct_size", c_size_t),
    ("kernels", c_uint64),
    ("images", c_uint64),
    ("graph_launches", c_uint64),
    ("elsewhere", c_uint64),
]

kmb_figure._fields_ = [
    ("name", c_char_p),
    ("value", c_double),
]

kmb_finding._fields_ = [
    ("struct_size", c_size_t),
    ("message", c_char_p),
    ("figures", POINTER(kmb_figure)),
    ("figure_count", c_uint64),
    ("code", c_int32),
    ("severity", c_int32),
]

kmb_op._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("start_ns", c_double),
    ("duration_ns", c_double),
    ("min_ns", c_double),
    ("max_ns", c_double),
    ("share_pct", c_double),
    ("bytes", c_uint64),
    ("kind", c_int32),
    ("stream", c_uint32),
    ("grid_x", c_uint32),
    ("grid_y", c_uint32),
    ("grid_z", c_uint32),
    ("block_x", c_uint32),
    ("block_y", c_uint32),
    ("block_z", c_uint32),
    ("registers", c_uint32),
    ("local", c_uint32),
    ("static_shared", c_uint32),
    ("dynamic_shared", c_uint32),
    ("flags", c_uint32),
    ("reserved", c_uint32),
]

kmb_code_pair._fields_ = [
    ("struct_size", c_size_t),
    ("a", c_char_p),
    ("b", c_char_p),
    ("reason", c_char_p),
    ("match", c_int32),
    ("reserved", c_int32),
]

kmb_rank._fields_ = [
    ("struct_size", c_size_t),
    ("device", c_char_p),
    ("id", c_char_p),
    ("median_ns", c_double),
    ("min_ns", c_double),
    ("max_ns", c_double),
    ("slowest", c_uint64),
    ("flops", c_uint64),
    ("bytes", c_uint64),
    ("node", c_uint64),
]

kmb_metadata_params._fields_ = [
    ("struct_size", c_size_t),
    ("commit", c_char_p),
    ("branch", c_char_p),
    ("build", c_char_p),
    ("pairs", POINTER(kmb_pair)),
    ("pair_count", c_uint64),
    ("question", c_char_p),
    ("change", c_char_p),
    ("correctness", c_char_p),
    ("observation", c_char_p),
    ("explanation", c_char_p),
    ("explanation_artifact", c_char_p),
    ("next", c_char_p),
    ("tree", c_int32),
    ("flags", c_uint32),
]

kmb_metadata_entry._fields_ = [
    ("struct_size", c_size_t),
    ("key", c_char_p),
    ("value", c_char_p),
    ("reason", c_char_p),
]

kmb_work._fields_ = [
    ("struct_size", c_size_t),
    ("flops", c_uint64),
    ("read_bytes", c_uint64),
    ("write_bytes", c_uint64),
    ("convention", c_char_p),
    ("dtype", c_int32),
    ("flags", c_uint32),
    ("operation", c_int32),
    ("reserved", c_int32),
]

kmb_matmul_shape._fields_ = [
    ("struct_size", c_size_t),
    ("m", c_uint64),
    ("n", c_uint64),
    ("k", c_uint64),
    ("batch", c_uint64),
    ("dtype", c_int32),
    ("a_dtype", c_int32),
    ("b_dtype", c_int32),
    ("out_dtype", c_int32),
    ("a_scales", c_int32),
    ("b_scales", c_int32),
    ("flags", c_uint32),
    ("reserved", c_uint32),
]

kmb_grouped_shape._fields_ = [
    ("struct_size", c_size_t),
    ("groups", c_uint64),
    ("n", c_uint64),
    ("k", c_uint64),
    ("rows", POINTER(c_uint64)),
    ("m", c_uint64),
    ("dtype", c_int32),
    ("a_dtype", c_int32),
    ("b_dtype", c_int32),
    ("out_dtype", c_int32),
    ("a_scales", c_int32),
    ("b_scales", c_int32),
    ("flags", c_uint32),
    ("reserved", c_uint32),
]

kmb_attention_shape._fields_ = [
    ("struct_size", c_size_t),
    ("batch", c_uint64),
    ("q_heads", c_uint64),
    ("kv_heads", c_uint64),
    ("q_len", c_uint64),
    ("kv_len", c_uint64),
    ("qk_dim", c_uint64),
    ("v_dim", c_uint64),
    ("q_lens", POINTER(c_uint64)),
    ("kv_lens", POINTER(c_uint64)),
    ("dtype", c_int32),
    ("kv_dtype", c_int32),
    ("out_dtype", c_int32),
    ("mask", c_int32),
    ("pass", c_int32),
    ("pairs", c_int32),
]

kmb_mla_shape._fields_ = [
    ("struct_size", c_size_t),
    ("batch", c_uint64),
    ("heads", c_uint64),
    ("q_len", c_uint64),
    ("kv_len", c_uint64),
    ("ckv_dim", c_uint64),
    ("kpe_dim", c_uint64),
    ("kv_lens", POINTER(c_uint64)),
    ("dtype", c_int32),
    ("kv_dtype", c_int32),
    ("out_dtype", c_int32),
    ("mask", c_int32),
]

kmb_moe_shape._fields_ = [
    ("struct_size", c_size_t),
    ("tokens", c_uint64),
    ("hidden", c_uint64),
    ("intermediate", c_uint64),
    ("experts", c_uint64),
    ("top_k", c_uint64),
    ("active_experts", c_uint64),
    ("dtype", c_int32),
    ("compute_dtype", c_int32),
    ("weight_dtype", c_int32),
    ("out_dtype", c_int32),
    ("logits_dtype", c_int32),
    ("scales", c_int32),
    ("weight_scales", c_int32),
    ("flags", c_uint32),
]

kmb_norm_shape._fields_ = [
    ("struct_size", c_size_t),
    ("rows", c_uint64),
    ("hidden", c_uint64),
    ("norm", c_int32),
    ("dtype", c_int32),
    ("out_dtype", c_int32),
    ("flags", c_uint32),
]

kmb_collective_work._fields_ = [
    ("struct_size", c_size_t),
    ("bytes", c_uint64),
    ("bus_factor", c_double),
    ("convention", c_char_p),
    ("ranks", c_uint32),
    ("collective", c_int32),
]

kmb_ceiling._fields_ = [
    ("struct_size", c_size_t),
    ("value", c_double),
    ("low", c_double),
    ("high", c_double),
    ("bytes", c_uint64),
    ("variant", c_char_p),
    ("kind", c_int32),
    ("dtype", c_int32),
    ("threads", c_uint32),
    ("source", c_int32),
    ("reference", c_char_p),
    ("flags", c_uint32),
    ("reserved", c_uint32),
]

kmb_reference._fields_ = [
    ("struct_size", c_size_t),
    ("regime", c_char_p),
    ("hardware", c_char_p),
    ("kind", c_char_p),
    ("source", c_char_p),
    ("value", c_double),
    ("bound", c_int32),
    ("operation", c_int32),
    ("dtype", c_int32),
    ("reserved", c_int32),
]

kmb_roofline_params._fields_ = [
    ("struct_size", c_size_t),
    ("work", POINTER(kmb_work)),
    ("memory", POINTER(kmb_ceiling)),
    ("compute", POINTER(kmb_ceiling)),
    ("time_ns", c_double),
    ("reference", POINTER(kmb_reference)),
]

kmb_roofline._fields_ = [
    ("struct_size", c_size_t),
    ("intensity", c_double),
    ("ridge", c_double),
    ("attainable_flops", c_double),
    ("sol_time_ns", c_double),
    ("sol_pct", c_double),
    ("achieved_flops", c_double),
    ("achieved_bytes", c_double),
    ("memory_pct", c_double),
    ("compute_pct", c_double),
    ("known", c_uint32),
    ("predicted", c_int32),
    ("observed", c_int32),
    ("flags", c_uint32),
    ("reference_pct", c_double),
]

kmb_knob._fields_ = [
    ("name", c_char_p),
    ("values", POINTER(c_char_p)),
    ("value_count", c_uint64),
]

kmb_candidate._fields_ = [
    ("struct_size", c_size_t),
    ("bench", POINTER(kmb_bench_params)),
    ("knobs", POINTER(kmb_knob)),
    ("knob_count", c_uint64),
    ("tune_at", POINTER(POINTER(kmb_bench_params))),
    ("tune_at_count", c_uint64),
]

kmb_compare_params._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("threshold_pct", c_double),
    ("target_pct", c_double),
    ("min_wall_ns", c_double),
    ("max_wall_ns", c_double),
    ("tune_wall_ns", c_double),
    ("min_cycles", c_uint64),
    ("max_cycles", c_uint64),
    ("turn", c_uint64),
    ("seed", c_uint64),
    ("baseline", c_uint32),
    ("flags", c_uint32),
]

kmb_compare_row._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("result", c_void_p),
    ("config_text", c_char_p),
    ("reason", c_char_p),
    ("ratio", c_double),
    ("low", c_double),
    ("high", c_double),
    ("confidence", c_double),
    ("design_effect", c_double),
    ("tuned_ns", c_double),
    ("cycles", c_uint64),
    ("configs", c_uint64),
    ("configs_measured", c_uint64),
    ("configs_failed", c_uint64),
    ("config", c_uint32),
    ("flags", c_uint32),
    ("verdict", c_int32),
    ("reserved", c_int32),
]

kmb_compare_arm._fields_ = [
    ("struct_size", c_size_t),
    ("config_text", c_char_p),
    ("reason", c_char_p),
    ("ns", c_double),
    ("config", c_uint32),
    ("status", c_int32),
]

kmb_counters_params._fields_ = [
    ("struct_size", c_size_t),
    ("metrics", POINTER(c_char_p)),
    ("metric_count", c_uint64),
    ("kernel", c_char_p),
    ("skip", c_uint64),
    ("count", c_uint64),
    ("replay", c_int32),
    ("flags", c_uint32),
]

kmb_occupancy._fields_ = [
    ("struct_size", c_size_t),
    ("block_warps", c_uint64),
    ("unit_warps", c_uint64),
    ("blocks", c_uint64),
    ("limit_registers", c_uint64),
    ("limit_shared", c_uint64),
    ("limit_warps", c_uint64),
    ("limit_blocks", c_uint64),
    ("pct", c_double),
    ("waves", c_double),
    ("limit", c_char_p),
    ("check", c_char_p),
    ("flags", c_uint32),
    ("register_step", c_uint32),
]

kmb_counters_info._fields_ = [
    ("struct_size", c_size_t),
    ("passes", c_uint64),
    ("taken", c_uint64),
    ("kernels", c_uint64),
    ("matched", c_uint64),
    ("mode", c_char_p),
    ("replay", c_int32),
    ("cache", c_int32),
]

kmb_trace_params._fields_ = [
    ("struct_size", c_size_t),
    ("hooks", POINTER(kmb_hooks)),
    ("name", c_char_p),
    ("unpacked_limit", c_uint64),
    ("progress", CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ("progress_user", c_void_p),
    ("format", c_int32),
    ("flags", c_uint32),
]

kmb_trace_info._fields_ = [
    ("struct_size", c_size_t),
    ("rows", c_uint64),
    ("invalid", c_uint64),
    ("ops", c_uint64),
    ("calls", c_uint64),
    ("ranges", c_uint64),
    ("tick_ns", c_uint64),
    ("format", c_int32),
    ("reserved", c_uint32),
    ("dropped", c_uint64),
    ("driver_added_ns", c_uint64),
    ("runtime_added_ns", c_uint64),
]

kmb_trace_op._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("device_name", c_char_p),
    ("start_ns", c_uint64),
    ("end_ns", c_uint64),
    ("bytes", c_uint64),
    ("correlation", c_uint64),
    ("device", c_uint64),
    ("process", c_uint64),
    ("context", c_uint64),
    ("stream", c_uint64),
    ("call", c_uint64),
    ("kind", c_int32),
    ("flags", c_uint32),
    ("grid_x", c_uint32),
    ("grid_y", c_uint32),
    ("grid_z", c_uint32),
    ("block_x", c_uint32),
    ("block_y", c_uint32),
    ("block_z", c_uint32),
]

kmb_trace_call._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("start_ns", c_uint64),
    ("end_ns", c_uint64),
    ("correlation", c_uint64),
    ("process", c_uint64),
    ("thread", c_uint64),
    ("kind", c_int32),
    ("reserved", c_uint32),
]

kmb_trace_range._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("start_ns", c_uint64),
    ("end_ns", c_uint64),
    ("process", c_uint64),
    ("thread", c_uint64),
]

kmb_gaps_params._fields_ = [
    ("struct_size", c_size_t),
    ("hooks", POINTER(kmb_hooks)),
    ("kernel", c_char_p),
    ("range", c_char_p),
    ("device", c_uint64),
    ("from_ns", c_uint64),
    ("to_ns", c_uint64),
    ("top", c_uint64),
    ("flags", c_uint32),
    ("reserved", c_uint32),
]

kmb_gaps_device._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("device", c_uint64),
    ("ops", c_uint64),
    ("first_ns", c_uint64),
    ("last_ns", c_uint64),
    ("span_ns", c_uint64),
    ("busy_ns", c_uint64),
    ("idle_ns", c_uint64),
    ("gaps", c_uint64),
    ("launch_ns", c_uint64),
    ("sync_ns", c_uint64),
    ("host_ns", c_uint64),
    ("queued_ns", c_uint64),
    ("unknown_ns", c_uint64),
    ("transitions", c_uint64),
    ("names", c_uint64),
    ("streams", c_uint64),
    ("flags", c_uint32),
    ("reserved", c_uint32),
]

kmb_gaps_transition._fields_ = [
    ("struct_size", c_size_t),
    ("from", c_char_p),
    ("to", c_char_p),
    ("count", c_uint64),
    ("idle_ns", c_uint64),
    ("longest_ns", c_uint64),
    ("launch_ns", c_uint64),
    ("sync_ns", c_uint64),
    ("host_ns", c_uint64),
    ("queued_ns", c_uint64),
    ("unknown_ns", c_uint64),
    ("from_kind", c_int32),
    ("to_kind", c_int32),
]

kmb_gaps_name._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("count", c_uint64),
    ("total_ns", c_uint64),
    ("shortest_ns", c_uint64),
    ("longest_ns", c_uint64),
    ("kind", c_int32),
    ("target", c_uint32),
]

kmb_gaps_stream._fields_ = [
    ("struct_size", c_size_t),
    ("process", c_uint64),
    ("context", c_uint64),
    ("stream", c_uint64),
    ("ops", c_uint64),
    ("span_ns", c_uint64),
    ("busy_ns", c_uint64),
]

kmb_gaps_target._fields_ = [
    ("struct_size", c_size_t),
    ("count", c_uint64),
    ("intervals", c_uint64),
    ("mean_duration_ns", c_double),
    ("median_duration_ns", c_double),
    ("mean_interval_ns", c_double),
    ("median_work_ns", c_double),
    ("median_kernel_work_ns", c_double),
    ("utilization", c_double),
    ("potential_utilization", c_double),
    ("potential_overlap", c_double),
]

kmb_gaps_interval._fields_ = [
    ("interval_ns", c_uint64),
    ("work_ns", c_uint64),
    ("kernel_work_ns", c_uint64),
    ("idle_ns", c_uint64),
]

kmb_gaps_latency._fields_ = [
    ("struct_size", c_size_t),
    ("count", c_uint64),
    ("shortest_ns", c_uint64),
    ("longest_ns", c_uint64),
    ("mean_ns", c_double),
    ("median_ns", c_double),
]

kmb_payoff_change._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("kernel", c_char_p),
    ("device", c_char_p),
    ("ratio", c_double),
    ("low", c_double),
    ("high", c_double),
    ("isolated_ns", c_double),
    ("isolated_low_ns", c_double),
    ("isolated_high_ns", c_double),
    ("flags", c_uint32),
    ("reserved", c_uint32),
    ("grid_x", c_uint32),
    ("grid_y", c_uint32),
    ("grid_z", c_uint32),
    ("block_x", c_uint32),
    ("block_y", c_uint32),
    ("block_z", c_uint32),
    ("before", c_void_p),
    ("after", c_void_p),
]

kmb_payoff_params._fields_ = [
    ("struct_size", c_size_t),
    ("hooks", POINTER(kmb_hooks)),
    ("kernel", c_char_p),
    ("range", c_char_p),
    ("flags", c_uint32),
    ("reserved", c_uint32),
    ("added_ns", c_double),
    ("grid_x", c_uint32),
    ("grid_y", c_uint32),
    ("grid_z", c_uint32),
    ("block_x", c_uint32),
    ("block_y", c_uint32),
    ("block_z", c_uint32),
    ("code", c_void_p),
    ("listed", POINTER(c_void_p)),
    ("listed_count", c_uint64),
]

kmb_payoff_summary._fields_ = [
    ("struct_size", c_size_t),
    ("verdict", c_char_p),
    ("candidates", c_uint64),
    ("launches", c_uint64),
    ("steps", c_uint64),
    ("waits", c_uint64),
    ("in_step_ns", c_double),
    ("in_step_low_ns", c_double),
    ("in_step_high_ns", c_double),
    ("in_step_total_ns", c_double),
    ("overlapped_ns", c_double),
    ("step_ns", c_double),
    ("predicted_ns", c_double),
    ("predicted_low_ns", c_double),
    ("predicted_high_ns", c_double),
    ("saving_ns", c_double),
    ("saving_low_ns", c_double),
    ("saving_high_ns", c_double),
    ("gain_ns", c_double),
    ("hidden_ns", c_double),
    ("host_ns", c_double),
    ("graph_ns", c_double),
    ("graph_after_ns", c_double),
    ("flags", c_uint32),
    ("reserved", c_uint32),
    ("recorded_ns", c_double),
    ("shapes", c_uint64),
    ("other_launches", c_uint64),
    ("code_launches", c_uint64),
    ("unknown_launches", c_uint64),
    ("other_code_launches", c_uint64),
]

kmb_payoff_candidate._fields_ = [
    ("name", c_char_p),
    ("launches", c_uint64),
    ("total_ns", c_uint64),
]

kmb_payoff_shape._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("launches", c_uint64),
    ("total_ns", c_uint64),
    ("grid_x", c_uint32),
    ("grid_y", c_uint32),
    ("grid_z", c_uint32),
    ("block_x", c_uint32),
    ("block_y", c_uint32),
    ("block_z", c_uint32),
    ("flags", c_uint32),
    ("reserved", c_uint32),
    ("code", c_char_p),
]

kmb_record_params._fields_ = [
    ("struct_size", c_size_t),
    ("row_limit", c_uint64),
    ("flags", c_uint32),
    ("reserved", c_uint32),
]

FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "kmb_version": (c_char_p, []),
    "kmb_abi_major": (c_uint32, []),
    "kmb_status_name": (c_char_p, [c_int32]),
    "kmb_status_text": (c_char_p, [c_int32]),
    "kmb_last_error": (c_char_p, [POINTER(c_int32), POINTER(c_int64)]),
    "kmb_dtype_name": (c_char_p, [c_int32]),
    "kmb_dtype_bits": (c_int32, [c_int32, POINTER(c_uint32)]),
    "kmb_device_open": (c_int32, [c_char_p, POINTER(kmb_device_params), POINTER(c_void_p)]),
    "kmb_device_close": (None, [c_void_p]),
    "kmb_device_attr_u64": (c_int32, [c_void_p, c_int32, POINTER(c_uint64)]),
    "kmb_device_attr_f64": (c_int32, [c_void_p, c_int32, POINTER(c_double)]),
    "kmb_device_attr_text": (c_int32, [c_void_p, c_int32, POINTER(c_char_p)]),
    "kmb_buffers_create": (c_int32, [c_void_p, POINTER(kmb_buffer_desc), c_size_t, c_uint64, POINTER(kmb_buffers_params), POINTER(c_void_p)]),
    "kmb_buffers_destroy": (None, [c_void_p]),
    "kmb_buffers_prepare": (c_int32, [c_void_p, c_uint32]),
    "kmb_buffers_pointer": (c_int32, [c_void_p, c_uint32, c_uint64, POINTER(c_void_p)]),
    "kmb_buffers_get_info": (c_int32, [c_void_p, POINTER(kmb_buffers_info)]),
    "kmb_comm_create": (c_int32, [POINTER(kmb_comm_ops), POINTER(kmb_comm_params), POINTER(c_void_p)]),
    "kmb_comm_threads_create": (c_int32, [c_int32, POINTER(kmb_comm_params), POINTER(c_void_p)]),
    "kmb_comm_shm_create": (c_int32, [c_char_p, c_int32, c_int32, POINTER(kmb_comm_params), POINTER(c_void_p)]),
    "kmb_comm_destroy": (None, [c_void_p]),
    "kmb_comm_rank": (c_int32, [c_void_p]),
    "kmb_comm_size": (c_int32, [c_void_p]),
    "kmb_comm_allgather": (c_int32, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "kmb_bench": (c_int32, [c_void_p, POINTER(kmb_bench_params), POINTER(c_void_p)]),
    "kmb_result_from_samples": (c_int32, [c_void_p, POINTER(kmb_bench_params), POINTER(c_double), c_uint64, c_double, POINTER(c_void_p)]),
    "kmb_session_begin": (c_int32, [c_void_p, POINTER(kmb_bench_params), POINTER(c_void_p)]),
    "kmb_session_sample_begin": (c_int32, [c_void_p]),
    "kmb_session_sample_end": (c_int32, [c_void_p, c_uint64]),
    "kmb_session_end": (c_int32, [c_void_p, POINTER(c_void_p)]),
    "kmb_session_abandon": (None, [c_void_p]),
    "kmb_code_capture": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p), c_void_p, POINTER(c_void_p)]),
    "kmb_code_destroy": (None, [c_void_p]),
    "kmb_code_get_info": (c_int32, [c_void_p, POINTER(kmb_code_info)]),
    "kmb_code_get_kernel": (c_int32, [c_void_p, c_uint64, POINTER(kmb_code_kernel)]),
    "kmb_code_get_image": (c_int32, [c_void_p, c_uint64, POINTER(c_void_p), POINTER(c_uint64)]),
    "kmb_code_save": (c_int32, [c_void_p, c_char_p]),
    "kmb_code_hash": (c_int32, [c_void_p, c_uint64, c_char_p]),
    "kmb_result_destroy": (None, [c_void_p]),
    "kmb_result_f64": (c_int32, [c_void_p, c_int32, POINTER(c_double)]),
    "kmb_result_u64": (c_int32, [c_void_p, c_int32, POINTER(c_uint64)]),
    "kmb_result_text": (c_int32, [c_void_p, c_int32, POINTER(c_char_p)]),
    "kmb_result_samples": (c_int32, [c_void_p, POINTER(POINTER(c_double)), POINTER(c_uint64)]),
    "kmb_result_finding_count": (c_uint64, [c_void_p]),
    "kmb_result_finding": (c_int32, [c_void_p, c_uint64, POINTER(kmb_finding)]),
    "kmb_finding_name": (c_char_p, [c_int32]),
    "kmb_result_rank_count": (c_uint64, [c_void_p]),
    "kmb_result_rank": (c_int32, [c_void_p, c_uint64, POINTER(kmb_rank)]),
    "kmb_result_op_count": (c_uint64, [c_void_p]),
    "kmb_result_op": (c_int32, [c_void_p, c_uint64, POINTER(kmb_op)]),
    "kmb_op_kind_name": (c_char_p, [c_int32]),
    "kmb_result_code_count": (c_uint64, [c_void_p]),
    "kmb_result_code": (c_int32, [c_void_p, c_uint64, POINTER(kmb_code_kernel)]),
    "kmb_result_code_pair_count": (c_uint64, [c_void_p, c_void_p]),
    "kmb_result_code_pair": (c_int32, [c_void_p, c_void_p, c_uint64, POINTER(kmb_code_pair)]),
    "kmb_result_code_match": (c_int32, [c_void_p, c_void_p]),
    "kmb_code_match_name": (c_char_p, [c_int32]),
    "kmb_result_axis_count": (c_uint64, [c_void_p]),
    "kmb_result_axis": (c_int32, [c_void_p, c_uint64, POINTER(kmb_pair)]),
    "kmb_result_write_text": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_result_write_json": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_results_create": (c_int32, [POINTER(kmb_hooks), POINTER(c_void_p)]),
    "kmb_results_destroy": (None, [c_void_p]),
    "kmb_results_add": (c_int32, [c_void_p, c_void_p]),
    "kmb_results_count": (c_uint64, [c_void_p]),
    "kmb_results_get": (c_int32, [c_void_p, c_uint64, POINTER(c_void_p)]),
    "kmb_results_write_json": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_results_write_table": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_results_read_json": (c_int32, [CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, POINTER(c_size_t)), c_void_p, POINTER(kmb_hooks), POINTER(c_void_p)]),
    "kmb_result_metadata_count": (c_uint64, [c_void_p]),
    "kmb_result_metadata": (c_int32, [c_void_p, c_uint64, POINTER(kmb_metadata_entry)]),
    "kmb_result_metadata_text": (c_int32, [c_void_p, c_char_p, POINTER(c_char_p)]),
    "kmb_work_gemm": (c_int32, [c_uint64, c_uint64, c_uint64, c_int32, POINTER(kmb_work)]),
    "kmb_work_elementwise": (c_int32, [c_uint64, c_uint32, c_uint32, c_uint32, c_int32, POINTER(kmb_work)]),
    "kmb_work_copy": (c_int32, [c_uint64, POINTER(kmb_work)]),
    "kmb_work_matmul": (c_int32, [POINTER(kmb_matmul_shape), POINTER(kmb_work)]),
    "kmb_work_grouped": (c_int32, [POINTER(kmb_grouped_shape), POINTER(kmb_work)]),
    "kmb_work_attention": (c_int32, [POINTER(kmb_attention_shape), POINTER(kmb_work)]),
    "kmb_work_paged_decode": (c_int32, [POINTER(kmb_attention_shape), POINTER(kmb_work)]),
    "kmb_work_mla": (c_int32, [POINTER(kmb_mla_shape), POINTER(kmb_work)]),
    "kmb_work_moe": (c_int32, [POINTER(kmb_moe_shape), POINTER(kmb_work)]),
    "kmb_work_norm": (c_int32, [POINTER(kmb_norm_shape), POINTER(kmb_work)]),
    "kmb_work_softmax": (c_int32, [c_uint64, c_uint64, c_int32, c_int32, POINTER(kmb_work)]),
    "kmb_work_activation": (c_int32, [c_uint64, c_int, c_int32, c_int32, POINTER(kmb_work)]),
    "kmb_work_collective": (c_int32, [c_int32, c_uint64, c_uint32, POINTER(kmb_collective_work)]),
    "kmb_device_ceiling": (c_int32, [c_void_p, c_int32, c_int32, c_uint32, POINTER(kmb_ceiling)]),
    "kmb_roofline_evaluate": (c_int32, [POINTER(kmb_roofline_params), POINTER(kmb_roofline)]),
    "kmb_roofline_above_peak_text": (c_char_p, []),
    "kmb_peaks_create": (c_int32, [POINTER(kmb_hooks), POINTER(c_void_p)]),
    "kmb_peaks_destroy": (None, [c_void_p]),
    "kmb_peaks_read_csv": (c_int32, [c_void_p, c_char_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, POINTER(c_size_t)), c_void_p]),
    "kmb_peaks_count": (c_uint64, [c_void_p]),
    "kmb_peaks_get": (c_int32, [c_void_p, c_uint64, POINTER(c_void_p)]),
    "kmb_peaks_find": (c_int32, [c_void_p, c_char_p, c_char_p, POINTER(c_void_p)]),
    "kmb_peaks_lookup": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "kmb_peaks_of_device": (c_int32, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "kmb_part_f64": (c_int32, [c_void_p, c_int32, POINTER(c_double)]),
    "kmb_part_text": (c_int32, [c_void_p, c_int32, POINTER(c_char_p)]),
    "kmb_part_ceiling": (c_int32, [c_void_p, c_int32, c_int32, c_uint32, POINTER(kmb_ceiling)]),
    "kmb_part_rate": (c_int32, [c_void_p, c_int32, c_int32, c_uint64, c_double, POINTER(kmb_ceiling)]),
    "kmb_part_reference_count": (c_uint64, [c_void_p]),
    "kmb_part_reference": (c_int32, [c_void_p, c_uint64, POINTER(kmb_reference)]),
    "kmb_part_reference_for": (c_int32, [c_void_p, POINTER(kmb_work), c_int32, POINTER(kmb_reference)]),
    "kmb_knob_value": (c_uint64, [POINTER(kmb_knob), c_uint64, c_uint32, c_uint64]),
    "kmb_verdict_name": (c_char_p, [c_int32]),
    "kmb_compare": (c_int32, [c_void_p, POINTER(kmb_candidate), c_size_t, c_uint64, POINTER(kmb_compare_params), POINTER(c_void_p)]),
    "kmb_comparison_destroy": (None, [c_void_p]),
    "kmb_comparison_count": (c_uint64, [c_void_p]),
    "kmb_comparison_row": (c_int32, [c_void_p, c_uint64, POINTER(kmb_compare_row)]),
    "kmb_comparison_arm": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(kmb_compare_arm)]),
    "kmb_comparison_ratios": (c_int32, [c_void_p, c_uint64, POINTER(POINTER(c_double)), POINTER(c_uint64)]),
    "kmb_comparison_write_text": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_comparison_write_json": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_counters_read": (c_int32, [c_void_p, POINTER(kmb_bench_params), POINTER(kmb_counters_params), POINTER(c_void_p)]),
    "kmb_counters_release": (c_int32, [c_void_p]),
    "kmb_counters_destroy": (None, [c_void_p]),
    "kmb_counters_get_info": (c_int32, [c_void_p, POINTER(kmb_counters_info)]),
    "kmb_counters_row_count": (c_uint64, [c_void_p]),
    "kmb_counters_name": (c_int32, [c_void_p, c_uint64, POINTER(c_char_p)]),
    "kmb_counters_launch": (c_int32, [c_void_p, c_uint64, POINTER(kmb_op)]),
    "kmb_counters_occupancy": (c_int32, [c_void_p, c_uint64, POINTER(kmb_occupancy)]),
    "kmb_counters_value": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(c_double)]),
    "kmb_trace_format_name": (c_char_p, [c_int32]),
    "kmb_trace_load": (c_int32, [c_char_p, POINTER(kmb_trace_params), POINTER(c_void_p)]),
    "kmb_trace_read": (c_int32, [CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, POINTER(c_size_t)), c_void_p, POINTER(kmb_trace_params), POINTER(c_void_p)]),
    "kmb_trace_destroy": (None, [c_void_p]),
    "kmb_trace_get_info": (c_int32, [c_void_p, POINTER(kmb_trace_info)]),
    "kmb_trace_get_op": (c_int32, [c_void_p, c_uint64, POINTER(kmb_trace_op)]),
    "kmb_trace_get_call": (c_int32, [c_void_p, c_uint64, POINTER(kmb_trace_call)]),
    "kmb_trace_get_range": (c_int32, [c_void_p, c_uint64, POINTER(kmb_trace_range)]),
    "kmb_trace_write_json": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_trace_write_chrome": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_gaps_analyse": (c_int32, [c_void_p, POINTER(kmb_gaps_params), POINTER(c_void_p)]),
    "kmb_gaps_destroy": (None, [c_void_p]),
    "kmb_gaps_device_count": (c_uint64, [c_void_p]),
    "kmb_gaps_get_device": (c_int32, [c_void_p, c_uint64, POINTER(kmb_gaps_device)]),
    "kmb_gaps_utilization": (c_int32, [c_void_p, c_uint64, POINTER(c_double)]),
    "kmb_gaps_get_transition": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(kmb_gaps_transition)]),
    "kmb_gaps_get_name": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(kmb_gaps_name)]),
    "kmb_gaps_get_stream": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(kmb_gaps_stream)]),
    "kmb_gaps_get_target": (c_int32, [c_void_p, c_uint64, POINTER(kmb_gaps_target)]),
    "kmb_gaps_get_interval": (c_int32, [c_void_p, c_uint64, c_uint64, POINTER(kmb_gaps_interval)]),
    "kmb_gaps_get_latency": (c_int32, [c_void_p, c_uint64, POINTER(kmb_gaps_latency)]),
    "kmb_gaps_finding_count": (c_uint64, [c_void_p]),
    "kmb_gaps_get_finding": (c_int32, [c_void_p, c_uint64, POINTER(kmb_finding)]),
    "kmb_gaps_write_json": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_gaps_write_text": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_payoff_change_between": (c_int32, [c_void_p, c_void_p, POINTER(kmb_payoff_change)]),
    "kmb_payoff_change_compared": (c_int32, [c_void_p, c_uint64, POINTER(kmb_payoff_change)]),
    "kmb_payoff_evaluate": (c_int32, [c_void_p, POINTER(kmb_payoff_change), POINTER(kmb_payoff_params), POINTER(c_void_p)]),
    "kmb_payoff_destroy": (None, [c_void_p]),
    "kmb_payoff_get_summary": (c_int32, [c_void_p, POINTER(kmb_payoff_summary)]),
    "kmb_payoff_get_candidate": (c_int32, [c_void_p, c_uint64, POINTER(kmb_payoff_candidate)]),
    "kmb_payoff_get_shape": (c_int32, [c_void_p, c_uint64, POINTER(kmb_payoff_shape)]),
    "kmb_payoff_note_count": (c_uint64, [c_void_p]),
    "kmb_payoff_note": (c_char_p, [c_void_p, c_uint64]),
    "kmb_payoff_write_text": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_payoff_write_markdown": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_payoff_write_json": (c_int32, [c_void_p, CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t), c_void_p]),
    "kmb_trace_begin": (c_int32, [c_void_p, POINTER(kmb_record_params), POINTER(c_void_p)]),
    "kmb_trace_range_begin": (c_int32, [c_void_p, c_char_p]),
    "kmb_trace_range_end": (c_int32, [c_void_p]),
    "kmb_trace_end": (c_int32, [c_void_p, POINTER(c_void_p)]),
    "kmb_trace_abandon": (None, [c_void_p]),
    "kmb_sweep_open": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "kmb_sweep_find": (c_void_p, [c_void_p, c_char_p, POINTER(kmb_pair), c_uint64]),
    "kmb_sweep_add": (c_int32, [c_void_p, c_void_p]),
    "kmb_sweep_results": (c_void_p, [c_void_p]),
    "kmb_sweep_close": (None, [c_void_p]),
}
