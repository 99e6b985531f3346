#!/usr/bin/env python3
"""Proves that the ABI gate rejects what it must: applies each patch of
canaries/ to a copy of the tree and runs the checks of the gate on it.

usage: canaries.py interface|library SOURCE_DIR WORK_DIR COMPILER...

A patch begins with "Caught-by: CHECK..." or with "Accepted". Each check that is
named must reject it; an accepted patch must pass them all.

"interface": the library is a stand-in that has the patched interface and
nothing behind it (abi_stub.py), so that a patch need not change lib/.
"library": abidiff on the real library, for the patches that are accepted, with
which the frozen programs must run, and for one change of a symbol and one of a
type (each means to build the library anew).
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77
REALLY_CAUGHT = ('symbol_version', 'insert_middle')
PARTS = ['include', 'lib', 'scripts', 'tests/abi', 'tests/headers']


class Broken(Exception):
    """The canary itself is at fault, not the gate."""


def call(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, check=False, encoding='utf-8',
                          errors='replace', env={**os.environ, 'LC_ALL': 'C'},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


class Tree:
    """A patched copy and its stand-in library."""

    def __init__(self, source, folder, compiler):
        self.folder, self.compiler = folder, compiler
        shutil.rmtree(folder, ignore_errors=True)
        for part in PARTS:
            shutil.copytree(os.path.join(source, part), self.path(part),
                            ignore=shutil.ignore_patterns('__pycache__'))
        self.library = self.path('libkmb.so')

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def apply(self, patch):
        status, words = call('patch', '-p1', '--no-backup-if-mismatch', '-i',
                             patch, cwd=self.folder)
        if status:
            raise Broken('the patch does not apply any more, write it anew:\n'
                         + words)

    def build(self):
        code = self.path('stub.c')
        status, words = call(sys.executable, self.path('scripts/abi_stub.py'),
                             self.path('include'), *self.compiler)
        if status:
            raise Broken(words)
        with open(code, 'w', encoding='utf-8') as file:
            file.write(words)
        with open(self.path('include/kmb/base.h'), encoding='utf-8') as file:
            major = re.search(r'^#define KMB_ABI_MAJOR (\d+)', file.read(),
                              re.M).group(1)
        status, words = call(
            *self.compiler, '-std=gnu11', '-g', '-O0', '-w', '-fPIC',
            '-shared', '-fvisibility=hidden', '-I', self.path('include'), code,
            '-o', self.library, '-Wl,-soname,libkmb.so.' + major,
            '-Wl,--version-script,' + self.path('lib/libkmb.map'))
        if status:
            raise Broken('the patched headers do not compile:\n' + words)


# Each check returns what it said, '' if it passed. `sign` is what a rejection
# must say: a check that fails for another reason has caught nothing.
def checked(result, sign):
    status, words = result
    if status == 0:
        return ''
    if not re.search(sign, words):
        raise Broken('failed for another reason:\n' + words)
    return words


def pins(tree):
    found = ''
    for name in sorted(os.listdir(tree.path('tests/abi'))):
        if re.match(r'^v\d.*\.c$', name):
            found += checked(
                call(*tree.compiler, '-std=gnu11', '-I', tree.path('include'),
                     tree.path('tests/abi', name), tree.library, '-o',
                     tree.path(name + '.out')),
                r'static.?assert|no member named|undefined reference')
    return found


def padded(tree):
    return checked(call(sys.executable, tree.path('tests/headers/check.py'),
                        'c', tree.path('include'), *tree.compiler),
                   r'padding')


def rules(tree):
    return checked(call(sys.executable, tree.path('tests/abi/rules.py'),
                        tree.path('include'),
                        tree.path('tests/abi/growth.abignore'),
                        *tree.compiler),
                   r'embeds|by value|is missing|is no struct|initialise')


def exports(tree):
    return checked(call(sys.executable, tree.path('tests/abi/check_symbols.py'),
                        'exports', tree.library, tree.path('lib/libkmb.map'),
                        tree.path('include/kmb')), r'is missing|should not be')


def abidiff(tree):
    return checked(call('sh', tree.path('tests/abi/abidiff.sh'),
                        tree.path('tests/abi/libkmb-0.abi'),
                        tree.path('tests/abi/growth.abignore'), tree.library),
                   r'abidiff: (4|8|12);')


CHECKS = {'pins': pins, 'padded': padded, 'rules': rules, 'exports': exports,
          'abidiff': abidiff}


def wanted(patch):
    with open(patch, encoding='utf-8') as file:
        first = file.readline().strip()
    if first == 'Accepted':
        return set()
    checks = set(first.partition('Caught-by: ')[2].split())
    if not checks or checks - set(CHECKS):
        raise Broken('its first line is not "Accepted" or "Caught-by: ..."')
    return checks


def name_of(patch):
    return os.path.basename(patch)[:-len('.patch')] if patch else 'no_change'


def run(source, work, compiler, patch):
    """A canary's name, what caught it, and what is wrong with it, '' if
    nothing."""
    name = name_of(patch)
    try:
        tree = Tree(source, os.path.join(work, name), compiler)
        must = wanted(patch) if patch else set()
        if patch:
            tree.apply(patch)
        tree.build()
        said = {check: CHECKS[check](tree) for check in CHECKS}
    except Broken as error:
        return name, [], str(error)
    shutil.rmtree(tree.folder)
    return judge(name, must, said)


def judge(name, must, said):
    caught = sorted(check for check in said if said[check])
    if must - set(caught):
        return name, caught, 'not caught by ' + ', '.join(
            sorted(must - set(caught)))
    if caught and not must:
        return name, caught, ''.join(said[check] for check in caught)
    return name, caught, ''


class RealTree(Tree):
    """A copy with the build files, configured once; patches are taken back."""

    def __init__(self, source, folder, compiler):
        super().__init__(source, folder, compiler)
        for part in ('meson.build', 'meson_options.txt'):
            shutil.copy(os.path.join(source, part), self.path(part))
        for part in ('backends', 'data', 'pkgconfig', 'examples', 'tools',
                     'docs'):
            shutil.copytree(os.path.join(source, part), self.path(part))
        status, words = call(
            'meson', 'setup', self.path('build'), self.folder, '-Dtests=false',
            '-Dbuildtype=debug', '-Db_ndebug=false')
        if status:
            raise Broken(words)
        with open(self.path('include/kmb/base.h'), encoding='utf-8') as file:
            version = re.search(r'^#define KMB_VERSION "0\.(.*)"', file.read(),
                                re.M).group(1)
        self.target = 'lib/libkmb.so.0.' + version
        self.library = self.path('build', self.target)

    def make(self):
        return call('ninja', '-j2', '-C', self.path('build'), self.target)

    def take_back(self, patch):
        call('patch', '-R', '-p1', '--no-backup-if-mismatch', '-i', patch,
             cwd=self.folder)

    def run_frozen(self, series):
        """Runs a frozen program with this library; '' if it is content."""
        frozen = self.path('tests/abi/frozen-' + series)
        program = self.path('consumer')
        status, words = call(*self.compiler, '-std=gnu11', '-I', frozen,
                             os.path.join(frozen, 'consumer.c'), self.library,
                             '-o', program, '-Wl,-rpath,' +
                             os.path.dirname(self.library))
        if not status:
            status, words = call(program)
        return 'the program of %s: %s' % (series, words) if status else ''


def run_real(tree, patch):
    name = name_of(patch)
    try:
        must = wanted(patch) if patch else set()
        if must and name not in REALLY_CAUGHT:
            return None
        if patch:
            tree.apply(patch)
        try:
            status, words = tree.make()
            if status:
                raise Broken(words)
            said = {'abidiff': abidiff(tree)}
            if not must:
                for folder in sorted(os.listdir(tree.path('tests/abi'))):
                    if folder.startswith('frozen-'):
                        series = folder[len('frozen-'):]
                        said[folder] = tree.run_frozen(series)
            return judge(name, must & {'abidiff'}, said)
        finally:
            if patch:
                tree.take_back(patch)
    except Broken as error:
        return name, [], str(error)


def interface(source, work, compiler, patches):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield from pool.map(lambda p: run(source, work, compiler, p), patches)


def library(source, work, compiler, patches):
    os.environ['CC'] = ' '.join(compiler)
    tree = RealTree(source, work, compiler)
    # The library as it is has an abidiff test of its own.
    for patch in filter(None, patches):
        result = run_real(tree, patch)
        if result:
            yield result


def main():
    mode, source, work = sys.argv[1:4]
    compiler = sys.argv[4:]
    for tool in ('patch', 'abidiff'):
        if not shutil.which(tool):
            print('%s was not found (Debian packages patch, abigail-tools)'
                  % tool)
            return SKIPPED
    folder = os.path.join(source, 'tests', 'abi', 'canaries')
    patches = sorted(os.path.join(folder, p) for p in os.listdir(folder)
                     if p.endswith('.patch'))
    if len(patches) < 10:
        print('%d canaries: some are missing' % len(patches))
        return 1
    seen, failed = 0, 0
    modes = {'interface': interface, 'library': library}
    for name, caught, wrong in modes[mode](source, work, compiler,
                                           [None] + patches):
        print('%-20s %s' % (name, 'caught by ' + ', '.join(caught)
                            if caught else 'passes'), flush=True)
        seen += 1
        if wrong:
            failed += 1
            print('%s: %s' % (name, wrong))
    print('%d trees, %d wrong' % (seen, failed))
    return 1 if failed or not seen else 0


if __name__ == '__main__':
    sys.exit(main())
