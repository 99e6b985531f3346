#!/usr/bin/env python3
"""An all-reduce of torch, measured by all its ranks together: on GPUs through
NCCL, else on the host through gloo.

usage: torchrun --nproc-per-node N examples/torch_comm.py [FLOATS]

Where torchrun does not run (Debian 12's stops with an AttributeError):
  export WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=29500
  for r in 0 1; do RANK=$r python3 examples/torch_comm.py & done; wait
"""
import os
import sys

try:
    import torch
    import torch.distributed as dist
except ImportError:
    print('torch_comm needs torch (Debian package python3-torch)')
    sys.exit(77)
import kmb


def main():
    floats = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 20
    gpu = torch.cuda.is_available()
    if not dist.is_initialized():
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
