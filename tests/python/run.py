#!/usr/bin/env python3
"""Runs tests of the Python front. A module that a test file needs (NEEDS = ...)
may be with the system's Python alone; where it is nowhere, the file is skipped.

usage: run.py FILE PACKAGE_DIR LIBRARY SOURCE_DIR C_COMPILER...
"""
import importlib.util
import os
import subprocess
import sys
import unittest

SKIPPED = 77
OTHERS = ['/usr/bin/python3']


def has(python, modules):
    """Whether they are there; importing torch takes more than a second."""
    return subprocess.run(
        [python, '-c', 'import importlib.util as u, sys; sys.exit(not all('
         'map(u.find_spec, %r)))' % modules], check=False).returncode == 0


def interpreter(needs):
    """The first Python that has what the file needs."""
    for python in [sys.executable] + OTHERS:
        if os.path.exists(python) and has(python, needs):
            return python
    return None


def needs_of(path):
    with open(path, encoding='utf-8') as file:
        for line in file:
            if line.startswith('NEEDS = '):
                return line.split("'")[1].split()
    return []


def main():
    path, package, library, source, *compiler = sys.argv[1:]
    needs = needs_of(path)
    if 'KMB_TESTS_PYTHON' not in os.environ:
        python = interpreter(needs)
        if python is None:
            print('Python has no %s (Debian package python3-%s)'
                  % (' or no '.join(needs), needs[0].replace('_', '-')))
            return SKIPPED
        environment = dict(os.environ, KMB_TESTS_PYTHON='1',
                           KMB_LIBRARY=os.path.abspath(library),
                           PYTHONDONTWRITEBYTECODE='1',
                           PYTHONPATH=package)
        return subprocess.run([python] + sys.argv, env=environment,
                              check=False).returncode
    spec = importlib.util.spec_from_file_location('tests_of_kmb', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules['tests_of_kmb'] = module
    spec.loader.exec_module(module)
    module.SOURCE, module.COMPILER = source, compiler
    module.PACKAGE, module.LIBRARY = package, os.path.abspath(library)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    if not suite.countTestCases():
        print('%s has no tests' % path)
        return 1
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if result.wasSuccessful() and len(result.skipped) > 0 and \
            len(result.skipped) >= result.testsRun:
        print(result.skipped[0][1])
        return SKIPPED
    return 0 if result.wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())
