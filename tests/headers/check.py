#!/usr/bin/env python3
"""Compiles each public header by itself: alone, twice in one file, and with
sizeof of every public struct, so that -Wpadded sees each. One language a run.

usage: check.py c|c++ INCLUDE_DIR COMPILER...
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wpadded', '-Werror']
STRUCT = re.compile(r'^typedef struct (kmb_\w+) \{', re.M)
TYPEDEF = re.compile(r'^\} (kmb_\w+);', re.M)


def cpp_compiler(c_compiler):
    """The C++ compiler that belongs to a C compiler, or None."""
    if os.environ.get('CXX'):
        return os.environ['CXX'].split()
    name = os.path.basename(c_compiler[-1])
    if 'clang' in name:
        names = [name.replace('clang', 'clang++')]
    else:
        names = [name.replace('gcc', 'g++'), 'c++', 'g++']
    for candidate in names:
        if candidate != name and shutil.which(candidate):
            return [candidate]
    return None


def source(header, structs, times):
    lines = ['#include <kmb/%s>' % header] * times
    if header == 'mpi.h':  # it wants MPI's own before
        lines.insert(0, '#include <mpi.h>')
    lines.append('extern size_t sizes_of_structs[];')
    sizes = ['sizeof(%s)' % s for s in structs] + ['sizeof(kmb_status)']
    lines.append('size_t sizes_of_structs[] = {%s};' % ', '.join(sizes))
    return '\n'.join(lines) + '\n'


def compiles(command, text, suffix, folder):
    path = os.path.join(folder, 'one' + suffix)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    done = subprocess.run(command + ['-c', path, '-o', os.devnull],
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def mpi_flags(folder, compiler):
    """Where an MPI lies that compiles without a warning of its own, or None."""
    for package in ('ompi-c', 'mpich'):
        try:
            done = subprocess.run(['pkg-config', '--cflags-only-I', package],
                                  capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return None
        if done.returncode:
            continue
        flags = done.stdout.replace('-I', '-isystem').split()
        if compiles(compiler + flags, '#include <mpi.h>\n', '.c', folder)[0]:
            return flags
    return None


def main():
    language, include, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    if language == 'c++':
        compiler = cpp_compiler(compiler)
        if not compiler:
            print('no C++ compiler was found (Debian package g++)')
            return SKIPPED
    standard = 'c11' if language == 'c' else 'c++17'
    suffix = '.c' if language == 'c' else '.cpp'
    command = compiler + ['-std=' + standard, '-I', include] + WARNINGS
    folder = os.path.join(include, 'kmb')
    headers = sorted(h for h in os.listdir(folder) if h.endswith('.h'))
    failed, seen = 0, 0
    with tempfile.TemporaryDirectory() as work:
        padded = 'struct padded { char a; double b; };\n' \
                 'extern unsigned long n; unsigned long n = ' \
                 'sizeof(struct padded);\n'
        if compiles(command, padded, suffix, work)[0]:
            print('the compiler does not report padding')
            return 1
        mpi = mpi_flags(work, compiler)
        if mpi is None and 'mpi.h' in headers:
            print('mpi.h is left out: no MPI is installed (libopenmpi-dev or '
                  'libmpich-dev)')
            headers.remove('mpi.h')
        for header in headers:
            flags = mpi if header == 'mpi.h' else []
            with open(os.path.join(folder, header), encoding='utf-8') as file:
                text = file.read()
            structs = STRUCT.findall(text)
            if sorted(structs) != sorted(TYPEDEF.findall(text)):
                print('%s: a struct and its typedef differ, or one is not '
                      'found by this check' % header)
                failed += 1
            seen += len(structs)
            for times in (1, 2):
                good, words = compiles(
                    command + flags, source(header, structs, times), suffix,
                    work)
                if not good:
                    print('%s, included %d times, as %s:\n%s'
                          % (header, times, standard, words))
                    failed += 1
    print('%d headers, %d structs, %s' % (len(headers), seen, standard))
    if not headers or not seen:
        print('nothing was checked')
        return 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
