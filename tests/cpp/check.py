#!/usr/bin/env python3
"""Compiles kmb.hpp and its parts by themselves, and the tests of this folder,
and runs these against the library that was built.

usage: check.py some|all INCLUDE_DIR LIBRARY TRACES_DIR PLUGIN C_COMPILER...

"some" takes the C++ compiler that belongs to the C compiler, as C++17, with and
without exceptions, and of the headers kmb.hpp alone; "all" every compiler that
is there, C++17 and C++20, and the address and undefined behaviour sanitizers.
"""
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
HERE = os.path.dirname(os.path.abspath(__file__))
WARNINGS = ['-pthread', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror',
            '-Wno-unused-result']
SANITIZED = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-g']


def compilers(c_compiler, everything):
    name = os.path.basename(c_compiler[-1])
    clang = 'clang' in name
    own = name.replace('clang', 'clang++') if clang else \
        name.replace('gcc', 'g++')
    wanted = ['g++', 'clang++'] if everything else \
        [os.environ.get('CXX', ''), own, 'c++', 'g++']
    found = [c for c in wanted if c and c != name and shutil.which(c)]
    return found if everything else found[:1]


def run(command, what, environment=None):
    done = subprocess.run(command, capture_output=True, text=True,
                          env=environment, check=False)
    if done.returncode:
        print('%s:\n%s\n%s%s' % (what, ' '.join(command), done.stdout,
                                 done.stderr))
        sys.exit(1)


def headers_alone(command, names, folder):
    for name in names:
        path = os.path.join(folder, 'alone.cc')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#include <kmb/%s>\n' % name * 2)
        run(command + ['-fsyntax-only', path], name)


def program(command, throwing, arguments, folder):
    """Builds and runs; `arguments` are the library's path and what the tests
    take."""
    library, *given = arguments
    files = ['main.cc'] + (['returns.cc'] if throwing else [])
    path = os.path.join(folder, 'tests')
    run(command + [os.path.join(HERE, f) for f in files] +
        ['-o', path, library, '-Wl,-rpath,' + os.path.dirname(library)], path)
    run([path] + given, path)


def main():
    everything = sys.argv[1] == 'all'
    include, library, traces, plugin = sys.argv[2:6]
    found = compilers(sys.argv[6:], everything)
    if not found:
        print('no C++ compiler was found (Debian package g++)')
        return SKIPPED
    ways = [[], ['-fno-exceptions']]
    if everything:
        ways.append(SANITIZED)
    names = ['kmb.hpp']
    if everything:
        names += ['cpp/' + n for n in sorted(os.listdir(include + '/kmb/cpp'))]
    for compiler in found:
        for standard in ['17', '20'] if everything else ['17']:
            for way in ways:
                command = [compiler, '-std=c++' + standard, '-I', include]
                command += WARNINGS + way
                with tempfile.TemporaryDirectory() as folder:
                    if everything or not way:
                        headers_alone(command, names, folder)
                    program(command, '-fno-exceptions' not in way,
                            (library, traces, plugin), folder)
                print('ok', ' '.join([compiler, 'c++' + standard] + way))
    return 0


if __name__ == '__main__':
    sys.exit(main())
