#!/usr/bin/env python3
"""Lists the tests that were skipped, with the reason each gave, those that
failed, with the end of what each printed, and counts. The last line is
"N passed, N failed, N skipped".

usage: count_tests.py LOG.json...   (meson-logs/*.json, one test a line)
       count_tests.py --self-test
"""
import json
import os
import sys
import tempfile

PASSED = {'OK', 'EXPECTEDFAIL'}


LAST_LINES = 20


def last_lines(test, most):
    """The end of what a test printed, without empty lines."""
    words = (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')
    return [line.rstrip() for line in words.splitlines() if line.strip()][-most:]


def reason(test):
    """The last line that a skipped test printed."""
    lines = last_lines(test, 1)
    return lines[0].strip() if lines else 'it gave no reason'


def read(paths):
    """Pairs of the label of a run and the record of a test."""
    for path in paths:
        label = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding='utf-8') as file:
            for line in file:
                if line.strip():
                    yield label, json.loads(line)


def count(paths, write):
    passed, failed, skipped = 0, [], {}
    for label, test in read(paths):
        if test['result'] in PASSED:
            passed += 1
        elif test['result'] == 'SKIP':
            skip = '%s: %s' % (test['name'], reason(test))
            skipped.setdefault(skip, []).append(label)
        else:
            failed.append((label, test))
    if skipped:
        write('Skipped:\n')
    for skip, labels in skipped.items():
        write('  %s (%s)\n' % (skip, ', '.join(labels)))
    if failed:
        write('Failed:\n')
    for label, test in failed:
        write('  %s: %s: %s\n' % (label, test['name'], test['result']))
        for line in last_lines(test, LAST_LINES):
            write('    | %s\n' % line)
    write('%d passed, %d failed, %d skipped\n'
          % (passed, len(failed), sum(map(len, skipped.values()))))
    return 1 if failed or not passed else 0


def self_test():
    def run(*results):
        written = []
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, 'x.json')
            with open(path, 'w', encoding='utf-8') as file:
                for result in results:
                    file.write(json.dumps({'name': 't', 'result': result,
                                           'stdout': 'a\nno such device\n'}))
                    file.write('\n')
            status = count([path], written.append)
        return status, ''.join(written)

    assert run('OK', 'OK') == (0, '2 passed, 0 failed, 0 skipped\n')
    assert run() == (1, '0 passed, 0 failed, 0 skipped\n')
    assert run('SKIP')[0] == 1
    status, text = run('OK', 'SKIP')
    assert status == 0 and '  t: no such device (x)\n' in text
    assert '1 passed, 0 failed, 2 skipped' in run('OK', 'SKIP', 'SKIP')[1]
    for bad in ('FAIL', 'ERROR', 'TIMEOUT', 'UNEXPECTEDPASS', 'INTERRUPT',
                'a word of a later meson'):
        status, text = run('OK', bad)
        assert status == 1 and '1 passed, 1 failed, 0 skipped' in text, bad
        assert 'x: t: %s\n    | a\n    | no such device\n' % bad in text, bad
    return 0


if __name__ == '__main__':
    if sys.argv[1:] == ['--self-test']:
        sys.exit(self_test())
    sys.exit(count(sys.argv[1:], sys.stdout.write))
