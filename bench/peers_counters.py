#!/usr/bin/env python3
"""Counters of ours beside those that Nsight Compute read of the same kernels,
and beside the bars: JSON and a table. Where its page is absent, or a kernel or
a figure in it, that is said and not judged.

usage: peers_counters.py metrics
       peers_counters.py compare COUNTERS.json NCU.csv OUT.json
Exit status: 1 if a figure missed its bar."""
import csv
import json
import math
import statistics
import sys

# Points of a percentage, for kernels of at least 50 us and below; share of
# bytes; of a warm read: cold_ratio, rate of hits, bytes; wall time in ms; how
# often a kernel must write the last-level cache full for the bytes to be
# compared that went on to DRAM within it.
POINTS_LONG, POINTS_SHORT, LONG_US, BYTES = 2, 4, 50, 0.01
CACHES_WRITTEN = 4
RATIO, WARM_RATIO, WARM_HITS, WARM_BYTES, WALL_MS = 0.02, 0.02, 90, 0.01, 500
HIT = 'lts__t_sector_hit_rate.pct'
READ, WRITTEN = 'dram__bytes_read.sum', 'dram__bytes_write.sum'
NAME, PRODUCT, SMALL = 'Kernel Name', 'bf16 product', 'read 8 MiB'
COMPARED = ['sm__throughput.avg.pct_of_peak_sustained_elapsed',
            'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed',
            HIT, 'sm__warps_active.avg.pct_of_peak_sustained_active',
            READ, WRITTEN]
# Base units were asked for; the rest in case that is not heeded.
BYTE_UNITS = {'': 1, 'byte': 1, 'Kbyte': 1e3, 'Mbyte': 1e6, 'Gbyte': 1e9,
              'B': 1, 'KB': 1e3, 'MB': 1e6, 'GB': 1e9}


def number(metric, text, unit):
    """Of a cell such as 8,391,424; None: it holds none."""
    try:
        value = float(text.replace(',', ''))
        if 'bytes' in metric:
            value *= BYTE_UNITS[unit or '']
    except (ValueError, KeyError):
        return None
    return value if math.isfinite(value) else None


def read_ncu(path):
    """Its kernels in order of launch, each {NAME: ..., metric: value or None},
    and why there are none. The raw page: a line of names, one of units, then a
    line for each launch; ncu's own messages, which begin with ==, may stand
    around it. Pages of several processes may follow each other."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            lines = [line for line in file if line.strip()]
    except OSError as error:
        return [], 'no page of ncu: %s' % error.strerror
    head = next((i for i, line in enumerate(lines)
                 if line.startswith('"') and '"%s"' % NAME in line), None)
    if head is None:
        said = [line.strip() for line in lines
                if line.startswith(('==ERROR==', '==WARNING=='))]
        return [], 'ncu made no page: %s' % (said[0] if said else
                                             'its file holds no table')
    units, kernels = {}, []
    for row in csv.DictReader(line for line in lines[head:]
                              if line.startswith('"')):
        if not row.get('ID'):
            units = units or row
            continue
        if row['ID'] == 'ID':  # the page of a further process
            continue
        kernel = {m: number(m, row[m], units.get(m))
                  for m in COMPARED if row.get(m)}
        kernels.append({NAME: row.get(NAME) or '', **kernel})
    return kernels, '' if kernels else 'ncu saw no kernel'


def is_own(name):
    return name.startswith('test_')


def is_kernel(name, of_ours):
    """ncu demangles and may add the parameters."""
    return bool(of_ours) and (name == of_ours or
                              name.startswith(of_ours + '('))


def middle(kernels):
    """One kernel of several launches of it: of each figure the middle, and the
    least and the largest."""
    of = {m: [k[m] for k in kernels] for m in COMPARED
          if all(k.get(m) is not None for k in kernels)}
    return {NAME: kernels[0][NAME],
            **{m: statistics.median(v) for m, v in of.items()},
            'between': {m: [min(v), max(v)] for m, v in of.items()}}


def matched(cold, ncu, why):
    """Each of ours with its kernel there, and why there is none. The tests'
    own were launched in the same order, once or several times over; the
    product's is found by its name, else it is the only other one."""
    own = [r for r in ncu if is_own(r[NAME])]
    others = [r for r in ncu if not is_own(r[NAME])]
    ours = [r for r in cold if r['name'] != PRODUCT]
    pairs = []
    for row in cold:
        other = None
        if row['name'] != PRODUCT:
            places = own[ours.index(row)::len(ours)]
            reason = 'ncu saw %d kernels of the tests, not %d or times as ' \
                'many' % (len(own), len(ours))
            if own and len(own) % len(ours) == 0:
                wrong = [k for k in places if row.get('kernel') and
                         not is_kernel(k[NAME], row['kernel'])]
                if wrong:
                    reason = 'in its place ncu saw %s' % wrong[0][NAME]
                else:
                    other = middle(places)
        else:
            named = [r for r in others if is_kernel(r[NAME],
                                                    row.get('kernel'))]
            if not named and len({r[NAME] for r in others}) == 1:
                named = others
            other = middle(named) if named else None
            reason = 'ncu saw %d others, none of the name %s' % (
                len(others), row.get('kernel'))
        pairs.append((row, other, why or reason))
    return pairs


def allowed(row, metric, value):
    """None: it is shown, not judged. Of what a kernel writes, what the cache
    has not written back when the kernel ends is in no counter of its, and what
    was dirty before it is: both depend on how the cache was cleaned."""
    if metric == READ:
        return BYTES * value
    if metric == WRITTEN:
        return BYTES * (value + row['metrics'].get(READ, 0)) \
            if row['writes_much'] else None
    if row.get('time_us') is None:
        return POINTS_LONG
    return POINTS_LONG if row['time_us'] >= LONG_US else POINTS_SHORT


def beside(row, theirs, why):
    figures = []
    for metric in COMPARED:
        ours = row.get('metrics', {}).get(metric)
        ncu = (theirs or {}).get(metric)
        figure = {'metric': metric, 'ok': None}
        figures.append(figure)
        if ours is not None:
            figure['ours'] = ours
        if ncu is not None:
            figure['ncu'] = ncu
        if ours is None or ncu is None:
            figure['bar'] = why if theirs is None else \
                '%s has no number of it' % ('ncu' if ncu is None else 'ours')
            continue
        limit = allowed(row, metric, ncu)
        if limit is None:
            figure['bar'], figure['ok'] = 'shown beside ncu\'s %.6g' % ncu, True
            continue
        # It is as far off as it is from what ncu reads in any process.
        low, high = theirs['between'][metric]
        figure['allowed'] = limit
        figure['ncu_between'] = [low, high]
        figure['ok'] = low - limit <= ours <= high + limit
    return figures


def judged(name, value, bar, holds):
    """A figure that is not known is absent, not missed."""
    figure = {'metric': name, 'bar': bar,
              'ok': None if value is None else holds(value)}
    if value is not None:
        figure['ours'] = value
    return figure


def is_apart(row, metric):
    """Whether what was read with a kept session is another number. A part of a
    warm read's bytes that is small enough is the same as none."""
    one, other = (row[key].get(metric) for key in ('metrics', 'metrics_kept'))
    if one is None or other is None:
        return one is not other
    limit = allowed(row, metric, max(one, other))
    if metric == READ and row['state'] == 'warm':
        limit = WARM_BYTES * (8 << 20)
    return limit is not None and abs(one - other) > limit


def own(row):
    """What needs nobody beside it."""
    warm, metrics = row['state'] == 'warm', row.get('metrics', {})
    figures = []
    if row['name'] == SMALL:
        ratio = row.get('cold_ratio')
        figures.append(judged('confirm_cold ratio', ratio, '< %g' % WARM_RATIO,
                              lambda r: r < WARM_RATIO) if warm else
                       judged('confirm_cold ratio', ratio, '1 +- %g' % RATIO,
                              lambda r: abs(r - 1) <= RATIO))
        first, second = row.get('wall_ms', [None, None])
        figures.append(judged('first call, ms', first, '<= %d' % WALL_MS,
                              lambda ms: ms <= WALL_MS))
        if not warm:
            figures.append(judged('second call, ms', second, 'shown',
                                  lambda ms: True))
            figures.append(judged(
                'second call with KMB_COUNTERS_KEEP, ms',
                None if first is None else row.get('kept_ms'),
                '<= half of the first', lambda ms: ms <= first / 2))
    if row['name'] == SMALL and warm:
        read = metrics.get(READ)
        figures += [judged('L2 hit rate, %', metrics.get(HIT),
                           '> %d' % WARM_HITS, lambda hits: hits > WARM_HITS),
                    judged('DRAM bytes read over touched',
                           None if read is None else read / (8 << 20),
                           '< %g' % WARM_BYTES, lambda s: s < WARM_BYTES)]
    if 'metrics_kept' in row:
        apart = [m for m in COMPARED if is_apart(row, m)]
        figures.append({
            'metric': 'figures as without KMB_COUNTERS_KEEP',
            'ours': len(COMPARED) - len(apart), 'ok': not apart,
            'bar': 'all %d%s' % (len(COMPARED), ', not ' + ', '.join(apart)
                                 if apart else '')})
    if 'occupancy' in row and row['name'] != PRODUCT and not warm:
        figures.append(judged('the driver counts as many blocks',
                              row['occupancy']['checked'], 'yes', bool))
    return figures


def show(rows):
    for row in rows:
        for f in row['figures']:
            print('%-22s %-5s %-64s %14s %14s %s' % (
                row['name'], row['state'], f['metric'],
                '%.6g' % f['ours'] if 'ours' in f else '-',
                '%.6g' % f['ncu'] if 'ncu' in f else '-',
                {True: 'ok', False: 'FAILED'}.get(
                    f['ok'], 'absent: ' + f.get('bar', ''))))


def compare(ours, theirs, out):
    with open(ours, encoding='utf-8') as file:
        document = json.load(file)
    rows = document['counters']
    for row in rows:
        row['writes_much'] = row.get('written_bytes', 0) >= \
            CACHES_WRITTEN * document.get('llc_bytes', math.inf)
        row['figures'] = own(row)
    kernels, why = read_ncu(theirs)
    cold = [r for r in rows if r['state'] == 'cold']
    for row, other, reason in matched(cold, kernels, why):
        row['ncu_kernel'] = other[NAME] if other else None
        row['figures'] += beside(row, other, reason)
    show(rows)
    with open(out, 'w', encoding='utf-8') as file:
        json.dump(document, file, indent=1)
        file.write('\n')
    states = [f['ok'] for row in rows for f in row['figures']]
    return int(False in states)


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
