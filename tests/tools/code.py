#!/usr/bin/env python3
"""kmb code: known answers and bad input.

usage: code.py KMB FOLDER     (tests/data/code)
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
KMB, DATA = sys.argv[1:3]


def run(*words):
    done = subprocess.run([KMB, 'code', *map(str, words)], capture_output=True,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def good(*words):
    status, out, err = run(*words, '--json')
    assert status == 0 and not err, (words, status, err)
    return json.loads(out)


def bad(status, words, *arguments):
    got, out, err = run(*arguments)
    assert got == status and words in err and not out, (arguments, got, err)
    assert err.count('\n') == 1, err


def data(name):
    return os.path.join(DATA, name)


def content(name):
    with open(data(name), 'rb') as file:
        return file.read()


def kernels_are_listed():
    image = good(data('kernels.cubin'))
    assert image['architecture'] == 'sm_90a'
    assert image['sha256'] == hashlib.sha256(
        content('kernels.cubin')).hexdigest()
    names = [k['name'] for k in image['kernels']]
    assert names == sorted(names) and len(names) == 5
    spills = image['kernels'][0]
    assert spills['demangled'] == 'void spills<36>(float const*, float*)'
    assert spills['registers'] == 32 and spills['stack_bytes'] == 80
    assert spills['max_threads'] == 1024
    assert 'max_threads' not in image['kernels'][1]
    status, out, err = run(data('kernels.cubin'))
    assert status == 0 and not err
    for words in ('cubin for sm_90a', 'void spills<36>(float const*, float*)',
                  '_Z6spillsILi36EEvPKfPf', 'not stated', image['sha256']):
        assert words in out, words


def code_of_a_kernel_has_a_hash_of_its_own():
    new, old = good(data('tiny.cubin')), good(data('older.cubin'))
    assert new['sha256'] != old['sha256']
    assert new['kernels'][0]['code_sha256'] != new['sha256']
    assert len(new['kernels'][0]['code_sha256']) == 64


def kernels_are_chosen_by_either_name():
    for regex in ('^copy_', 'spills<36>', '^_Z6spills', 'copy_wide|dot'):
        image = good(data('kernels.cubin'), '--kernel', regex)
        assert 1 <= len(image['kernels']) <= 2, regex
    bad(1, 'none of its 5 kernels matches "nothing"', data('kernels.cubin'),
        '--kernel', 'nothing')
    bad(1, '--kernel "(": ', data('kernels.cubin'), '--kernel', '(')


def wrong_arguments_are_refused():
    bad(1, 'a file is needed')
    bad(1, 'needs a value', data('tiny.cubin'), '--kernel')
    bad(1, 'no option "--jsn"', data('tiny.cubin'), '--jsn')
    bad(1, 'one file', data('tiny.cubin'), data('tiny.cubin'))
    bad(1, 'No such file', data('absent'))
    bad(1, 'absent', data('absent'))
    bad(1, 'kmb: ', DATA)


def no_entries(image):
    """The same without a function that can be launched."""
    changed = bytearray(image)
    at = changed.find(b'\x12\x10')
    assert at > 0 and changed.find(b'\x12\x10', at + 1) < 0
    changed[at + 1] = 0
    return bytes(changed)


def what_is_no_cubin_is_named(folder):
    tiny = content('tiny.cubin')
    inputs = {
        'it is empty': b'',
        'a fat binary': b'\x50\xed\x55\xba' + tiny,
        'it is PTX': b'.version 9.0\n.target sm_90\n.visible .entry k()\n',
        'neither a cubin': b'hello',
        'cut short': tiny[:-1],
        'machine 62': tiny[:18] + b'\x3e' + tiny[19:],
        'unknown architecture, number 211': tiny[:49] + b'\xd3' + tiny[50:],
        'holds no kernels': no_entries(tiny),
    }
    path = os.path.join(folder, 'input')
    for words, image in inputs.items():
        with open(path, 'wb') as file:
            file.write(image)
        bad(2, words, path)


def a_build_without_libelf_says_so():
    status, out, err = run(data('tiny.cubin'))
    if 'libelf was absent' not in err:
        return False
    assert status == 1 and not out and 'libelf-dev' in err
    print('this build has no libelf (Debian package libelf-dev)')
    return True


def main():
    if a_build_without_libelf_says_so():
        return SKIPPED
    kernels_are_listed()
    code_of_a_kernel_has_a_hash_of_its_own()
    kernels_are_chosen_by_either_name()
    wrong_arguments_are_refused()
    with tempfile.TemporaryDirectory() as folder:
        what_is_no_cubin_is_named(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
