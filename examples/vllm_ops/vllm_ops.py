#!/usr/bin/env python3
"""Operations of a language model in plain torch against torch.compile: RMS
norm, SiLU-and-multiply, a bf16 matrix product. A table with GB/s, TFLOP/s and
the share of the speed of light; the results as JSON; which of each pair is
faster, where that can be said.

usage: vllm_ops.py [OUTPUT.json] [--tokens N...] [--hidden N]
"""
import argparse
import sys

SKIPPED = 77
try:
    import torch
except ImportError:
    print('examples/vllm_ops needs torch')
    sys.exit(SKIPPED)
import kmb


def rms_norm(x, weight):
    scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
    return (x.float() * scale).to(x.dtype) * weight


def silu_and_mul(x):
    half = x.shape[-1] // 2
    return torch.nn.functional.silu(x[..., :half]) * x[..., half:]


def matmul(x, weight):
    return x @ weight.t()


def operations(tokens, hidden):
    """(callable, arguments, work); the first argument was just written, as an
    activation is, and weights come from memory."""
    def new(*shape):
        return torch.randn(*shape, dtype=torch.bfloat16, device='cuda')

    yield (rms_norm, (new(tokens, hidden), new(hidden)),
           kmb.work.norm(rows=tokens, hidden=hidden, norm='rms', dtype='bf16'))
    yield (silu_and_mul, (new(tokens, 2 * hidden),),
           kmb.work.activation(tokens * hidden, 'bf16', gated=True))
    yield (matmul, (new(tokens, hidden), new(hidden, hidden)),
           kmb.work.gemm(tokens, hidden, hidden, 'bf16'))


def close_to(reference):
    """A check against the operation in plain torch."""
    def check(returned, *args):
        wanted = reference(*args)
        return torch.allclose(returned.float(), wanted.float(), atol=0.05,
                              rtol=0.05)
    return check


def verdict(plain, compiled):
    """What the intervals of two runs allow to say."""
    a, b = plain.interval_ns, compiled.interval_ns
    if a is None or b is None:
        return 'too few samples to compare'
    how = (plain['timer'], plain['cache_state'], plain['launch_mode'])
    if how != (compiled['timer'], compiled['cache_state'],
               compiled['launch_mode']):
        return 'measured in different ways: no comparison'
    ratio = plain.time_ns / compiled.time_ns
    if b[1] < a[0] or a[1] < b[0]:
        return 'compiled is %.3g times as fast' % ratio
    return 'no difference beyond the intervals (ratio %.3g)' % ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('output', nargs='?', default='vllm_ops.json')
    parser.add_argument('--tokens', type=int, nargs='+', default=[1, 8, 2048])
    parser.add_argument('--hidden', type=int, default=4096)
    options = parser.parse_args()
    if not torch.cuda.is_available() or torch.version.hip:
        print('examples/vllm_ops needs an NVIDIA GPU that torch finds')
        return SKIPPED
    if not hasattr(torch, 'compile'):
        print('examples/vllm_ops needs torch.compile (torch 2.0 or newer)')
        return SKIPPED
    torch.manual_seed(0)
    results, verdicts = [], []
    for tokens in options.tokens:
        for fn, args, work in operations(tokens, options.hidden):
            pair = []
            for way, callee in (('torch', fn), ('compiled',
                                                torch.compile(fn))):
                pair.append(kmb.bench(
                    callee, args, name=fn.__name__, warm=[0],
                    axes={'tokens': tokens, 'way': way}, work=work,
                    check=close_to(fn)))
            results += pair
            verdicts.append('%s, %d tokens: %s' % (fn.__name__, tokens,
                                                   verdict(*pair)))
    print(kmb.table(results))
    print('\n'.join(verdicts))
    kmb.save(options.output, results)
    print('written: ' + options.output)
    return 0


if __name__ == '__main__':
    sys.exit(main())
