#!/usr/bin/env python3
"""kmb run: fresh processes, the interval between them, programs that fail.

usage: processes.py KMB RESULT.json SCHEMA.json
"""
import copy
import fcntl
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import termios

KMB, RESULT, SCHEMA = map(os.path.abspath, sys.argv[1:4])
with open(RESULT, encoding='utf-8') as given:
    DOCUMENT = json.load(given)
DOCUMENT['results'][0]['findings'] = []
# Each run appends what lies ready for it.
PROGRAM = ('n=$(cat count); echo $((n + 1)) > count; '
           'cat "process-$n" >> "$KMB_RESULTS"')


def document(*changes):
    made = copy.deepcopy(DOCUMENT)
    base = made['results'][0]
    made['results'] = []
    for change in changes:
        time = change.get('time', 1e5)
        made['results'].append(dict(
            base, time_ns=time, interval_low_ns=time - 10,
            interval_high_ns=time + 10, **change.get('keys', {})))
    return json.dumps(made)


def run(folder, processes, *words, program=PROGRAM, count=None, before=None):
    """`processes`: what each of them writes."""
    for i, text in enumerate(processes):
        with open(os.path.join(folder, 'process-%d' % i), 'w',
                  encoding='utf-8') as file:
            file.write(text)
    with open(os.path.join(folder, 'count'), 'w', encoding='utf-8') as file:
        file.write('0\n')
    temporary = os.path.join(folder, 'tmp')
    os.makedirs(temporary, exist_ok=True)
    done = subprocess.run(
        [KMB, 'run', '--processes', str(count or len(processes)), *words, '--',
         *(['sh', '-c', program] if isinstance(program, str) else program)],
        capture_output=True, check=False, cwd=folder, preexec_fn=before,
        env=dict(os.environ, TMPDIR=temporary))
    assert os.listdir(temporary) == [], 'something is left behind'
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def times(*values):
    return [document({'time': float(v)}) for v in values]


def good(folder, processes, *words):
    status, out, err = run(folder, processes, '--json', *words)
    assert (status, err) == (0, ''), (status, err)
    return json.loads(out)['points']


def the_interval_is_that_of_order_statistics(folder):
    """Ranks by hand: B is binomial (N, 1/2), coverage is 1 - 2 P(B <= k)."""
    for count, level, low, reached in (
            (8, 99, 0, 99.21875), (10, 99, 0, 99.8046875),
            (11, 99, 0, 99.90234375),
            (12, 99, 1, 99.365234375), (6, 95, 0, 96.875),
            (9, 95, 1, 96.09375), (20, 95, 5, 95.8610534667969),
            (2, 50, 0, 50.0)):
        values = [1000 + 10 * i for i in range(count)]
        shuffled = values[1::2] + values[::2]
        point = good(folder, times(*shuffled), '--level', '%d%%' % level)[0]
        assert point['interval_ns'] == [values[low], values[-1 - low]], point
        assert abs(point['confidence_pct'] - reached) < 1e-9, point
        assert point['median_ns'] == values[(count - 1) // 2]
        assert (point['min_ns'], point['max_ns']) == (values[0], values[-1])


def the_interval_holds_the_median_as_often_as_it_says(folder):
    """Of all orders above and below the median of six draws, those without it
    are two in 64: every one is tried."""
    missed = 0
    for sides in itertools.product((-1, 1), repeat=6):
        draws = [1000 + side * (i + 1) for i, side in enumerate(sides)]
        low, high = min(draws), max(draws)
        missed += not low <= 1000 <= high
    assert missed == 2
    point = good(folder, times(*draws), '--level', '95')[0]
    assert abs(point['confidence_pct'] - 100 * (1 - missed / 64)) < 1e-9


def too_few_processes_are_unresolved(folder):
    for count, level, needed in ((7, 99, 8), (2, 99, 8), (5, 95, 6)):
        values = times(*range(1000, 1000 + count))
        point = good(folder, values, '--level', str(level))[0]
        assert 'interval_ns' not in point and 'confidence_pct' not in point
        out = run(folder, values, '--level', str(level))[1]
        assert 'unresolved: %d%% need %d processes' % (level, needed) in out


def spread_enters_the_comparison(folder):
    """Two modes between processes: within each run nothing is seen of them."""
    wide, still = [1e5, 1.05e5] * 4, [1.02e5] * 8
    old, new = os.path.join(folder, 'old'), os.path.join(folder, 'new')
    for path, values in ((old, wide), (new, still)):
        assert run(folder, times(*values), '-o', path)[0] == 0
    done = subprocess.run([KMB, 'compare', old, new, '--json'], check=False,
                          capture_output=True)
    row = json.loads(done.stdout)['comparisons'][0]
    assert done.returncode == 3 and row['verdict'] == 'unresolved'
    assert row['ratio'] == 1.02
    want = [(1.02e5 - 10) / 1.05e5, (1.02e5 + 10) / (1e5 - 10)]
    assert all(abs(a - b) < 1e-9 for a, b in zip(row['interval'], want)), row
    assert run(folder, times(*[1e5] * 8), '-o', old)[0] == 0
    assert subprocess.run([KMB, 'compare', old, new], check=False,
                          capture_output=True).returncode == 1
    # Too few: nothing is made up from the intervals within the runs.
    assert run(folder, times(*[1e5] * 3), '-o', old)[0] == 0
    done = subprocess.run([KMB, 'compare', old, new], check=False,
                          capture_output=True)
    assert done.returncode == 3 and b'too few processes' in done.stdout


def the_result_in_the_middle_is_kept_whole(folder):
    out = os.path.join(folder, 'out')
    values = [document({'time': float(t), 'keys': {'seed': int(t)}})
              for t in (30, 10, 40, 20, 60, 50, 80, 70)]
    assert run(folder, values, '-o', out)[0] == 0
    with open(out, encoding='utf-8') as file:
        made = json.load(file)
    result = made['results'][0]
    assert (result['time_ns'], result['seed']) == (40, 40)
    base = json.loads(values[2])['results'][0]
    added = {k: v for k, v in result['metadata'].items()
             if k not in base['metadata']}
    assert added == {
        'processes.count': '8', 'processes.level_pct': '99',
        'processes.min_ns': '10', 'processes.max_ns': '80',
        'processes.low_ns': '10', 'processes.high_ns': '80',
        'processes.doubted': '0', 'processes.confidence_pct': '99.2188'}
    for key in set(base) - {'metadata'}:
        assert result[key] == base[key], key
    try:
        import jsonschema
    except ImportError:
        return
    with open(SCHEMA, encoding='utf-8') as file:
        jsonschema.Draft7Validator(json.load(file)).validate(made)


def a_doubt_in_one_process_is_kept(folder):
    doubt = {'findings': [{'code': 'ABOVE_PEAK', 'severity': 'doubt',
                           'message': 'm', 'figures': {}}]}
    out, plain = os.path.join(folder, 'out'), os.path.join(folder, 'plain')
    values = times(*[1e5] * 7) + [document({'time': 2e5, 'keys': doubt})]
    status, text, _ = run(folder, values, '-o', out)
    assert status == 0 and '1 doubted' in text
    assert run(folder, times(*[1e5] * 8), '-o', plain)[0] == 0
    done = subprocess.run([KMB, 'compare', plain, out], check=False,
                          capture_output=True)
    assert done.returncode == 3 and b'doubt' in done.stdout


def several_points_and_documents_are_merged(folder):
    def point(m, time):
        return {'time': time, 'keys': {'axes': [{'key': 'm', 'value': m}]}}
    values = [document(point('1', 100.0 + i)) + '\n' +
              document(point('2', 200.0 + i)) + '\n' for i in range(8)]
    values[3] = document(point('2', 203.0), point('1', 103.0))
    points = good(folder, values)
    assert [p['median_ns'] for p in points] == [103, 203]
    assert points[1]['axes'] == [{'key': 'm', 'value': '2'}]


def programs_that_fail_are_named(folder):
    out = os.path.join(folder, 'none')
    for program, want, said in (
            ('exit 5', 3, 'sh ended with status 5'),
            ('kill -9 $$', 3, 'sh was killed by signal 9 (Killed)'),
            ('true', 3, 'sh left no results'),
            ('echo garbage >> "$KMB_RESULTS"', 3, 'the results of sh'),
            (': >> "$KMB_RESULTS"', 3, 'the results of sh'),
            (PROGRAM + "; printf '{\"sche' >> \"$KMB_RESULTS\"", 3,
             'cut short'),
            (['./not-there'], 1, './not-there cannot be run: No such file'),
            ([folder], 1, 'cannot be run: Permission denied')):
        status, text, err = run(folder, times(1, 1), '-o', out,
                                program=program)
        assert status == want and said in err and not text, (program, err)
        assert not os.path.exists(out)
    program = PROGRAM + '; [ "$n" != 2 ] || exit 7'
    status, _, err = run(folder, times(1, 1, 1, 1), program=program)
    assert status == 3 and 'process 3 of 4: sh ended with status 7' in err


def processes_that_do_not_agree_are_refused(folder):
    def other(**keys):
        return document({'keys': keys})
    for last, said in ((other(timer='EVENT'), 'timer: HOST and EVENT'),
                       (other(name='other'), 'a point is missing'),
                       (document({}, {'keys': {'name': 'more'}}),
                        'the first process has not'),
                       (document({}, {}), 'same name and axes'),
                       (document({'time': 0.0}), 'no time above 0')):
        status, out, err = run(folder, times(1e5, 1e5) + [last])
        assert status == 3 and said in err and not out, err


def what_the_program_prints_goes_to_stderr(folder):
    status, out, err = run(folder, times(1, 1), '--json',
                           program='echo loud; ' + PROGRAM)
    assert status == 0 and err == 'loud\nloud\n' and json.loads(out)


def each_process_is_fresh_and_has_its_own_file(folder):
    program = 'echo "$$ $KMB_RESULTS" >> seen; test ! -e "$KMB_RESULTS" || ' \
              'exit 9; ' + PROGRAM
    assert run(folder, times(1, 1, 1), program=program)[0] == 0
    with open(os.path.join(folder, 'seen'), encoding='utf-8') as file:
        seen = [line.split() for line in file]
    assert len({s[0] for s in seen}) == len({s[1] for s in seen}) == 3


def wait_for_ever(folder):
    """What a program does that ends by a signal alone."""
    path = os.path.join(folder, 'never')
    if not os.path.exists(path):
        os.mkfifo(path)
    return 'read x < never'


# The same of one that traps signals: what comes just before a shell opens a pipe
# would be seen only once that is open.
SPIN = 'while :; do :; done'


def is_gone(folder):
    with open(os.path.join(folder, 'pid'), encoding='utf-8') as file:
        pid = int(file.read())
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def a_signal_ends_the_program_and_leaves_nothing(folder):
    out = os.path.join(folder, 'out')
    with open(out, 'w', encoding='utf-8') as file:
        file.write('old')
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                   signal.SIGQUIT):
        name = number.name[3:]
        sent = 'echo $$ > pid; %s kill -s ' + name + ' $PPID; %s'
        trap = 'trap "echo %s > seen; exit 0" %s;' % (name, name)
        for words in (('', wait_for_ever(folder)), (trap, SPIN)):
            status, text, err = run(folder, [], '-o', out, count=8,
                                    program=sent % words)
            # As of a program that the signal itself ended.
            assert status == -number and not text, (name, status)
            assert 'process 1 of 8: ended by signal %d (' % number in err, err
            assert is_gone(folder)
        with open(os.path.join(folder, 'seen'), encoding='utf-8') as file:
            assert file.read() == name + '\n'
        with open(out, encoding='utf-8') as file:
            assert file.read() == 'old'


def who_asks_twice_has_waited_enough(folder):
    program = 'trap "" TERM HUP; echo $$ > pid; kill -s HUP $PPID; ' \
              'kill -s TERM $PPID; ' + wait_for_ever(folder)
    status, _, _ = run(folder, [], program=program, count=2)
    assert status == -signal.SIGHUP and is_gone(folder)


def a_signal_between_programs_starts_no_more(folder):
    """Whichever comes first, the signal or the end of the program."""
    program = 'echo x >> started; kill -s TERM $PPID; exit 0'
    assert run(folder, [], program=program, count=8)[0] == -signal.SIGTERM
    with open(os.path.join(folder, 'started'), encoding='utf-8') as file:
        assert file.read() == 'x\n'


def what_is_ignored_stays_ignored(folder):
    """As under nohup, or in the background of a shell."""
    program = 'kill -s HUP $PPID; kill -s INT $PPID; kill -s INT $$; ' + PROGRAM

    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert run(folder, times(1, 1), program=program, before=ignore)[0] == 0


def a_key_pressed_reaches_the_program_and_ends_the_run(folder):
    ours, theirs = pty.openpty()
    temporary = os.path.join(folder, 'tmp')
    os.makedirs(temporary)

    def terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    with subprocess.Popen(
            [KMB, 'run', '--processes', '8', '--', 'sh', '-c',
             'echo $$ > pid; trap "echo seen > seen; exit 0" INT; '
             'echo ready; ' + SPIN], stdin=theirs,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
            env=dict(os.environ, TMPDIR=temporary),
            preexec_fn=terminal) as process:
        assert process.stderr.readline() == b'ready\n'
        os.write(ours, b'\x03')
        process.communicate()
    assert process.returncode == -signal.SIGINT
    assert is_gone(folder) and os.listdir(temporary) == []
    assert os.path.exists(os.path.join(folder, 'seen'))
    os.close(ours)
    os.close(theirs)


def what_the_program_leaves_beside_its_results_goes(folder):
    program = 'mkdir "$KMB_RESULTS.d"; : > "$KMB_RESULTS.d/x"; ' + PROGRAM
    assert run(folder, times(1, 1), program=program)[0] == 0


def where_nothing_can_be_written_nothing_is_run(folder):
    for out, said in ((os.path.join(folder, 'absent', 'out'), 'No such file'),
                      (folder, 'Is a directory')):
        status, _, err = run(folder, times(1, 1), '-o', out,
                             program=': > started; ' + PROGRAM)
        assert status == 3 and out in err and said in err, err
        assert not os.path.exists(os.path.join(folder, 'started'))
    status, _, err = run(folder, times(1, 1), '-o', '/dev/full')
    assert status == 3 and 'No space left on device' in err
    out = os.path.join(folder, 'new')
    # Looked at, and not made.
    assert run(folder, [], '-o', out, program='test ! -e new', count=2)[0] == 3
    assert not os.path.exists(out)


def wrong_words_are_refused(folder):
    for words in ((), ('--processes', '3'), ('--processes', '3', '--'),
                  ('--', 'true'), ('--processes', '1', '--', 'true'),
                  ('--processes', '1001', '--', 'true'),
                  ('--processes', 'x', '--', 'true'),
                  ('--processes', '2', '--level', '100', '--', 'true'),
                  ('--processes', '2', '--level', '0', '--', 'true'),
                  ('--processes', '2', 'true')):
        done = subprocess.run([KMB, 'run', *words], capture_output=True,
                              check=False, cwd=folder)
        assert done.returncode == 1 and not done.stdout, words
    # Behind -- everything is the program's.
    status, _, err = run(folder, [], program=['sh', '-c', 'exit 4', '--help'],
                         count=2)
    assert status == 3 and 'status 4' in err


def main():
    helpers = (main, document, run, times, good, wait_for_ever, is_gone)
    for name, test in list(globals().items()):
        if callable(test) and test not in helpers and \
                getattr(test, '__module__', '') == '__main__':
            with tempfile.TemporaryDirectory() as folder:
                test(folder)
            print('ok', name)


main()
