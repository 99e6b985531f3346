/**
 * @file kmb.hpp
 * The C interface for C++17: handles that free themselves, spans, lambdas as
 * callbacks. Header-only; nothing of it is in the library. kmb.h does not
 * include it.
 *
 * A call that fails throws kmb::error. With KMB_NO_EXCEPTIONS (set by itself
 * under -fno-exceptions) it returns kmb::outcome<T> instead, which holds the
 * value or the error. kmb::returned<T> is the one or the other; the two kinds
 * of translation units can be linked together.
 *
 * An exception that a callback throws never crosses the library's C frames: it
 * ends the call and comes out of the wrapper that made the call. One that a
 * hook throws while a handle is freed is dropped.
 */
#ifndef KMB_KMB_HPP
#define KMB_KMB_HPP

#include <kmb/cpp/base.hpp>
#include <kmb/cpp/bench.hpp>
#include <kmb/cpp/code.hpp>
#include <kmb/cpp/comm.hpp>
#include <kmb/cpp/compare.hpp>
#include <kmb/cpp/counters.hpp>
#include <kmb/cpp/device.hpp>
#include <kmb/cpp/result.hpp>
#include <kmb/cpp/trace.hpp>

#endif
