#!/usr/bin/env python3
"""kmb compare: verdicts, exit statuses and bad input.

usage: compare.py KMB RESULT.json
"""
import copy
import json
import os
import pty
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


def the_order_of_members_is_nothing(folder):
    path, other = write(folder, 'a', {}), os.path.join(folder, 'turned')
    with open(path, encoding='utf-8') as file:
        document = json.load(file)

    def turned(value):
        if isinstance(value, dict):
            return {k: turned(v) for k, v in reversed(value.items())}
        return [turned(v) for v in value] if isinstance(value, list) else value
    with open(other, 'w', encoding='utf-8') as file:
        json.dump(turned(document), file)
    for files in ((path, other), (other, path)):
        status, out, err = run(*files, '--json')
        assert (status, err) == (0, ''), err
        found = json.loads(out)
        assert found['comparisons'][0]['verdict'] == 'same'
        assert found['differences'] == []


def results_of_a_long_document_are_read_apart(folder):
    """What is odd about it is said as of a short one."""
    points = [axes_of(('m', str(i))) for i in range(40)]
    path, other = write(folder, 'a', *points), os.path.join(folder, 'b')
    with open(path, encoding='utf-8') as file:
        text = file.read()
    assert len(text) > 65536
    end = text.rindex(']')
    middle = text.index(', {"axes"', len(text) // 2)
    good = (
        text.replace('": ', '" :\t').replace(', {', '\n,\r\n{'),
        '  ' + text + '\n\n',
        text[:end] + ']' + ', "more": {"results": [1, "]}"]}}',
        '{"a": "\\"results\\": [", "b": [{}], ' + text[1:],
        '{"results": []}'.join(['{"x": ', ', ' + text[1:]]))
    for content in good:
        assert content != text
        with open(other, 'w', encoding='utf-8') as file:
            file.write(content)
        status, out, err = run(path, other)
        assert (status, err) == (0, '') and '40 same' in out, (content[:80], err)
    last = '"value": "39"'
    bad = (
        (text[:middle] + ',' + text[middle:], 'JSON line 1, column %d' %
         (middle + 2)),
        (text[:middle] + text[middle + 1:], 'JSON line 1, column %d' %
         (middle + 2)),
        (text[:end] + ',]}', 'JSON line 1, column %d' % (end + 2)),
        (text[:end] + '] x}', 'JSON line 1'),
        (text[:end] + '], "version": 1}', 'two keys "version"'),
        (text[:end] + '], "results": []}', 'two keys "results"'),
        (text + 'x', 'line 1: a document of results was expected'),
        (text.replace(last, '"value": 39'), 'results[39].axes'),
        (text.replace('"version": 1', '"version": 9', 1), 'version 9'),
        (text[:middle] + ', 5' + text[middle:], 'results[%d]: not an object' %
         (text[:middle].count('{"axes"'))))
    for content, said in bad:
        assert content != text
        with open(other, 'w', encoding='utf-8') as file:
            file.write(content)
        status, out, err = run(path, other)
        assert status == 2 and not out and said in err, (said, err)


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
    assert status == 2 and 'same name and axes' in err
    for words in ((good,), (good, good, good), (good, os.path.join(folder, 'x')),
                  (good, good, '--threshold', 'x'),
                  (good, good, '--format', 'x'), (good, good, '--no')):
        assert run(*words)[0] == 2, words


def documents(folder, name, *changes):
    """JSON lines: a document a result."""
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        for change in changes:
            with open(write(folder, 'line', change), encoding='utf-8') as one:
                file.write(one.read() + '\n')
    return path


def axes_of(*pairs):
    return {'keys': {'axes': [{'key': k, 'value': v} for k, v in pairs]}}


def json_lines_are_read(folder):
    two = (axes_of(('m', '1')), axes_of(('m', '2')))
    lines, whole = documents(folder, 'l', *two), write(folder, 'w', *two)
    status, out, err = run(lines, whole)
    assert (status, err) == (0, '') and out.startswith('Metadata') is False
    assert '2 same' in out
    with open(lines, 'a', encoding='utf-8') as file:
        file.write('garbage')
    status, out, err = run(lines, whole)
    assert status == 2 and not out and 'line 3: ' in err, err


def a_last_line_cut_short_is_said(folder):
    """An interrupted run: what is whole is shown, and it is no pass."""
    points = [axes_of(('m', str(i))) for i in range(3)]
    whole = documents(folder, 'w', *points)
    with open(whole, encoding='utf-8') as file:
        text = file.read()
    lines = text.split('\n')
    before = len(lines[0]) + len(lines[1]) + 2
    path = os.path.join(folder, 'cut')
    # At any byte but the last, which is the closing brace.
    for size in (1, 20, len(lines[2]) // 2, len(lines[2]) - 1):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text[:before + size])
        for old, new in ((path, whole), (whole, path), (path, path)):
            status, out, err = run(old, new)
            assert status == 2 and 'starts in line 3 has no end' in err, err
            assert 'the 2 results before it are whole' in err
            assert '2 same' in out, out
        status, out, _ = run(path, path, '--json')
        assert status == 2 and json.loads(out)['cut_short'] is True
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text[:len(lines[0]) - 1])
    status, out, err = run(path, path)
    assert status == 2 and not out and 'none precedes it' in err, err
    slow = documents(folder, 's', *[dict(p, time=2e5) for p in points])
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text[:before + 9])
    assert run(path, slow)[0] == 1


def the_order_of_axes_is_nothing(folder):
    a = write(folder, 'a', axes_of(('m', '1'), ('n', '2')),
              axes_of(('m', '2'), ('n', '1')), axes_of(('mn', '12')))
    b = write(folder, 'b', axes_of(('mn', '12')), axes_of(('n', '1'), ('m', '2')),
              axes_of(('n', '2'), ('m', '1')))
    status, out, _ = run(a, b)
    assert status == 0 and '3 same' in out
    for other in (axes_of(('m', '1')), axes_of(('m', '1'), ('n', '3')),
                  axes_of(('m', '1'), ('n', '2'), ('k', '3'))):
        status, out, _ = run(write(folder, 'a', axes_of(('m', '1'), ('n', '2'))),
                             write(folder, 'b', other))
        assert status == 2 and 'only in the old file: ' in out
        assert 'm=1 n=2' in out


def an_axis_can_be_ignored(folder):
    a = write(folder, 'a', axes_of(('m', '1'), ('by', 'x')))
    b = write(folder, 'b', axes_of(('m', '1'), ('by', 'y')))
    assert run(a, b)[0] == 2
    assert run(a, b, '--ignore-axis', 'by')[0] == 0
    both = write(folder, 'c', axes_of(('m', '1'), ('by', 'x')),
                 axes_of(('m', '1'), ('by', 'y')))
    status, _, err = run(both, a, '--ignore-axis', 'by')
    assert status == 2 and 'results 1 and 2' in err


def an_axis_to_ignore_must_be_somewhere(folder):
    a = write(folder, 'a', axes_of(('m', '1')), axes_of(('m', '2')))
    b = write(folder, 'b', axes_of(('m', '1')),
              axes_of(('m', '2'), ('by', 'y')))
    for words in ((a, b), (b, a), (a, b, '--json'), (a, b, '--format', 'md')):
        status, out, err = run(*words, '--ignore-axis', 'by', '--ignore-axis',
                               'bye')
        assert status == 2 and not out, (words, out)
        assert err == 'kmb: --ignore-axis: no result of %s or %s has an ' \
                      'axis "bye"\n' % words[:2], err
        assert run(*words, '--ignore-axis', 'by')[0] == 0


def devices_are_not_mixed(folder):
    def on(name, axis):
        return {'keys': dict(axes_of(('m', axis))['keys'],
                             metadata={'device.name': name})}
    a = write(folder, 'a', on('one', '1'), on('two', '2'))
    status, out, _ = run(a, a, '--format', 'md')
    assert status == 0 and 'device one, two' in out
    status, out, _ = run(a, write(folder, 'b', on('one', '1'), on('one', '2')),
                         '--json')
    rows = json.loads(out)['comparisons']
    assert status == 2 and [r['verdict'] for r in rows] == [
        'same', 'not comparable']
    assert rows[1]['reason'] == 'device: two and one'
    twice = write(folder, 'c', on('one', '1'), on('two', '1'))
    assert run(twice, a)[0] == 2
    mig = {'keys': {'metadata': {'device.mig': 'on'}}}
    assert run(write(folder, 'a', {}), write(folder, 'b', mig))[0] == 2


def metadata_that_differ_come_first(folder):
    old = {'device.driver_version': '1', 'time.utc': 'a', 'kmb.version': '0.1',
           'telemetry.before.clock_mhz': '1980',
           'telemetry.after.clock_mhz': '1980', 'note.next': 'x',
           'telemetry.after.temperature_c': '30', 'host.cpu': 'one'}
    new = {'host.kernel': '6', 'device.driver_version': '2', 'time.utc': 'b',
           'kmb.version': '0.1', 'telemetry.before.clock_mhz': '1410',
           'telemetry.after.clock_mhz': '1979', 'note.next': 'y',
           'telemetry.after.temperature_c': '60'}
    a = write(folder, 'a', {'keys': {'metadata': old}})
    b = write(folder, 'b', {'keys': {'metadata': new}})
    for words in ((), ('--format', 'md')):
        status, out, _ = run(a, b, *words)
        head = out[:out.index('\n\n', 30)]
        assert status == 0 and out.startswith('Metadata that differ:'), out
        assert 'device.driver_version: 1 -> 2' in head
        assert 'telemetry.before.clock_mhz: 1980 -> 1410' in \
            head.replace('\\', '')
        assert 'host.cpu: one -> unknown' in head
        assert 'host.kernel: unknown -> 6' in head
        for quiet in ('time.utc', 'temperature', 'note', 'after', 'version: 0'):
            assert quiet not in head, (quiet, head)
    status, out, _ = run(a, b, '--json')
    assert len(json.loads(out)['differences']) == 4
    assert 'Metadata' not in run(a, a)[1]


def every_identity_counts(folder):
    for key, value in (('zero_reference', 'x'), ('work_convention', 'x'),
                       ('work_dtype', 'f16'), ('touched_bytes', 1),
                       ('threads', 7)):
        got, row = verdict_of(folder, {}, {'keys': {key: value}})
        assert got == 2 and row['verdict'] == 'not comparable', key


def a_time_that_is_zero_has_no_ratio(folder):
    zero = {'time': 0.0, 'half': 0.0}
    status, row = verdict_of(folder, {}, zero)
    assert status == 3 and 'ratio' not in row


def rows_follow_the_old_file(folder):
    points = [axes_of(('m', m)) for m in ('9', '1', '5')]
    a, b = write(folder, 'a', *points), write(folder, 'b', *points[::-1])
    rows = json.loads(run(a, b, '--json')[1])['comparisons']
    assert [r['axes'][0]['value'] for r in rows] == ['9', '1', '5']


def columns(line):
    """Of a row of a table; a bar behind a backslash is no border."""
    return [c.strip() for c in
            line.replace('\\|', '\0').strip().strip('|').split('|')]


def a_table_has_what_a_reader_needs(folder):
    keys = {'metadata': {'device.name': 'GPU|1', 'device.driver_version': '580',
                         'kmb.version': '0.1.0', 'revision.commit': 'abc',
                         'revision.tree': 'dirty',
                         'telemetry.before.clock_mhz': '1980',
                         'telemetry.after.clock_mhz': '1410'},
            'axes': [{'key': 'm', 'value': '1|2'},
                     {'key': 'k\n', 'value': '<b>_x_</b>\n`a`'}],
            'timer': 'TRACE', 'cache_state': 'COLD'}
    compute = dict(keys, observed_bound='compute', achieved_flops=6.425e14,
                   config=3)
    memory = dict(keys, observed_bound='neither', predicted_bound='memory',
                  achieved_bytes_per_s=2.7e12, name='other')
    both = dict(keys, observed_bound='neither', predicted_bound='unknown',
                achieved_flops=1e12, achieved_bytes_per_s=1e9, name='third')
    none = dict(keys, name='fourth')
    olds = [dict(compute, config=0), memory, both, none]
    a = write(folder, 'a', *[{'keys': k} for k in olds])
    b = write(folder, 'b', *[{'keys': k, 'time': 1.05e5}
                             for k in (compute, memory, both, none)])
    status, out, _ = run(a, b, '--format', 'md')
    assert status == 1
    lines = out.split('\n')
    at = next(i for i, l in enumerate(lines) if l.startswith('|'))
    head, rows = columns(lines[at]), [columns(l) for l in lines[at + 2:at + 6]]
    assert head == ['name', 'm', 'k', 'old', 'new', 'old µs', 'new µs',
                    'new/old (interval)', 'verdict', 'configuration'], head
    assert len(columns(lines[at + 1])) == len(head)
    assert all(len(r) == len(head) for r in rows), rows
    assert rows[0][1] == '1\x002'
    assert rows[0][2] == '&lt;b&gt;\\_x\\_&lt;/b&gt; \\`a\\`', rows[0][2]
    assert rows[0][3:7] == ['642.5 TFLOP/s'] * 2 + ['100.0', '105.0']
    assert rows[0][7] == '1.0500 (1.0480 to 1.0521)', rows[0][7]
    assert rows[0][8:] == ['slower', '3']
    assert rows[1][3] == '2700 GB/s' and rows[1][9] == ''
    assert rows[2][3] == '1.000 TFLOP/s, 1.000 GB/s'
    assert rows[3][3] != '-'
    foot = out.strip().split('\n')[-1]
    for word in ('device GPU\\|1', 'clocks 1410 to 1980 MHz', 'timer TRACE',
                 'cache COLD', 'libkmb 0.1.0, driver 580', 'commit abc (dirty)'):
        assert word in foot, (word, foot)


def control_characters_do_not_reach_a_terminal(folder):
    point = axes_of(('m', '\x1b[31m\x9b1\r'))
    path = write(folder, 'a', point)
    for words in ((), ('--format', 'md')):
        out = run(path, path, *words)[1]
        assert not any(ord(c) < 32 and c != '\n' or 127 <= ord(c) < 160
                       for c in out), out


def nothing_is_coloured_but_on_a_terminal(folder):
    a, b = write(folder, 'a', {}), write(folder, 'b', {'time': 2e5})
    assert '\x1b' not in run(a, b)[1]
    for environment, coloured in (({'TERM': 'xterm'}, True),
                                  ({'TERM': 'dumb'}, False), ({}, False),
                                  ({'TERM': 'xterm', 'NO_COLOR': '1'}, False)):
        base = {k: v for k, v in os.environ.items()
                if k not in ('TERM', 'NO_COLOR')}
        out = on_terminal([KMB, 'compare', a, b], dict(base, **environment))
        assert ('\x1b' in out) == coloured, environment
        # The word is there whatever the colour.
        assert 'slower' in out


def on_terminal(words, environment):
    leader, follower = pty.openpty()
    with subprocess.Popen(words, stdout=follower, env=environment) as process:
        os.close(follower)
        out = b''
        try:
            while part := os.read(leader, 65536):
                out += part
        except OSError:
            pass
        process.wait()
    os.close(leader)
    return out.decode()


def output_that_cannot_be_written_is_no_pass(folder):
    path = write(folder, 'a', {})
    for words in ((), ('--json',), ('--format', 'md')):
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([KMB, 'compare', path, path, *words],
                                  stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        assert done.returncode == 2 and b'could not be written' in done.stderr


def code_of(*kernels, unseen=0):
    rows = [{'name': name, 'grid': [1, 1, 1], 'block': [32, 1, 1],
             'launches': 1, 'dynamic_shared_bytes': 0, 'sha256': image * 64,
             **({'code_sha256': code * 64, 'code_offset': 64, 'code_bytes': 16}
                if code else {})} for name, image, code in kernels]
    return {'keys': {'code': rows, 'code_omitted': 0, 'code_unseen': unseen}}


def the_same_code_is_told_from_another(folder):
    old = code_of(('gemm', '0', 'a'), ('copy', '0', 'b'))
    for new, word, kernels in (
            (code_of(('gemm', '1', 'a'), ('copy', '1', 'b')), 'same code',
             ['same code', 'same code']),
            (code_of(('gemm', '1', 'a'), ('copy', '1', 'c')), 'different code',
             ['same code', 'different code']),
            (code_of(('gemm', '1', 'a')), 'different code',
             ['same code', 'different code']),
            (code_of(('gemm', '1', 'a'), ('copy', '1', None)), 'unknown code',
             ['same code', 'unknown code']),
            (code_of(('gemm', '1', 'a'), unseen=1), 'unknown code',
             ['same code', 'unknown code']),
            ({}, 'unknown code', ['unknown code', 'unknown code'])):
        status, row = verdict_of(folder, old, new)
        assert status == 0 and row['code'] == word, (new, row)
        assert [k['code'] for k in row['kernels']] == kernels, row
        for kernel in row['kernels']:
            assert ('reason' in kernel) == (kernel['code'] == 'unknown code')
    status, row = verdict_of(folder, {}, {})
    assert status == 0 and 'code' not in row and 'kernels' not in row
    files = (write(folder, 'old', old), write(
        folder, 'new', code_of(('gemm', '1', 'c'), ('fill', '1', 'd'))))
    status, out, err = run(*files)
    assert status == 0 and not err
    text = out[out.index('Code of the kernels:\n'):].splitlines()
    assert text[1].endswith('  different code')
    assert text[2:] == ['  gemm  different code',
                        '  copy  only in the old result',
                        '  fill  only in the new result'], text
    status, out, _ = run(*files, '--format', 'md')
    assert status == 0 and '  - gemm  different code\n' in out
    status, out, _ = run(write(folder, 'old', {}), write(folder, 'new', {}))
    assert status == 0 and 'Code' not in out


def no_permission_is_said(folder):
    status, _, err = run(folder, folder)
    assert status == 2 and 'directory' in err.lower(), err
    path = write(folder, 'locked', {})
    os.chmod(path, 0)
    if not os.access(path, os.R_OK):
        status, _, err = run(path, path)
        assert status == 2 and 'Permission denied' in err


def ten_thousand_results_are_compared(folder):
    path, order = os.path.join(folder, 'many'), list(range(10000))
    for name, points in (('old', order), ('new', order[::-1])):
        document = copy.deepcopy(DOCUMENT)
        base = dict(document['results'][0], time_ns=1e5, interval_low_ns=99900.0,
                    interval_high_ns=100100.0)
        document['results'] = [
            dict(base, axes=[{'key': 'm', 'value': str(i)}]) for i in points]
        with open(path + name, 'w', encoding='utf-8') as file:
            json.dump(document, file)
    status, out, _ = run(path + 'old', path + 'new')
    assert status == 0 and '10000 same' in out


def main():
    helpers = (main, write, run, verdict_of, documents, axes_of, columns,
               code_of, on_terminal)
    with tempfile.TemporaryDirectory() as folder:
        for name, test in list(globals().items()):
            if callable(test) and test not in helpers and \
                    getattr(test, '__module__', '') == '__main__':
                test(folder)
                print('ok', name)


main()
