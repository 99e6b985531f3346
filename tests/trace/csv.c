/* Tables of nsys and rocprof. */
#include "load.h"

#include <locale.h>

#define N3                                                                 \
  "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd," \
  "StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,"       \
  "DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
#define KERNEL(start, duration, name)                                 \
  start "," duration ",100,64,1,1,128,1,1,32,0.000,0.049,,,,,NVIDIA " \
        "H200 (3),1,,7," name "\n"
#define SHORT "Start (ns),Duration (ns),Name\n"

static void n3_gives_every_column(void) {
  kmb_trace *trace =
      load(N3 "10,5,9,,,,,,,,,,2.097,24137.9,Pinned,Device,NVIDIA H200 (3),4,"
              ",7,[CUDA memcpy Host-to-Device]\n");
  kmb_trace_op op = op_of(trace, 0);
  REQUIRE_STR(op.name, "[CUDA memcpy Host-to-Device]");
  REQUIRE_STR(op.device_name, "NVIDIA H200");
  REQUIRE_EQ(op.kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(op.start_ns, 10);
  REQUIRE_EQ(op.end_ns, 15);
  REQUIRE_EQ(op.bytes, 2097000);
  REQUIRE_EQ(op.correlation, 9);
  REQUIRE_EQ(op.device, 3);
  REQUIRE_EQ(op.context, 4);
  REQUIRE_EQ(op.stream, 7);
  REQUIRE_EQ(op.flags, KMB_OP_HAS_DEVICE | KMB_OP_HAS_STREAM |
                           KMB_OP_HAS_BYTES | KMB_OP_HAS_CORRELATION);
  kmb_trace_destroy(trace);
}

/* Each launch has its own; a copy has none. */
static void nsys_says_how_kernels_were_launched(void) {
  kmb_trace *trace = load(N3 KERNEL("10", "5", "k") KERNEL(
      "20", "5",
      "k") "30,5,9,,,,,,,,,,2.097,24137.9,Pinned,Device,NVIDIA H200 (3),4,,7,"
           "[CUDA memcpy Host-to-Device]\n"
           "40,5,100,2147483647,65535,65534,32,8,4,32,0,0,,,,,G (3),1,,7,k\n"
           "50,5,100,\"64\",\"2\",1,128,1,\"1\",32,0,0,,,,,G "
           "(3),1,,7,k\n" KERNEL("60", "5", "k"));
  require_shape(op_of(trace, 0), SHAPE(64, 1, 1, 128, 1, 1));
  require_shape(op_of(trace, 1), SHAPE(64, 1, 1, 128, 1, 1));
  require_shape(op_of(trace, 2), NULL);
  require_shape(op_of(trace, 3), SHAPE(2147483647, 65535, 65534, 32, 8, 4));
  require_shape(op_of(trace, 4), SHAPE(64, 2, 1, 128, 1, 1));
  require_shape(op_of(trace, 5), SHAPE(64, 1, 1, 128, 1, 1));
  kmb_trace_destroy(trace);
}

/* What nobody needs for anything else ends no load. */
static void bad_shapes_are_unknown(void) {
  static const char *const cells[] = {"0,1,1,128,1,1",
                                      "-64,1,1,128,1,1",
                                      "64,1,1,128,1,-1",
                                      "4294967296,1,1,128,1,1",
                                      "18446744073709551617,1,1,128,1,1",
                                      "64,1,1,128,1,",
                                      ",1,1,128,1,1",
                                      "64,,1,128,1,1",
                                      "64,1,1,128.0,1,1",
                                      "0x40,1,1,128,1,1",
                                      "64 ,1,1,128,1,1",
                                      "a,b,c,d,e,f",
                                      "\"64,1\",1,1,128,1,1",
                                      "\"64,1,1,128,1,1\",1,1,128,1,1",
                                      "64,1,1,128,1,\"1,1\"",
                                      "64,1,1,128,\"1,1\",1",
                                      "\"6\"\"4\",1,1,128,1,1",
                                      "64,1,1,128,1,00000000001",
                                      "4294967360,1,1,128,1,1",
                                      "64,1,1,128,1,\"1x,\"",
                                      "\"64,1,1,128,1,1,32\",1,1,128,1,1"};
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             N3 KERNEL("5", "5", "k") "10,5,1,%s,32,0,0,,,,,G (3),1,,7,k\n" //
             KERNEL("20", "5", "k"),
             cells[i]);
    kmb_trace *trace = load(text);
    require_shape(op_of(trace, 0), SHAPE(64, 1, 1, 128, 1, 1));
    require_shape(op_of(trace, 1), NULL);
    require_shape(op_of(trace, 2), SHAPE(64, 1, 1, 128, 1, 1));
    kmb_trace_destroy(trace);
  }
}

/* More launches than are remembered, each twice and then in another order. */
static void shapes_are_not_mixed_up(void) {
  enum { SHAPES = 1000 };
  static char text[3 * SHAPES * 40 + 200];
  char *to = text;
  to += sprintf(to, "Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,"
                    "Name\n");
  for (int i = 0; i < 3 * SHAPES; i++) {
    int shape = i < 2 * SHAPES ? i / 2 : 3 * SHAPES - 1 - i;
    to += sprintf(to, "%d,5,%d,%d,1,128,1,%d,k\n", 10 * i + 1, shape / 100 + 1,
                  shape / 10 % 10 + 1, shape % 10 + 1);
  }
  kmb_trace *trace = load(text);
  for (int i = 0; i < 3 * SHAPES; i++) {
    uint32_t shape = (uint32_t)(i < 2 * SHAPES ? i / 2 : 3 * SHAPES - 1 - i);
    require_shape(
        op_of(trace, (uint64_t)i),
        SHAPE(shape / 100 + 1, shape / 10 % 10 + 1, 1, 128, 1, shape % 10 + 1));
  }
  kmb_trace_destroy(trace);
}

/* What one begins with is another. */
static void longer_numbers_are_told_apart(void) {
  kmb_trace *trace =
      load("Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Name\n"
           "10,5,1000,1000,1000,128,1,1,k\n20,5,1000,1000,1000,128,1,10,k\n"
           "30,5,1000,1000,1000,128,1,1,k\n");
  require_shape(op_of(trace, 0), SHAPE(1000, 1000, 1000, 128, 1, 1));
  require_shape(op_of(trace, 1), SHAPE(1000, 1000, 1000, 128, 1, 10));
  require_shape(op_of(trace, 2), SHAPE(1000, 1000, 1000, 128, 1, 1));
  kmb_trace_destroy(trace);
}

/* Six columns in another order are not guessed at. */
static void columns_of_another_order_give_no_shape(void) {
  kmb_trace *trace =
      load("Start (ns),Duration (ns),BlkX,BlkY,BlkZ,GrdX,GrdY,GrdZ,Name\n"
           "10,5,128,1,1,64,1,1,k\n");
  require_shape(op_of(trace, 0), NULL);
  kmb_trace_destroy(trace);
  trace = load("Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,Name\n"
               "10,5,64,1,1,128,1,k\n");
  require_shape(op_of(trace, 0), NULL);
  kmb_trace_destroy(trace);
}

#define V3                                                                  \
  "\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\",\"Workgroup_Size_" \
  "X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_"   \
  "Size_Y\",\"Grid_Size_Z\"\n"

/* rocprof counts work items: the grid in blocks is the quotient. */
static void rocprof_v3_gives_grids_of_work_items(void) {
  kmb_trace *trace = load(V3 "\"k\",100,150,256,2,1,65536,8,3\n"
                             "\"k\",200,250,256,1,1,1000,1,1\n"
                             "\"k\",300,350,0,1,1,1024,1,1\n"
                             "\"k\",400,450,256,1,1,0,1,1\n"
                             "\"k\",500,550,x,1,1,1024,1,1\n"
                             "\"k\",600,650,256,2,1,65536,8,3\n");
  require_shape(op_of(trace, 0), SHAPE(256, 4, 3, 256, 2, 1));
  for (uint64_t i = 1; i < 5; i++)
    require_shape(op_of(trace, i), NULL);
  require_shape(op_of(trace, 5), SHAPE(256, 4, 3, 256, 2, 1));
  kmb_trace_destroy(trace);
}

static void n2_lacks_the_green_context(void) {
  kmb_trace *trace = load(
      "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,"
      "StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,"
      "DstMemKd,Device,Ctx,Strm,Name\n"
      "10,5,9,1,1,1,1,1,1,8,0.0,0.0,,,,,A (0),1,7,k\n");
  REQUIRE_EQ(op_of(trace, 0).stream, 7);
  REQUIRE_EQ(op_of(trace, 0).kind, KMB_OP_KERNEL);
  kmb_trace_destroy(trace);
}

static void n1_counts_seconds_and_is_coarse(void) {
  kmb_trace *trace =
      load("Start(sec),Duration(nsec),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,"
           "Reg/Trd,StcSMem,DymSMem,Bytes,Thru(MB/s),SrcMemKd,DstMemKd,Device,"
           "Ctx,Strm,Name\n"
           "92.984680,138300,9,1,2,3,4,5,6,8,0,0,,,,,A (0),1,7,k\n"
           "93.5,7,9,,,,,,,,,,4096,1,,,A (0),1,7,[CUDA memset]\n");
  REQUIRE_EQ(op_of(trace, 0).start_ns, 92984680000);
  REQUIRE_EQ(op_of(trace, 0).end_ns, 92984818300);
  require_shape(op_of(trace, 0), SHAPE(1, 2, 3, 4, 5, 6));
  REQUIRE_EQ(op_of(trace, 1).bytes, 4096);
  REQUIRE_EQ(op_of(trace, 1).kind, KMB_OP_MEMSET);
  REQUIRE_EQ(info_of(trace).tick_ns, 1000);
  kmb_gaps *gaps = analyse(trace, NULL);
  kmb_finding finding = kmb_finding_init();
  REQUIRE_OK(kmb_gaps_get_finding(gaps, 0, &finding));
  REQUIRE_EQ(finding.code, KMB_FINDING_RESOLUTION);
  REQUIRE_NEAR(finding.figures[0].value, 1000, 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void units_come_from_the_header(void) {
  kmb_trace *trace = load("Name,Duration (ms),Start (us)\nk,1.5,2.0004\n");
  REQUIRE_EQ(op_of(trace, 0).start_ns, 2000);
  REQUIRE_EQ(op_of(trace, 0).end_ns, 1502000);
  kmb_trace_destroy(trace);
  refused("Start,Duration (ns),Name\n1,1,k\n", "Start has no unit");
  refused("Start (ns),Duration (h),Name\n1,1,k\n", "Duration has no unit");
}

static void rocprof_v1(void) {
  kmb_trace *trace = load(
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\","
      "\"pid\",\"tid\",\"grd\",\"wgr\",\"lds\",\"scr\",\"arch_vgpr\","
      "\"accum_vgpr\",\"sgpr\",\"wave_size\",\"sig\",\"obj\",\"DispatchNs\","
      "\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"\n"
      "0,\"k(int, float) [clone .kd]\",2,1,0,77,78,1,1,0,0,8,0,16,64,0x0,0x1,"
      "90,100,150,160,50\n");
  kmb_trace_op op = op_of(trace, 0);
  REQUIRE_STR(op.name, "k(int, float) [clone .kd]");
  REQUIRE_EQ(op.device, 2);
  REQUIRE_EQ(op.process, 77);
  require_shape(op, NULL); /* grd and wgr are products */
  REQUIRE_EQ(op.stream, 1);
  REQUIRE_EQ(op.start_ns, 100);
  REQUIRE_EQ(op.end_ns, 150);
  REQUIRE_EQ(info_of(trace).format, KMB_TRACE_ROCPROF_CSV);
  kmb_trace_destroy(trace);
}

static void rocprof_v2(void) {
  kmb_trace *trace =
      load("Dispatch_ID,GPU_ID,Queue_ID,Queue_Index,PID,TID,GRD,WGR,LDS,SCR,"
           "Arch_VGPR,ACCUM_VGPR,SGPR,Wave_Size,SIG,OBJ,Kernel_Name,"
           "Start_Timestamp,End_Timestamp,Correlation_ID,SQ_WAVES\n"
           "1,4,1,0,7,7,1,1,0,0,8,0,16,64,0,1,\"k\",0,150,1,3\n"
           "2,4,1,0,7,7,1,1,0,0,8,0,16,64,0,1,\"k\",200,250,2,3\n");
  REQUIRE_EQ(info_of(trace).rows, 2);
  REQUIRE_EQ(info_of(trace).invalid, 1);
  REQUIRE_EQ(op_of(trace, 0).device, 4);
  REQUIRE_EQ(op_of(trace, 0).correlation, 2);
  require_shape(op_of(trace, 0), NULL);
  kmb_trace_destroy(trace);
}

static void rocprof_v3_kernels(void) {
  static const char *const tables[] = {
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\","
      "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"KERNEL_DISPATCH\",7,9,12,\"k\",5,100,150\n",
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\","
      "\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
      "\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\"\n"
      "\"KERNEL_DISPATCH\",\"Agent 7\",3,9,8,1,12,\"k\",5,100,150,0\n",
      "\"Guid\",\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\","
      "\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\","
      "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
      "\"Lds_Block_Size\"\n"
      "\"0-1\",\"KERNEL_DISPATCH\",\"Agent 7\",\"Queue 3\",\"Stream 9\",8,1,"
      "12,\"k\",5,100,150,0\n"};
  for (int i = 0; i < 3; i++) {
    kmb_trace *trace = load(tables[i]);
    kmb_trace_op op = op_of(trace, 0);
    REQUIRE_EQ(op.device, 7);
    REQUIRE_EQ(op.stream, 9);
    REQUIRE_EQ(op.correlation, 5);
    REQUIRE_EQ(op.end_ns - op.start_ns, 50);
    REQUIRE_STR(op.name, "k");
    kmb_trace_destroy(trace);
  }
}

/* The end of what is no whole number is none either. */
static void rocprof_ids_are_whole_numbers(void) {
  static const char *const ids[] = {"0x17", "1.5",     "-3",        "Agent",
                                    ".5",   "Agent-3", "Agent 1.5", "gfx9 7"};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n"
             "%s,k,100,150\n",
             ids[i]);
    refused(text, "line 2, column 1: the agent has no number");
  }
}

/* A copy belongs to the side that is a device. */
static void rocprof_v3_copies(void) {
  kmb_trace *trace =
      load("\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\","
           "\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\","
           "\"End_Timestamp\"\n"
           "\"MEMORY_COPY\",\"HOST_TO_DEVICE\",1,0,5,1,100,150\n"
           "\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",1,\"Agent 6\","
           "\"Agent 0\",1,200,250\n");
  REQUIRE_STR(op_of(trace, 0).name, "[memcpy HOST_TO_DEVICE]");
  REQUIRE_EQ(op_of(trace, 0).kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(op_of(trace, 0).device, 5);
  REQUIRE_EQ(op_of(trace, 1).device, 6);
  kmb_trace_destroy(trace);
}

/* nsys wrote these before the header; commas and quotes in names are real. */
static void F49_preamble_quotes_and_crlf(void) {
  kmb_trace *trace =
      load("NOTICE: Existing SQLite export found: \"r.sqlite\r\n"
           "Processing [r.sqlite] with [cuda_gpu_trace.py]... \r\n\r\n" SHORT
           "10,5,\"void f<int, float>(int, \"\"x\"\")\"\r\n20,5,a b\r\n\r\n");
  REQUIRE_EQ(info_of(trace).rows, 2);
  REQUIRE_STR(op_of(trace, 0).name, "void f<int, float>(int, \"x\")");
  REQUIRE_STR(op_of(trace, 1).name, "a b");
  kmb_trace_destroy(trace);
}

/* An empty trace is a trace; columns that are not needed may be missing. */
static void F48_header_only_and_missing_columns(void) {
  kmb_trace *trace = load(N3);
  REQUIRE_EQ(info_of(trace).rows, 0);
  kmb_gaps *gaps = analyse(trace, "k");
  REQUIRE_EQ(kmb_gaps_device_count(gaps), 0);
  REQUIRE_EQ(kmb_gaps_finding_count(gaps), 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  trace = load("Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,"
               "Reg/Trd,Device,Ctx,Strm,Name"); /* not even a newline */
  REQUIRE_EQ(info_of(trace).rows, 0);
  kmb_trace_destroy(trace);
  trace = load(SHORT "10,5,k\n");
  REQUIRE_EQ(op_of(trace, 0).flags, 0);
  gaps = analyse(trace, NULL);
  REQUIRE_EQ(device_of(gaps, 0).flags, 0);
  kmb_finding finding = kmb_finding_init();
  REQUIRE_OK(kmb_gaps_get_finding(gaps, 0, &finding));
  REQUIRE_EQ(finding.code, KMB_FINDING_UNKNOWN_DEVICE);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* Start and end 0, end before start: counted and left out. */
static void F9_invalid_timestamps(void) {
  kmb_trace *trace = load("Kernel_Name,Start_Timestamp,End_Timestamp\n"
                          "k,0,0\nk,100,90\nk,10,20\n");
  REQUIRE_EQ(info_of(trace).rows, 3);
  REQUIRE_EQ(info_of(trace).invalid, 2);
  kmb_gaps *gaps = analyse(trace, "k");
  kmb_gaps_target target = kmb_gaps_target_init();
  REQUIRE_OK(kmb_gaps_get_target(gaps, 0, &target));
  REQUIRE_EQ(target.count, 1);
  REQUIRE_NEAR(target.mean_duration_ns, 10, 0);
  kmb_finding finding = kmb_finding_init();
  REQUIRE_OK(kmb_gaps_get_finding(gaps, 0, &finding));
  REQUIRE_EQ(finding.code, KMB_FINDING_INVALID_TIMESTAMPS);
  REQUIRE_NEAR(finding.figures[0].value, 2, 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void zero_and_negative_durations_are_invalid(void) {
  kmb_trace *trace = load(SHORT "10,0,k\n10,-5,k\n-10,50,k\n0,5,k\n9,1,k\n");
  REQUIRE_EQ(info_of(trace).invalid, 4);
  REQUIRE_EQ(op_of(trace, 0).start_ns, 9);
  kmb_trace_destroy(trace);
}

static void edges_of_64_bits(void) {
  /* No operation ends after 2^63 - 1 ns, however it comes to that. */
  kmb_trace *trace = load(SHORT "1,9223372036854775806,k\n"
                                "9223372036854775806,1,k\n"
                                "1,9223372036854775807,k\n"
                                "9223372036854775807,1,k\n"
                                "9223372036854775807,9223372036854775807,k\n"
                                "1,18446744073709551615,k\n"
                                "18446744073709551614,1,k\n"
                                "18446744073709551615,1,k\n");
  REQUIRE_EQ(info_of(trace).invalid, 6);
  REQUIRE_EQ(op_of(trace, 0).end_ns, INT64_MAX);
  REQUIRE_EQ(op_of(trace, 1).start_ns, INT64_MAX - 1);
  kmb_trace_destroy(trace);
  trace = load(V3 "k,9223372036854775806,9223372036854775807,1,1,1,1,1,1\n"
                  "k,1,9223372036854775808,1,1,1,1,1,1\n");
  REQUIRE_EQ(info_of(trace).invalid, 1);
  REQUIRE_EQ(op_of(trace, 0).end_ns, INT64_MAX);
  kmb_trace_destroy(trace);
  refused(SHORT "18446744073709551616,1,k\n",
          "line 2, column 1: Start does not fit into 64 bits");
  refused("Start (s),Duration (s),Name\n1,18446744074,k\n",
          "line 2, column 3: Duration does not fit");
}

static void rows_out_of_order_are_sorted(void) {
  kmb_trace *trace = load(SHORT "30,1,c\n10,1,a\n20,1,b\n10,2,d\n");
  REQUIRE_STR(op_of(trace, 0).name, "a");
  REQUIRE_STR(op_of(trace, 1).name, "d"); /* as they came */
  REQUIRE_STR(op_of(trace, 2).name, "b");
  REQUIRE_STR(op_of(trace, 3).name, "c");
  kmb_trace_destroy(trace);
}

static void byte_order_mark_is_skipped(void) {
  kmb_trace *trace = load("\xEF\xBB\xBF" SHORT "1,1,k\n");
  REQUIRE_EQ(info_of(trace).ops, 1);
  kmb_trace_destroy(trace);
  refused_n("\xFF\xFES\0t\0", 6, KMB_ERR_FORMAT, "UTF-16");
}

static void long_names_are_kept_whole(void) {
  enum { LENGTH = 65536 };
  static char text[LENGTH + 256], name[LENGTH + 1];
  memset(name, 'n', LENGTH);
  snprintf(text, sizeof text, SHORT "1,1,\"%s\"\n2,1,%s\n", name, "x");
  kmb_trace *trace = load(text);
  REQUIRE_STR(op_of(trace, 0).name, name);
  REQUIRE_STR(op_of(trace, 1).name, "x");
  kmb_trace_destroy(trace);
}

/* A byte in no character becomes U+FFFD, and such a name too is one name. */
static void invalid_utf8_is_replaced(void) {
  kmb_trace *trace = load(SHORT "1,1,a\xFFz\n2,1,a\xFFz\n3,1,\xC3\xA4\n");
  REQUIRE_STR(op_of(trace, 0).name, "a\xEF\xBF\xBDz");
  REQUIRE_STR(op_of(trace, 2).name, "\xC3\xA4");
  kmb_gaps *gaps = analyse(trace, NULL);
  REQUIRE_EQ(device_of(gaps, 0).names, 2);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void locale_does_not_matter(void) {
  if (!setlocale(LC_ALL, "de_DE.UTF-8"))
    printf("   de_DE.UTF-8 is not installed: the plain locale is used\n");
  kmb_trace *trace = load("Start (ms),Duration (ms),Name\n1.5,0.25,k\n");
  REQUIRE_EQ(op_of(trace, 0).start_ns, 1500000);
  kmb_gaps *gaps = analyse(trace, NULL);
  written w = {NULL, 0};
  REQUIRE_OK(kmb_gaps_write_json(gaps, take_bytes, &w));
  REQUIRE_HAS(w.data, "\"utilization\": 1.0");
  free(w.data);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  setlocale(LC_ALL, "C");
}

static void malformed_tables_are_refused(void) {
  refused("", "line 1, column 1: the file is empty");
  refused("10,5,k\n20,5,k\n", "no header of a known trace");
  refused("a,b,c\n1,2,3\n", "no header of a known trace");
  refused("Start (ns),Duration (ns),Thing\n1,1,k\n",
          "t: line 1, column 1: not the header of a known trace: the column "
          "Name is missing");
  refused("Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid\n",
          "this is a table of the host");
  refused("\"Index\",\"KernelName\",\"gpu-id\"\n0,k,1\n", "--timestamp on");
  refused(SHORT "1,1,k\nx,1,k\n",
          "t: line 3, column 1: Start is no number: \"x\"");
  refused(SHORT "1,,k\n", "line 2, column 3: Duration is empty");
  refused(SHORT "1,1\n", "line 2, column 1: the row has only 2 cells, the "
                         "header has 3");
  refused(SHORT "1,1,k,\n", "line 2, column 6: the row has more than 3 cells");
  refused(SHORT "1,1,k\n2,1,\"k\n3,1,k\n",
          "line 3, column 5: the text ends within this quoted cell");
  refused(SHORT "1,1,\"k\"x\n", "line 2, column 8: text after a closing quote");
  refused(SHORT "1,1,a\rb\n", "line 2, column 6: a carriage return");
  refused(N3 KERNEL("1", "1", "k") KERNEL("2", "1,2", "k"), "line 3, column");
  refused(SHORT "1,1,\"a\nb\"\n2,y,k\n", "line 4, column 3: Duration");
  refused("Start (ns),Duration (ns),Name,Strm\n1,1,k,-3\n",
          "line 2, column 7: Strm is no whole number");
}

static void zero_bytes_are_refused(void) {
  static const char a[] = SHORT "1,1,k\0k\n", b[] = SHORT "1,1,\"k\0k\"\n",
                    c[] = SHORT "1,\0001,k\n", d[] = "St\0art (ns),D,N\n";
  refused_n(a, sizeof a - 1, KMB_ERR_FORMAT, "line 2, column 6: a zero byte");
  refused_n(b, sizeof b - 1, KMB_ERR_FORMAT, "line 2, column 7: a zero byte");
  refused_n(c, sizeof c - 1, KMB_ERR_FORMAT, "line 2, column 3: a zero byte");
  refused_n(d, sizeof d - 1, KMB_ERR_FORMAT, "line 1, column 3: a zero byte");
}

static void a_format_can_be_required(void) {
  kmb_trace *trace = NULL;
  const char *text = SHORT "1,1,k\n";
  REQUIRE_OK(load_as(text, strlen(text), 0, KMB_TRACE_NSYS_CSV, &trace));
  kmb_trace_destroy(trace);
  REQUIRE_STATUS(load_as(text, strlen(text), 0, KMB_TRACE_ROCPROF_CSV, &trace),
                 KMB_ERR_FORMAT);
  REQUIRE_STATUS(load_as(text, strlen(text), 0, KMB_TRACE_CHROME_JSON, &trace),
                 KMB_ERR_FORMAT);
  REQUIRE_STATUS(load_as(text, strlen(text), 0, 99, &trace), KMB_ERR_INVALID);
}

/* Wherever the ends of cells lie in what is looked at in one go: cells that are
 * wanted and those that are not, plain with a tab, or quoted with a comma, a
 * doubled quote and a line's end. */
static void cells_of_any_length(void) {
  static const char *const pads[] = {"", "\t", "\"a,\"\"b\"", "\"\n\""};
  char fill[200], text[1000];
  memset(fill, 'x', sizeof fill);
  for (int length = 0; length < 150; length++) {
    for (size_t i = 0; i < sizeof pads / sizeof pads[0]; i++) {
      snprintf(text, sizeof text,
               "A,B,C,Start (ns),D,Duration (ns),E,Name,F\n"
               "%.*s,,%s,12345678,%s,%d,,\"%.*s,\"\"\",\n"
               "%.*s\t,,%s,123456789,,9,%.*s,%.*s,\n",
               length, fill, pads[i], pads[i], length + 1, length, fill, length,
               fill, pads[i], length, fill, length, fill);
      kmb_trace *trace = load(text);
      kmb_trace_op op = op_of(trace, 0);
      REQUIRE_EQ(op.start_ns, 12345678);
      REQUIRE_EQ(op.end_ns - op.start_ns, length + 1);
      REQUIRE_EQ(strlen(op.name), length + 2);
      REQUIRE_STR(op.name + length, ",\"");
      op = op_of(trace, 1);
      REQUIRE_EQ(op.start_ns, 123456789);
      REQUIRE_EQ(strlen(op.name), length);
      REQUIRE_EQ(info_of(trace).ops, 2);
      kmb_trace_destroy(trace);
    }
  }
}

/* The last of the columns that nobody wants may not swallow a cell too many. */
static void cells_too_many_are_refused(void) {
  refused("Start (ns),Duration (ns),Name,A,B\n1,1,k,,,\n",
          "line 2, column 8: the row has more than 5 cells");
  refused("Start (ns),Duration (ns),Name,A,B\n1,1,k,\n",
          "line 2, column 1: the row has only 4 cells, the header has 5");
  refused("Start (ns),A,B,Duration (ns),Name\n1,\n",
          "line 2, column 1: the row has only 2 cells, the header has 5");
}

int main(void) {
  RUN(n3_gives_every_column);
  RUN(nsys_says_how_kernels_were_launched);
  RUN(bad_shapes_are_unknown);
  RUN(shapes_are_not_mixed_up);
  RUN(longer_numbers_are_told_apart);
  RUN(columns_of_another_order_give_no_shape);
  RUN(rocprof_v3_gives_grids_of_work_items);
  RUN(n2_lacks_the_green_context);
  RUN(n1_counts_seconds_and_is_coarse);
  RUN(units_come_from_the_header);
  RUN(rocprof_v1);
  RUN(rocprof_v2);
  RUN(rocprof_v3_kernels);
  RUN(rocprof_ids_are_whole_numbers);
  RUN(rocprof_v3_copies);
  RUN(F49_preamble_quotes_and_crlf);
  RUN(F48_header_only_and_missing_columns);
  RUN(F9_invalid_timestamps);
  RUN(zero_and_negative_durations_are_invalid);
  RUN(edges_of_64_bits);
  RUN(rows_out_of_order_are_sorted);
  RUN(byte_order_mark_is_skipped);
  RUN(long_names_are_kept_whole);
  RUN(invalid_utf8_is_replaced);
  RUN(locale_does_not_matter);
  RUN(malformed_tables_are_refused);
  RUN(zero_bytes_are_refused);
  RUN(a_format_can_be_required);
  RUN(cells_of_any_length);
  RUN(cells_too_many_are_refused);
  return 0;
}
