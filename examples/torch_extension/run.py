#!/usr/bin/env python3
"""Measures the custom operation of this folder.

usage: run.py LIBRARY   built by CMake
       run.py           built here, by torch.utils.cpp_extension.load
"""
import argparse
import json
import os
import shlex
import subprocess
import sys

try:
    import torch
except ImportError:
    print('examples/torch_extension needs torch (Debian package python3-torch)')
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))


def pkg_config(*what):
    done = subprocess.run(['pkg-config', *what, 'kmb'], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit('pkg-config does not find kmb: ' + done.stderr)
    return shlex.split(done.stdout)


def load():
    """Compiles the extension; torch keeps what it built."""
    from torch.utils import cpp_extension
    sources = [os.path.join(HERE, 'extension.cpp')]
    flags = ['-std=c++17', '-O2'] + pkg_config('--cflags')
    cuda = torch.cuda.is_available()
    if cuda:
        sources.append(os.path.join(HERE, 'axpy.cu'))
        flags.append('-DKMB_TORCH_CUDA')
    libdir, = pkg_config('--variable=libdir')
    cpp_extension.load(
        'kmb_example', sources, extra_cflags=flags,
        extra_cuda_cflags=['-std=c++17', '-DKMB_TORCH_CUDA'],
        extra_ldflags=pkg_config('--libs') + ['-Wl,-rpath,' + libdir],
        with_cuda=cuda, is_python_module=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('library', nargs='?', help='built by CMake')
    parser.add_argument('--floats', type=int, default=1 << 20)
    parser.add_argument('--host-cache', type=int, default=0, metavar='BYTES',
                        help='a last-level cache to claim for the host')
    options = parser.parse_args()
    if options.library:
        torch.ops.load_library(options.library)
    else:
        load()
    place = 'cuda' if torch.cuda.is_available() else 'cpu'
    x = torch.rand(options.floats, device=place)
    y = torch.rand(options.floats, device=place)
    result = json.loads(torch.ops.kmb_example.measure(
        x, y, 2.0, options.host_cache))['results'][0]
    print('axpy of %d floats on %s: %.3f us, cache %s, timer %s, check %s' % (
        x.numel(), place, result['time_ns'] / 1e3, result['cache_state'],
        result['timer'], result['check']))
    if 'sol_pct' in result:
        print('%.1f%% of the speed of light' % result['sol_pct'])
    for finding in result['findings']:
        print('%(severity)s %(code)s: %(message)s' % finding)


if __name__ == '__main__':
    main()
