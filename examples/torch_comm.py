#!/usr/bin/env python3
"""An all-reduce of torch, measured by all its ranks together: on GPUs through
NCCL, else on the host through gloo.

usage: torchrun --nproc-per-node N examples/torch_comm.py [FLOATS]

Where torchrun does not run (Debian 12's stops with an AttributeError):
  export WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=29500
  for r in 0 1; do RANK=$r python3 examples/torch_comm.py & done; wait
"""
import argparse
import os
import sys


def arguments():
    parser = argparse.ArgumentParser(
        description='Measures an all-reduce of torch over all ranks.',
        usage='torchrun --nproc-per-node N torch_comm.py [-h] [FLOATS]')
    parser.add_argument('floats', metavar='FLOATS', nargs='?', type=int,
                        default=1 << 20, help='of the tensor (%(default)s)')
    options = parser.parse_args()
    if options.floats < 1:
        parser.error('FLOATS is %d, not at least 1' % options.floats)
    return options.floats


FLOATS = arguments()
try:
    import torch
    import torch.distributed as dist
except ImportError:
    print('torch_comm needs torch (Debian package python3-torch)')
    sys.exit(77)
import kmb


def main():
    floats = FLOATS
    gpu = torch.cuda.is_available()
    absent = [v for v in ('RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT')
              if v not in os.environ]
    if not dist.is_initialized():
        if absent:
            sys.exit('torchrun starts it, or set %s as the head of this file '
                     'says' % ', '.join(absent))
        dist.init_process_group('nccl' if gpu else 'gloo')
    rank, size = dist.get_rank(), dist.get_world_size()
    place = 'cpu'
    if gpu:
        place = 'cuda:%s' % os.environ.get('LOCAL_RANK', rank)
        torch.cuda.set_device(place)
    x = torch.ones(floats, device=place)
    # What is sent was just written, and lies in the cache: "warm".
    result = kmb.bench(
        dist.all_reduce, (x,), mutates=['tensor'], warm=['tensor'],
        comm=dist.group.WORLD,
        axes={'floats': floats}, boundary='whole wrapper',
        reset=lambda x: x.fill_(1),
        check=lambda _, x: float((x - size).abs().max()), tolerance=0.0)
    if rank == 0:  # every rank has the same times
        print(result)
    dist.destroy_process_group()


if __name__ == '__main__':
    main()
