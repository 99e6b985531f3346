#!/usr/bin/env python3
"""Copies of 64 KiB to 512 MiB and matrix products of 1, 8 and 2048 tokens
through PyTorch: libkmb from Python beside libkmb from C (tests/gpu/c_side.c: in
this process, in turns, on the same memory, through the same driver and cuBLAS),
Triton's do_bench and do_bench_cudagraph, and the torch profiler, which comes
last, for it keeps CUPTI. Then what a call of kmb.bench takes on a kernel of
20 us.

usage: peers_torch.py KERNELS.ptx C_SIDE.so OUTPUT.json
"""
import ctypes
import json
import os
import statistics
import sys
import tempfile
import time

import torch

import gpu_front as front
import kmb
from kmb._arrays import ALIGNMENT
from kmb._library import check

DRY = not torch.cuda.is_available()
WHERE = 'cpu' if DRY else 'cuda'
PROJECTIONS = {'q': (4096, 4096), 'k': (1024, 4096), 'gate': (14336, 4096),
               'down': (4096, 14336)}
TOKENS = [1, 8, 2048]
KIB = [64, 256, 1024, 4096, 16384, 65536, 262144, 524288]
if DRY:
    PROJECTIONS, TOKENS, KIB = {'q': (64, 64), 'gate': (128, 64)}, [1, 8], [64]
REPEATS = 30
# Turns of Python and C at each point; seconds after which there are no more.
TURNS, TURNS_S = 7, 8
# Products of many tokens reach the limit of power within tenths of a second, and
# which clock they then run at depends on what ran before: each measurement
# starts after a pause with a short warm-up, and ends before that.
HOT_TOKENS, PAUSE_S, LONGEST_MS, HOT_MS, HOT_WARM_MS = 1024, 0.6, 150, 40, 3
BAR_PCT, BAR_US, WALL_MS, CALLS = 1, 0.05, 150, 8


class CPoint(ctypes.Structure):
    """As c_side.c has it."""
    _fields_ = [('bytes', ctypes.c_uint64), ('memory', ctypes.c_void_p * 3),
                ('rows', ctypes.c_int32), ('inner', ctypes.c_int32),
                ('tokens', ctypes.c_int32), ('plain', ctypes.c_int32)]


class CSide:
    """libkmb from C, on Python's device and tensors."""

    def __init__(self, path):
        self.library = ctypes.CDLL(os.path.abspath(path))
        self.library.c_side_product.argtypes = [ctypes.c_void_p] * 2
        self.library.c_side_bench.argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double,
            ctypes.c_double, ctypes.c_char_p]
        self.device = kmb.Device('host' if DRY else 'cuda:0')

    @staticmethod
    def point(tensors, plain=False):
        point = CPoint(plain=plain)
        if len(tensors) == 3:
            (point.rows, point.inner), point.tokens = (
                tensors[0].shape, tensors[1].shape[0])
        else:
            point.bytes = tensors[0].numel() * tensors[0].element_size()
        for i, tensor in enumerate(tensors):
            point.memory[i] = tensor.data_ptr()
        return point

    def product(self, weights, x, out):
        """Enqueues what c_side_bench() measures of three tensors."""
        if DRY:
            torch.mm(x, weights.t(), out=out)
            return
        front.must(self.library.c_side_product(
            ctypes.byref(self.point((weights, x, out))),
            torch.cuda.current_stream().cuda_stream), 'the product')

    def bench(self, tensors, hot, plain=False):
        """The result, as its JSON has it. The output lies where kmb.bench has
        its copy of it: memory of the same size, which was just given back."""
        point, out = self.point(tensors, plain), tensors[-1]
        memory = torch.empty(out.numel() * out.element_size() + ALIGNMENT,
                             dtype=torch.uint8, device=WHERE)
        point.memory[len(tensors) - 1] = memory.data_ptr()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'result.json')
            check(self.library.c_side_bench(
                self.device.handle, ctypes.byref(point),
                (HOT_MS if hot else LONGEST_MS) * 1e6,
                HOT_WARM_MS * 1e6 if hot else 0, path.encode()))
            with open(path, encoding='utf-8') as file:
                return json.load(file)['results'][0]


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
    swept = ('Memset', 'FillFunctor') if flush is not None else ()
    ours = [e for e in seen.events()
            if e.device_type == torch.autograd.DeviceType.CUDA and
            not any(part in e.name for part in swept)]
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


def timers(row, call):
    """Peers that use no CUPTI."""
    def do_bench(name):
        import triton.testing
        return getattr(triton.testing, name)(call, return_mode='median') * 1e3

    for name in ('do_bench', 'do_bench_cudagraph'):
        attempt(row, name, lambda name=name: do_bench(name))


def profiler(row, call, flush):
    attempt(row, 'profiler', lambda: profiled(call, None))
    attempt(row, 'profiler_memset', lambda: profiled(call, flush))


def names_of(result):
    return [op.get('name') or op['kind'] for op in result.get('ops', [])]


WAY = ['timer', 'launch_mode', 'cache_state', 'slots']


def is_hot(row):
    return row.get('tokens', 0) >= HOT_TOKENS


def limits(hot, c_side, how):
    """The same for both sides."""
    more = {'max_wall_ms': HOT_MS, 'warmup_ms': HOT_WARM_MS} if hot else {
        'max_wall_ms': LONGEST_MS}
    return {'confirm': False, 'device': c_side.device, **more, **how}


def both(row, c_side, ours, tensors, how):
    """libkmb from Python and from C in turns; a list of results for each."""
    turns = [], []
    hot = is_hot(row)
    calls = [lambda: kmb.bench(ours, tensors, name=row['name'],
                               **limits(hot, c_side, how)).to_dict(),
             lambda: c_side.bench(tensors, hot)]
    begin = time.monotonic()
    for turn in range(1 if DRY else TURNS):
        for side in (0, 1) if turn % 2 else (1, 0):
            if hot:
                time.sleep(PAUSE_S)
            turns[side].append(calls[side]())
        if time.monotonic() - begin > TURNS_S:
            break
    return turns


def judge(row, mine, theirs):
    """The median of what the two of a turn are apart, which share the clock's
    and the memory's state. Only what ran the same kernels in the same way is
    compared; kernels that no trace saw are unknown."""
    ours, c = ([r['time_ns'] / 1e3 for r in side] for side in (mine, theirs))
    off = statistics.median(one - other for one, other in zip(ours, c))
    kernels, c_kernels = names_of(mine[-1]), names_of(theirs[-1])
    middle, c_middle = statistics.median(ours), statistics.median(c)
    allowed = max(BAR_US, BAR_PCT / 100 * c_middle)
    same_way = all(r.get(key) == mine[0].get(key)
                   for r in mine + theirs for key in WAY)
    same = kernels == c_kernels if kernels and c_kernels else None
    row.update({key: mine[-1].get(key) for key in WAY})
    row.update(kmb_us=round(middle, 4), kmb_c_us=round(c_middle, 4),
               turns_us=ours, c_turns_us=c, bias_ns=mine[-1].get('bias_ns'),
               interval_pct=mine[-1].get('interval_pct'),
               c_way={key: theirs[-1].get(key) for key in WAY},
               kernels=kernels, c_kernels=c_kernels, same_kernels=same,
               same_way=same_way, allowed_us=round(allowed, 4),
               off_us=round(off, 4),
               ok=same_way and same is not False and abs(off) <= allowed)


def beside(row, c_side, ours, torchs, tensors, how):
    """What both sides measure; then C's default, launched plainly, and what
    PyTorch itself runs."""
    row['ok'] = False
    try:
        judge(row, *both(row, c_side, ours, tensors, how))
    except Exception as error:  # one that fails hides no other
        row['why'] = str(error)
        print('%s: %s' % (row['name'], error), file=sys.stderr)
    hot = is_hot(row)
    time.sleep(PAUSE_S if hot else 0)
    attempt(row, 'kmb_c_plain', lambda: c_side.bench(
        tensors, hot, plain=True)['time_ns'] / 1e3)
    time.sleep(PAUSE_S if hot else 0)
    if torchs is not ours:
        attempt(row, 'kmb_torch', lambda: kmb.bench(
            torchs, tensors, **limits(hot, c_side, how)).time_us)


def show(row):
    print('%-18s' % row['name'] + ''.join(
        '%11s' % ('-' if row.get(k) is None else '%.3f' % row[k])
        for k in COLUMNS) + ('' if row['ok'] else '*') +
        (' other kernels' if row.get('same_kernels') is False else '') +
        ('' if row.get('same_way', True) else ' measured in another way'),
        flush=True)


COLUMNS = ['kmb_us', 'kmb_c_us', 'off_us', 'kmb_c_plain', 'kmb_torch',
           'do_bench', 'do_bench_cudagraph', 'profiler', 'profiler_memset']


def copy(x, y):
    y.copy_(x)


def product(w, x, out):
    torch.mm(x, w.t(), out=out)


def points(c_side):
    """Row, what both sides run, what PyTorch runs, tensors, and how."""
    for kib in KIB:
        x = torch.randn(kib * 256, device=WHERE)
        yield ({'name': 'copy %d KiB' % kib, 'kib': kib}, copy, copy,
               (x, torch.empty_like(x)), {'outputs': ['y']})
    dtype = torch.float32 if DRY else torch.bfloat16
    for tokens in TOKENS:
        for name, (rows, inner) in PROJECTIONS.items():
            w, x = (torch.rand(n, inner, device=WHERE).mul_(2).sub_(1).to(dtype)
                    for n in (rows, tokens))
            out = torch.empty(tokens, rows, dtype=dtype, device=WHERE)
            yield ({'name': '%s, %d tokens' % (name, tokens),
                    'tokens': tokens, 'projection': name}, c_side.product,
                   product, (w, x, out),
                   {'warm': ['x', 'out'], 'outputs': ['out']})


def table(report, c_side, output):
    """All of libkmb's measurements first, the profiler's last."""
    rows = report['rows']
    for row, ours, torchs, tensors, how in points(c_side):
        rows.append(row)
        beside(row, c_side, ours, torchs, tensors, how)
        show(row)
        front.save(output, report)
    flush = None if DRY else torch.empty(256 << 20, dtype=torch.uint8,
                                         device=WHERE)
    for part in (lambda row, call: timers(row, call),
                 lambda row, call: profiler(row, call, flush)):
        for row, (_, _, torchs, tensors, _) in zip(rows, points(c_side)):
            part(row, lambda: torchs(*tensors))
        front.save(output, report)
    print('%-18s' % 'us' + ''.join('%11s' % c[:10] for c in COLUMNS))
    for row in rows:
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


def main(kernels, c_side, output):
    torch.manual_seed(0)
    report = front.about(torch=torch.__version__, dry=DRY, rows=[], bars=[])
    try:
        import triton
        report['triton'] = triton.__version__
    except ImportError:
        report['triton'] = None
    if not DRY:
        torch.empty(1, device=WHERE)  # makes the context
    parts = [lambda: walls(report, front.Kernels(kernels)),
             lambda: table(report, CSide(c_side), output)]
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
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
