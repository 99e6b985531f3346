#!/usr/bin/env python3
"""What others reach where libkmb measures ceilings: copies of 4 GiB by the
driver and by PyTorch, products of 8192 cubed by torch.mm, on a machine that has
PyTorch.

usage: peers_ceilings.py OUTPUT.json
"""
import ctypes
import datetime
import json
import statistics
import subprocess
import sys

import torch

GIB = 1 << 30
REPEATS = 30


def times_us(call):
    """Of single calls between two events; the shortest and the middle."""
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(REPEATS):
        start, end = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    return min(times), statistics.median(times)


def row(result, name, amount, call):
    try:
        least, middle = times_us(call)
    except Exception as error:  # a peer that fails hides no other
        print(f"{name}: {error}", file=sys.stderr)
        return
    result["peers"].append({"name": name, "best": amount / least * 1e6,
                            "median": amount / middle * 1e6})
    print(f"{name:>16} best {amount / least / 1e6:9.2f} T/s, "
          f"median {amount / middle / 1e6:9.2f} T/s", flush=True)


def copies(result):
    source = torch.randn(GIB, device="cuda")
    target = torch.empty_like(source)
    moved = 2 * 4 * GIB
    row(result, "torch copy", moved, lambda: target.copy_(source))
    runtime = ctypes.CDLL(None)
    if not hasattr(runtime, "cudaMemcpyAsync"):
        runtime = ctypes.CDLL("libcudart.so.13")

    def memcpy():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = runtime.cudaMemcpyAsync(
            ctypes.c_void_p(target.data_ptr()),
            ctypes.c_void_p(source.data_ptr()), ctypes.c_size_t(4 * GIB),
            ctypes.c_int(3), stream)
        if code:
            raise RuntimeError(f"cudaMemcpyAsync: {code}")
    row(result, "cudaMemcpyAsync", moved, memcpy)


def products(result):
    size = 8192
    for name, dtype in [("bf16", torch.bfloat16), ("f16", torch.float16)]:
        a = (torch.rand(size, size, device="cuda") * 2 - 1).to(dtype)
        b = (torch.rand(size, size, device="cuda") * 2 - 1).to(dtype)
        out = torch.empty(size, size, dtype=dtype, device="cuda")
        row(result, f"torch.mm {name}", 2 * size ** 3,
            lambda: torch.mm(a, b, out=out))
        row(result, f"torch.mm {name} T", 2 * size ** 3,
            lambda: torch.mm(a, b.t(), out=out))


def main():
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
        capture_output=True, text=True, check=True).stdout.split()[0]
    result = {
        "device": torch.cuda.get_device_name(), "driver": driver,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ"),
        "torch": torch.__version__, "cuda": torch.version.cuda, "peers": [],
    }
    copies(result)
    products(result)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
