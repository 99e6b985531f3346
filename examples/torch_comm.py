"""A torch process group as libkmb's communicator: the functions of
kmb_comm_ops, in Python. The handle goes to whatever calls kmb_bench(), such as
an extension of the program's own, as kmb_bench_params.comm.

usage: torchrun --nproc-per-node N examples/torch_comm.py [libkmb.so.0]
"""
import ctypes
import sys

RECORD = 512  # KMB_COMM_RECORD
OK, ERR_VENDOR = 0, -16

START = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
    ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p))
TEST = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p,
                        ctypes.POINTER(ctypes.c_int32))
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Ops(ctypes.Structure):
    """kmb_comm_ops of libkmb 0.1."""
    _fields_ = [('struct_size', ctypes.c_size_t), ('ctx', ctypes.c_void_p),
                ('start', START), ('test', TEST), ('release', RELEASE),
                ('arrived', ctypes.c_void_p),
                ('device_barrier', ctypes.c_void_p),
                ('abort', ctypes.c_void_p), ('close', ctypes.c_void_p),
                ('name', ctypes.c_char_p), ('rank', ctypes.c_int32),
                ('size', ctypes.c_int32)]


class Comm:
    """A communicator over a process group of a CPU backend, such as gloo. The
    records go by the host: GPUs are not touched."""

    def __init__(self, library, group=None):
        import torch
        import torch.distributed as dist
        self._torch, self._dist, self._group = torch, dist, group
        self._library = library
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self._mine = torch.empty(RECORD, dtype=torch.uint8)
        self._all = torch.empty(self.size * RECORD, dtype=torch.uint8)
        self._work = self._target = None
        # Kept for as long as C may call them.
        self._functions = (START(self._start), TEST(self._test),
                           RELEASE(self._release))
        ops = Ops(ctypes.sizeof(Ops), None, *self._functions, None, None, None,
                  None, b'torch ' + torch.__version__.encode(), self.rank,
                  self.size)
        self.handle = ctypes.c_void_p()
        self._check(library.kmb_comm_create(ctypes.byref(ops), None,
                                            ctypes.byref(self.handle)))

    def _check(self, status):
        if status:
            raise RuntimeError(self._library.kmb_last_error(None, None).decode())

    def _start(self, _, send, receive, size, request):
        try:
            ctypes.memmove(self._mine.data_ptr(), send, size)
            self._target = receive
            parts = list(self._all.split(RECORD))
            self._work = self._dist.all_gather(parts, self._mine,
                                               group=self._group,
                                               async_op=True)
            request[0] = 1
            return OK
        except Exception as error:  # nothing may be thrown through C
            print('torch_comm:', error, file=sys.stderr)
            return ERR_VENDOR

    def _test(self, _, request, done):
        try:
            done[0] = self._work.is_completed()
            if done[0]:
                self._work.wait()
                ctypes.memmove(self._target, self._all.data_ptr(),
                               self._all.numel())
            return OK
        except Exception as error:
            print('torch_comm:', error, file=sys.stderr)
            return ERR_VENDOR

    def _release(self, _, request):
        self._work = None

    def allgather(self, data):
        """What every rank gives, by rank."""
        out = ctypes.create_string_buffer(len(data) * self.size)
        self._check(self._library.kmb_comm_allgather(self.handle, data, out,
                                                     len(data)))
        return [out.raw[r * len(data):(r + 1) * len(data)]
                for r in range(self.size)]

    def close(self):
        self._library.kmb_comm_destroy(self.handle)
        self.handle = None


def load(path):
    library = ctypes.CDLL(path)
    library.kmb_last_error.restype = ctypes.c_char_p
    library.kmb_comm_allgather.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                           ctypes.c_void_p, ctypes.c_size_t]
    library.kmb_comm_destroy.argtypes = [ctypes.c_void_p]
    library.kmb_comm_destroy.restype = None
    return library


def main():
    try:
        import torch.distributed as dist
    except ImportError:
        print('skipped: torch is not installed')
        return 77
    dist.init_process_group('gloo')
    comm = Comm(load(sys.argv[1] if len(sys.argv) > 1 else 'libkmb.so.0'))
    ids = comm.allgather(b'rank %06d' % comm.rank)
    assert ids == [b'rank %06d' % r for r in range(comm.size)], ids
    if comm.rank == 0:
        print('%d ranks of torch joined: %s' % (comm.size, ids))
    comm.close()
    dist.destroy_process_group()
    return 0


if __name__ == '__main__':
    sys.exit(main())
