#!/usr/bin/env python3
"""What a faster kernel is worth in a real decode step: RMS norm, matrix
products and attention through PyTorch, eagerly and as a CUDA graph, one kernel
swapped for slower and faster ones. The step's new length as `kmb payoff`
predicts it from a recording of the old step and from both kernels alone,
beside the one that is measured.

usage: payoff_step.py measure KERNELS FOLDER    recordings, results, times
       payoff_step.py profile KERNELS FOLDER    the old steps by PyTorch's
                                                profiler, which keeps CUPTI for
                                                the rest of its process
       payoff_step.py predict KMB FOLDER        FOLDER/payoff.json; no GPU
"""
import gc
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import time

# A step's sizes: layers, width, inner width, heads of keys, cached tokens.
SHAPES = {'wide': (4, 4096, 14336, 8, 2048), 'small': (4, 1024, 3584, 2, 256)}
MODES = ['eager', 'graph']
TOKENS, HEAD = 8, 128
# What is measured in turns: rounds in which the host kept its speed, at least
# and at most as many, steps of each kind a round, and of them a recording. The
# host's speed can change by half within seconds, so that a round is short and
# each predicts for itself.
STEADY, LEAST, MOST, STEPS, RECORDED = 10, 5, 120, 8, 6
# Addresses that a kernel is measured alone at: its weights are in as many
# places in the step, and a load from memory takes longer from some of them.
PLACES = {'norm': 8, 'down': 4}
# Kernel: threads of a block; rows a warp has of the weights.
NORMS = {'step_norm_fast': 1024, 'step_norm_mid': 128, 'step_norm_slow': 32,
         'step_norm_slowest': 32}
DOWNS = {'step_down_slow': 1, 'step_down_mid': 1, 'step_down_fast': 1,
         'step_down_faster': 4}
OLD = {'norm': 'step_norm_mid', 'down': 'step_down_mid'}
SWAPS = [('down', 'step_down_slow'), ('down', 'step_down_fast'),
         ('down', 'step_down_faster'), ('norm', 'step_norm_fast'),
         ('norm', 'step_norm_slow'), ('norm', 'step_norm_slowest')]
BAR_PCT = 3
# How far apart the host's parts of two steps of the same calls may be, in parts
# of the step, where it has kept its speed.
STEADY_PCT = 2
# A recorded step that is longer than the others by more than this was disturbed
# and is none of those that are predicted: medians are compared.
DISTURBED_PCT = 10


class Kit:
    """PyTorch, and the kernels that are swapped. Without a GPU everything runs
    small and on the processor, to try this program."""

    def __init__(self, path):
        import torch
        import gpu_front
        import kmb
        self.torch, self.front, self.kmb = torch, gpu_front, kmb
        self.dry = not torch.cuda.is_available()
        self.where = 'cpu' if self.dry else 'cuda'
        self.dtype = torch.float32 if self.dry else torch.bfloat16
        self.kernels = gpu_front.Kernels(path)
        if self.dry:
            torch.set_num_threads(1)
        else:
            torch.empty(1, device='cuda')  # makes the context
        self.device = kmb.Device('host' if self.dry else 'cuda:0')

    def new(self, *shape, scale=1.0):
        torch = self.torch
        return ((torch.rand(*shape, device=self.where) * 2 - 1) * scale).to(
            self.dtype)

    def stream(self):
        return self.torch.cuda.current_stream().cuda_stream

    def norm(self, name, x, weight, out):
        if self.dry:
            out.copy_(x * self.torch.rsqrt(
                (x * x).mean(-1, keepdim=True) + 1e-6) * weight)
            return
        self.kernels.launch(name, self.stream(), x.shape[0], NORMS[name],
                            [x.data_ptr(), weight.data_ptr(), out.data_ptr(),
                             x.shape[1]])

    def down(self, name, weights, x, out):
        if self.dry:
            self.torch.mm(x, weights.t(), out=out)
            return
        rows, inner = weights.shape
        self.kernels.launch(name, self.stream(), -(-rows // (8 * DOWNS[name])),
                            256, [weights.data_ptr(), x.data_ptr(),
                                  out.data_ptr(), inner, rows])

    def wait(self):
        if not self.dry:
            self.torch.cuda.synchronize()

    def mark(self):
        """What says when the device comes to it."""
        return HostMark() if self.dry else self.torch.cuda.Event(
            enable_timing=True)


class HostMark:
    """An event of a device that is the host."""

    def record(self):
        self.at = time.perf_counter_ns()

    def elapsed_time(self, later):
        return (later.at - self.at) / 1e6


class Step:
    """One step of a model; `names` says which kernels it uses."""

    def __init__(self, kit, layers, width, inner, groups, cached):
        self.kit, self.width, self.inner = kit, width, inner
        self.groups, self.rows = groups, width // HEAD + 2 * groups
        self.x = kit.new(TOKENS, width)
        self.h = kit.torch.empty_like(self.x)
        self.out = kit.torch.empty_like(self.x)
        self.layers = [{
            'norms': [kit.new(width), kit.new(width)],
            'qkv': kit.new(self.rows * HEAD, width, scale=width ** -0.5),
            'o': kit.new(width, width, scale=width ** -0.5),
            'up': kit.new(2 * inner, width, scale=width ** -0.5),
            'down': kit.new(width, inner, scale=inner ** -0.5),
            'k': kit.new(TOKENS * groups, cached, HEAD),
            'v': kit.new(TOKENS * groups, cached, HEAD),
        } for _ in range(layers)]

    def attention(self, layer, qkv):
        torch, g = self.kit.torch, self.groups
        q, k, v = qkv.view(TOKENS, self.rows, HEAD).split(
            [self.rows - 2 * g, g, g], 1)
        layer['k'][:, -1].copy_(k.reshape(TOKENS * g, HEAD))
        layer['v'][:, -1].copy_(v.reshape(TOKENS * g, HEAD))
        q = q.reshape(TOKENS * g, -1, HEAD)
        scores = torch.bmm(q, layer['k'].transpose(1, 2)) * HEAD ** -0.5
        mixed = torch.bmm(torch.softmax(scores, -1), layer['v'])
        return mixed.reshape(TOKENS, self.width)

    def run(self, names):
        kit, torch = self.kit, self.kit.torch
        x = self.x
        for layer in self.layers:
            kit.norm(names['norm'], x, layer['norms'][0], self.h)
            qkv = torch.mm(self.h, layer['qkv'].t())
            x = x + torch.mm(self.attention(layer, qkv), layer['o'].t())
            kit.norm(names['norm'], x, layer['norms'][1], self.h)
            both = torch.mm(self.h, layer['up'].t())
            half = torch.nn.functional.silu(both[:, :self.inner]) * \
                both[:, self.inner:]
            kit.down(names['down'], layer['down'], half, self.out)
            x = x + self.out
        return x

    def call(self, mode, names):
        """Runs it eagerly, or replays a graph of it."""
        torch = self.kit.torch
        if mode == 'eager' or self.kit.dry:
            return lambda: self.run(names)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.run(names)
        side.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.run(names)
        return graph.replay


class Measurement:
    """All that needs the GPU; what is there already is kept in files, so that
    a time limit costs only the rest."""

    def __init__(self, path, folder):
        self.kit, self.folder = Kit(path), folder
        self.marks = [self.kit.mark() for _ in range(2)]
        self.report = self.kit.front.about(
            torch=self.kit.torch.__version__, dry=self.kit.dry, alone={},
            steps=[], errors={}, failed=[])
        self.tensors = {}

    def file(self, *parts):
        return os.path.join(self.folder, '-'.join(parts) + '.json')

    def attempt(self, what, call, *arguments):
        try:
            call(*arguments)
        except Exception as error:  # one that fails hides no other
            self.report['failed'].append('%s: %s' % (what, error))
            print('%s: %s' % (what, error), file=sys.stderr, flush=True)
        self.kit.front.save(self.file('measured'), self.report)

    def timed(self, call, count):
        """Each step's time on the device, as its trace has it; the host's part
        before it waits; and its time with the wait for it, which gets longer
        the longer the host slept."""
        took = []
        for _ in range(count):
            begin = time.perf_counter_ns()
            self.marks[0].record()
            call()
            self.marks[1].record()
            enqueued = time.perf_counter_ns()
            self.kit.wait()
            end = time.perf_counter_ns()
            took.append((1e6 * self.marks[0].elapsed_time(self.marks[1]),
                         enqueued - begin, end - begin))
        return took

    def record(self, call, to):
        """Steps as ranges; what each took meanwhile."""
        took = []
        if self.kit.dry:
            made_up(to)
            return took
        recording = self.kit.front.Recording(self.kit.device)
        self.timed(call, 3)
        for _ in range(RECORDED):
            recording.begin('step')
            took += self.timed(call, 1)
            recording.end()
        recording.finish(to)
        leave_out(to, 'step', disturbed([one[0] for one in took]))
        return took

    def profile(self, call, to):
        """The same by PyTorch's profiler."""
        from torch.profiler import ProfilerActivity, profile, record_function
        activities = [ProfilerActivity.CPU]
        if not self.kit.dry:
            activities.append(ProfilerActivity.CUDA)
        with profile(activities=activities) as seen:
            for _ in range(5):
                with record_function('step'):
                    call()
                    self.kit.wait()
        seen.export_chrome_trace(to)

    def alone(self, shape, kind, name):
        """One kernel as the step has it: its weights cold, its input just
        written, its output where the layer before had its own. In each place,
        and the one in the middle is kept."""
        kit = self.kit
        _, width, inner, _, _ = SHAPES[shape]
        size = width if kind == 'norm' else inner

        def fn(x, weights, out):
            if kind == 'norm':
                kit.norm(name, x, weights, out)
            else:
                kit.down(name, weights, x, out)

        results = []
        for args in self.places(shape, kind, size):
            results.append(kit.kmb.bench(
                fn, args, name=name, warm=['x', 'out'], outputs=['out'],
                max_wall_ms=200 if kit.dry else 0))
        results.sort(key=lambda r: r.time_us)
        result = results[(len(results) - 1) // 2]
        kit.kmb.save(self.file('alone', shape, name), result)
        self.report['alone'].setdefault(shape, {})[name] = {
            'us': result.time_us, 'timer': result['timer'],
            'cache': result['cache_state'], 'mode': result['launch_mode'],
            'places_us': [r.time_us for r in results]}
        print('%s %-18s %8.3f us alone (%.3f to %.3f)' % (
            shape, name, result.time_us, results[0].time_us,
            results[-1].time_us), flush=True)

    def places(self, shape, kind, size):
        """The same tensors for every version of a kernel."""
        kit, key = self.kit, (shape, kind)
        if key not in self.tensors:
            width = SHAPES[shape][1]
            weights = (width,) if kind == 'norm' else (width, size)
            self.tensors[key] = [(
                kit.new(TOKENS, size), kit.new(*weights),
                kit.torch.empty(TOKENS, width, dtype=kit.dtype,
                                device=kit.where))
                for _ in range(1 if kit.dry else PLACES[kind])]
        return self.tensors[key]

    def check(self, shape):
        """Each version against PyTorch, at this shape's sizes."""
        kit = self.kit
        _, width, inner, _, _ = SHAPES[shape]
        x, weight, out = kit.new(TOKENS, width), kit.new(width), \
            kit.new(TOKENS, width)
        wide, weights = kit.new(TOKENS, inner), kit.new(width, inner)
        norm = x.float() * kit.torch.rsqrt(
            x.float().pow(2).mean(-1, keepdim=True) + 1e-6) * weight.float()
        product = wide.float() @ weights.float().t()
        for name in NORMS:
            kit.norm(name, x, weight, out)
            self.close(name, out, norm)
        for name in DOWNS:
            kit.down(name, weights, wide, out)
            self.close(name, out, product)

    def close(self, name, got, reference):
        error = float((got.float() - reference).norm() / reference.norm())
        errors = self.report['errors']
        errors[name] = max(error, errors.get(name, 0))
        if not error < 0.01:
            raise RuntimeError('%s is wrong by %g' % (name, error))

    def swap(self, step, shape, mode, base, kind, name):
        """Rounds: the old step recorded, both measured in turns."""
        key, rounds = '%s-%s' % (shape, mode), []
        call = step.call(mode, dict(OLD, **{kind: name}))
        least, most = (2, 2) if self.kit.dry else (LEAST, MOST)
        for one in (base, call):
            self.timed(one, STEPS)
        while len(rounds) < least or (
                len(rounds) < most and len(steady_of(rounds)[0]) < STEADY):
            took = {'recorded': self.record(
                base, self.file('step', key, name, str(len(rounds))))}
            order = [('old', base), ('new', call)]
            for which, one in order if len(rounds) % 2 else reversed(order):
                self.timed(one, 2)
                took[which] = self.timed(one, STEPS)
            rounds.append({which: {
                'device_ns': [one[0] for one in took[which]],
                'host_ns': [one[1] for one in took[which]],
                'whole_ns': [one[2] for one in took[which]]}
                           for which in took})
        self.record(call, self.file('swapped', key, name))
        row = {'shape': shape, 'mode': mode, 'kind': kind, 'name': name,
               'rounds': rounds}
        for which in ('old', 'new'):
            row[which + '_ns'] = self.kit.front.middle(
                [one for turn in rounds for one in turn[which]['device_ns']])
        self.report['steps'].append(row)
        print('%s %-18s %10.1f -> %10.1f us a step, %d rounds of %d' % (
            key, name, row['old_ns'][0] / 1e3, row['new_ns'][0] / 1e3,
            len(steady_of(rounds)[0]), len(rounds)), flush=True)

    def one_mode(self, step, shape, mode):
        key = '%s-%s' % (shape, mode)
        base = step.call(mode, OLD)
        self.timed(base, 20)
        for kind, name in SWAPS:
            self.attempt(key + ' ' + name, self.swap, step, shape, mode, base,
                         kind, name)

    def all(self):
        for shape, sizes in SHAPES.items():
            self.attempt(shape + ' check', self.check, shape)
            for kind, name in sorted(set(SWAPS) | set(OLD.items())):
                self.attempt('%s %s alone' % (shape, name), self.alone, shape,
                             kind, name)
            step = Step(self.kit, *sizes)
            for mode in MODES:
                self.attempt('%s %s' % (shape, mode), self.one_mode, step,
                             shape, mode)
        return 1 if self.report['failed'] else 0

    def profiles(self):
        failed = 0
        for shape, sizes in SHAPES.items():
            step = Step(self.kit, *sizes)
            for mode in MODES:
                try:
                    base = step.call(mode, OLD)
                    self.timed(base, 20)
                    self.profile(base, self.file('profiler', shape, mode))
                except Exception as error:  # one that fails hides no other
                    failed = 1
                    print('%s %s: %s' % (shape, mode, error), file=sys.stderr,
                          flush=True)
        return failed


def disturbed(wholes):
    """Indices of the steps that took longer than the others."""
    most = statistics.median(wholes) * (1 + DISTURBED_PCT / 100)
    return {i for i, whole in enumerate(wholes) if whole > most}


def leave_out(path, name, which):
    """Ranges of a recording that are no such steps get another name."""
    with open(path, encoding='utf-8') as file:
        trace = json.load(file)
    at = trace['names'].index(name)
    trace['names'].append(name + ', disturbed')
    steps = sorted((r for r in trace['ranges'] if r[1] == at),
                   key=lambda r: r[2])
    for i in which:
        steps[i][1] = len(trace['names']) - 1
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(trace, file, separators=(',', ':'))


def on_gpu(what, path, folder):
    os.makedirs(folder, exist_ok=True)
    measurement = Measurement(path, folder)
    if measurement.kit.dry:
        SHAPES.update(wide=(2, 256, 512, 1, 16), small=(1, 256, 256, 1, 16))
    measurement.kit.torch.manual_seed(0)
    # Collections of Python's garbage would be time of the host.
    gc.collect()
    gc.freeze()
    gc.disable()
    with measurement.kit.torch.no_grad():
        return measurement.all() if what == 'measure' else \
            measurement.profiles()


def made_up(to):
    """A trace in which both kernels run, and the host waits for them."""
    events, at = [], 0.0
    for step in range(RECORDED):
        begin = at
        for i, name in enumerate(['step_norm_mid', 'gemm', 'step_down_mid']):
            call = {'ph': 'X', 'cat': 'cuda_driver', 'name': 'cuLaunchKernel',
                    'pid': 1, 'tid': 1, 'ts': at, 'dur': 4,
                    'args': {'correlation': 10 * step + i}}
            kernel = {'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 0,
                      'tid': 7, 'ts': begin + 10 + 100 * i, 'dur': 99,
                      'args': {'correlation': 10 * step + i, 'device': 0,
                               'stream': 7, 'context': 1}}
            events += [call, kernel]
            at += 6
        events.append({'ph': 'X', 'cat': 'cuda_runtime', 'pid': 1, 'tid': 1,
                       'name': 'cudaDeviceSynchronize', 'ts': at,
                       'dur': begin + 315 - at,
                       'args': {'correlation': 10 * step + 9}})
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': 'step',
                       'pid': 1, 'tid': 1, 'ts': begin, 'dur': 320})
        at = begin + 330
    with open(to, 'w', encoding='utf-8') as file:
        json.dump({'traceEvents': events, 'deviceProperties': [
            {'id': 0, 'name': 'none'}]}, file)


def payoff(kmb, *arguments):
    """What the command says, or None and why."""
    done = subprocess.run([kmb, 'payoff', *arguments, '--json'],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr.strip()
    said = json.loads(done.stdout)
    if 'predicted_ns' not in said:
        return said, said.get('verdict', 'no prediction')
    return said, ''


def host_of(times, which):
    return statistics.median(times[which]['host_ns'])


def steady_of(rounds):
    """Rounds in which the host kept its speed, and what recording added to its
    part of a step. The same calls are made for the old step and the new one: a
    round in which their parts of the host are apart compares two hosts, and so
    does one in which recording added another time than in the others."""
    def same(times, apart):
        return 100 * abs(apart) <= STEADY_PCT * statistics.median(
            times['old']['device_ns'])

    def more(times):
        return host_of(times, 'recorded') - host_of(times, 'old')

    kept = [r for r in rounds
            if same(r, host_of(r, 'new') - host_of(r, 'old'))]
    if not kept or not all(r['recorded']['host_ns'] for r in kept):
        return kept, 0  # nothing was recorded: there is no GPU
    added = statistics.median(more(r) for r in kept)
    return [r for r in kept if same(r, more(r) - added)], max(0, added)


def calls_of(path):
    """Calls of the host in a step, and the steps that are none of them."""
    with open(path, encoding='utf-8') as file:
        trace = json.load(file)
    if 'kmb_trace' not in trace:
        return 0
    at = trace['names'].index('step')
    steps = [(r[2], r[2] + r[3]) for r in trace['ranges'] if r[1] == at]
    return sum(low <= c[3] < high for c in trace['calls']
               for low, high in steps) / max(1, len(steps))


def round_of(said, times):
    """A round: the new step as predicted, and as it was. What is taken over is
    how much longer or shorter the step gets."""
    def of(which, what):
        return statistics.median(times[which][what])

    def moved(key):
        return (said.get(key, said['predicted_ns']) - said['step_ns']) / \
            said['steps']

    old, new = of('old', 'device_ns'), of('new', 'device_ns')
    whole = of('old', 'whole_ns') + moved('predicted_ns')
    return {'old_ns': old, 'new_ns': new,
            'predicted_ns': old + moved('predicted_ns'),
            'low_ns': old + moved('predicted_low_ns'),
            'high_ns': old + moved('predicted_high_ns'),
            'off_pct': 100 * ((old + moved('predicted_ns')) / new - 1),
            'whole_off_pct': 100 * (whole / of('new', 'whole_ns') - 1)}


def interval(values):
    """Order statistics that hold the median with 95% at least; of fewer than
    six values the ends, which hold it with less."""
    x, n, least = sorted(values), len(values), 0
    below = 0.5 ** n
    while 2 * (below + math.comb(n, least + 1) * 0.5 ** n) <= 0.05:
        least += 1
        below += math.comb(n, least) * 0.5 ** n
    return x[least], x[n - 1 - least]


def judged(row, said, rounds):
    """The bar: the median round within 3% of the measured step, or the rounds
    do not tell prediction and measurement apart. Rounds, for the steps of one
    are not independent: the host's speed is one for all of them."""
    off = [r['off_pct'] for r in rounds]
    low, high = interval(off)
    within = abs(statistics.median(off)) <= BAR_PCT
    row.update({key: statistics.median(r[key] for r in rounds)
                for key in ('predicted_ns', 'whole_off_pct')})
    row.update(predicted_low_ns=statistics.median(r['low_ns'] for r in rounds),
               predicted_high_ns=statistics.median(
                   r['high_ns'] for r in rounds),
               off_pct=statistics.median(off), off_low_pct=low,
               off_high_pct=high, bar_pct=BAR_PCT, within=within,
               ok=within or low <= 0 <= high, rounds=rounds,
               **{which + '_ns': [statistics.median(of), *interval(of)]
                  for which, of in (
                      (w, [r[w + '_ns'] for r in rounds])
                      for w in ('old', 'new'))},
               steps=said['steps'],
               recorded_step_ns=said['recorded_ns'] / said['steps'],
               relieved_step_ns=said['step_ns'] / said['steps'],
               launches=said['launches'] / said['steps'],
               ratio=said['ratio'], in_step_ns=said['in_step_ns'],
               hidden_ns=said.get('hidden_ns', 0) / said['steps'],
               host_ns=said.get('host_ns', 0) / said['steps'],
               verdict=said['verdict'], notes=said.get('notes', []))


def predict_swap(kmb, row, named, dry):
    """Each round of a swap, from its own recording."""
    shape, key = row['shape'], '%s-%s' % (row['shape'], row['mode'])
    old, times = OLD[row['kind']], row.pop('rounds')
    for i, one in enumerate(times):
        one['file'] = named('step', key, row['name'], str(i))
    row['rounds_measured'] = len(times)
    times, added = steady_of(times)
    row['why'] = '' if len(times) >= (1 if dry else LEAST) else \
        'the host kept its speed in %d rounds of %d' % (
            len(times), row['rounds_measured'])
    if row['why']:
        return
    how = [named('alone', shape, old), named('alone', shape, row['name']),
           '--range', 'step', '--kernel', '^%s$' % old]
    how += ['--any-device'] if dry else []
    rounds = []
    for one in times:
        calls = calls_of(one['file']) if added else 0
        row['added_ns'] = added / calls if calls else 0
        said, row['why'] = payoff(kmb, one['file'], *how, *(
            ['--added', '%.1f' % row['added_ns']]
            if row['added_ns'] > 0.1 else []))
        if row['why']:
            return
        rounds.append(round_of(said, one))
    judged(row, said, rounds)
    row['host_step_ns'] = {
        which: statistics.median(h for one in times
                                 for h in one[which]['host_ns'])
        for which in ('recorded', 'old', 'new')
        if any(one[which]['host_ns'] for one in times)}
    swapped = named('swapped', key, row['name'])
    again, _ = payoff(kmb, swapped, '--ratio', '1', '--kernel',
                      '^%s$' % row['name'], *how[2:4])
    if again:
        row['in_step_new_ns'] = again['in_step_ns']


def predict(kmb, folder):
    def named(*parts):
        return os.path.join(folder, '-'.join(parts) + '.json')

    with open(named('measured'), encoding='utf-8') as file:
        report = json.load(file)
    for row in report['steps']:
        predict_swap(kmb, row, named, report['dry'])
        row.setdefault('ok', False)
        key = '%s-%s' % (row['shape'], row['mode'])
        if row['why']:
            print('%-12s %-18s %s' % (key, row['name'], row['why']))
            continue
        print('%-12s %-18s ratio %.3f, step %9.1f us, predicted %9.1f, '
              'measured %9.1f: %+.2f%%%s [%+.1f, %+.1f] (rounds %+.1f to %+.1f%%, '
              'with the wait %+.1f%%, %.0f ns a call; %d of %d rounds)' % (
                  key, row['name'], row['ratio'], row['old_ns'][0] / 1e3,
                  row['predicted_ns'] / 1e3, row['new_ns'][0] / 1e3,
                  row['off_pct'], ('' if row['within'] else '~')
                  if row['ok'] else '*', row['off_low_pct'],
                  row['off_high_pct'],
                  min(r['off_pct'] for r in row['rounds']),
                  max(r['off_pct'] for r in row['rounds']), row['whole_off_pct'],
                  row['added_ns'], len(row['rounds']),
                  row['rounds_measured']))
    report['profiler'] = {}
    for path in sorted(glob.glob(named('profiler', '*'))):
        said, why = payoff(kmb, path, '--ratio', '0.5', '--range', 'step',
                           '--kernel', '^%s$' % OLD['down'])
        report['profiler'][os.path.basename(path)] = {
            'why': why, 'verdict': said['verdict'] if said else None}
    rows = report['steps']
    report['bars'] = [
        {'name': 'payoff, %s: steps that were predicted' % mode,
         'value': sum(r['ok'] for r in rows if r['mode'] == mode),
         'bar': 'all of %d, at least five swaps' % sum(
             r['mode'] == mode for r in rows),
         'ok': len({r['name'] for r in rows if r['mode'] == mode}) >= 5 and
         all(r['ok'] for r in rows if r['mode'] == mode)} for mode in MODES]
    with open(named('payoff'), 'w', encoding='utf-8') as file:
        json.dump(report, file, indent=1)
        file.write('\n')
    return 0 if all(b['ok'] for b in report['bars']) else 1


if __name__ == '__main__':
    if len(sys.argv) != 4 or sys.argv[1] not in (
            'measure', 'profile', 'predict'):
        sys.exit(__doc__)
    if sys.argv[1] == 'predict':
        sys.exit(predict(*sys.argv[2:]))
    sys.exit(on_gpu(*sys.argv[1:]))
