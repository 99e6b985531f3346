"""A copy in Triton."""
import triton
import triton.language as tl


@triton.jit
def triton_copy(x, y, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(y + at, tl.load(x + at, mask=inside), mask=inside)


def copy(x, y):
    block = 4096
    triton_copy[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
