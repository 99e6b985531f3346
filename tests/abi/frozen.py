#!/usr/bin/env python3
"""What is frozen stays frozen.

usage: frozen.py fresh SOURCE_DIR COMPILER...   before the release: the copy is
                                                of today's interface
       frozen.py whole SOURCE_DIR               the programs use all of it
       frozen.py kept SOURCE_DIR                after the release: not edited
       frozen.py --self-test
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..',
                                'scripts'))
import abi_interface  # noqa: E402
import headers  # noqa: E402

SKIPPED = 77


def text_of(*parts):
    with open(os.path.join(*parts), encoding='utf-8') as file:
        return file.read()


def git(source, *words):
    done = subprocess.run(['git', '-C', source, *words], text=True, check=False,
                          capture_output=True)
    return done.returncode, done.stdout


def series_of(source):
    """Series that are frozen: {'0.1': [paths]}."""
    abi = os.path.join(source, 'tests', 'abi')
    found = {}
    for name in sorted(os.listdir(abi)):
        if name.startswith('frozen-'):
            series = name[len('frozen-'):]
            found[series] = ['tests/abi/' + name] + [
                'tests/abi/' + pins for pins in sorted(os.listdir(abi))
                if re.match(r'^v\d+(_\d+)?\.c$', pins) and
                'interface of %s,' % series in text_of(abi, pins)]
    return found


def fresh(source, *compiler):
    version = re.search(r'^#define KMB_VERSION "(\d+\.\d+)\.\d+"',
                        text_of(source, 'include', 'kmb', 'base.h'), re.M)
    series = version.group(1)
    if not re.search(r'^## %s\.0 \(unreleased\)$' % re.escape(series),
                     text_of(source, 'CHANGELOG.md'), re.M):
        print('%s is released: its copy is final' % series)
        return SKIPPED
    now, then = (abi_interface.read(folder, list(compiler)) for folder in (
        os.path.join(source, 'include'),
        os.path.join(source, 'tests', 'abi', 'frozen-' + series)))
    bad = 0
    for what in ('constants', 'types', 'functions', 'inits'):
        for entry in set(map(str, getattr(now, what))) ^ set(
                map(str, getattr(then, what))):
            print('differs: ' + entry)
            bad += 1
    ours, theirs = ({s.name: s.members for s in i.structs}
                    for i in (now, then))
    for name in sorted(set(ours) | set(theirs)):
        if ours.get(name) != theirs.get(name):
            print('differs: struct ' + name)
            bad += 1
    if bad:
        print('the frozen copy of %s is not of today: scripts/abi_freeze.sh '
              'renews it until the release' % series)
    return 1 if bad else 0


def whole(source):
    bad = 0
    for series in series_of(source):
        folder = os.path.join(source, 'tests', 'abi', 'frozen-' + series)
        code = ''.join(text_of(folder, name) for name in os.listdir(folder)
                       if name.endswith('.c'))
        functions = [f.name for f in headers.functions(
            os.path.join(folder, 'kmb'))]
        for name in functions:
            if not re.search(r'\b%s\(' % name, code):
                print('%s: no program of %s calls it' % (name, series))
                bad += 1
        print('%s: %d functions' % (series, len(functions)))
    return 1 if bad else 0


def kept(source):
    status, tags = git(source, 'tag', '--list', 'v*')
    if status:
        print('not a git checkout: nothing to compare with')
        return SKIPPED
    tagged = {s: p for s, p in series_of(source).items()
              if 'v%s.0' % s in tags.split()}
    bad = 0
    for series, paths in tagged.items():
        status, _ = git(source, 'diff', '--quiet', 'v%s.0' % series, '--',
                        *paths)
        if status:
            print('%s: edited since v%s.0; take them from the tag'
                  % (', '.join(paths), series))
            bad += 1
    if not tagged:
        print('no release is tagged here: nothing to compare with')
        return SKIPPED
    return 1 if bad else 0


def self_test():
    with tempfile.TemporaryDirectory() as source:
        folder = os.path.join(source, 'tests', 'abi', 'frozen-0.1')
        os.makedirs(folder)
        path = os.path.join(folder, 'consumer.c')
        pins = os.path.join(source, 'tests', 'abi', 'v0.c')
        for name, text in ((path, 'a'), (pins, '/* interface of 0.1, */')):
            with open(name, 'w', encoding='utf-8') as file:
                file.write(text)
        assert series_of(source) == {
            '0.1': ['tests/abi/frozen-0.1', 'tests/abi/v0.c']}
        git(source, 'init')
        git(source, 'add', '.')
        git(source, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit',
            '-m', 'a')
        assert kept(source) == SKIPPED
        git(source, 'tag', 'v0.1.0')
        assert kept(source) == 0
        for name in (path, pins):
            text = text_of(name)
            with open(name, 'a', encoding='utf-8') as file:
                file.write('b')
            assert kept(source) == 1
            with open(name, 'w', encoding='utf-8') as file:
                file.write(text)
        assert kept(source) == 0


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return 0
    mode = {'fresh': fresh, 'whole': whole, 'kept': kept}[sys.argv[1]]
    return mode(*sys.argv[2:])


if __name__ == '__main__':
    sys.exit(main())
