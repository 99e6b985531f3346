#!/usr/bin/env python3
"""Every figure that is promised of a GPU beside its bar, from the outputs of
gpu-test.sh: met, MISSED, or absent with the file that lacks it.

usage: gpu_bars.py FOLDER [OUTPUT.json]    FOLDER: gpu-test.sh's OUTPUT_FOLDER
Exit status: 0 all met, 1 one missed, 3 none missed and one absent.
"""
import json
import os
import statistics
import sys

# Below this error of A then B the clock did not change.
NO_RAMP_PCT = 0.1
MODES = {'trace_graph': 0.05, 'graph': 0.05, 'event': 0.15}


class Bars:
    """Figures of a folder."""

    def __init__(self, folder):
        self.folder, self.rows = folder, []

    def read(self, *names):
        """The documents; what is absent or broken raises."""
        found = []
        for name in names:
            path = os.path.join(self.folder, name + '.json')
            with open(path, encoding='utf-8') as file:
                found.append(json.load(file))
        return found[0] if len(found) == 1 else found

    def add(self, name, value, bar, ok):
        self.rows.append({'name': name, 'value': value, 'bar': bar,
                          'ok': None if ok is None else bool(ok)})

    def most(self, name, value, limit):
        self.add(name, value, '<= %g' % limit, value <= limit)

    def least(self, name, value, limit):
        self.add(name, value, '>= %g' % limit, value >= limit)


def accuracy(b):
    data = b.read('accuracy')

    def far(mode):
        return max(abs(statistics.median(
            r['beyond_us'] for r in spin[mode + '_rounds']))
            for spin in data['spin'])

    for mode, limit in MODES.items():
        b.most('%s, furthest from TRACE, us' % mode, far(mode), limit)
    for mode in ['trace_plain'] + list(MODES):
        b.most('%s, slope against the own count, off by' % mode,
               abs(data['slope'][mode] - 1), 0.002)


def cold(b):
    data = b.read('moves')
    for move in data['moves']:
        if move['kind'] == 'read':
            b.most('read %d MiB, ROTATED over COLD, %%' % move['mib'],
                   abs(move['rotated_over_cold_pct']), 2)
        b.add('%s %d MiB, what a memset flush adds, %%' % (
            move['kind'], move['mib']), move['memset_flush_pct'], 'shown', True)
    for case in data['weights_and_activations']:
        b.add('weights cold, activations warm, %d MiB' % case['mib_each'],
              case['between'], 'between all cold and all warm',
              case['between'])


def cost(b):
    data = b.read('cost')
    b.most('kmb_bench on 20 us, ms', data['wall_ms'], 120)
    b.most('host\'s work for a TRACE sample, us',
           data['host_work_us']['trace_plain'], 10)


def opens(b):
    data = b.read('open')['open']
    ms = {what: statistics.median(o['open_%s_ms' % what] for o in data
                                  if 'open_%s_ms' % what in o)
          for what in ('kmb', 'driver')}
    b.most('open over cuInit and context', ms['kmb'] / ms['driver'], 1.1)


def hip(b):
    data = b.read('hip_on_cuda')
    against = {'hip_graph': 'cuda_graph', 'hip_event': 'cuda_event'}
    for way, other in against.items():
        b.most('%s through HIP, furthest from CUDA\'s, us' % way[4:],
               max(abs(s[way]['mean_us'] - s[other]['mean_us'])
                   for s in data['spin']),
               0.15)


def counters(b):
    rows = b.read('counters-beside')['counters']
    whole = 0
    for row in rows:
        title = '%s, %s: ' % (row['name'], row['state'])
        whole += bool(row.get('ncu_kernel')) and all(
            f['ok'] is not None for f in row['figures'])
        if row.get('error'):
            b.add(title + 'fails', row['error'], 'no error', False)
        for f in row['figures']:
            b.add(title + f['metric'], f.get('ours'), f.get(
                'bar', 'ncu\'s %.6g to %.6g +-%.6g' % (
                    *f.get('ncu_between', [f.get('ncu', float('nan'))] * 2),
                    f.get('allowed', 0))), f['ok'])
    b.add('kernels that stand whole beside ncu\'s', whole,
          'a read (2 sizes), a copy, one block, a reduction, a product: 6',
          whole >= 6 or None)


def first(b):
    """The first process reads libraries from the disk."""
    calls = b.read('counters-first')['calls']
    alone = [c for c in calls if not c['cublas']][1:]
    b.most('a process\'s first call for counters, median, ms',
           statistics.median(c['first_ms'] for c in alone), 500)
    b.add('its second one, median, ms',
          statistics.median(c['second_ms'] for c in alone), 'shown', True)
    beside = [c['first_ms'] for c in calls if c['cublas']]
    if beside:
        b.add('the first one beside cuBLAS, median, ms',
              statistics.median(beside), 'shown', True)


def kept(b):
    """Whether a session that stays enabled keeps others from the counters."""
    for row in b.read('profiler-beside')['beside']:
        b.add('another process\'s profiler %s, kernels' % row['when'],
              row['kernels'], row['said'] or 'shown; it ended with %d' %
              row['code'], True)


def ceilings(b):
    ours, theirs = b.read('ceilings', 'peers_ceilings')
    value = {c['name']: c['value'] for c in ours['ceilings']}
    best = {p['name']: p['best'] for p in theirs['peers']}
    b.least('copy ceiling over the better of cudaMemcpyAsync and torch, %',
            100 * value['copy'] / max(best['torch copy'],
                                      best['cudaMemcpyAsync']), 98)
    b.least('bf16 ceiling over torch.mm 8192 cubed, %',
            100 * value['matrix bf16'] / max(
                v for k, v in best.items() if k.startswith('torch.mm bf16')),
            98)


def record(b):
    data = b.read('record')
    b.most('recording adds to a launch, ns', data['added_ns']['calls'], 2000)
    b.add('dropped or invalid of a million',
          data['million']['dropped'] + data['million']['invalid'] +
          abs(data['million']['ops'] - 1000000), '0',
          data['million']['dropped'] == data['million']['invalid'] == 0 and
          data['million']['ops'] == 1000000)
    beyond = data['beyond_self_ns']
    b.add('recorded less counted by the kernel, ns', beyond['median'],
          'launch and drain, 0 to 1000, p10 to p90 within 200',
          0 < beyond['median'] < 1000 and
          beyond['p90'] - beyond['p10'] <= 200)


def record_launches(b):
    """Processes in turns: what the recorded one of a pair took more."""
    rows = b.read('record_launches')['launches']
    kinds = [[r for r in rows if r['recorded'] == which]
             for which in (True, False)]
    for key in ('mean_ns', 'median_ns'):
        more = [a[key] - o[key] for a, o in zip(*kinds)]
        b.most('recording adds to each of a million launches, %s, '
               'the middle of %d pairs' % (key, len(more)),
               statistics.median(more), 2000)
    b.add('dropped or invalid of these', sum(
        r['dropped'] + r['invalid'] + abs(r['ops'] - 1000000)
        for r in kinds[0]), '0', all(
            r['dropped'] == r['invalid'] == 0 and r['ops'] == 1000000
            for r in kinds[0]))


def ranks(b):
    data = b.read('ranks')
    times = {}
    for case in data['cases']:
        times[case['case'], case['value']] = case
        if case['case'] == 'auto':
            b.most('release skew, median, us', case['skew_p50_us'], 0.6)
            b.most('release skew, p99, us', case['skew_p99_us'], 1.2)
    for (kind, value), case in times.items():
        if not value or (kind, 0) not in times:
            continue
        moved = case['time_us'] - times[kind, 0]['time_us']
        if 'before' in kind:
            b.add('%s by %g us, moves the time by' % (kind, value), moved,
                  'less than 1', abs(moved) < 1)
        else:
            b.add('%s by %g us, shows in full' % (kind, value), moved,
                  '%g +- 1 us and 3%%' % value,
                  abs(moved - value) <= 1 + 0.03 * value)


def allreduce(b):
    data = b.read('allreduce')
    sizes = {a['value'] for r in data['results'] for a in r['axes']
             if a['key'] == 'bytes'}
    b.add('all-reduce beside nccl-tests\' way, sizes', len(sizes),
          '1 KiB to 1 GiB', {str(1 << 10), str(1 << 30)} <= sizes)


def compare(b):
    data = b.read('compare')
    twins, more = data['identical'], data['three_pct_more']
    b.most('identical pairs called different, of %d' % twins['pairs'],
           twins['faster'] + twins['slower'] + twins['failed'],
           twins['pairs'] // 100)
    b.least('pairs with 3%% more work found, of %d' % more['pairs'],
            more['slower'], 0.95 * more['pairs'])
    for key in ('after_idleness', 'drift'):
        case = data[key]
        turns, apart = case['turns_error_pct'], case['apart_error_pct']
        ramp = apart >= NO_RAMP_PCT
        b.add('%s: error in turns, %%' % key, turns,
              'a quarter of %g apart' % apart if ramp else
              'no ramp: %g apart' % apart, turns <= apart / 4 if ramp else None)


def code(b):
    data = b.read('code')
    b.most('time after a capture, change in %', abs(data['change_pct']), 0.5)


def own_bars(name):
    def bars(b):
        for bar in b.read(name)['bars']:
            b.add(bar['name'], bar.get('value'), bar['bar'], bar['ok'])
    return bars


PARTS = {'accuracy': accuracy, 'moves': cold, 'cost': cost, 'open': opens,
         'hip_on_cuda': hip, 'counters-beside': counters, 'counters-first': first,
         'profiler-beside': kept, 'ceilings': ceilings,
         'record': record, 'record_launches': record_launches, 'compare': compare, 'code': code,
         'code_gpu': own_bars('code_gpu'),
         'peers_torch': own_bars('peers_torch'),
         'payoff/payoff': own_bars('payoff/payoff'), 'ranks': ranks,
         'allreduce': allreduce}


def collect(folder):
    bars = Bars(folder)
    for name, part in PARTS.items():
        try:
            part(bars)
        except OSError as error:
            bars.add(name + '.json', None, error.strerror, None)
        except Exception as error:  # a part that fails hides no other
            bars.add(name + '.json', None, '%s: %s' % (
                type(error).__name__, error), None)
    return bars.rows


def main(folder, output=None):
    rows = collect(folder)
    for row in rows:
        said = {True: 'met', False: 'MISSED', None: 'absent'}[row['ok']]
        value = row['value']
        print('%-6s  %-66s %12s  %s' % (
            said, row['name'], '%.5g' % value if isinstance(value, (
                int, float)) and not isinstance(value, bool) else value,
            row['bar']))
    counts = [sum(r['ok'] is state for r in rows)
              for state in (True, False, None)]
    print('%d met, %d missed, %d absent' % tuple(counts))
    if output:
        with open(output, 'w', encoding='utf-8') as file:
            json.dump({'bars': rows}, file, indent=1)
            file.write('\n')
    return 1 if counts[1] else 3 if counts[2] else 0


if __name__ == '__main__':
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
