#!/usr/bin/env python3
"""The tables of the pages from what was recorded on a GPU, in bench/results/.
Each stands between <!-- figures NAME --> and <!-- end -->; one whose figures were
never recorded says so.

usage: gpu_tables.py [FOLDER]   takes over the outputs of gpu-test.sh first, as
                                far as they are there
       gpu_tables.py --check    fails if a table is not that of its figures
"""
import json
import os
import re
import statistics
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
RESULTS = os.path.join(ROOT, 'bench', 'results')
PAGES = ['docs/cuda.md', 'docs/code.md', 'docs/roofline.md', 'docs/counters.md',
         'docs/compare.md', 'docs/payoff.md', 'docs/embedding.md',
         'docs/multi-gpu.md', 'README.md']
# What gpu-test.sh calls it, and we.
TAKEN = {'accuracy': 'accuracy', 'moves': 'cold', 'cost': 'cost',
         'compare': 'compare', 'open': 'open', 'peers': 'peers', 'cuda_gemm': 'gemm',
         'cuda_copy': 'copy', 'ceilings': 'ceilings',
         'peers_ceilings': 'peers-ceilings', 'record': 'record',
         'record_launches': 'record-launches',
         'hip_on_cuda': 'hip-on-cuda', 'counters-beside': 'counters',
         'counters-first': 'counters-first',
         'peers_torch': 'peers-torch', 'payoff/payoff': 'payoff',
         'code_gpu': 'code', 'ranks': 'ranks', 'allreduce': 'allreduce',
         'release_skew': 'release-skew',
         'threads_gemm_rs': 'gemm-rs',
         'vllm_ops': 'vllm-ops', 'bars': 'bars'}
MODES = {'trace_graph': 'TRACE on graph', 'graph': 'GRAPH', 'event': 'EVENT',
         'event_graph': 'EVENT on graph'}
PEERS = {'do_bench': 'do_bench', 'do_bench_cudagraph': 'do_bench_cudagraph',
         'events': 'event pair', 'events_of_100': 'events, 100 calls',
         'profiler': 'profiler'}


def recorded(name):
    path = os.path.join(RESULTS, name + '-h200.json')
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def table(head, rows):
    lines = ['| ' + ' | '.join(cells) + ' |' for cells in [head] + rows]
    lines.insert(1, '|' + '---|' * len(head))
    return '\n'.join(lines)


def us(value):
    """Four digits, as the tables of results have it."""
    if value is None:
        return '–'
    digits = 3 if value < 10 else 2 if value < 100 else 1
    return '%.*f' % (digits, value)


def signed(value):
    return ('%+.3f' % value).replace('-', '−')


def middle(spin, mode, key):
    return statistics.median(r[key] for r in spin[mode + '_rounds'])


def source(data, name):
    driver = data.get('device.driver_version') or data.get('driver')
    about = data['device'].split(',')
    if len(about) > 1:
        driver = about[1].strip()
    return '%s, driver %s, %s: [%s-h200.json](%sbench/results/%s-h200.json)' % (
        about[0], driver, data['date'][:10], name, '../', name)


def accuracy():
    data = recorded('accuracy')
    rows = [['%.3f' % middle(s, 'trace_plain', 'self_us'),
             us(middle(s, 'trace_plain', 'us'))] +
            [signed(middle(s, m, 'beyond_us')) for m in MODES]
            for s in data['spin']]
    slopes = ', '.join('%s %.4f' % (title, data['slope'][m]) for m, title in
                       [('trace_plain', 'TRACE')] + list(MODES.items()))
    return '%s\n\nSlopes against the kernel\'s own count: %s.\n%s.' % (
        table(['own count', 'TRACE'] + list(MODES.values()), rows), slopes,
        source(data, 'accuracy'))


def raw():
    data = recorded('accuracy')
    rows = [['%.3f' % middle(s, 'trace_plain', 'self_us'),
             us(middle(s, 'trace_plain', 'raw_us'))] +
            ['%s, %s (%.3f)' % (us(middle(s, m, 'raw_us')),
                                signed(middle(s, m, 'bias_us')),
                                middle(s, m, 'bias_unc_us')) for m in MODES]
            for s in data['spin']]
    return table(['own count', 'TRACE'] + list(MODES.values()), rows)


def peers():
    data, ours = recorded('peers'), recorded('accuracy')
    rows = []
    for theirs, spin in zip(data['spin'], ours['spin']):
        rows.append(['%.3f' % theirs['self_us'],
                     us(middle(spin, 'trace_plain', 'us')),
                     us(middle(spin, 'graph', 'us'))] +
                    [us(theirs[key]) for key in PEERS])
    return '%s\n\nPyTorch %s, Triton %s. %s.' % (
        table(['own count', 'TRACE', 'GRAPH'] + list(PEERS.values()), rows),
        data['torch'], data['triton'], source(data, 'peers'))


def cold():
    data = recorded('cold')
    keys = ['cold', 'rotated', 'warm', 'memset_flush']
    rows = []
    for move in data['moves']:
        against = move.get('dirty_outputs_pct', move.get('rotated_over_cold_pct'))
        rows.append(['%s %d MiB' % (move['kind'], move['mib'])] +
                    [us(move[key + '_us'] or None) for key in keys] +
                    [('%+.1f%%' % against).replace('-', '−'),
                     '%+.0f%%' % move['memset_flush_pct']])
    return '%s\n\n%s.' % (
        table(['µs', 'COLD', 'ROTATED', 'WARM', 'after a memset',
               'ROTATED over COLD', 'memset over COLD'], rows),
        source(data, 'cold'))


def weights():
    data = recorded('cold')['weights_and_activations']
    keys = ['all_cold', 'weights_cold', 'all_warm']
    rows = [['%d MiB' % case['mib_each']] +
            [us(case[key]['trimmed_mean_us']) for key in keys]
            for case in data]
    return table(['µs, each of both', 'all cold',
                  'weights cold, activations warm', 'all warm'], rows)


def opens():
    data = recorded('open')
    said = {}
    for what in ['driver', 'kmb']:
        ms = [o['open_%s_ms' % what] for o in data['open']
              if 'open_%s_ms' % what in o]
        said[what] = statistics.median(ms)
    return data, said['kmb'], said['driver']


def cost():
    data = recorded('cost')
    about, kmb, driver = opens()
    calls = [call['wall_ms'] for call in data['wall']]
    rows = [['a call of `kmb_bench()` on a 20 µs kernel, COLD, to ±0.5%, sweeps '
             'and confirmation in it', '%.0f ms' % data['wall_ms']],
            ['the first one, set-up and calibration in it',
             '%.0f ms' % calls[0]]]
    names = dict(MODES, trace_plain='TRACE')
    for mode in ['trace_plain', 'trace_graph', 'event', 'event_graph']:
        rows.append(['host\'s work for a sample, %s' % names[mode],
                     '%.1f µs' % data['host_work_us'][mode]])
    rows.append(['`kmb_device_open("cuda:0")` ÷ `cuInit` and the context alone, '
                 'medians of %d processes each' % (sum(
                     'open_kmb_ms' in o for o in about['open'])),
                 '%.0f ÷ %.0f ms = %.2f' % (kmb, driver, kmb / driver)])
    return '%s\n\n%s; %s.' % (table(['cost', ''], rows), source(data, 'cost'),
                              source(about, 'open'))


def ran_on(data, name):
    """source() of a document of results."""
    meta = data['results'][0]['metadata']
    return source({'device': meta['device.name'],
                   'driver': meta['device.driver_version'],
                   'date': meta['time.utc']}, name)


def work(data, row, column):
    """Time and share of the ceiling, by two axes."""
    cells, columns = {}, []
    for result in data['results']:
        axes = {axis['key']: axis['value'] for axis in result['axes']}
        if axes[column] not in columns:
            columns.append(axes[column])
        cells.setdefault(axes[row], {})[axes[column]] = '%s µs, %.0f%%' % (
            us(result['time_ns'] / 1e3), result['sol_pct'])
    return table([row] + ['%s %s' % (column, c) for c in columns],
                 [[key] + [cells[key].get(c, '–') for c in columns]
                  for key in cells])


def gemm():
    data = recorded('gemm')
    return '%s\n\n%s.' % (work(data, 'projection', 'tokens'),
                          ran_on(data, 'gemm'))


def example():
    """Of the README: the GPU example at a glance."""
    data = recorded('gemm')
    return '%s\n\n%s.' % (work(data, 'projection', 'tokens'),
                          ran_on(data, 'gemm').replace('](../', ']('))


def copy():
    data = recorded('copy')
    rows = [['%s KiB' % r['axes'][0]['value'], us(r['time_ns'] / 1e3),
             '%.0f' % (r['achieved_bytes_per_s'] / 1e9),
             '%.0f%%' % r['sol_pct']] for r in data['results']]
    return '%s\n\n%s.' % (
        table(['copy of', 'µs', 'GB/s', 'of the datasheet\'s'], rows),
        ran_on(data, 'copy'))


def summary():
    """Of the README."""
    data, moves = recorded('accuracy'), recorded('cold')['moves']
    far = [(title, max(abs(middle(s, m, 'beyond_us')) for s in data['spin']))
           for m, title in MODES.items()]
    read = moves[0]
    lines = ['From an empty kernel to 200 µs, furthest from TRACE on plain '
             'launches after correction:', '',
             table([title for title, _ in far],
                   [['%.3f µs' % value for _, value in far]]), '',
             'A read of %d MiB: %s µs cold by sweep, %s by rotation, %s warm, '
             'and\n%s after the memset that is commonly used as a flush.' % (
                 read['mib'], us(read['cold_us']), us(read['rotated_us']),
                 us(read['warm_us']), us(read['memset_flush_us'])), '',
             source(data, 'accuracy').replace('](../', '](') + '.']
    return '\n'.join(lines)


def ceilings():
    data, others = recorded('ceilings'), recorded('peers-ceilings')
    best = {p['name']: p['best'] for p in others['peers']}
    beside = {'copy': ('torch copy', 'cudaMemcpyAsync'),
              'matrix bf16': ('torch.mm bf16', 'torch.mm bf16 T'),
              'matrix f16': ('torch.mm f16', 'torch.mm f16 T')}
    rows = []
    for c in data['ceilings']:
        name = max(beside.get(c['name'], ()), key=best.get, default=None)
        sheet = c.get('datasheet')
        rows.append([c['name'], '%.4g' % (c['value'] / 1e12),
                     '%.0f%%' % (100 * c['value'] / sheet) if sheet else '–',
                     '%.4g, %s' % (best[name] / 1e12, name) if name else '–',
                     '%.1f%%' % (100 * c['value'] / best[name])
                     if name else '–', c['variant']])
    return '%s\n\n%s.' % (
        table(['ceiling', 'T/s', 'of the datasheet', 'the best of others, T/s',
               'ours ÷ theirs', 'reached by'], rows),
        source(data, 'ceilings'))


def payoff():
    data = recorded('payoff')
    rows = [[r['shape'], r['mode'], '%s → %s' % (
        r['kind'] + ' mid', r['name'].replace('step_', '').replace('_', ' ')),
             '%.3f' % r['ratio'], us(r['old_ns'][0] / 1e3),
             us(r['predicted_ns'] / 1e3), us(r['new_ns'][0] / 1e3),
             signed_pct(r['off_pct']), '%s to %s' % (
                 signed_pct(r['off_low_pct']), signed_pct(r['off_high_pct'])),
             signed_pct(r['whole_off_pct']), '%d of %d' % (
                 len(r['rounds']), r['rounds_measured'])]
            for r in data['steps'] if 'predicted_ns' in r]
    lost = sum('predicted_ns' not in r for r in data['steps'])
    return '%s\n\n%sPyTorch %s. %s.' % (
        table(['model', 'mode', 'kernel', 'ratio alone', 'step, µs',
               'predicted', 'measured', 'off', 'its interval',
               'with the wait', 'rounds'], rows),
        '%d swaps had no prediction. ' % lost if lost else '', data['torch'],
        source(data, 'payoff'))


def signed_pct(value):
    return ('%+.1f%%' % value).replace('-', '−')


def torch_peers():
    data = recorded('peers-torch')
    keys = ['kmb_us', 'kmb_c_us', 'kmb_c_plain', 'kmb_torch', 'do_bench',
            'do_bench_cudagraph', 'profiler', 'profiler_memset']
    rows = [[r['name'] + (' (1)' if r.get('same_kernels') is False else '')] +
            [us(r.get(key)) for key in keys] for r in data['rows']]
    others = any(r.get('same_kernels') is False for r in data['rows'])
    return '%s\n\n%sA call of `kmb.bench` on %.0f µs returns in %.0f ms. ' \
        'PyTorch %s, Triton %s. %s.' % (
            table(['µs', 'libkmb, Python', 'libkmb, C', 'C, plain',
                   'torch.mm', 'do_bench', 'do_bench_cudagraph', 'profiler',
                   'profiler, memset'], rows),
            '(1): other kernels than from C. ' if others else '',
            data['wall']['us'], data['wall']['median_ms'], data['torch'],
            data['triton'], source(data, 'peers-torch'))


# Title, metric, and what its numbers are divided by.
COUNTED = [
    ('Compute (SM) %', 'sm__throughput.avg.pct_of_peak_sustained_elapsed', 1),
    ('Memory %',
     'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed', 1),
    ('L2 Hit Rate %', 'lts__t_sector_hit_rate.pct', 1),
    ('Achieved Occupancy %',
     'sm__warps_active.avg.pct_of_peak_sustained_active', 1),
    ('DRAM read, MB', 'dram__bytes_read.sum', 1e6),
    ('DRAM written, MB', 'dram__bytes_write.sum', 1e6)]


def pair(figure, unit):
    """Ours beside theirs; in bold if they are too far apart, in brackets if
    that is not judged."""
    numbers = ['%.4g' % (figure[who] / unit) if who in figure else '–'
               for who in ('ours', 'ncu')]
    form = '**%s / %s**' if figure['ok'] is False else \
        '%s / %s' if 'allowed' in figure else '(%s / %s)'
    return form % tuple(numbers)


def counters():
    data = recorded('counters')
    metrics = {metric for _, metric, _ in COUNTED}
    beside, own = [], []
    for row in data['counters']:
        title = '%s, %s' % (row['name'], row['state'])
        figures = {f['metric']: f for f in row['figures']}
        if metrics & set(figures):
            beside.append([title, us(row.get('time_us'))] + [
                pair(figures.get(metric, {'ok': None}), unit)
                for _, metric, unit in COUNTED])
        own += [[title, f['metric'],
                 '–' if 'ours' not in f else 'yes' if f['ours'] is True else
                 'no' if f['ours'] is False else '%.6g' % f['ours'],
                 f.get('bar', '–'),
                 {True: 'yes', False: '**no**'}.get(f['ok'], 'not known')]
                for f in row['figures'] if f['metric'] not in metrics]
    return '%s\n\n%s\n\n%s.' % (
        table(['libkmb / Nsight Compute', 'µs'] +
              [title for title, _, _ in COUNTED], beside),
        table(['kernel', 'figure', 'libkmb', 'bar', 'held'], own),
        source(data, 'counters'))


def compared():
    data = recorded('compare')
    rows = [[title] + [str(data[key][k]) for k in (
        'faster', 'slower', 'same', 'unresolved')] + [
            '%.4f' % data[key]['median_ratio'],
            '%.0f ms' % data[key]['median_wall_ms']]
            for key, title in [('identical', 'twins'),
                               ('three_pct_more', '3% more work')]]
    ramps = ['%s: %.3f%% in turns, %.3f%% one after the other' % (
        title, data[key]['turns_error_pct'], data[key]['apart_error_pct'])
             for key, title in [('after_idleness', 'after idleness'),
                                ('drift', 'work that grows by 5% a second')]]
    return '%s\n\nTwins\' ratio is wrong by, %s. %s.' % (
        table(['%d pairs of 20 µs' % data['identical']['pairs'], 'faster',
               'slower', 'same', 'unresolved', 'median ratio', 'each'], rows),
        '; '.join(ramps), source(data, 'compare'))


def skew_us(value):
    """Negative where it is not known."""
    return us(value if value >= 0 else None)


def ranks():
    data = recorded('ranks')
    rows = [[c['case'], '%g' % c['value'] if c['value'] else '–',
             us(c['time_us']), skew_us(c['skew_p50_us']),
             skew_us(c['skew_p99_us']), c['barrier'].split(',')[0]]
            for c in data['cases']]
    return '%s\n\n%s.' % (
        table(['case', 'late by, µs', 'time, µs', 'release skew, median, µs',
               'p99', 'barrier'], rows), source(data, 'ranks'))


def release_skew():
    """What the barrier says of itself beside the two devices' clocks."""
    data = recorded('release-skew')
    rows = [['%d' % c['barriers'], us(c['held_up_ns'] / 1e3)
             if c['held_up_ns'] else '–'] +
            [us(c[of][q] / 1e3) for of in ('told_ns', 'clocks_ns')
             for q in ('p50', 'p99')] for c in data['cases']]
    return '%s\n\n%s.' % (
        table(['barriers before', 'held up, µs', 'said, median, µs', 'p99',
               'by clocks, median, µs', 'p99'], rows),
        'NVIDIA H200, %s: [release-skew-h200.json]'
        '(../bench/results/release-skew-h200.json)' % data['date'][:10])


def allreduce():
    data = recorded('allreduce')
    rows = []
    for r in data['results']:
        size = int(r['axes'][0]['value'])
        theirs = float(r['metadata']['caller.nccl_tests_us'])
        ours = r['time_ns'] / 1e3
        rows.append(['%d KiB' % (size >> 10), us(ours),
                     '%.1f' % (size / ours / 1e3), us(theirs),
                     '%.1f' % (size / theirs / 1e3),
                     signed_pct(100 * (theirs / ours - 1))])
    return '%s\n\n%s.' % (
        table(['all-reduce', 'µs', 'GB/s', 'nccl-tests\' way, µs', 'GB/s',
               'differs'], rows), ran_on(data, 'allreduce'))


def gemm_rs():
    """Rates are a rank's for the product, the bus's for the reduce-scatter."""
    data = recorded('gemm-rs')
    rows = []
    for r in data['results']:
        axes = {a['key']: a['value'] for a in r['axes']}
        count, sides = int(axes['ranks']), axes['shape'].split('x')
        rate = '–'
        if r['name'] == 'gemm alone':
            rate = '%.0f TFLOP/s' % (r['flops'] / r['time_ns'] / 1e3)
        elif r['name'] == 'reduce-scatter alone':
            part = 2 * int(sides[0]) * int(sides[1])
            rate = '%.1f GB/s' % (part / r['time_ns'] * (count - 1) / count)
        skew = r.get('release_skew_ns')
        rows.append([r['name'], us(r['time_ns'] / 1e3), rate,
                     ', '.join(us(k['median_ns'] / 1e3) for k in r['ranks']),
                     us(skew / 1e3 if skew is not None else None)])
    return '%s\n\n%s, bf16, %d ranks; %s.' % (
        table(['measured', 'µs', 'a rank, the bus', 'each rank\'s median, µs',
               'release skew, µs'], rows), ' × '.join(sides), count,
        ran_on(data, 'gemm-rs'))


SHOWN = re.compile('.*mma|(global|generic|local)_(load|store)|utma|ublk|ldgsts')


def made_of(classes):
    """Matrix units and memory traffic, of all classes of instructions."""
    return ', '.join('%s: %d' % (key.replace('_', ' '), count)
                     for key, count in classes.items() if SHOWN.match(key))


def code():
    data = recorded('code')
    ran = [(bar['name'], one) for bar in data['bars']
           for kernel in bar.get('kernels', []) for one in kernel.get('code', [])]
    rows = [[name, '`%s`' % one['name'], str(one.get('registers', '–')),
             made_of(one.get('classes', {})) or '–',
             ', '.join(f['flag'] for f in one.get('flags', [])) or '–']
            for name, one in ran]
    parts = [table(['what ran', 'kernel', 'registers', 'instructions',
                    'flags'], rows)]
    copies = [['`%s`' % name, us(c['us']), '%.0f' % c['gb_s'],
               '%.1f%%' % c['sol_pct'], c['timer'], c['cache']]
              for name, c in data.get('times', {}).items()]
    if copies:
        parts.append('What that is worth, 64 MiB copied:\n\n' + table(
            ['copy', 'µs', 'GB/s', 'of the limit', 'timer', 'cache'], copies))
    held = [bar for bar in data['bars'] if 'cuobjdump' in bar]
    if held:
        parts.append('The image that was captured of a library %s the one that '
                     'cuobjdump takes out of it.' % (
                         'is' if held[0]['ok'] else 'is not'))
    return '%s\n\n%s.' % ('\n\n'.join(parts), source(data, 'code'))


MADE = {'payoff': payoff, 'code': code, 'torch_peers': torch_peers, 'counters': counters,
        'compared': compared, 'ranks': ranks, 'allreduce': allreduce,
        'gemm_rs': gemm_rs, 'release_skew': release_skew,
        'ceilings': ceilings, 'accuracy': accuracy, 'raw': raw, 'peers': peers, 'cold': cold,
        'weights': weights, 'cost': cost, 'gemm': gemm, 'copy': copy,
        'summary': summary,
        'example': example}
PLACE = re.compile(r'(<!-- figures (\w+) -->\n).*?(<!-- end -->)', re.S)


def take_over(path, to):
    """Without the folders of that machine and its kernel's local name."""
    with open(path, encoding='utf-8') as file:
        text = file.read()

    def bare(match):
        words = match.group(2).split()
        return match.group(1) + ' '.join(map(os.path.basename, words)) + '"'
    text = re.sub(r'("process\.command_line": ")([^"]*)"', bare, text)
    text = re.sub(r'("host\.kernel": "Linux [0-9.]+)-[^"]*', r'\1', text)
    with open(to, 'w', encoding='utf-8') as file:
        file.write(text)


def made(name):
    try:
        return MADE[name]()
    except FileNotFoundError:
        return 'Not measured on a GPU yet.'


def main():
    check = sys.argv[1:] == ['--check']
    if len(sys.argv) == 2 and not check:
        for theirs, name in TAKEN.items():
            path = os.path.join(sys.argv[1], theirs + '.json')
            if os.path.exists(path):
                take_over(path, os.path.join(RESULTS, name + '-h200.json'))
            else:
                print('not there, so left as it was: ' + path)
    stale, seen = [], set()
    for page in PAGES:
        path = os.path.join(ROOT, page)
        with open(path, encoding='utf-8') as file:
            before = file.read()
        seen.update(name for _, name, _ in PLACE.findall(before))
        after = PLACE.sub(lambda m: m.group(1) + '\n' + made(m.group(2)) +
                          '\n\n' + m.group(3), before)
        if after == before:
            continue
        stale.append(page)
        if not check:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(after)
    lacking = sorted(set(MADE) - seen)
    if lacking:
        sys.exit('no page has a place for: ' + ', '.join(lacking))
    if check and stale:
        sys.exit('not of the recorded figures, run scripts/gpu_tables.py: ' +
                 ', '.join(stale))


if __name__ == '__main__':
    main()
