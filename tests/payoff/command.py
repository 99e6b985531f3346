#!/usr/bin/env python3
"""The command kmb payoff: where the change comes from, what is refused, and its
outputs.

usage: command.py KMB RESULTS.json
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

CALL = ('{"ph": "X", "cat": "cuda_runtime", "name": "%s", "pid": 1, "tid": 2, '
        '"ts": %.3f, "dur": %.3f, "args": {"correlation": %d}}')
OP = ('{"ph": "X", "cat": "kernel", "name": "%s", "pid": 1, "tid": 7, "ts": '
      '%.3f, "dur": %.3f, "args": {"device": 0, "context": 1, "stream": 7, '
      '"correlation": %d}}')


def shaped(event, shape):
    if not shape:
        return event
    return event.replace('"args": {', '"args": {"grid": %s, "block": %s, '
                         % tuple(map(json.dumps, shape)))


def step(kernel, shapes=((),)):
    """A device-bound step: 20 launches of 100 us each, and 20 others. Shapes
    are grid and block, which launches have in turn."""
    events, host, end = [], 100.0, 0.0
    for i in range(40):
        start = max(host + 5, end + 1)
        length = 100.0 if i % 2 == 0 else 40.0
        events += [CALL % ('cudaLaunchKernel', host, 3, i + 1),
                   shaped(OP % (kernel if i % 2 == 0 else 'other', start,
                                length, i + 1), shapes[i // 2 % len(shapes)])]
        end, host = start + length, host + 4
    return ('{"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], '
            '"traceEvents": [%s]}' % ',\n'.join(events))


def changed(result, name, factor):
    other = copy.deepcopy(result)
    other['name'] = name
    for key in ('time_ns', 'interval_low_ns', 'interval_high_ns'):
        other[key] = result[key] * factor
    return other


class Check:
    def __init__(self, kmb):
        self.kmb, self.bad = kmb, 0

    def run(self, words, status, part=''):
        done = subprocess.run([self.kmb, 'payoff'] + words, check=False,
                              capture_output=True, encoding='utf-8')
        text = done.stdout + done.stderr
        if done.returncode != status or part not in text:
            print('%s: status %d, not %d, or no "%s":\n%s'
                  % (words, done.returncode, status, part, text))
            self.bad += 1
        return done.stdout

    def near(self, got, want, what):
        if abs(got - want) > 1e-3 * abs(want):
            print('%s is %r, not %r' % (what, got, want))
            self.bad += 1


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(content if isinstance(content, str)
                   else json.dumps(content))
    return path


def sources(check, folder, document):
    """One file, two files, a comparison: the same change."""
    old = document['results'][0]
    old['ops'] = old['ops'][:1]
    kernel = old['ops'][0]['name']
    new = changed(old, 'new', 0.5)
    trace = write(folder, 'step.json', step(kernel))
    both = write(folder, 'both.json', dict(document, results=[old, new]))
    first = write(folder, 'first.json', dict(document, results=[old]))
    second = write(folder, 'second.json', dict(document, results=[new]))
    row = {'name': 'new', 'verdict': 'faster', 'reason': '', 'ratio': 0.5,
           'low': 0.49, 'high': 0.51}
    comparison = {'schema': 'kmb-comparison', 'version': 1, 'baseline': 0,
                  'rows': [{'name': 'old', 'verdict': 'baseline'}, row],
                  'document': dict(document, results=[old, new])}
    compared = write(folder, 'compared.json', comparison)
    for words in ([both], [first, second], [compared],
                  ['--ratio', '0.5,0.49,0.51', '--kernel', '^' + kernel]):
        got = json.loads(check.run([trace] + words + ['--json'], 0))
        check.near(got['step_ns'], 40 * 1000 - 1000 + 20 * 140000, 'the step')
        check.near(got['saving_ns'], 20 * 50000, 'the saving')
        check.near(got['ratio'], 0.5, 'the ratio')
        if got['launches'] != 20 or not got['matched']:
            print('%s: %r' % (words, got))
            check.bad += 1
    check.run([trace, both], 0, 'in the step the kernel takes')
    check.run([trace, both, '--markdown'], 0, '**Payoff of new:** the step')
    other = write(folder, 'other.json',
                  step(kernel).replace('NVIDIA H200', 'NVIDIA A100'))
    check.run([other, both], 1, 'the step on "NVIDIA A100"')
    check.run([other, both, '--any-device'], 0, 'on another device')
    nameless = write(folder, 'nameless.json',
                     step(kernel).replace('"name": "NVIDIA H200"', '"x": 1'))
    check.run([nameless, both], 0, 'does not name its device')
    row['name'] = 'third'
    comparison['rows'].append(dict(row, name='fourth', ratio=0.8))
    comparison['document']['results'] = [old, dict(new, name='third'),
                                         dict(new, name='fourth')]
    compared = write(folder, 'three.json', comparison)
    for words in ([], ['--candidate', 'fifth'], ['--candidate', 'old']):
        for part in ('three.json: third', 'three.json: fourth'):
            check.run([trace, compared] + words, 1, part)
    got = json.loads(check.run([trace, compared, '--candidate', 'third',
                                '--json'], 0))
    check.near(got['ratio'], 0.5, 'the ratio of the candidate')
    warm = write(folder, 'warm.json',
                 dict(document, results=[dict(new, cache_state='WARM')]))
    check.run([trace, first, warm], 1, 'cache state')
    check.run([trace, first, both], 1, '2 results may be the new one, not 1')
    check.run([trace, first, both], 1, 'both.json: new')
    check.run([trace, first], 1, '1 results may be both, not 2')
    check.run([trace, first], 1, 'first.json: ' + old['name'])
    del row['ratio']
    check.run([trace, write(folder, 'none.json', comparison), '--candidate',
               'third'], 1, 'none.json: the comparison has no ratio of "third"')
    comparison['rows'].pop()
    check.run([trace, write(folder, 'less.json', comparison)], 2,
              'less.json: a comparison has 2 rows for 3 results')
    comparison['rows'].append(row)
    for wrong in (3, -1, 'x'):
        comparison['baseline'] = wrong
        check.run([trace, write(folder, 'base.json', comparison)], 2,
                  'base.json: baseline')
    comparison['baseline'] = 0
    comparison['rows'][2] = dict(row, name='fourth', ratio=0.8)
    del comparison['document']['results'][0]['time_ns']
    old['absent'] = dict(old['absent'], time_ns='gone')
    check.run([trace, write(folder, 'gone.json', comparison), '--candidate',
               'fourth'], 1, 'gone.json: "old"')
    return trace


def shapes(check, folder, document):
    """Launches as the old result's kernel was launched, or as is said."""
    old = copy.deepcopy(document['results'][0])
    old['ops'] = old['ops'][:1]
    op = old['ops'][0]
    both = write(folder, 'shapes.json', dict(document, results=[
        old, changed(old, 'new', 0.5)]))
    mine, others = [op['grid'], op['block']], [[1, 2, 3], [4, 5, 6]]
    word = 'x'.join(map(str, op['grid'])) + ',' + \
        'x'.join(map(str, op['block']))
    trace = write(folder, 'shaped.json', step(op['name'],
                                              [mine, others, others, mine]))
    other = write(folder, 'other.json', step(op['name'], [others]))
    named = ['--ratio', '0.5', '--kernel', '^' + op['name']]
    for words, scaled in (([both], 10), ([both, '--all-shapes'], 20),
                          ([both, '--shape', '1x2x3,4x5x6'], 10),
                          (named + ['--shape', word], 10),
                          (named + ['--all-shapes'], 20)):
        got = json.loads(check.run([trace] + words + ['--json'], 0))
        check.near(got['gain_ns'], scaled * 50000, '%s: the gain' % words)
        if got['launches'] != scaled or got['other_launches'] != 20 - scaled \
                or len(got['shapes']) != 2:
            print('%s: %r' % (words, got))
            check.bad += 1
    check.run([trace, both], 0, '10 launches of the name that matches')
    check.run([trace] + named, 0, 'unknown: launches of 2 shapes match')
    check.run([other, both], 0, 'unknown: none of 20 launches has grid')
    check.run([other] + named, 0, 'grid 1 × 2 × 3, block 4 × 5 × 6')
    for words in ([both], named):
        check.run([other] + words + ['--shape', word], 1, 'no launch matches '
                  'the shape %s; there are 1x2x3,4x5x6' % word)
    check.run([trace] + named + ['--shape', word, '--all-shapes'], 1,
              'exclude each other')
    for wrong in ('', '1', '1x1x1', '1x1x1,1x1', '1x1x1,1x1x1x1', '1x1x1,1x1x0',
                  '1x1x1,1x1x', '1x1x1x1x1x1', '1,1,1,1,1,1', 'ax1x1,1x1x1',
                  '-1x1x1,1x1x1', '4294967296x1x1,1x1x1', '1x1x1,1x1x1 ',
                  '1' * 100 + 'x1x1,1x1x1'):
        check.run([trace] + named + ['--shape', wrong], 1,
                  '--shape cannot be "%s"' % wrong)


def row(name, shape, code):
    return {'name': name, 'launches': 1, 'grid': shape[0], 'block': shape[1],
            'dynamic_shared_bytes': 0, 'sha256': '11' * 32, 'code_offset': 0,
            'code_bytes': 1, 'code_sha256': code * 32}


def code(check, folder, document):
    """What the step ran, from one result or several, and files that are none.
    The trace has the name as people write it, code objects have it mangled."""
    shape, other = [[1, 2, 3], [4, 5, 6]], [[7, 2, 3], [4, 5, 6]]
    kernel = 'gemm(float*)'
    old = copy.deepcopy(document['results'][0])
    old['ops'] = [dict(old['ops'][0], name=kernel, grid=shape[0],
                       block=shape[1])]
    old['code'] = [row('_Z4gemmPf', shape, 'aa')]
    old['code_omitted'] = old['code_unseen'] = 0
    new = dict(changed(old, 'new', 0.5), code=[row('_Z4gemmPf', shape, 'ab')])
    both = write(folder, 'code.json', dict(document, results=[old, new]))
    trace = write(folder, 'code_step.json', step(kernel, [shape, other]))

    def ran(name, *codes):
        return lines(folder, name, [
            dict(document, results=[dict(old, code=[row('_Z4gemmPf', s, c)])])
            for s, c in codes])
    same = ran('same.jsonl', (other, 'bb'), (shape, 'aa'))
    for words, by_code, others in (
            ([both, '--code', same], 10, 10),
            ([both, '--code', same, '--all-shapes'], 10, 10),
            ([both, '--code', ran('one.json', (other, 'bb')), '--all-shapes'],
             0, 10),
            (['--ratio', '0.5', '--kernel', '^gemm', '--all-shapes', '--code',
              same], 0, 0)):
        got = json.loads(check.run([trace] + words + ['--json'], 0))
        if [got['code_launches'], got['other_code_launches']] != \
                [by_code, others] or 'same_code' in got:
            print('%s: %r' % (words, got))
            check.bad += 1
    check.run([trace, both, '--code', same], 0,
              'code                      aaaaaaaaaaaa, as measured in 10 of 10')
    check.run([trace, both, '--code', ran('other.json', (shape, 'ab'))], 0,
              'unknown: the step ran other code')
    check.run([trace, both, '--code', same, '--candidate', old['name']], 0,
              'unknown: the step ran other code')
    # Of a comparison it is the candidate's code that is the new one.
    twice = dict(document, results=[old, dict(new, code=old['code'])])
    check.run([trace, write(folder, 'twice.json', twice)], 0,
              'compares the same code')
    for pair, said in (([old, new], False),
                       (twice['results'], True)):
        made = write(folder, 'compared_code.json', {
            'schema': 'kmb-comparison', 'version': 1, 'baseline': 0,
            'rows': [{'name': 'old'}, {'name': 'new', 'ratio': 0.5}],
            'document': dict(document, results=pair)})
        got = json.loads(check.run([trace, made, '--json'], 0))
        if got.get('same_code', False) != said:
            print('a comparison: %r' % got)
            check.bad += 1
    # Files that are none.
    check.run([trace, both, '--code'], 1, 'needs a value')
    check.run([trace, both, '--code', os.path.join(folder, 'absent')], 1,
              'absent: No such file')
    bare = write(folder, 'bare.json', dict(document,
                                           results=[document['results'][0]]))
    check.run([trace, both, '--code', bare], 2,
              'bare.json: its results list no code: capture')
    check.run([trace, both, '--code', trace], 2, 'code_step.json')
    with open(same, encoding='utf-8') as file:
        text = file.read()
    check.run([trace, both, '--code', write(folder, 'cut1', text[:50])], 2,
              'cut1')
    check.run([trace, both, '--code', write(folder, 'cut2', text[:-50])], 2,
              'starts in line 2 has no end')
    wrong = dict(document, results=[dict(old, code=[dict(
        row('k', shape, 'aa'), sha256='x')])])
    check.run([trace, both, '--code', write(folder, 'wrong.json', wrong)], 2,
              '64 hexadecimal digits')


def at(result, name, factor, **axes):
    made = changed(result, name, factor)
    made['axes'] = [{'key': k, 'value': v} for k, v in axes.items()]
    return made


def lines(folder, name, documents):
    return write(folder, name,
                 ''.join(json.dumps(d) + '\n' for d in documents))


def sweeps(check, folder, document, trace):
    """JSON lines, several points, several comparisons: what is meant is said or
    listed, never guessed."""
    base = copy.deepcopy(document['results'][0])
    base['ops'] = base['ops'][:1]
    result = [at(base, name, f, m=m, n='8') for m in '12'
              for name, f in (('old', 1), ('new', 0.5 if m == '1' else 0.8))]
    both = lines(folder, 'both.jsonl',
                 [dict(document, results=[r]) for r in result])
    first = lines(folder, 'old.jsonl', [dict(document, results=[r])
                                        for r in result[::2]])
    second = lines(folder, 'new.jsonl', [dict(document, results=[r])
                                         for r in result[1::2]])
    compared = lines(folder, 'compared.jsonl', [
        {'schema': 'kmb-comparison', 'version': 1, 'baseline': 1,
         'rows': [{'name': 'new', 'ratio': ratio, 'low': ratio - .01,
                   'high': ratio + .01}, {'name': 'old'}],
         'document': dict(document, results=pair)}
        for ratio, pair in ((0.5, result[1::-1]), (0.8, result[:1:-1]))])
    for files in ([both], [first, second], [compared]):
        for m, ratio in (('1', 0.5), ('2', 0.8)):
            got = json.loads(check.run([trace] + files + [
                '--axis', 'n=8', '--axis', 'm=' + m, '--json'], 0))
            check.near(got['ratio'], ratio, '%s at %s' % (files, m))
            if got['name'] != 'new' or got['launches'] != 20 or \
                    'isolated_ns' not in got:
                print('%s: %r' % (files, got))
                check.bad += 1
        for part in ('m=1 n=8', 'm=2 n=8', 'and --axis choose of these'):
            check.run([trace] + files, 1, part)
            check.run([trace] + files + ['--axis', 'm=3'], 1, part)
    # The names say which is which, whatever the order.
    for words in (['--candidate', 'old'], ['--baseline', 'new'],
                  ['--candidate', 'old', '--baseline', 'new']):
        got = json.loads(check.run([trace, both, '--axis', 'm=1', '--json'] +
                                   words, 0))
        check.near(got['ratio'], 2, 'the ratio the other way')
    check.run([trace, compared, '--axis', 'm=1', '--baseline', 'new'], 1,
              '0 candidates')
    check.run([trace, both, '--axis', 'm=1', '--baseline', 'other'], 1,
              '0 results may be the old one')
    for wrong in ('m', '=1', ''):
        check.run([trace, both, '--axis', wrong], 1, 'KEY=VALUE')
    check.run([trace, both] + ['--axis', 'm=1'] * 17, 1, 'up to 16 times')
    with open(both, 'a', encoding='utf-8') as file:
        file.write('{"schema": "kmb')
    check.run([trace, both, '--axis', 'm=1'], 2, 'starts in line 5 has no end')


def refusals(check, folder, trace):
    ratio = ['--ratio', '0.5']
    check.run([], 1, 'a trace of the step')
    check.run([trace], 1, 'either files or --ratio')
    check.run([trace, 'x', '--ratio', '1'], 1, 'either files or --ratio')
    check.run([trace, 'x', 'y', 'z'], 1, 'one file too many')
    check.run([trace, '--nothing'], 1, '--nothing')
    check.run([trace] + ratio + ['--kernel'], 1, 'needs a value')
    check.run([trace, '--ratio', '1,2', '--kernel', 'o'], 1, 'one number or')
    check.run([trace, '--ratio', 'x', '--kernel', 'o'], 1, '"x"')
    check.run([trace, '--ratio', '1,2,3,4', '--kernel', 'o'], 1, '1,2,3,4')
    check.run([trace, '--ratio', '-1', '--kernel', 'o'], 1, 'ratio')
    check.run([trace, '--ratio', '1,0.9,0.95', '--kernel', 'o'], 1,
              'within its interval')
    check.run([trace] + ratio, 1, 'name a kernel; kmb_payoff_params::kernel '
              '(--kernel REGEX) says')
    check.run([trace] + ratio + ['--kernel', 'zzz'], 1, 'no launch in the step')
    check.run([trace] + ratio + ['--kernel', '.'], 0, '2 kernels match')
    check.run([trace] + ratio + ['--kernel', '.', '--all-names'], 0,
              'the step gets')
    check.run([trace] + ratio + ['--json', '--markdown'], 1, 'exclude')
    for wrong in ('0', '-1', 'x', 'nan', '2e6', '1000000.5', 'inf'):
        check.run([trace] + ratio + ['--added', wrong], 1,
                  '--added cannot be "%s": ns above 0, and at most 1000000;'
                  % wrong)
    every = ['--kernel', '.', '--all-names']
    for added, text in (('50', '50 ns to each'), ('0.5', '0.5 ns to each'),
                        ('4000', '40 of 40 calls of the host took less')):
        check.run([trace] + ratio + every + ['--added', added], 0,
                  'the step gets')
    # It is the device that is the limit; a host's own step says what it took.
    check.run([trace] + ratio + every + ['--added', '1e6'], 0,
              '40 of 40 calls of the host took less than what')
    for wrong in ('1e15', '1e308', '0', '1e-7', '1,1e-9,2', '1,0.5,1e9'):
        check.run([trace, '--ratio', wrong, '--kernel', 'o'], 1,
                  'lie between 1e-06 and 1e+06; this one is')
    check.run([trace] + ratio + ['--kernel', ''], 1,
              '--kernel is empty and would match every kernel')
    for absent, part in (('absent', 'absent: there is no such file'),
                         ('', 'it is a folder')):
        check.run([os.path.join(folder, absent), '--kernel', 'o'] + ratio, 1,
                  part)
    check.run([trace, os.path.join(folder, 'absent')], 1,
              'absent: No such file')
    with open(trace, encoding='utf-8') as file:
        text = file.read()
    cut = write(folder, 'cut.json', text[:len(text) // 2])
    check.run([cut] + ratio + ['--kernel', 'o'], 2, 'line ')
    broken = write(folder, 'broken.json', '{"schema": ')
    check.run([trace, broken], 2, 'broken.json')
    empty = write(folder, 'empty.json', '{"traceEvents": []}')
    check.run([empty] + ratio + ['--kernel', 'o'], 1, 'no operations')


def main():
    check = Check(sys.argv[1])
    with open(sys.argv[2], encoding='utf-8') as file:
        document = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        trace = sources(check, folder, copy.deepcopy(document))
        sweeps(check, folder, document, trace)
        shapes(check, folder, document)
        code(check, folder, document)
        refusals(check, folder, trace)
    return 1 if check.bad else 0


if __name__ == '__main__':
    sys.exit(main())
