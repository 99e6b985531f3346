/* What the functional tests share; those of launches are in launches.c. */
#ifndef KMB_TESTS_GPU_FUNCTIONAL_H
#define KMB_TESTS_GPU_FUNCTIONAL_H

#include "gpu.h"

extern gpu g;

/* One way of measuring and no other, without confirmation. */
kmb_bench_params quick(kmb_timer timer, kmb_launch_mode mode,
                       kmb_cache_state cache);
/* Where CUPTI is somebody else's, what asks for TRACE is BUSY, and the rest of
 * the test goes on with EVENT. */
void expect_busy(kmb_bench_params *p);
spin_work spin_of(double us);

void telemetry_is_read_while_measuring(void);
void each_slot_has_its_prebuilt_graph(void);
void a_stream_of_another_context_serves(void);
void a_launch_that_waits_behind_the_gate_is_let_go(void);

#endif
