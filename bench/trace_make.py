#!/usr/bin/env python3
"""Writes one made-up trace of many kernels, always the same, as nsys, a SQLite
export or the torch profiler would.

usage: trace_make.py csv|sqlite|json KERNELS FILE

A round is a layer of a language model: eleven kernels with names as long as
templates make them, a copy, gaps of the host between them.
"""
import random
import sqlite3
import sys

HEADER = ('Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,'
          'Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),'
          'SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n')
COPY = '[CUDA memcpy Host-to-Device]'
NAMES = [
    'void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, 0, 0, '
    'cutlass::bfloat16_t>, 0, 1, 0>(Flash_fwd_params)',
    'void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x'
    '128_32x5_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm::Params)',
    'void vllm::rms_norm_kernel<c10::BFloat16, 8>(T1 *, const T1 *, const T1 '
    '*, float, int, int)',
    'void vllm::rotary_embedding_kernel<c10::BFloat16, 1>(const long *, T1 *, '
    'T1 *, const T1 *, int, long, long, int, int, int)',
    'void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>(T1 *, '
    'const T1 *, int)',
    'void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, '
    '0>(const T1 *, const T1 *, T2 *, T2 *, const long *, long, long, int)',
    'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor'
    'OnSelf_add<c10::BFloat16>, std::array<char *, 2>>(int, T2, T3)',
    'merge_lse_kernel']


def rows(count):
    """(start, duration, correlation, name index); 8 means a copy."""
    draw = random.Random(1)
    time = 92984680000
    for i in range(count):
        name = 8 if i % 12 == 11 else i % 12 % 8
        duration = draw.randrange(2000, 140000)
        yield time, duration, 100 + i, name
        time += duration + draw.choice((0, 700, 900, 1200, 4000, 90000))


def write_csv(count, path):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(HEADER)
        for start, duration, correlation, name in rows(count):
            if name == 8:
                file.write('%d,%d,%d,,,,,,,,,,2.097,24137.931,Pinned,Device,'
                           'NVIDIA H200 (0),1,,7,%s\n'
                           % (start, duration, correlation, COPY))
            else:
                file.write('%d,%d,%d,64,%d,1,128,1,1,32,0.000,0.049,,,,,'
                           'NVIDIA H200 (0),1,,7,"%s"\n'
                           % (start, duration, correlation, 1 + name,
                              NAMES[name]))


def write_json(count, path):
    text = ',\n'.join
    names = [n.replace('"', '\\"') for n in NAMES + ['Memcpy HtoD']]
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    {"id"'
                   ': 0, "name": "NVIDIA H200"}\n  ],\n  "displayTimeUnit": '
                   '"ms",\n  "baseTimeNanoseconds": 1700000000000000000,\n'
                   '  "traceEvents": [\n')
        part = []
        for start, duration, correlation, name in rows(count):
            copy = name == 8
            part.append(
                '  {\n    "ph": "X", "cat": "%s", "name": "%s", "pid": 0, "tid"'
                ': 7,\n    "ts": %d.%03d, "dur": %d.%03d,\n    "args": {\n'
                '      "External id": %d, "device": 0, "context": 1, '
                '"stream": 7, "correlation": %d%s\n    }\n  }'
                % ('gpu_memcpy' if copy else 'kernel', names[name],
                   start // 1000, start % 1000, duration // 1000,
                   duration % 1000, correlation, correlation,
                   ', "bytes": 2097152, "memory bandwidth (GB/s)": 24.1'
                   if copy else
                   ', "registers per thread": 32, "shared memory": 49152, '
                   '"blocks per SM": 0.48, "warps per SM": 1.9, "grid": [64, '
                   '1, 1], "block": [128, 1, 1], "est. achieved occupancy %"'
                   ': 3'))
            if len(part) == 4096:
                file.write(text(part) + (',\n' if correlation < 99 + count
                                         else ''))
                part = []
        file.write(text(part) + '\n  ]\n}\n')


KERNEL = ('CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, '
          'end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER '
          'NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, '
          'correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT '
          'NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType '
          'INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, '
          'gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT '
          'NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ '
          'INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, '
          'dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER '
          'NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT '
          'NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, '
          'sharedMemoryLimitConfig INTEGER)')
MEMCPY = ('CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, '
          'end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER '
          'NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, '
          'globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT '
          'NULL)')


def write_sqlite(count, path):
    pid = 77 << 24
    with open(path, 'wb'):
        pass
    db = sqlite3.connect(path)
    db.execute('CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, '
               'value TEXT NOT NULL)')
    db.executemany('INSERT INTO StringIds VALUES (?, ?)',
                   list(enumerate(NAMES)))
    db.execute(KERNEL)
    db.execute(MEMCPY)
    kernel = 'INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%s)' % (
        ', '.join('?' * 28))
    db.executemany(kernel, (
        (s, s + d, 0, 1, None, 7, c, pid, n, n, n, 0, 0, 32, 64, 1, 1, 128, 1,
         1, 0, 49152, 0, 0, c, 65536, None, 0)
        for s, d, c, n in rows(count) if n != 8))
    db.executemany('INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES '
                   '(?, ?, 0, 1, 7, ?, ?, 2097152, 1)', (
                       (s, s + d, c, pid) for s, d, c, n in rows(count)
                       if n == 8))
    db.commit()
    db.close()


def main():
    kind, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    {'csv': write_csv, 'json': write_json, 'sqlite': write_sqlite}[kind](
        count, path)


if __name__ == '__main__':
    main()
