#!/usr/bin/env python3
"""kmb compare: verdicts, exit statuses and bad input.

usage: compare.py KMB RESULT.json
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

KMB, RESULT = sys.argv[1:3]
with open(RESULT, encoding='utf-8') as given:
    DOCUMENT = json.load(given)
DOCUMENT['results'][0]['findings'] = []


def write(folder, name, *changes):
    document = copy.deepcopy(DOCUMENT)
    base = document['results'][0]
    document['results'] = []
    for change in changes:
        result = copy.deepcopy(base)
        time = change.get('time', 1e5)
        half = change.get('half', 100.0)
        result.update(time_ns=time, interval_low_ns=time - half,
                      interval_high_ns=time + half)
        for key, value in change.get('keys', {}).items():
            result['absent'].pop(key, None)
            result[key] = value
        document['results'].append(result)
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(document, file)
    return path


def run(*words):
    done = subprocess.run([KMB, 'compare', *words], capture_output=True,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def verdict_of(folder, old, new, *words):
    status, out, err = run(write(folder, 'old', old), write(folder, 'new', new),
                           '--json', *words)
    assert not err, err
    return status, json.loads(out)['comparisons'][0]


def a_verdict_needs_the_whole_interval(folder):
    for time, half, status, word in ((1.02e5, 100, 1, 'slower'),
                                     (0.98e5, 100, 0, 'faster'),
                                     (1.00e5, 100, 0, 'same'),
                                     (1.012e5, 400, 3, 'unresolved'),
                                     (0.988e5, 400, 3, 'unresolved')):
        got, row = verdict_of(folder, {}, {'time': time, 'half': half})
        assert (got, row['verdict']) == (status, word), (time, got, row)
        assert abs(row['ratio'] - time / 1e5) < 1e-12
        want = [(time - half) / 100100, (time + half) / 99900]
        assert all(abs(a - b) < 1e-12 for a, b in zip(row['interval'], want))


def the_threshold_is_the_callers(folder):
    assert verdict_of(folder, {}, {'time': 1.02e5}, '--threshold', '3%')[0] == 0
    assert verdict_of(folder, {}, {'time': 1.008e5}, '--threshold',
                      '0.5')[0] == 1


def spread_between_rounds_and_bias_enter(folder):
    rounds = {'round_low_ns': 0.97e5, 'round_high_ns': 1.05e5}
    assert verdict_of(folder, {}, {'time': 1.02e5, 'keys': rounds})[0] == 3
    bias = {'bias_uncertainty_ns': 1500.0}
    assert verdict_of(folder, {}, {'time': 1.02e5, 'keys': bias})[0] == 3


def another_way_is_refused_unless_told(folder):
    for key, value in (('timer', 'EVENT'), ('launch_mode', 'GRAPH'),
                       ('cache_state', 'WARM'), ('flops', 1),
                       ('least_bytes', 1),
                       ('metadata', {'device.name': 'another'})):
        new = {'keys': {key: value}}
        status, row = verdict_of(folder, {}, new)
        assert status == 2 and row['verdict'] == 'not comparable', (key, row)
        assert verdict_of(folder, {}, new, '--allow-different')[0] == 0, key


def a_doubted_result_has_no_verdict(folder):
    doubt = {'findings': [{'code': 'ABOVE_PEAK', 'severity': 'doubt',
                           'message': 'm', 'figures': {}}]}
    assert verdict_of(folder, {}, {'time': 2e5, 'keys': doubt})[0] == 3


def points_without_a_partner_are_no_pass(folder):
    two = ({}, {'keys': {'name': 'other'}})
    status, out, _ = run(write(folder, 'a', {}), write(folder, 'b', *two))
    assert status == 2 and 'only in the new: 1' in out
    assert run(write(folder, 'a', *two), write(folder, 'b', *two[::-1]))[0] == 0


def bad_files_are_named(folder):
    good, path = write(folder, 'good', {}), os.path.join(folder, 'bad')
    with open(good, encoding='utf-8') as file:
        text = file.read()
    for content in ('', text[:len(text) // 2],
                    text.replace('"version": 1', '"version": 99'),
                    text.replace('"time_ns": 100000.0', '"time_ns": -1.0'),
                    text.replace('"time_ns": 100000.0', '"time_ns": NaN')):
        assert content != text
        with open(path, 'w', encoding='utf-8') as file:
            file.write(content)
        status, out, err = run(good, path)
        assert status == 2 and path in err and not out, (content[:60], err)
    status, _, err = run(write(folder, 'twice', {}, {}), good)
    assert status == 2 and 'same axes' in err
    for words in ((good,), (good, good, good), (good, os.path.join(folder, 'x')),
                  (good, good, '--threshold', 'x'),
                  (good, good, '--format', 'x'), (good, good, '--no')):
        assert run(*words)[0] == 2, words


def a_table_for_a_pull_request(folder):
    path = write(folder, 'a', {})
    status, out, _ = run(path, path, '--format', 'md')
    assert status == 0 and out.startswith('| point |') and '| same |' in out


def main():
    with tempfile.TemporaryDirectory() as folder:
        a_verdict_needs_the_whole_interval(folder)
        the_threshold_is_the_callers(folder)
        spread_between_rounds_and_bias_enter(folder)
        another_way_is_refused_unless_told(folder)
        a_doubted_result_has_no_verdict(folder)
        points_without_a_partner_are_no_pass(folder)
        bad_files_are_named(folder)
        a_table_for_a_pull_request(folder)


main()
