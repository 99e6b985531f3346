#!/usr/bin/env python3
"""Lists the tests that were skipped, with the reason each gave, those that
failed, and counts. The last line is "N passed, N failed, N skipped".

usage: count_tests.py LOG.json...   (meson-logs/*.json, one test a line)
       count_tests.py --self-test
"""
import json
import os
import sys
import tempfile

PASSED = {'OK', 'EXPECTEDFAIL'}


def reason(test):
    """The last line that a skipped test printed."""
    words = (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return lines[-1] if lines else 'it gave no reason'


def count(paths, write):
    passed, failed, skipped = 0, [], []
    for path in paths:
        label = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding='utf-8') as file:
            tests = [json.loads(line) for line in file if line.strip()]
        for test in tests:
            name = '%s: %s' % (label, test['name'])
            if test['result'] in PASSED:
                passed += 1
            elif test['result'] == 'SKIP':
                skipped.append('%s: %s' % (name, reason(test)))
            else:
                failed.append('%s: %s' % (name, test['result']))
    for title, lines in (('Skipped', skipped), ('Failed', failed)):
        if lines:
            write(title + ':\n' + ''.join('  %s\n' % line for line in lines))
    write('%d passed, %d failed, %d skipped\n'
          % (passed, len(failed), len(skipped)))
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
    assert status == 0 and 'x: t: no such device\n' in text
    for bad in ('FAIL', 'ERROR', 'TIMEOUT', 'UNEXPECTEDPASS', 'INTERRUPT',
                'a word of a later meson'):
        status, text = run('OK', bad)
        assert status == 1 and '1 passed, 1 failed, 0 skipped' in text, bad
    return 0


if __name__ == '__main__':
    if sys.argv[1:] == ['--self-test']:
        sys.exit(self_test())
    sys.exit(count(sys.argv[1:], sys.stdout.write))
