/**
 * @file kmb.h
 * Everything that a program needs to measure; includes the other headers.
 * Backend authors include kmb/backend.h in addition.
 */
#ifndef KMB_KMB_H
#define KMB_KMB_H

#include <kmb/base.h>
#include <kmb/bench.h>
#include <kmb/buffers.h>
#include <kmb/code.h>
#include <kmb/comm.h>
#include <kmb/compare.h>
#include <kmb/counters.h>
#include <kmb/device.h>
#include <kmb/metadata.h>
#include <kmb/payoff.h>
#include <kmb/record.h>
#include <kmb/result.h>
#include <kmb/roofline.h>
#include <kmb/sweep.h>
#include <kmb/trace.h>
#include <kmb/work.h>

#endif
