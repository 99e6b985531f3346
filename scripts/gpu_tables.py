#!/usr/bin/env python3
"""The tables of docs/cuda.md and README.md from what was recorded on a GPU, in
bench/results/. Each stands between <!-- figures NAME --> and <!-- end -->.

usage: gpu_tables.py [FOLDER]   takes over the outputs of gpu-test.sh first
       gpu_tables.py --check    fails if a table is not that of its figures
"""
import json
import os
import re
import statistics
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
RESULTS = os.path.join(ROOT, 'bench', 'results')
PAGES = ['docs/cuda.md', 'docs/roofline.md', 'README.md']
# What gpu-test.sh calls it, and we.
TAKEN = {'accuracy': 'accuracy', 'moves': 'cold', 'cost': 'cost',
         'compare': 'compare', 'open': 'open', 'peers': 'peers', 'cuda_gemm': 'gemm',
         'cuda_copy': 'copy', 'ceilings': 'ceilings',
         'peers_ceilings': 'peers-ceilings'}
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


MADE = {'ceilings': ceilings, 'accuracy': accuracy, 'raw': raw, 'peers': peers, 'cold': cold,
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


def main():
    check = sys.argv[1:] == ['--check']
    if len(sys.argv) == 2 and not check:
        for theirs, name in TAKEN.items():
            take_over(os.path.join(sys.argv[1], theirs + '.json'),
                      os.path.join(RESULTS, name + '-h200.json'))
    stale, seen = [], set()
    for page in PAGES:
        path = os.path.join(ROOT, page)
        with open(path, encoding='utf-8') as file:
            before = file.read()
        seen.update(name for _, name, _ in PLACE.findall(before))
        after = PLACE.sub(lambda m: m.group(1) + '\n' + MADE[m.group(2)]() +
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
