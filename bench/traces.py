#!/usr/bin/env python3
"""What loading and analysing a trace costs: time and memory of `kmb gaps` for
one made-up trace in CSV, SQLite and JSON, beside reading the CSV with pandas.

usage: traces.py KMB [--json FILE] [--kernels N] [--runs N] [--large]

Times are those of the processor (user and system), the best of the runs: others
on the machine disturb them least. --large adds ten million kernels (1.9 GB of
CSV). pandas is left out where it is not installed. Exit status: 0 if every
figure met its bar, 1 if not.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PANDAS = ('import sys, pandas\n'
          'frame = pandas.read_csv(sys.argv[1])\n'
          'print(len(frame))\n')
IMPORT = 'import pandas\n'
CONSTANT = 32 << 20


def cost(words):
    """(seconds of the processor, peak bytes) of one run."""
    with open(os.devnull, 'wb') as null:
        child = subprocess.Popen(words, stdout=null)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
    if status:
        raise SystemExit('%s failed' % words[0])
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def best(words, runs):
    costs = [cost(words) for _ in range(runs)]
    return min(c[0] for c in costs), max(c[1] for c in costs)


def make(folder, kind, count):
    path = os.path.join(folder, '%d.%s' % (count, kind))
    subprocess.run([sys.executable, os.path.join(HERE, 'trace_make.py'), kind,
                    str(count), path], check=True)
    return path


def has_pandas():
    done = subprocess.run([sys.executable, '-c',
                           'import pandas; print(pandas.__version__)'],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class Report:
    def __init__(self):
        self.rows, self.missed = [], False

    def add(self, figure, value, bar=None, most=True):
        met = bar is None or (value <= bar if most else value >= bar)
        self.missed = self.missed or not met
        self.rows.append({'figure': figure, 'value': value, 'bar': bar,
                          'met': met})
        limit = '' if bar is None else '  (%s %.4g%s)' % (
            'at most' if most else 'at least', bar, '' if met else ', MISSED')
        print('%-58s %10.4g%s' % (figure, value, limit))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('kmb')
    parser.add_argument('--json')
    parser.add_argument('--kernels', type=int, default=1000000)
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--large', action='store_true')
    options = parser.parse_args()
    report, count, runs = Report(), options.kernels, options.runs

    def gaps(path):
        return best([options.kmb, 'gaps', path, '--kernel', 'flash'], runs)

    with tempfile.TemporaryDirectory() as folder:
        csv = make(folder, 'csv', count)
        size = os.path.getsize(csv)
        seconds, peak = gaps(csv)
        report.add('CSV of %d rows, MB' % count, size / 1e6)
        report.add('CSV: load and analyse, s', seconds)
        report.add('CSV: MB/s', size / 1e6 / seconds)
        report.add('peak bytes an operation, 32 MB aside',
                   max(0, peak - CONSTANT) / count, 64)
        version = has_pandas()
        if version:
            whole, _ = best([sys.executable, '-c', PANDAS, csv], runs)
            start, _ = best([sys.executable, '-c', IMPORT], runs)
            report.add('pandas %s read_csv alone, s' % version, whole - start)
            report.add('pandas / kmb gaps', (whole - start) / seconds, 4, False)
        else:
            print('pandas is not installed: no comparison')
        for kind, bar in (('sqlite', 2), ('json', 4)):
            path = make(folder, kind, count)
            report.add('%s / CSV' % kind, gaps(path)[0] / seconds, bar)
            os.unlink(path)
        sizes = [count // 100, count // 10] + (
            [10 * count] if options.large else [])
        for other in sizes:
            path = make(folder, 'csv', other)
            time, peak = gaps(path)
            report.add('CSV of %d rows: ns a row' % other, 1e9 * time / other)
            if other > count:
                report.add('peak bytes an operation, 32 MB aside',
                           max(0, peak - CONSTANT) / other, 64)
                report.add('cost a row / that of %d rows' % count,
                           time / other / (seconds / count), 1.3)
            os.unlink(path)
        report.add('CSV of %d rows: ns a row' % count, 1e9 * seconds / count)
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file:
            json.dump({'machine': platform.platform(), 'runs': runs,
                       'figures': report.rows}, file, indent=1)
            file.write('\n')
    return 1 if report.missed else 0


if __name__ == '__main__':
    sys.exit(main())
