#!/usr/bin/env python3
"""kmb plot samples: pictures, odd results, and files that cannot be written.

usage: samples.py KMB RESULT.json
"""
import copy
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile

KMB, RESULT = sys.argv[1:3]
with open(RESULT, encoding='utf-8') as given:
    DOCUMENT = json.load(given)


def run(*words, before=None):
    done = subprocess.run([KMB, 'plot', 'samples', *map(str, words)],
                          capture_output=True, check=False, preexec_fn=before)
    return done.returncode, done.stderr.decode()


def write(folder, name, *changes):
    document = copy.deepcopy(DOCUMENT)
    base = document['results'][0]
    document['results'] = [dict(base, **change) for change in changes]
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(document, file)
    return path


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def a_picture_of_each_kind_is_1200_pixels_wide(folder):
    path = os.path.join(folder, 'a.')
    for kind, begin in (('svg', b'<?xml'), ('png', b'\x89PNG'),
                        ('pdf', b'%PDF')):
        status, err = run(RESULT, '-o', path + kind)
        assert (status, err) == (0, ''), err
        data = content(path + kind)
        assert data.startswith(begin)
        if kind == 'png':
            assert struct.unpack('>I', data[16:20])[0] == 1200
        if kind == 'svg':
            assert b'width="1200px"' in data or b'width="1200"' in data


def height(path):
    return struct.unpack('>I', content(path)[20:24])[0]


def each_result_has_its_picture(folder):
    three = write(folder, 'three', {}, {'name': 'b'}, {'name': 'c'})
    out = os.path.join(folder, 'a.png')
    assert run(three, '-o', out)[0] == 0
    whole = height(out)
    assert run(three, '-o', out, '--result', 2)[0] == 0
    assert whole == 3 * height(out)
    status, err = run(three, '-o', out, '--result', 4)
    assert status == 1 and '3 results' in err
    many = write(folder, 'many', *[{}] * 61)
    status, err = run(many, '-o', out)
    assert status == 1 and '--result' in err
    assert run(many, '-o', out, '--result', 61)[0] == 0


def odd_samples_are_drawn(folder):
    noise = [1e4 + (i * 7919) % 101 for i in range(100000)]
    for name, samples in (('none', []), ('one', [5.0]), ('zero', [0.0] * 64),
                          ('same', [7.0] * 64), ('many', noise),
                          ('far', [1.0] * 99 + [1e300]),
                          ('tiny', [1e-300] * 64), ('two', [1.0, 2.0] * 50)):
        for kind in ('svg', 'png'):
            path = write(folder, name, {'samples_ns': samples})
            status, err = run(path, '-o', os.path.join(folder, 'a.' + kind))
            assert (status, err) == (0, ''), (name, err)
    for text in ('\u00e9\n' * 400, 'x' + '\u4e2d' * 400, '<&>\x1b', ''):
        axes = [{'key': text, 'value': text}]
        path = write(folder, 'text', {'name': text, 'axes': axes})
        status, err = run(path, '-o', os.path.join(folder, 'a.svg'))
        assert (status, err) == (0, ''), err


def bad_input_is_named(folder):
    out = os.path.join(folder, 'none.svg')
    broken = os.path.join(folder, 'broken')
    with open(broken, 'w', encoding='utf-8') as file:
        file.write('{"schema": ')
    for words, want, said in (
            ((RESULT,), 1, 'are needed'), (('-o', out), 1, 'are needed'),
            ((RESULT, RESULT, '-o', out), 1, 'one file'),
            ((RESULT, '-o', out + '.gif'), 1, '.svg, .png and .pdf'),
            ((RESULT, '-o', out, '--x'), 1, 'no option'),
            ((RESULT, '-o'), 1, 'needs a value'),
            ((RESULT, '-o', out, '--result', '0'), 1, '--result cannot be'),
            ((out + '.json', '-o', out), 1, 'No such file'),
            ((broken, '-o', out), 2, broken),
            ((write(folder, 'empty'), '-o', out), 2, 'no results'),
            ((write(folder, 'nan', {'samples_ns': [float('nan')]}), '-o', out),
             2, 'nan'),
            ((write(folder, 'below', {'samples_ns': [-1.0]}), '-o', out), 2,
             'below zero')):
        status, err = run(*words)
        assert status == want and said in err, (words, status, err)
        assert not os.path.exists(out)


def limit(size):
    """The file system is full after this many bytes."""
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return before


def a_failed_write_leaves_the_old_file(folder):
    own = os.path.join(folder, 'own')
    os.mkdir(own)
    for kind in ('svg', 'png', 'pdf'):
        out = os.path.join(own, 'a.' + kind)
        assert run(RESULT, '-o', out)[0] == 0
        size = os.path.getsize(out)
        with open(out, 'wb') as file:
            file.write(b'old')
        for at in [0, 1, 4095, 4096, 4097, *range(0, size, size // 9 + 1),
                   size - 1]:
            if at >= size:
                continue
            status, err = run(RESULT, '-o', out, before=limit(at))
            assert status == 3 and 'not written' in err, (kind, at, err)
            assert content(out) == b'old' and len(os.listdir(own)) == 1
        status, _ = run(RESULT, '-o', out, before=limit(size))
        assert status == 0 and content(out) != b'old'
        os.remove(out)


def a_full_device_is_an_error(folder):
    link = os.path.join(folder, 'full.svg')
    os.symlink('/dev/full', link)
    status, err = run(RESULT, '-o', link)
    assert status == 3 and 'No space left on device' in err, err
    assert os.path.islink(link)


def the_file_behind_a_link_is_replaced(folder):
    own = os.path.join(folder, 'links')
    os.mkdir(own)
    target, link = os.path.join(own, 't.svg'), os.path.join(folder, 'l.svg')
    with open(target, 'w', encoding='utf-8') as file:
        file.write('old')
    os.chmod(target, 0o640)
    os.symlink(target, link)
    assert run(RESULT, '-o', link)[0] == 0
    assert os.path.islink(link) and content(target).startswith(b'<?xml')
    assert os.stat(target).st_mode & 0o777 == 0o640


def no_permission_has_its_own_message(folder):
    own = os.path.join(folder, 'closed')
    os.mkdir(own)
    out = os.path.join(own, 'a.svg')
    with open(out, 'w', encoding='utf-8') as file:
        file.write('old')

    def nobody():
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
    os.chmod(folder, 0o755)
    try:
        usable = subprocess.run([KMB, '--version'], preexec_fn=nobody,
                                capture_output=True, check=False)
        usable = usable.returncode == 0 and os.access(RESULT, os.R_OK)
    except PermissionError:
        usable = False
    if not usable:
        print('left out: other users cannot run', KMB)
        return
    for file_mode, folder_mode in ((0o444, 0o777), (0o666, 0o555)):
        os.chmod(out, file_mode)
        os.chmod(own, folder_mode)
        status, err = run(RESULT, '-o', out, before=nobody)
        assert status == 3 and 'no permission to write' in err, err
        assert ('in its folder' in err) == (folder_mode == 0o555)
        assert content(out) == b'old'
    os.chmod(own, 0o755)


def main():
    if 'without cairo' in run(RESULT)[1]:
        print('skipped: no cairo')
        sys.exit(77)
    helpers = (main, run, write, content, height, limit)
    with tempfile.TemporaryDirectory() as folder:
        for name, test in list(globals().items()):
            if callable(test) and test not in helpers and \
                    getattr(test, '__module__', '') == '__main__':
                test(folder)
                print('ok', name)


main()
