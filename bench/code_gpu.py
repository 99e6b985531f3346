#!/usr/bin/env python3
"""What the code of kernels that really ran shows on a GPU: a bf16 product of
cuBLAS, a copy of Triton, kernels of a shared library, one that spills and one
that loads four bytes at a time. Each is captured on its first launch and read
by `kmb code`; the library's image is compared with what cuobjdump takes out of
the library.

usage: code_gpu.py KMB PROGRAM.so FOLDER OUTPUT.json
"""
import ctypes
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def product():
    import torch
    a, b = (torch.rand(4096, 4096, device='cuda').mul_(2).sub_(1)
            .to(torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    return lambda: torch.mm(a, b, out=out)


def triton():
    import torch
    import triton_copy
    x = torch.rand(1 << 22, device='cuda')
    y = torch.empty_like(x)
    return lambda: triton_copy.copy(x, y)


def of_library(name, library):
    import torch
    import gpu_front
    x = torch.rand(1 << 20, device='cuda')
    y = torch.empty_like(x)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    more = [] if name == 'run_spills' else [ctypes.c_uint64(1 << 20)]

    def call():
        code = getattr(library, name)(
            ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()),
            *more, stream)
        gpu_front.must(code, name)
    return call


def time_copies(report, library):
    """The same copy, four bytes a load and sixteen: what the code's flag is
    worth in time."""
    import kmb
    import torch
    import gpu_front
    import triton_copy
    x = torch.rand(1 << 24, device='cuda')

    def of(name):
        def call(x, y):
            gpu_front.must(getattr(library, name)(
                ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()),
                ctypes.c_uint64(x.numel()),
                ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)), name)
        return call

    work = kmb.work.copy(4 * x.numel())
    for name, fn in (('copy_narrow', of('run_narrow')),
                     ('copy_wide', of('run_wide')),
                     ('triton_copy', triton_copy.copy)):
        result = kmb.bench(fn, (x, torch.empty_like(x)), outputs=['y'],
                           name=name, work=work, check=lambda r, x, y:
                           torch.equal(x, y))
        report['times'][name] = {
            'us': result.time_us, 'gb_s': result['achieved_bytes_per_s'] / 1e9,
            'sol_pct': result['sol_pct'], 'timer': result['timer'],
            'cache': result['cache_state']}
        print('%s: %.2f us for 64 MiB' % (name, result.time_us), flush=True)


def waited(call):
    import torch

    def run():
        call()
        torch.cuda.synchronize()
    return run


def of_toolkit(*names):
    """The first of some programs that is in PATH or in a toolkit."""
    folders = [os.environ.get('PATH', '')] + sorted(
        glob.glob('/usr/local/cuda*/bin'), reverse=True)
    return next((found for name in names for found in [
        shutil.which(name, path=folder) for folder in folders] if found), None)


def read(tool, path, kernel):
    """What `kmb code` says of a kernel of a cubin."""
    disassembler = of_toolkit('nvdisasm', 'cuobjdump')
    done = subprocess.run(
        [tool, 'code', path, '--json', '--deadline', '60', '--kernel',
         '^%s$' % re.escape(kernel)] +
        (['--disassembler', disassembler] if disassembler else []),
        capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError('kmb code: ' + done.stderr.strip())
    return json.loads(done.stdout)


def total(said, *starts):
    """Instructions of the classes that begin so."""
    return sum(count for kernel in said['kernels']
               for key, count in kernel.get('classes', {}).items()
               if key.startswith(starts))


def flags(said):
    return {f['flag'] for k in said['kernels'] for f in k.get('flags', [])}


def unread(said):
    return [k['classes_absent'] for k in said['kernels']
            if 'classes_absent' in k]


#: What is captured, what its code must show.
WANTED = {
    'cublas_bf16': ('HGMMA is used', lambda s: total(s, 'hgmma') > 0),
    'triton_copy': ('loads and stores of 16 bytes, no others',
                    lambda s: total(s, 'global_load_16') > 0 and
                    total(s, 'global_store_16') > 0 and
                    total(s, 'global_load_') == total(s, 'global_load_16')),
    'spills': ('local traffic, flag SPILLS',
               lambda s: total(s, 'local_load_', 'local_store_') > 0 and
               'SPILLS' in flags(s)),
    'scalar_copy': ('flag NARROW_LOADS', lambda s: 'NARROW_LOADS' in flags(s)),
}


def judge(report, tool, name, folder, kernels):
    """Each kernel that ran is read; one of them must hold the bar."""
    bar, holds = WANTED[name]
    row = {'name': name, 'bar': bar, 'kernels': [], 'ok': False}
    report['bars'].append(row)
    if not kernels:
        row['why'] = 'no kernel was captured'
    for kernel in kernels:
        row['kernels'].append(kernel)
        if 'file' not in kernel:
            row['why'] = '%s has no image: %s' % (
                kernel['name'], kernel.get('reason', 'no reason given'))
            continue
        try:
            said = read(tool, os.path.join(folder, kernel['file']),
                        kernel['name'])
        except (RuntimeError, ValueError) as error:
            row['why'] = str(error)
            continue
        kernel['code'] = [{k: v for k, v in one.items() if k != 'loops'}
                          for one in said['kernels']]
        row['ok'] = row['ok'] or holds(said)
        if unread(said):
            row['why'] = unread(said)[0]
    print('%-14s %s: %s %s' % (name, bar, 'yes' if row['ok'] else 'NO',
                               row.get('why', '')), flush=True)
    return row


def extracted(program):
    """Hashes of the cubins that cuobjdump takes out of a program."""
    tool = of_toolkit('cuobjdump')
    if tool is None:
        raise RuntimeError('there is no cuobjdump')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tool, '-xelf', 'all', os.path.abspath(program)],
                       cwd=folder, check=True, capture_output=True)
        return {os.path.basename(path): sha256(path)
                for path in glob.glob(os.path.join(folder, '*.cubin'))}


def sha256(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def same_image(report, program, row):
    hashes = extracted(program)
    captured = sorted({k['sha256'] for k in row['kernels'] if 'file' in k})
    ok = bool(captured) and all(h in hashes.values() for h in captured)
    report['bars'].append({
        'name': 'the captured image is what cuobjdump extracts', 'ok': ok,
        'bar': 'the same SHA-256', 'captured': captured, 'cuobjdump': hashes})
    print('captured %s, cuobjdump %s: %s' % (
        captured, sorted(hashes.values()), 'the same' if ok else 'NOT the same'))


def main(tool, program, folder, output):
    import torch
    import gpu_front as front
    import kmb
    report = front.about(torch=torch.__version__, bars=[], times={}, failed=[])
    if not torch.cuda.is_available():
        print('SKIPPED: torch finds no CUDA GPU')
        return 77
    torch.empty(1, device='cuda')
    device = kmb.Device('cuda:0')
    library = ctypes.CDLL(os.path.abspath(program))
    makers = {'cublas_bf16': product, 'triton_copy': triton,
              'spills': lambda: of_library('run_spills', library),
              'scalar_copy': lambda: of_library('run_narrow', library)}
    loaded = []

    def one(name):
        where = os.path.join(folder, name)
        ran = front.capture_code(device, waited(makers[name]()), where)
        if name == 'scalar_copy':  # its image came with that of spills
            ran = [k if 'file' in k else dict(beside, name=k['name'])
                   for k in ran for beside in loaded or [k]]
        row = judge(report, tool, name, where, ran)
        if name == 'spills':
            loaded.extend(dict(k, file=os.path.join('..', name, k['file']))
                          for k in ran[:1] if 'file' in k)
            same_image(report, program, row)

    for name in WANTED:
        try:
            one(name)
        except Exception as error:  # one that fails hides no other
            report['failed'].append('%s: %s' % (name, error))
            print('%s: %s' % (name, error), file=sys.stderr, flush=True)
        front.save(output, report)
    try:
        time_copies(report, library)
    except Exception as error:
        report['failed'].append('times: %s' % error)
        print('times: %s' % error, file=sys.stderr, flush=True)
    front.save(output, report)
    return 1 if report['failed'] or not all(
        b['ok'] for b in report['bars']) else 0


if __name__ == '__main__':
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
