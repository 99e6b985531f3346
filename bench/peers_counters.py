#!/usr/bin/env python3
"""Counters of ours beside those that Nsight Compute read of the same kernels,
and beside the bars: JSON and a table.

usage: peers_counters.py metrics
       peers_counters.py compare COUNTERS.json NCU.csv OUT.json"""
import csv
import json
import sys

# Points of a percentage, for kernels of at least 50 us and below; share of
# bytes; of a warm read: cold_ratio and rate of hits; wall time in ms.
POINTS_LONG, POINTS_SHORT, LONG_US, BYTES = 2, 4, 50, 0.01
RATIO, WARM_RATIO, WARM_HITS, WALL_MS = 0.02, 0.02, 90, 500
HIT = 'lts__t_sector_hit_rate.pct'
READ = 'dram__bytes_read.sum'
NAME, PRODUCT = 'Kernel Name', 'bf16 product'
COMPARED = ['sm__throughput.avg.pct_of_peak_sustained_elapsed',
            'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed',
            HIT, 'sm__warps_active.avg.pct_of_peak_sustained_active',
            READ]


def read_ncu(path):
    """Rows of the raw page: below a line of names one of units. ncu's own
    messages may precede them."""
    with open(path, encoding='utf-8') as file:
        lines = [l for l in file if l.startswith('"')]
    rows = list(csv.DictReader(lines))
    return [{k: v if k == NAME else float(v.replace(',', ''))
             for k, v in row.items() if k in COMPARED + [NAME] and v}
            for row in rows if row.get('ID')]


def matched(cold, ncu):
    """Each of ours with its kernel there: the tests' own in order, and the
    first other one for the product. What is not there gives {}."""
    own = iter([r for r in ncu if r.get(NAME, '').startswith('test_')])
    other = iter([r for r in ncu if not r.get(NAME, '').startswith('test_')])
    return [(row, next(other if row['name'] == PRODUCT else own, {}))
            for row in cold]


def bar(metric, ours, time_us):
    if metric == READ:
        return BYTES * ours
    return POINTS_LONG if time_us >= LONG_US else POINTS_SHORT


def beside(row, theirs):
    figures = []
    for metric in COMPARED:
        if metric not in row['metrics'] or metric not in theirs:
            figures.append({'metric': metric, 'ok': False,
                            'why': 'one of the two lacks it'})
            continue
        ours = row['metrics'][metric]
        allowed = bar(metric, ours, row['time_us'])
        figures.append({'metric': metric, 'ours': ours,
                        'ncu': theirs[metric], 'allowed': allowed,
                        'ok': abs(ours - theirs[metric]) <= allowed})
    return figures


def own(row):
    """What needs nobody beside it."""
    warm = row['state'] == 'warm'
    reads = row['name'].startswith('read 8 MiB')
    figures = []
    if reads:
        ratio = row['cold_ratio']
        figures.append({'metric': 'cold_ratio', 'ours': ratio,
                        'bar': '< %g' % WARM_RATIO if warm
                        else '1 +- %g' % RATIO,
                        'ok': ratio < WARM_RATIO if warm
                        else abs(ratio - 1) <= RATIO})
        first, second = row['wall_ms']
        figures.append({'metric': 'wall_ms', 'ours': first,
                        'bar': '<= %d' % WALL_MS,
                        'ok': first <= WALL_MS})
        figures.append({'metric': 'second wall_ms', 'ours': second,
                        'bar': 'half of the first',
                        'ok': warm or second <= first / 2})
    if warm:
        hits, share = row['metrics'][HIT], row['metrics'][READ] / (8 << 20)
        figures += [{'metric': HIT, 'ours': hits, 'bar': '> %d' % WARM_HITS,
                     'ok': hits > WARM_HITS},
                    {'metric': READ + ' over touched', 'ours': share,
                     'bar': '< 0.01', 'ok': share < 0.01}]
    return figures


def compare(ours, theirs, out):
    with open(ours, encoding='utf-8') as file:
        document = json.load(file)
    cold = [r for r in document['counters'] if r['state'] == 'cold']
    for row in document['counters']:
        row['figures'] = own(row)
    for row, other in matched(cold, read_ncu(theirs)):
        row['ncu_kernel'] = other.get(NAME)
        row['figures'] += beside(row, other)
    failed = 0
    for row in document['counters']:
        for f in row['figures']:
            failed += not f['ok']
            print('%-22s %-5s %-64s %14.6g %14s %s' % (
                row['name'], row['state'], f['metric'],
                f.get('ours', float('nan')),
                '%.6g' % f['ncu'] if 'ncu' in f else '-',
                'ok' if f['ok'] else 'FAILED'))
    with open(out, 'w', encoding='utf-8') as file:
        json.dump(document, file, indent=1)
    return failed != 0


def main(arguments):
    if arguments == ['metrics']:
        print(','.join(COMPARED))
        return 0
    if len(arguments) == 4 and arguments[0] == 'compare':
        return compare(*arguments[1:])
    print(__doc__)
    return 2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
