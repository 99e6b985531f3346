#!/usr/bin/env python3
"""What kmb compare costs on two files of many results: processor time, the
least of several runs, since others may use the machine.

usage: compare_files.py KMB [--results N] [--samples N] [--runs N] [--json FILE]

The files are made from a result that the library wrote; the points of the
second stand in the opposite order.
"""
import argparse
import copy
import json
import os
import pathlib
import platform
import random
import resource
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent / \
    'tests/fuzz/corpus/json/ok-real.json'


def make(path, count, samples, seed, lines):
    """A sweep over axes, as JSON lines or as one document."""
    document = json.loads(SOURCE.read_text(encoding='utf-8'))
    base = document['results'][0]
    random.seed(seed)
    order = range(count) if seed % 2 else range(count - 1, -1, -1)
    head = {k: v for k, v in document.items() if k != 'results'}
    results = []
    for i in order:
        time = 1e5 * (1 + random.gauss(0, 1e-4))
        result = copy.copy(base)
        result.update(
            axes=[{'key': 'm', 'value': str(1 + i % 100)},
                  {'key': 'n', 'value': str(i // 100)},
                  {'key': 'dtype', 'value': 'bf16'}],
            time_ns=time, interval_low_ns=time - 100,
            interval_high_ns=time + 100, findings=[],
            # As a tracer has them: whole nanoseconds.
            samples_ns=[round(time * (1 + random.gauss(0, 0.01)) / 32) * 32.0
                        for _ in range(samples)])
        results.append(result)
    with open(path, 'w', encoding='utf-8') as file:
        for result in results if lines else []:
            json.dump(dict(head, results=[result]), file)
            file.write('\n')
        if not lines:
            json.dump(dict(head, results=results), file)


def cost(kmb, old, new):
    """User and system time of one run, and its wall time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([kmb, 'compare', old, new], stdout=subprocess.DEVNULL,
                          check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit('kmb compare gave %d' % done.returncode)
    return (after.ru_utime - before.ru_utime,
            after.ru_stime - before.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('kmb')
    parser.add_argument('--results', type=int, default=10000)
    parser.add_argument('--samples', type=int, default=400)
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--json')
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        old, new = os.path.join(folder, 'old'), os.path.join(folder, 'new')
        for name, samples, lines in (
                ('JSON lines', 0, True), ('one document', 0, False),
                ('JSON lines, samples', args.samples, True),
                ('one document, samples', args.samples, False)):
            make(old, args.results, samples, 1, lines)
            make(new, args.results, samples, 2, lines)
            best = min((cost(args.kmb, old, new) for _ in range(args.runs)),
                       key=sum)
            size = os.path.getsize(old) + os.path.getsize(new)
            rows.append({'files': name, 'results': args.results,
                         'samples': samples, 'bytes': size,
                         'user_s': best[0], 'system_s': best[1],
                         'cpu_s': sum(best)})
            print('%-22s %8.1f MB  user %.3f s  system %.3f s  in sum %.3f s'
                  % (name, size / 1e6, *best, sum(best)), flush=True)
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as file:
            json.dump({'bench': 'compare_files', 'machine': platform.machine(),
                       'runs': args.runs, 'rows': rows}, file, indent=1)
            file.write('\n')


if __name__ == '__main__':
    main()
