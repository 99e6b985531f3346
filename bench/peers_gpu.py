#!/usr/bin/env python3
"""What other people's timers say of the GPU tests' own kernels, on a machine
that has PyTorch and Triton.

usage: peers_gpu.py KERNELS.ptx OUTPUT.json
"""
import ctypes
import datetime
import json
import statistics
import subprocess
import sys

import torch
import triton.testing
from torch.profiler import ProfilerActivity, profile

LENGTHS = [0, 0.5, 1, 2, 5, 10, 50, 200]
MIB = [8, 32]
REPEATS = 100


def must(code, what):
    if code:
        sys.exit(f"{what} failed: {code}")


class Kernels:
    """The driver's functions that are used, and the kernels in the text."""

    def __init__(self, path):
        torch.empty(1, device="cuda")  # makes the primary context current
        self.cuda = ctypes.CDLL("libcuda.so.1")
        with open(path, "rb") as file:
            text = file.read() + b"\0"
        self.module = ctypes.c_void_p()
        must(self.cuda.cuModuleLoadData(ctypes.byref(self.module), text), "PTX")

    def launcher(self, name, grid, block, arguments):
        """A call that enqueues one launch on PyTorch's current stream."""
        function = ctypes.c_void_p()
        must(self.cuda.cuModuleGetFunction(ctypes.byref(function), self.module,
                                           name.encode()), name)
        values = [ctypes.c_uint64(a) for a in arguments]
        pointers = (ctypes.c_void_p * len(values))(
            *[ctypes.addressof(v) for v in values])

        def launch():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            must(self.cuda.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0,
                                          stream, pointers, None), name)
        launch.keep = values  # the pointers are to these
        return launch


def flush_buffer():
    return torch.empty(256 << 20, dtype=torch.uint8, device="cuda")


def event_pairs(launch):
    """An event pair a call, as most scripts have it: warm."""
    pairs = []
    for _ in range(10):
        launch()
    torch.cuda.synchronize()
    for _ in range(REPEATS):
        pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        pair[0].record()
        launch()
        pair[1].record()
        pairs.append(pair)
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) * 1e3 for a, b in pairs)


def events_of_many(launch):
    """One event pair around many calls, divided: warm."""
    start, end = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    launch()
    torch.cuda.synchronize()
    start.record()
    for _ in range(REPEATS):
        launch()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e3 / REPEATS


def profiled(launch, name, flush):
    """The profiler's device time, warm or after a memset."""
    for _ in range(10):
        launch()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        for _ in range(REPEATS):
            if flush is not None:
                flush.zero_()
            launch()
        torch.cuda.synchronize()
    times = [event.device_time_total for event in recorded.events()
             if event.name.startswith(name)]
    return statistics.median(times)


def self_us(launch, out, khz):
    """What the spinning kernel counted itself."""
    counts = []
    for _ in range(20):
        launch()
        torch.cuda.synchronize()
        counts.append(out[0].item())
    return statistics.median(counts) / khz * 1e3


def attempt(row, key, call):
    try:
        row[key] = round(call(), 4)
    except Exception as error:  # a peer that fails hides no other
        row[key] = None
        print(f"{key}: {error}", file=sys.stderr)


def measure(launch, name, flush):
    row = {}
    attempt(row, "do_bench", lambda: triton.testing.do_bench(
        launch, return_mode="median") * 1e3)
    attempt(row, "do_bench_cudagraph", lambda:
            triton.testing.do_bench_cudagraph(launch, return_mode="median")
            * 1e3)
    attempt(row, "events", lambda: event_pairs(launch))
    attempt(row, "events_of_100", lambda: events_of_many(launch))
    attempt(row, "profiler", lambda: profiled(launch, name, None))
    attempt(row, "profiler_memset", lambda: profiled(launch, name, flush))
    return row


def sm_khz():
    """The SM clock under load."""
    text = subprocess.run(
        ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,"
         "nounits"], capture_output=True, text=True, check=True).stdout
    return float(text.split()[0]) * 1e3


def driver_version():
    return subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
        capture_output=True, text=True, check=True).stdout.split()[0]


def main():
    kernels = Kernels(sys.argv[1])
    flush = flush_buffer()
    khz = sm_khz()
    result = {
        "device": torch.cuda.get_device_name(),
        "driver": driver_version(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ"),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda,
        "sm_khz": khz,
        "spin": [],
        "moves": [],
    }
    out = torch.zeros(2, dtype=torch.int64, device="cuda")
    columns = ["do_bench", "do_bench_cudagraph", "events", "events_of_100",
               "profiler", "profiler_memset"]
    print(f"{'kernel':>12}{'self':>9}" + "".join(f"{c:>20}" for c in columns))

    def show(row, title):
        print(f"{title:>12}{row.get('self_us', 0):9.3f}" + "".join(
            f"{row[c] if row[c] is not None else float('nan'):20.3f}"
            for c in columns), flush=True)

    for us in LENGTHS:
        launch = kernels.launcher("test_spin", 1, 1,
                                  [int(us * khz / 1e3), out.data_ptr()])
        row = {"target_us": us, "self_us": round(self_us(launch, out, khz), 4)}
        row.update(measure(launch, "test_spin", flush))
        result["spin"].append(row)
        show(row, str(us))
    for kind in ["read", "copy"]:
        for mib in MIB:
            source = torch.randn(mib << 18, device="cuda")
            target = torch.empty_like(source)
            launch = kernels.launcher(
                "test_" + kind, 1056, 512,
                [source.data_ptr(), target.data_ptr(), (mib << 20) // 16])
            row = {"kind": kind, "mib": mib}
            row.update(measure(launch, "test_" + kind, flush))
            result["moves"].append(row)
            show(row, f"{kind} {mib}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
