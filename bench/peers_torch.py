#!/usr/bin/env python3
"""Copies of 64 KiB to 512 MiB and matrix products of 1, 8 and 2048 tokens
through PyTorch: libkmb from Python beside libkmb from C (examples/cuda_copy and
cuda_gemm on the same machine), Triton's do_bench and do_bench_cudagraph, and
the torch profiler. Then what a call of kmb.bench takes on a kernel of 20 us.

usage: peers_torch.py KERNELS.ptx COPY.json GEMM.json OUTPUT.json
"""
import json
import statistics
import sys
import time

import torch

import gpu_front as front
import kmb

DRY = not torch.cuda.is_available()
WHERE = 'cpu' if DRY else 'cuda'
PROJECTIONS = {'q': (4096, 4096), 'k': (1024, 4096), 'gate': (14336, 4096),
               'down': (4096, 14336)}
TOKENS = [1, 8, 2048]
KIB = [64, 256, 1024, 4096, 16384, 65536, 262144, 524288]
if DRY:
    PROJECTIONS, TOKENS, KIB = {'q': (64, 64), 'gate': (128, 64)}, [1, 8], [64]
REPEATS = 30
BAR_PCT, BAR_US, WALL_MS, CALLS = 1, 0.05, 150, 8


def from_c(path, keys):
    """Time and kernels of each point, by its axes."""
    try:
        with open(path, encoding='utf-8') as file:
            results = json.load(file)['results']
    except (OSError, ValueError) as error:
        print('%s: %s' % (path, error), file=sys.stderr)
        return {}
    found = {}
    for r in results:
        axes = {a['key']: a['value'] for a in r['axes']}
        found[tuple(axes[k] for k in keys)] = r
    return found


def profiled(call, flush):
    """Device time of a call, all its operations together."""
    from torch.profiler import ProfilerActivity, profile
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(REPEATS):
            if flush is not None:
                flush.zero_()
            call()
        torch.cuda.synchronize()
    ours = [e for e in seen.events()
            if e.device_type == torch.autograd.DeviceType.CUDA and not any(
                part in e.name for part in ('Memset', 'FillFunctor'))]
    by_name = {}
    for event in ours:
        by_name.setdefault(event.name, []).append(event.device_time_total)
    return sum(statistics.median(v) * len(v) for v in by_name.values()) / \
        REPEATS


def attempt(row, key, call):
    try:
        row[key] = round(call(), 4)
    except Exception as error:  # a peer that fails hides no other
        row[key] = None
        print('%s: %s' % (key, error), file=sys.stderr)


def peers(row, call, flush):
    def do_bench(name):
        import triton.testing
        return getattr(triton.testing, name)(call, return_mode='median') * 1e3

    for name in ('do_bench', 'do_bench_cudagraph'):
        attempt(row, name, lambda name=name: do_bench(name))
    attempt(row, 'profiler', lambda: profiled(call, None))
    attempt(row, 'profiler_memset', lambda: profiled(call, flush))


def names_of(result):
    return [op.get('name') or op['kind'] for op in result.get('ops', [])]


def beside(row, fn, args, how, c_result):
    """libkmb from Python beside libkmb from C."""
    try:
        result = kmb.bench(fn, args, name=row['name'], **how)
    except Exception as error:  # one that fails hides no other
        row.update(kmb_us=None, why=str(error), ok=False)
        return
    row.update(kmb_us=round(result.time_us, 4), timer=result['timer'],
               launch=result['launch_mode'], cache=result['cache_state'],
               interval_pct=result.get('interval_pct'),
               bias_us=round(result.get('bias_ns', 0) / 1e3, 4),
               kernels=names_of(result.to_dict()))
    if c_result is None:
        row.update(kmb_c_us=None, why='no result from C', ok=False)
        return
    theirs = c_result['time_ns'] / 1e3
    allowed = max(BAR_US, BAR_PCT / 100 * theirs)
    same = row['kernels'] == names_of(c_result)
    row.update(kmb_c_us=round(theirs, 4), allowed_us=round(allowed, 4),
               off_us=round(result.time_us - theirs, 4), same_kernels=same,
               c_kernels=names_of(c_result),
               ok=abs(result.time_us - theirs) <= allowed)


def show(row):
    print('%-18s' % row['name'] + ''.join(
        '%11s' % ('-' if row.get(k) is None else '%.3f' % row[k])
        for k in COLUMNS) + ('' if row['ok'] else '*') +
        ('' if row.get('same_kernels', True) else ' other kernels'),
        flush=True)


COLUMNS = ['kmb_us', 'kmb_c_us', 'off_us', 'do_bench', 'do_bench_cudagraph',
           'profiler', 'profiler_memset']


def copies(report, c_results, flush):
    def copy(x, y):
        y.copy_(x)

    for kib in KIB:
        x = torch.randn(kib * 256, device=WHERE)
        y = torch.empty_like(x)
        row = {'name': 'copy %d KiB' % kib, 'kib': kib}
        beside(row, copy, (x, y), {'outputs': ['y']},
               c_results.get((str(kib),)))
        peers(row, lambda: y.copy_(x), flush)
        report['rows'].append(row)
        show(row)


def products(report, c_results, flush):
    dtype = torch.float32 if DRY else torch.bfloat16

    def linear(x, w, out):
        torch.mm(x, w.t(), out=out)

    for tokens in TOKENS:
        for name, (rows, inner) in PROJECTIONS.items():
            x, w = (torch.rand(n, inner, device=WHERE).mul_(2).sub_(1).to(dtype)
                    for n in (tokens, rows))
            out = torch.empty(tokens, rows, dtype=dtype, device=WHERE)
            row = {'name': '%s, %d tokens' % (name, tokens), 'tokens': tokens,
                   'projection': name}
            beside(row, linear, (x, w, out),
                   {'warm': ['x', 'out'], 'outputs': ['out']},
                   c_results.get((name, str(tokens))))
            peers(row, lambda: torch.mm(x, w.t(), out=out), flush)
            report['rows'].append(row)
            show(row)


def walls(report, kernels):
    """Calls on a kernel of 20 us; what the first one loads is not in it."""
    out = torch.zeros(2, dtype=torch.int64, device=WHERE)

    def spin(out):
        if DRY:
            out.fill_(1)
            return
        kernels.launch('test_spin', torch.cuda.current_stream().cuda_stream, 1,
                       1, [int(20 * 1980), out.data_ptr()])

    took = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        result = kmb.bench(spin, (out,), outputs=['out'])
        took.append((time.perf_counter() - begin) * 1e3)
    middle = statistics.median(took[1:])
    report['wall'] = {'us': result.time_us, 'calls_ms': took,
                      'median_ms': middle}
    report['bars'].append({'name': 'kmb.bench on 20 us returns, ms',
                           'value': middle, 'bar': '<= %d' % WALL_MS,
                           'ok': middle <= WALL_MS})
    print('a call of kmb.bench on %.1f us: first %.0f ms, then %.0f ms%s' % (
        result.time_us, took[0], middle, '' if middle <= WALL_MS else '*'))


def main(kernels, copy, gemm, output):
    torch.manual_seed(0)
    report = front.about(torch=torch.__version__, dry=DRY, rows=[], bars=[])
    try:
        import triton
        report['triton'] = triton.__version__
    except ImportError:
        report['triton'] = None
    flush = None if DRY else torch.empty(256 << 20, dtype=torch.uint8,
                                         device=WHERE)
    print('%-18s' % 'us' + ''.join('%11s' % c[:10] for c in COLUMNS))
    parts = [lambda: walls(report, front.Kernels(kernels)),
             lambda: copies(report, from_c(copy, ['KiB']), flush),
             lambda: products(report, from_c(gemm, ['projection', 'tokens']),
                              flush)]
    failed = 0
    for part in parts:
        try:
            part()
        except Exception as error:  # a part that fails hides no other
            failed += 1
            print('failed: %s' % error, file=sys.stderr)
        front.save(output, report)
    rows = report['rows']
    report['bars'].append({
        'name': 'kmb from Python and from C agree, points',
        'value': sum(r['ok'] for r in rows),
        'bar': 'all of %d within %g%% or %g us' % (len(rows), BAR_PCT, BAR_US),
        'ok': bool(rows) and all(r['ok'] for r in rows)})
    front.save(output, report)
    return 1 if failed else 0


if __name__ == '__main__':
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
