#!/usr/bin/env python3
"""What is written as Chrome JSON is all there in Perfetto, by its own rules
(perfetto_rules.py): nothing dropped, nothing counted as an error, every time to
the nanosecond, each stream's operations side by side, the arrows from calls.

usage: perfetto.py CHROME_OUT FILE... (more traces)
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

import perfetto_rules

CATEGORIES = {'kernel': 'kernel', 'memcpy': 'gpu_memcpy',
              'memset': 'gpu_memset', 'graph': 'gpu_graph'}
LATEST = 2**43 * 1000


class Trace:
    """A trace in libkmb's own JSON."""
    def __init__(self, name, base=0):
        self.name, self.base = name, base
        self.names, self.devices, self.streams, self.threads = [], [], [], []
        self.ops, self.calls, self.ranges = [], [], []

    @staticmethod
    def index(rows, row):
        if row not in rows:
            rows.append(row)
        return rows.index(row)

    def stream(self, device=0, process=50, context=1, stream=7, title=''):
        device = self.index(self.devices,
                            [device, self.index(self.names, title)])
        return self.index(self.streams, [device, process, context, stream])

    def thread(self, process=50, thread=51):
        return self.index(self.threads, [process, thread])

    def op(self, stream, start, end, name='k', kind='kernel', correlation=0,
           size=None):
        self.ops.append([kind, stream, self.index(self.names, name), start,
                         end - start, correlation, size])

    def call(self, thread, start, end, name='cudaLaunchKernel', correlation=0):
        kind = 'graph launch' if 'Graph' in name else 'launch'
        self.calls.append([kind, thread, self.index(self.names, name), start,
                           end - start, correlation])

    def range(self, thread, start, end, name='step'):
        self.ranges.append([thread, self.index(self.names, name), start,
                            end - start])

    def text(self):
        def cell(value):
            return str(value) if isinstance(value, int) and value > 2**53 \
                else value
        keys = ('names', 'devices', 'streams', 'threads', 'ops', 'calls',
                'ranges')
        rows = {key: [[cell(v) for v in row] if isinstance(row, list) else row
                      for row in getattr(self, key)] for key in keys}
        return json.dumps({'kmb_trace': 1, 'base_ns': str(self.base), **rows})

    def rows(self):
        """What each slice has to say."""
        for kind, stream, name, start, length, correlation, size in self.ops:
            device, process, context, stream = self.streams[stream]
            device = self.devices[device][0]
            yield (self.names[name] or '[No name]', CATEGORIES[kind], start,
                   start + length, correlation, size, device, process,
                   context, stream)
        for _, thread, name, start, length, correlation in self.calls:
            yield (self.names[name] or '[No name]', 'cuda_runtime', start,
                   start + length, correlation, *self.threads[thread])
        for thread, name, start, length in self.ranges:
            yield (self.names[name] or '[No name]', 'user_annotation', start,
                   start + length, None, *self.threads[thread])

    def check(self, data):
        reading = read(self.name, data)
        base = int(reading.top.get('kmb_base_ns', 0)) - self.base
        assert sorted(map(str, said(reading, base))) == sorted(
            map(str, self.rows())), self.name
        self.check_tracks(reading)
        self.check_arrows(reading)
        return reading

    def check_tracks(self, reading):
        """A track is of one stream, with nothing nested, or of one thread."""
        owners = collections.defaultdict(set)
        for s, row in zip(reading.slices, said(reading, 0)):
            owners[s.track].add(row[5 if len(row) == 7 else 6:])
            assert len(row) == 7 or s.depth == 0, self.name
        assert all(len(owner) == 1 for owner in owners.values()), owners
        pids = [{track[0] for track, owner in owners.items()
                 if len(next(iter(owner))) == size} for size in (2, 4)]
        assert not pids[0] & pids[1], self.name
        assert set(reading.named.values()) <= {1}, self.name

    def check_arrows(self, reading):
        """One to each operation whose call began before it."""
        begins = {}
        for row in sorted(self.calls, key=lambda r: (r[1], r[3], -r[4])):
            process = self.threads[row[1]][0]
            begins.setdefault((process, row[5]), row[3])
        want = sum(0 < row[5] and begins.get(
            (self.streams[row[1]][1], row[5]), row[3]) < row[3]
            for row in self.ops)
        assert len(reading.flows) == want, (self.name, want)
        assert reading.begun == len({b.number for b, _ in reading.flows})
        for begin, end in reading.flows:
            assert begin.category == 'cuda_runtime', begin
            assert begin.args['correlation'] == end.args['correlation']
            assert begin.start < end.start


def said(reading, base):
    def number(value):
        return None if value is None else int(value)
    for s in reading.slices:
        row = (s.name, s.category, s.start + base, s.end + base,
               number(s.args.get('correlation')))
        if s.category in CATEGORIES.values():
            yield row + tuple(number(s.args.get(key)) for key in (
                'bytes', 'device', 'process', 'context', 'stream'))
        else:
            yield row + (int(s.args.get('kmb_process', s.track[0])),
                         int(s.args.get('kmb_thread', s.track[1])))


def read(name, data):
    reading = perfetto_rules.Reading(data)
    assert not reading.stats, (name, reading.stats)
    return reading


def ordinary():
    t = Trace('ordinary')
    main, other = t.thread(), t.thread(thread=52)
    a, b = t.stream(title='NVIDIA H200'), t.stream(stream=13)
    t.range(main, 1000, 90000)
    t.range(main, 1100, 50000, 'forward')
    t.range(other, 500, 70000, 'loader')
    t.call(main, 1200, 3201, correlation=1)
    t.call(main, 1300, 3100, 'cuLaunchKernel', 1)
    t.call(main, 4000, 6000, 'cudaGraphLaunch', 2)
    t.call(other, 5000, 6000, 'cudaMemcpyAsync', 3)
    t.call(other, 6000, 6500, 'cudaMemsetAsync', 4)
    t.op(a, 5000, 9007, 'gemm', correlation=1)
    for i in range(20):
        t.op(a if i % 2 else b, 10000 + 100 * i, 10150 + 100 * i, f'n{i}',
             correlation=2)
    t.op(b, 20000, 20100, 'Memcpy HtoD', 'memcpy', 3, 4096)
    t.op(b, 20100, 20101, 'Memset', 'memset', 4, 16)
    t.op(a, 30000, 40000, 'g', 'graph')
    return t


def ordinary_is_named(reading):
    assert reading.names == {0: 'device 0: NVIDIA H200', (0, 7): 'stream 7',
                             (0, 13): 'stream 13'}, reading.names
    assert {s.track for s in reading.slices} == {(0, 7), (0, 13), (50, 51),
                                                 (50, 52)}
    depths = {s.name: s.depth for s in reading.slices if s.track == (50, 51)}
    assert depths == {'step': 0, 'forward': 1, 'cudaLaunchKernel': 2,
                      'cuLaunchKernel': 3, 'cudaGraphLaunch': 2}, depths


def kernels_overlap_on_a_stream():
    """Programmatic dependent launches, and a graph's branches."""
    t = Trace('overlap')
    a, b = t.stream(), t.stream(stream=8)
    for i in range(50):
        t.op(a, 1000 + 100 * i, 1150 + 100 * i, f'dependent {i}')
    for i in range(4):
        t.op(a, 10000, 10100, f'branch {i}')
    t.op(a, 20000, 30000, 'outer')
    t.op(a, 22000, 23000, 'inner')
    t.op(b, 1000, 30000, 'beside')
    return t


def overlap_is_on_further_tracks(reading):
    assert {s.track for s in reading.slices} == {
        (0, 7), (0, 8), (0, 9), (0, 10), (0, 11)}
    assert [reading.names[0, tid] for tid in range(7, 12)] == [
        'stream 7', 'stream 8', 'stream 7 (2)', 'stream 7 (3)',
        'stream 7 (4)'], reading.names


def ids_that_collide():
    t = Trace('ids')
    streams = [
        t.stream(stream=0), t.stream(stream=7), t.stream(stream=7, context=2),
        t.stream(stream=7, process=60), t.stream(device=1, stream=0),
        t.stream(device=1, stream=1), t.stream(device=1, stream=7),
        t.stream(device=7, stream=1), t.stream(device=2**40, stream=7),
        t.stream(device=None, stream=7, title='A'),
        t.stream(device=None, stream=7, title='B'),
        t.stream(stream=None, context=None), t.stream(stream=2**32 + 7),
        t.stream(stream=0xFFFFFFFF12345678), t.stream(stream=2**31),
        t.stream(device=2**31, stream=2**31)]
    threads = [
        t.thread(1, 1), t.thread(1, 7), t.thread(0, 0), t.thread(0, 7),
        t.thread(5, 0), t.thread(5, 5), t.thread(2**40, 7),
        t.thread(2**40, 2**40), t.thread(2**40 + 1, 7), t.thread(50, 2**32),
        t.thread(50, 2**31)]
    for i in range(6):
        for place in streams:
            t.op(place, 1000 + 100 * i, 1150 + 100 * i, f'{place} {i}')
        for place in threads:
            t.range(place, 1000 + 100 * i, 1150 + 100 * i, f'r {place} {i}')
    return t


def ids_have_their_names(reading):
    names = set(reading.names.values())
    assert {'device 1', 'device 7', 'a device: A', 'a device: B',
            f'device {2**40}', 'stream 0, context 1, process 50',
            'stream 7, context 2, process 50',
            'stream 7, context 1, process 60 (2)',
            f'stream {2**32 + 7}, context 1, process 50',
            'operations, context 0, process 50',
            f'thread {2**32}', f'thread {2**32} (2)', 'thread 0',
            'thread 7 (2)'} <= names, names
    hosts = {s.track[0] for s in reading.slices
             if s.category == 'user_annotation'}
    devices = {s.track[0] for s in reading.slices if s.category == 'kernel'}
    assert not hosts & devices and len(hosts) == 6 and len(devices) == 7
    assert (0, 0) in {s.track for s in reading.slices}
    for s in reading.slices:
        assert 0 <= s.track[0] < 2**32 and 0 <= s.track[1] < 2**32
        assert s.track[1] or not s.track[0]


def a_container():
    """The process has a small number there, as the devices have."""
    t = Trace('container')
    for process in 1, 2:
        t.range(t.thread(process, process), 1000, 2000)
    for device in 0, 1:
        t.op(t.stream(device), 1000, 2000)
        t.op(t.stream(device), 2000, 3000)
    return t


def what_touches_is_on_one_track(reading):
    assert {track for track in reading.names if isinstance(track, tuple)} == {
        (0, 7), (3, 7)}, reading.names


def ranges_cross():
    """Those that begin and end by hand do; and deeper than Perfetto goes."""
    t = Trace('cross')
    thread = t.thread()
    for i in range(30):
        t.range(thread, 1000 + 10 * i, 1105 + 10 * i, f'r{i}')
    t.call(thread, 1100, 1200)
    t.call(thread, 1105, 1105)
    t.call(thread, 1105, 1105, 'again')
    t.range(thread, 1105, 1105, 'nothing')
    t.range(thread, 5000, 5000, 'nothing')
    t.call(thread, 6000, 6100)
    t.range(thread, 6000, 6100, 'around')
    t.range(thread, 6000, 6050, 'within')
    for i in range(600):
        t.range(thread, 10000 + i, 20000 - i, f'd{i}')
    return t


def what_crosses_is_on_further_tracks(reading):
    depth = {s.name: s.depth for s in reading.slices if s.start >= 6000}
    assert depth['around'] == 0 and depth['cudaLaunchKernel'] == 1
    assert depth['within'] == 2 and depth['d511'] == 511
    assert depth['d512'] == 0 and depth['d599'] == 87
    names = [reading.names[50, tid] for tid in range(52, 62)]
    assert names == [f'thread 51 ({i})' for i in range(2, 12)], names


def odd_names():
    t = Trace('names')
    stream, thread = t.stream(title='a "b" \\'), t.thread()
    names = ['', '"', '\\', 'a\\', 'a\\\\', '\\"', 'a\\"b\\', '\\u0041',
             ''.join(map(chr, range(1, 33))) + '\x7f\x80\u2028', 'ä\U0001F600',
             '{"ph": "X"}, ]', 'n' * 65536, 'C:\\dir\\', '\\' * 4095 + '"',
             'x\\' * 3000]
    for i, name in enumerate(names):
        t.op(stream, 1000 + 10 * i, 1005 + 10 * i, name)
        t.range(thread, 1000 + 10 * i, 1005 + 10 * i, name)
    return t


def times(name, first, base=0):
    """Each a nanosecond from others."""
    t = Trace(name, base)
    stream, thread = t.stream(), t.thread()
    for i in range(1, 400):
        t.op(stream, first + 1001 * i, first + 1001 * i + i)
        t.range(thread, first + 1001 * i, first + 1001 * (i + 1))
    return t


def digits():
    t = Trace('digits')
    stream = t.stream(context=2**63, stream=2**64 - 2, process=2**64 - 3)
    t.call(t.thread(2**64 - 3, 2**62 + 1), 1000, 1001, correlation=2**63 + 1)
    t.op(stream, 2000, 2001, correlation=2**63 + 1, size=2**64 - 2)
    return t


def clocks_disagree():
    """Operations that begin with their call or before it."""
    t = Trace('clocks')
    stream, thread = t.stream(), t.thread()
    for i in range(10):
        at = 10000 * (i + 1)
        t.call(thread, at, at + 500, correlation=i + 1)
        t.op(stream, at + i - 5, at + 900, correlation=i + 1)
    return t


def anything(seed):
    r = random.Random(seed)
    t = Trace(f'seed {seed}')
    streams = [t.stream(r.randrange(3), r.choice([50, 60]), r.randrange(1, 3),
                        r.randrange(4)) for _ in range(r.randrange(1, 8))]
    threads = [t.thread(r.choice([0, 1, 50, 60]), r.randrange(3))
               for _ in range(r.randrange(1, 6))]
    for i in range(r.randrange(60)):
        start = r.randrange(1, 200)
        t.op(r.choice(streams), start, start + r.randrange(1, 60), f'k{i}',
             r.choice(list(CATEGORIES)), r.randrange(30))
    for i in range(r.randrange(60)):
        start, thread = r.randrange(200), r.choice(threads)
        put = t.call if r.randrange(2) else t.range
        put(thread, start, start + r.choice([0, r.randrange(40)]), f'c{i}',
            **({'correlation': r.randrange(30)} if put == t.call else {}))
    return t


def output(program, paths):
    subprocess.run([program, *paths], check=True)
    written = []
    for path in paths:
        with open(path + '.chrome', 'rb') as f:
            written.append(f.read())
    return written


def write(folder, program, traces, files):
    paths = []
    for i, trace in enumerate(traces):
        paths.append(os.path.join(folder, f'{i}.json'))
        with open(paths[-1], 'w', encoding='utf-8') as f:
            f.write(trace.text())
    for file in files:
        paths.append(os.path.join(folder, f'file-{len(paths)}'))
        os.symlink(os.path.abspath(file), paths[-1])
    return (output(program, paths),
            output(program, [path + '.chrome' for path in paths]))


def main(program, *files):
    further = {'ordinary': ordinary_is_named,
               'overlap': overlap_is_on_further_tracks,
               'ids': ids_have_their_names,
               'container': what_touches_is_on_one_track,
               'cross': what_crosses_is_on_further_tracks}
    traces = [Trace('nothing'), ordinary(), kernels_overlap_on_a_stream(),
              ids_that_collide(), a_container(), ranges_cross(), odd_names(),
              digits(), clocks_disagree(), times('soon', 0),
              times('late', LATEST - 1001 * 402),
              times('later', LATEST - 1001 * 200),
              times('epoch', 5, 17 * 10**17), *map(anything, range(60))]
    with tempfile.TemporaryDirectory() as folder:
        written, again = write(folder, program, traces, files)
    for trace, data, copy in zip(traces, written, again):
        reading = trace.check(data)
        trace.check(copy)
        based = trace.base or trace.name == 'later'
        assert ('kmb_base_ns' in reading.top) == bool(based), trace.name
        if trace.name in further:
            further[trace.name](reading)
    for file, data in zip(files, written[len(traces):]):
        read(file, data)
    print(f'{len(written)} traces, all of each kept')


main(*sys.argv[1:])
