#!/usr/bin/env python3
"""kmb report: what stands in it, text of others, and files that fail.

usage: report.py KMB RESULT.json
"""
import base64
import copy
import html.parser
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import urllib.parse

KMB, RESULT = map(os.path.abspath, sys.argv[1:3])
with open(RESULT, encoding='utf-8') as given:
    DOCUMENT = json.load(given)
VOID = {'meta', 'img'}


def run(*words, before=None):
    done = subprocess.run([KMB, 'report', *map(str, words)],
                          capture_output=True, check=False, preexec_fn=before)
    assert not done.stdout
    return done.returncode, done.stderr.decode()


def write(folder, name, *changes):
    document = copy.deepcopy(DOCUMENT)
    base = document['results'][0]
    document['results'] = [dict(base, **change) for change in changes]
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(document, file)
    return path


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def report(folder, kind, *words):
    out = os.path.join(folder, 'out.' + kind)
    status, err = run(*words, '-o', out)
    assert (status, err) == (0, ''), err
    return read(out)


class Page(html.parser.HTMLParser):
    """Elements must nest; texts by element."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text, self.rows = [], [], '', []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == 'tr':
            self.rows.append([])
        if tag in ('td', 'th'):
            self.rows[-1].append('')

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ('td', 'th'):
            self.rows[-1][-1] += data


def md_rows(text):
    return [[c.strip() for c in
             line.replace('\\|', '\0').strip('|').split('|')]
            for line in text.split('\n') if line.startswith('|')]


NOTE = {'note.question': 'faster?', 'note.change': 'tiles',
        'note.correctness': 'all close', 'note.observation': 'yes',
        'note.explanation': 'fewer loads', 'note.next': 'ship',
        'device.name': 'GPU', 'kmb.version': '9'}


def throughput_comes_first_and_latency_beside(folder):
    results = ({'observed_bound': 'compute', 'achieved_flops': 5e14},
               {'name': 'm', 'observed_bound': 'memory',
                'achieved_bytes_per_s': 3e12})
    path = write(folder, 'a', *results)
    text = report(folder, 'md', path)
    rows = md_rows(text)
    assert rows[0] == ['name', 'tokens', 'shape', 'routine', 'throughput',
                       'of speed of light', 'time µs', '99% interval µs',
                       'samples', 'bound', 'findings'], rows[0]
    assert rows[2][4:8] == ['500.0 TFLOP/s', '116.8%', '1382', '997.8 to 2315']
    assert rows[3][4] == '3000 GB/s'
    assert rows[2][10].startswith('ABOVE_PEAK, TIMERS_DISAGREE')
    page = Page(report(folder, 'html', path))
    assert page.rows[0] == rows[0] and page.rows[1] == rows[2]


def what_is_unknown_is_not_zero(folder):
    path = write(folder, 'a', {})
    with open(path, encoding='utf-8') as file:
        document = json.load(file)
    kept = ('axes', 'absent', 'findings', 'samples_ns', 'metadata',
            'metadata_absent')
    document['results'] = [{k: v for k, v in document['results'][0].items()
                            if k in kept}]
    document['results'][0]['findings'] = []
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(document, file)
    text = report(folder, 'md', path)
    assert md_rows(text)[2][3:] == ['-'] * 5 + ['unknown', '']
    assert 'None was raised, which is no proof' in text


def the_note_has_its_parts_in_order(folder):
    artifact = dict(NOTE, **{'note.explanation_artifact': 'sha:1'})
    path = write(folder, 'a', {'metadata': NOTE}, {'metadata': NOTE},
                 {'metadata': artifact}, {'metadata': {}})
    text = report(folder, 'md', path)
    order = ['- **Question**: faster?', '- **Change**: tiles',
             '- **Correctness**: all close', '- **Result**: k tokens=1',
             '- **Observation**: yes',
             '- **Explanation**: fewer loads (a hypothesis: ',
             '- **Next**: ship']
    places = [text.index(part) for part in order]
    assert places == sorted(places), places
    assert text.count('**Question**') == 3
    assert 'fewer loads (artifact sha:1)' in text
    assert '## Results without a note' in text
    # Where the note is silent, the library's own check speaks.
    assert '**Correctness**: passed before and after timing' in text
    assert '**Question**: not stated' in text


def findings_are_told_in_words_the_gravest_first(folder):
    text = report(folder, 'md', write(folder, 'a', {}))
    places = [text.index(part) for part in
              ('- **doubt ABOVE_PEAK', '- **warning', '- **note')]
    assert places == sorted(places)
    assert 'faster than a ceiling allows' in text
    assert '- **k tokens=1 shape=1024x4096 routine=sgemv**: above a' in text


def metadata_say_what_is_shared_and_what_not(folder):
    one = {'metadata': {'host.cpu': 'x|y', 'a.b': 'same', 'c.d': '1'},
           'metadata_absent': {'gone': 'no permission'}}
    two = copy.deepcopy(one)
    two['metadata']['c.d'] = '2'
    text = report(folder, 'md', write(folder, 'a', one, two))
    assert '| host.cpu | x\\|y |' in text and '| a.b | same |' in text
    assert 'c.d' not in text and '1 keys differ' in text
    assert '| gone | unknown: no permission |' in text


def nothing_of_others_becomes_markup(folder):
    bad = '<script>alert(1)</script>"\'&|`*_x_[a](b)\n\x1b#'
    change = {'name': bad, 'axes': [{'key': bad, 'value': bad}],
              'metadata': {bad: bad, 'note.question': bad,
                           'device.name': bad},
              'reading': bad, 'findings': [
                  {'code': 'ABOVE_PEAK', 'severity': 'doubt', 'message': bad,
                   'figures': {}}]}
    path = write(folder, 'a', change)
    text = report(folder, 'html', path, '--title', bad)
    page = Page(text)
    shown = bad.replace('\n', ' ').replace('\x1b', ' ')
    assert {t for t, _ in page.tags} <= {
        'html', 'head', 'meta', 'title', 'style', 'body', 'h1', 'h2', 'ul',
        'li', 'strong', 'p', 'table', 'tr', 'th', 'td', 'img'}
    assert shown in page.text
    for tag, attributes in page.tags:
        assert not any(a.startswith('on') for a in attributes), (tag, attributes)
    text = report(folder, 'md', path)
    assert '<' not in text.replace('&lt;', '')
    for line in text.split('\n'):
        if line.startswith('|') and '---' not in line:
            assert len(md_rows(line)[0]) in (2, 8), line
    assert '\x1b' not in text and not re.search(r'[^\\]\]\(b\)', text)


def comparison(folder, name, *changes):
    """Three candidates, the second the baseline."""
    base = DOCUMENT['results'][0]
    rows = [{'name': 'tiled', 'verdict': 'faster', 'reason': 'r', 'ratio': 0.5,
             'low': 0.49, 'high': 0.51,
             'tuning': {'config': 1, 'text': 'tile=8', 'configs': 7,
                        'measured': 2, 'failed': 1, 'complete': False}},
            {'name': 'plain', 'verdict': 'baseline', 'reason': 'r'},
            {'name': 'odd', 'verdict': 'unresolved', 'reason': 'why|so',
             'ratio': 1.25}]
    metadata = dict(base['metadata'], **{'config.tile': '8', 'config.k': 'x|y'})
    made = {'schema': 'kmb-comparison', 'version': 1, 'baseline': 1,
            'rows': rows, 'document': dict(DOCUMENT, results=[
                dict(base, name='tiled', metadata=metadata),
                dict(base, name='plain'), dict(base, name='odd')])}
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        for change in changes or ({},):
            json.dump(dict(made, **change), file)
            file.write('\n')
    return path


def a_comparison_shows_verdicts_and_what_tuning_kept(folder):
    path = comparison(folder, 'c')
    for kind in ('md', 'html'):
        text = report(folder, kind, path, write(folder, 'a', {'name': 'alone'}))
        rows = md_rows(text) if kind == 'md' else Page(text).rows
        if kind == 'md':
            del rows[1]
        assert rows[0][8:] == ['samples', 'ratio (interval)', 'verdict',
                               'configuration', 'bound', 'findings'], rows[0]
        bar = '\0' if kind == 'md' else '|'
        assert [r[9:12] for r in rows[1:5]] == [
            ['0.5000 (0.4900 to 0.5100)', 'faster',
             'tile=8 k=x%sy (UNTUNED: 3 of 7 tried)' % bar],
            ['-', 'baseline', ''],
            ['1.2500 (no interval)', 'unresolved: why%sso' % bar, ''],
            ['-', '', '']], rows[1:5]
        assert 'measured in turns' in text
    # A file without comparisons has no such columns.
    assert 'verdict' not in report(folder, 'md', RESULT)


STEP = ('{"traceEvents": [%s]}' % ', '.join(
    '{"ph": "X", "cat": "kernel", "name": "%s", "pid": 1, "tid": 7, "ts": %d, '
    '"dur": 100, "args": {"device": 0, "stream": 7, "correlation": %d}}, '
    '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, '
    '"tid": 2, "ts": %d, "dur": 1, "args": {"correlation": %d}}'
    % ('ab'[i % 2], 100 + 101 * i, i + 1, 2 * i, i + 1) for i in range(20)))


def a_change_is_shown_in_a_step(folder):
    step = os.path.join(folder, 'step.json')
    with open(step, 'w', encoding='utf-8') as file:
        file.write(STEP)
    words = ('--step', step, '--kernel', '^a$', '--plots', 0)
    path = comparison(folder, 'c', {}, {})
    text = report(folder, 'md', path, *words)
    payoff = text[text.index('## Payoff'):text.index('## Metadata')]
    parts = [p for p in payoff.split('\n') if p]
    assert [p.split(':**')[0] for p in parts[1:]] == 2 * [
        '**Payoff of tiled', '**Payoff of odd'], parts
    assert 'the step gets 500.0 µs shorter' in parts[1], parts[1]
    assert 'the step gets 250.0 µs longer' in parts[2], parts[2]
    page = Page(report(folder, 'html', path, *words))
    assert page.tags.count(('pre', {})) == 4
    assert 'the step gets 500.0 µs shorter' in page.text
    # Two results; names of others are no markup.
    two = write(folder, 'two', {'name': 'old'},
                {'name': '<b>*x*', 'time_ns': DOCUMENT['results'][0]['time_ns']})
    text = report(folder, 'md', two, *words)
    assert '**Payoff of &lt;b&gt;\\*x\\*:** about 0' in text
    Page(report(folder, 'html', two, *words))
    # What is meant of several.
    half = {k: DOCUMENT['results'][0][k] / 2 for k in (
        'time_ns', 'interval_low_ns', 'interval_high_ns')}
    three = write(folder, 'three', {'name': 'old'}, {'name': 'half', **half},
                  {'name': 'other'})
    text = report(folder, 'md', three, *words, '--candidate', 'half',
                  '--baseline', 'old')
    assert text.count('**Payoff of') == 1, text
    assert '**Payoff of half:** ' in text, text
    text = report(folder, 'md', path, *words, '--candidate', 'odd')
    assert text.count('**Payoff of') == text.count('of odd:**') == 2, text
    text = report(folder, 'md', path, *words, '--added', '100000')
    assert 'calls of the host took less than what' in text, text
    ran = write(folder, 'ran', {'code': [{
        'name': 'a', 'launches': 10, 'grid': [1, 1, 1], 'block': [1, 1, 1],
        'dynamic_shared_bytes': 0}]})
    text = report(folder, 'md', path, *words, '--code', ran)
    assert text.count("the step's code is given") == 4, text
    out = os.path.join(folder, 'step.md')
    for more, want, said in (
            ((RESULT, *words), 1, 'there are 1 results'),
            ((path, *words[:3], 'z', *words[4:]), 1, 'the payoff of "tiled": '),
            ((path, '--step', out + 'x', *words[2:]), 1,
             out + 'x: there is no such file'),
            ((path, '--added', 5), 1, 'need --step'),
            ((path, '--candidate', 'tiled'), 1, 'need --step'),
            ((path, '--baseline', 'tiled'), 1, 'need --step'),
            ((path, '--axis', 'm=1'), 1, 'need --step'),
            ((path, *words, '--added', '2e6'), 1, 'at most 1000000'),
            ((path, *words, '--axis', 'm'), 1, 'KEY=VALUE'),
            ((path, *words, '--candidate', 'none'), 1, 'no candidate of the'),
            ((path, *words, '--axis', 'q=9'), 1, '/c: tiled'),
            ((three, *words), 1, 'there are 3 results: --baseline'),
            ((three, *words, '--candidate', 'none'), 1,
             '3 results may be the old one, not 1'),
            ((three, *words, '--candidate', 'none', '--baseline', 'old'), 1,
             '0 results may be the new one, not 1'),
            ((three, *words, '--candidate', 'half'), 1,
             '2 results may be the old one, not 1'),
            ((path, '--step', step, '--kernel', ''), 1, '--kernel is empty'),
            ((path, *words[2:]), 1, 'need --step'),
            ((path, '--any-device'), 1, 'need --step'),
            ((path, '--code', ran), 1, 'need --step'),
            ((path, *words, '--code', path), 2, 'list no code'),
            ((path, *words, '--code', step), 2, 'step.json'),
            ((path, '--all-shapes'), 1, 'need --step'),
            ((path, '--shape', '1x1x1,1x1x1'), 1, 'need --step'),
            ((path, *words, '--shape', '1x1'), 1, '--shape cannot be "1x1"'),
            ((path, *words, '--shape', '1x1x1,1x1x1'), 1, 'no shape can be'),
            ((path, '--format', 'nvprof'), 1, 'need --step'),
            ((path, *words, '--format', 'x'), 1, '--format cannot be "x"')):
        status, err = run(*more, '-o', out)
        assert status == want and said in err, (more, status, err)
        assert not os.path.exists(out)


def html_holds_its_plots(folder):
    page = Page(report(folder, 'html', write(folder, 'a', {}, {'name': 'b'})))
    sources = [a['src'] for t, a in page.tags if t == 'img']
    assert len(sources) == 3
    for source in sources:
        kind, data = source.split(',', 1)
        assert kind == 'data:image/svg+xml;base64'
        svg = base64.b64decode(data, validate=True)
        assert svg.startswith(b'<?xml') and svg.rstrip().endswith(b'</svg>')


def pictures_lie_beside_markdown(folder):
    own = os.path.join(folder, 'a b(c)')
    os.mkdir(own)
    path = write(folder, 'a', *[{'name': str(i)} for i in range(4)])
    for words, count in ((('--plots', 2), 3), (('--plots', 0), 0)):
        out = os.path.join(own, 'r (1).md')
        assert run(path, '-o', out, *words)[0] == 0
        text = read(out)
        files = [urllib.parse.unquote(f) for f in
                 re.findall(r'!\[[^]]*\]\(([^)]*)\)', text)]
        assert len(files) == count, files
        for file in files:
            assert os.path.getsize(os.path.join(own, file)) > 1000
        assert ('2 more results are not drawn' in text) == (count == 3)


def older_pictures_go(folder):
    own = os.path.join(folder, 'older')
    os.mkdir(own)
    path = write(folder, 'a', *[{'name': str(i)} for i in range(4)])
    others = ['r.samples-x.svg', 'r.samples-.svg', 'r.samples-1.svg.bak',
              'r2.samples-1.svg', 'rr.roofline.svg', 'r.samples-2.png',
              'r.roofline.svg2']
    for name in others:
        with open(os.path.join(own, name), 'w', encoding='utf-8') as file:
            file.write('mine')
    os.symlink('x', os.path.join(own, 'r.samples-77.svg'))
    out = os.path.join(own, 'r.md')
    for plots, count in ((4, 4), (1, 1), (2, 2), (0, 0)):
        assert run(path, '-o', out, '--plots', plots) == (0, '')
        made = ['r.samples-%d.svg' % (i + 1) for i in range(count)]
        made += ['r.md'] + (['r.roofline.svg'] if count else [])
        assert sorted(os.listdir(own)) == sorted(others + made)
    # Those of a Markdown report are not HTML's, nor another's.
    assert run(path, '-o', out, '--plots', 1) == (0, '')
    assert run(path, '-o', os.path.join(own, 'r.html')) == (0, '')
    done = subprocess.run([KMB, 'report', path, '-o', 'x.md'], cwd=own,
                          capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr
    assert len(os.listdir(own)) == len(others) + 4 + 6
    for name in others:
        assert read(os.path.join(own, name)) == 'mine'


def a_report_that_fails_leaves_the_older_pictures(folder):
    """What it names and what lies beside it are of one report."""
    own = os.path.join(folder, 'fails')
    os.mkdir(own)
    out = os.path.join(own, 'r.md')

    def content():
        return {name: read(os.path.join(own, name))
                for name in os.listdir(own)}
    assert run(write(folder, 'a', {'name': 'a'}), '-o', out)[0] == 0
    before = content()
    assert len(before) == 3
    # Its pictures have room, the report has not.
    room = 2 * max(len(text) for text in before.values())
    metadata = {'metadata': {'key-%d' % i: 'x' * 100
                             for i in range(room // 100)}}
    path = write(folder, 'b', dict(metadata, name='b'))
    status, err = run(path, '-o', out, before=limit(room))
    assert status == 3 and 'r.md: not written: File too large' in err, err
    assert content() == before


def several_files_become_one_report(folder):
    a, b = write(folder, 'a', {'name': 'a'}), write(folder, 'b', {'name': 'b'})
    text = report(folder, 'md', a, b, '--plots', 0)
    assert text.startswith('# a and others') and len(md_rows(text)) > 4
    assert report(folder, 'md', a, '--title', 'T').startswith('# T\n')


def a_file_cut_short_is_said_in_the_report(folder):
    path = write(folder, 'a', {})
    with open(path, 'a', encoding='utf-8') as file:
        file.write('\n{"schema": "kmb-re')
    out = os.path.join(folder, 'c.md')
    status, err = run(path, '-o', out)
    assert status == 0 and 'cut short' in err
    assert '- **Incomplete**: ' in read(out)


def bad_input_is_named(folder):
    out = os.path.join(folder, 'none.md')
    broken = os.path.join(folder, 'broken')
    with open(broken, 'w', encoding='utf-8') as file:
        file.write('{"schema": "kmb-result", "version": 99, "results": []}')
    for words, want, said in (
            ((RESULT,), 1, 'are needed'), (('-o', out), 1, 'are needed'),
            ((RESULT, '-o', out + '.txt'), 1, 'neither in .md nor in .html'),
            ((RESULT, '-o', out, '--x'), 1, 'no option'),
            ((RESULT, '-o', out, '--plots', 'x'), 1, '--plots cannot be'),
            ((RESULT, out + '.json', '-o', out), 1, 'No such file'),
            ((RESULT, broken, '-o', out), 2, 'version 99'),
            ((RESULT, '-o', os.path.join(folder, 'no', 'a.md')), 3, 'a.md')):
        status, err = run(*words)
        assert status == want and said in err, (words, status, err)
        assert not os.path.exists(out)


def limit(size):
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return before


def a_failed_write_leaves_the_old_report(folder):
    own = os.path.join(folder, 'own')
    os.mkdir(own)
    path = write(folder, 'a', {})
    for kind, plots in (('md', 0), ('html', 1)):
        out = os.path.join(own, 'r.' + kind)
        assert run(path, '-o', out, '--plots', plots)[0] == 0
        size = os.path.getsize(out)
        with open(out, 'w', encoding='utf-8') as file:
            file.write('old')
        for at in [*range(0, size, size // 9 + 1), size - 1]:
            status, err = run(path, '-o', out, '--plots', plots,
                              before=limit(at))
            assert status == 3 and 'File too large' in err, err
            assert read(out) == 'old' and os.listdir(own) == ['r.' + kind]
        os.remove(out)
    out = os.path.join(own, 'p.md')
    with open(out, 'w', encoding='utf-8') as file:
        file.write('old')
    # The report is small enough here, a picture is not.
    status, err = run(path, '-o', out, before=limit(20000))
    assert status == 3 and read(out) == 'old', err
    link = os.path.join(folder, 'full.html')
    os.symlink('/dev/full', link)
    status, err = run(path, '-o', link, '--plots', 0)
    assert status == 3 and 'No space left on device' in err, err


def code_that_was_captured_is_a_table(folder):
    known = {'name': '_Z4gemmPf', 'demangled': 'gemm(float*)',
             'architecture': 'sm_90', 'sha256': '0123456789abcdef' * 4,
             'file': 'gemm.cubin', 'grid': [1, 1, 1], 'block': [32, 1, 1],
             'launches': 1, 'dynamic_shared_bytes': 65536, 'registers': 168,
             'static_shared_bytes': 1024, 'local_bytes': 16,
             'max_threads': 384, 'blocks_per_unit': 2}
    bare = {'name': 'copy', 'grid': [1, 1, 1], 'block': [32, 1, 1],
            'launches': 1, 'dynamic_shared_bytes': 0}
    path = write(folder, 'code.json', {'code': [known, bare]})
    page = Page(report(folder, 'html', path, '--plots', 0))
    rows = [row[1:] for row in page.rows if len(row) == 9]
    assert rows[1] == ['gemm(float*)', 'sm_90', '168', '1024', '65536', '16',
                       '2', '0123456789ab in gemm.cubin'], rows
    assert rows[2] == ['copy', 'unknown', 'unknown', 'unknown', '0', 'unknown',
                       'unknown', 'none'], rows
    path = write(folder, 'many.json', {'code': [bare] * 256})
    assert 'more kernels stand in the files' in report(folder, 'md', path)
    assert '## Code' not in report(folder, 'md', RESULT)


def main():
    with tempfile.TemporaryDirectory() as folder:
        plots = 'without cairo' not in report(folder, 'md', RESULT)
        drawn = (html_holds_its_plots, pictures_lie_beside_markdown,
                 a_failed_write_leaves_the_old_report, older_pictures_go,
                 a_report_that_fails_leaves_the_older_pictures)
        helpers = (main, run, write, read, report, md_rows, limit, Page,
                   comparison)
        for name, test in list(globals().items()):
            if not callable(test) or test in helpers or \
                    getattr(test, '__module__', '') != '__main__':
                continue
            if not plots and test in drawn:
                print('no cairo: left out', name)
                continue
            test(folder)
            print('ok', name)


main()
