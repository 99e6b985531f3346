"""Ranks that measure one operation together.

A communicator is made of a process group of torch, of a communicator of mpi4py,
or of a :class:`Transport` of one's own; ``Comm.shm`` and ``Comm.threads`` need
neither. :func:`kmb.bench` takes all of these as ``comm``."""
import contextlib
import ctypes
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, \
    Tuple

from . import _abi, _given, errors
from ._arrays import torch_module
from ._given import checked
from ._library import Deferred, check, chosen, error_of, lib

_BARRIERS = {None: _abi.KMB_BARRIER_AUTO, 'flag': _abi.KMB_BARRIER_FLAG,
             'stream': _abi.KMB_BARRIER_STREAM, 'nccl': _abi.KMB_BARRIER_NCCL,
             'caller': _abi.KMB_BARRIER_CALLER, 'host': _abi.KMB_BARRIER_HOST}
_MULTICAST = {None: _abi.KMB_MULTICAST_UNDECLARED,
              'on': _abi.KMB_MULTICAST_ON, 'off': _abi.KMB_MULTICAST_OFF}
#: What the ranks tell each other while a measurement is set up.
_RECORD = 256


class Transport:
    """What joins ranks: derive from it. The functions are called on the thread
    that measures, one exchange at a time, in the same order on every rank."""

    rank = 0
    size = 1
    name = 'Python'  #: what it is and its version, for the result
    collective: Optional[str] = None  #: library of the measured operation

    def start(self, data: bytes) -> Any:
        """Begins to give every rank ``data`` and to collect theirs, which are
        as long. Does not wait. Gives a request."""
        raise NotImplementedError

    def test(self, request: Any) -> Optional[bytes]:
        """All ranks' data, joined in their order, once they are there; else
        None. Does not wait."""
        raise NotImplementedError

    def abort(self, status: int, message: str) -> None:
        """The communicator is of no use any more. Does not wait."""


class _Torch(Transport):
    """A process group. Records go by the host: GPUs are not touched."""

    def __init__(self, group: Any) -> None:
        torch = torch_module()
        self._torch, self._dist = torch, torch.distributed
        self._group = _host_group(self._dist, group)
        self.rank = self._dist.get_rank(group)
        self.size = self._dist.get_world_size(group)
        self.name = 'torch %s, %s' % (torch.__version__,
                                      self._dist.get_backend(self._group))
        if self._dist.get_backend(group) == 'nccl':
            self.collective = 'NCCL ' + '.'.join(
                str(part) for part in torch.cuda.nccl.version())

    def start(self, data: bytes) -> Any:
        torch = self._torch
        mine = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        whole = torch.empty(self.size * len(data), dtype=torch.uint8)
        work = self._dist.all_gather(list(whole.split(len(data))), mine,
                                     group=self._group, async_op=True)
        return work, mine, whole

    def test(self, request: Any) -> Optional[bytes]:
        work, _, whole = request
        if not work.is_completed():
            return None
        work.wait()  # raises what went wrong
        return ctypes.string_at(whole.data_ptr(), whole.numel())


_host_groups: Dict[Any, Any] = {}


def _host_group(dist: Any, group: Any) -> Any:
    """The group itself, or the same ranks on the host."""
    if dist.get_backend(group) != 'nccl':
        return group
    if group not in _host_groups:
        if dist.get_world_size(group) == dist.get_world_size():
            _host_groups[group] = dist.new_group(backend='gloo')
        elif hasattr(dist, 'get_process_group_ranks'):
            _host_groups[group] = dist.new_group(
                dist.get_process_group_ranks(group), backend='gloo',
                use_local_synchronization=True)
        else:
            raise errors.UnsupportedError(
                _abi.KMB_ERR_UNSUPPORTED, 'the group has the backend nccl, '
                'which cannot exchange records by the host: give a group of '
                'the same ranks with the backend gloo')
    return _host_groups[group]


class _Mpi(Transport):
    """A communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.name = 'mpi4py, MPI %d.%d' % _mpi_version()

    def start(self, data: bytes) -> Any:
        whole = bytearray(self.size * len(data))
        return self._comm.Iallgather(data, whole), data, whole

    def test(self, request: Any) -> Optional[bytes]:
        return bytes(request[2]) if request[0].Test() else None


def _mpi_version() -> Tuple[int, int]:
    from mpi4py import MPI  # pylint: disable=import-outside-toplevel
    major, minor = MPI.Get_version()
    return int(major), int(minor)


def _transport(given: Any) -> Transport:
    if isinstance(given, Transport):
        return given
    torch = torch_module()
    if torch and torch.distributed.is_available() and \
            isinstance(given, torch.distributed.ProcessGroup):
        return _Torch(given)
    if type(given).__module__.split('.')[0] == 'mpi4py':
        return _Mpi(given)
    raise TypeError('comm is a %s: neither a kmb.Comm, nor a process group of '
                    'torch (torch.distributed.group.WORLD, once it is '
                    'initialised), nor a communicator of mpi4py, nor a '
                    'kmb.Transport' % type(given).__name__)


class _Calls:
    """What C calls. Nothing may be raised through it: what is, is kept."""

    def __init__(self, transport: Optional[Transport],
                 on_abort: Optional[Callable[[int, str], Any]]) -> None:
        self.transport, self.on_abort = transport, on_abort
        self.error: Optional[BaseException] = None
        self.requests: Dict[int, Any] = {}
        self.count = 0
        self.kept: List[Any] = []
        self.deferred = Deferred()

    def deferring(self) -> Deferred:
        """Within it, around a call of C, Ctrl-C does not raise where a
        callback begins, but within start() or test(), or at the end."""
        self.deferred = Deferred()
        return self.deferred

    def put(self, struct: Any, **functions: Callable[..., Any]) -> None:
        """Sets callbacks of a struct."""
        for field, function in functions.items():
            self.kept.append(dict(struct._fields_)[field](function))
            setattr(struct, field, self.kept[-1])

    def guarded(self, function: Callable[..., Any], *arguments: Any) -> int:
        """The status of a function that may raise."""
        try:
            function(*arguments)
            return _abi.KMB_OK
        except BaseException as error:  # pylint: disable=broad-except
            if self.error is None:
                self.error = error
            return _abi.KMB_ERR_VENDOR

    def start(self, _ctx: Any, send: int, receive: int, size: int,
              request: Any) -> int:
        """kmb_comm_ops::start"""
        def begin() -> None:
            self.deferred.let()
            assert self.transport is not None
            self.count += 1
            self.requests[self.count] = (
                self.transport.start(ctypes.string_at(send, size)), receive,
                size * self.transport.size)
            request[0] = self.count
        return self.guarded(begin)

    def test(self, _ctx: Any, number: int, done: Any) -> int:
        """kmb_comm_ops::test"""
        def ask() -> None:
            self.deferred.let()
            assert self.transport is not None
            done[0] = 0
            request, receive, size = self.requests[number]
            data = self.transport.test(request)
            if data is None:
                return
            if len(data) != size:
                raise ValueError('%s gave %d bytes in place of %d' % (
                    type(self.transport).__name__, len(data), size))
            ctypes.memmove(receive, data, size)
            done[0] = 1
        return self.guarded(ask)

    def release(self, _ctx: Any, number: int) -> None:
        """kmb_comm_ops::release"""
        self.requests.pop(number, None)

    def barrier(self, _ctx: Any, stream: Optional[int]) -> int:
        """kmb_comm_ops::device_barrier"""
        function: Any = getattr(self.transport, 'device_barrier')
        return self.guarded(function, stream or 0)

    def abort(self, _ctx: Any, status: int, message: bytes) -> None:
        """kmb_comm_ops::abort"""
        assert self.transport is not None
        self.guarded(self.transport.abort, status,
                     message.decode('utf-8', 'replace'))

    def aborted(self, _user: Any, status: int, message: bytes) -> None:
        """kmb_comm_params::abort"""
        assert self.on_abort is not None
        self.guarded(self.on_abort, status, message.decode('utf-8', 'replace'))


@checked(calls=_given.anything, deadline_s=_given.real,
         first_deadline_s=_given.real, barrier=_given.words,
         multicast=_given.words, collective=_given.words,
         topology=_given.words, fabric=_given.words, skew_samples=_given.count)
def _params(calls: _Calls, deadline_s: float = 0.0,
            first_deadline_s: float = 0.0, barrier: Optional[str] = None,
            multicast: Optional[str] = None, collective: Optional[str] = None,
            topology: Optional[str] = None, fabric: Optional[str] = None,
            skew_samples: int = 0) -> _abi.kmb_comm_params:
    params = _abi.kmb_comm_params()
    params.struct_size = ctypes.sizeof(params)
    params.deadline_ns = deadline_s * 1e9
    params.first_deadline_ns = first_deadline_s * 1e9
    params.barrier = chosen(_BARRIERS, barrier, 'barrier')
    params.multicast = chosen(_MULTICAST, multicast, 'multicast')
    params.skew_samples = skew_samples
    for key, value in (('collective', collective), ('topology', topology),
                       ('fabric', fabric)):
        if value is not None:
            setattr(params, key, value.encode('utf-8', 'replace'))
    if calls.on_abort is not None:
        calls.put(params, abort=calls.aborted)
    return params


def _bytes(name: str, value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _given.wrong(name, value, 'bytes')
    return bytes(value)


def _destroy(handle: ctypes.c_void_p, calls: _Calls) -> None:
    with calls.deferring():
        lib.kmb_comm_destroy(handle)


class Comm(_given.Held):
    """One rank's part of a communicator; one thread at a time uses it.

    :param group: a process group of torch, a communicator of mpi4py, or a
        :class:`Transport`
    :param deadline_s: of a wait for other ranks; 0: 10 s
    :param first_deadline_s: until each rank is warm; 0: 120 s
    :param barrier: "flag", "stream", "nccl", "caller" (the transport's
        ``device_barrier(stream)``) or "host"; by default the best of those that
        can be had
    :param multicast: "on" or "off": what the caller says of NVLink multicast in
        its collectives
    :param collective: library of the measured operation and its version
    :param topology: how the devices are joined
    :param fabric: between nodes
    :param skew_samples: by which a barrier is judged; 0: 100
    :param abort: ``abort(status, message)``, called when a rank is missed: ends
        a collective that a device waits in
    """

    _what = 'communicator'

    @checked(group=_given.anything, abort=_given.function)
    def __init__(self, group: Any, *,
                 abort: Optional[Callable[[int, str], Any]] = None,
                 **how: Any) -> None:
        transport = _transport(group)
        calls = _Calls(transport, abort)
        how.setdefault('collective', transport.collective)
        params = _params(calls, **how)
        ops = _abi.kmb_comm_ops()
        ops.struct_size = ctypes.sizeof(ops)
        calls.put(ops, start=calls.start, test=calls.test,
                  release=calls.release, abort=calls.abort)
        if hasattr(transport, 'device_barrier'):
            calls.put(ops, device_barrier=calls.barrier)
        ops.name = _given.words('the transport\'s name',
                                transport.name).encode('utf-8', 'replace')
        ops.rank = _given.int32('the transport\'s rank', transport.rank)
        ops.size = _given.int32('the transport\'s size', transport.size)
        handle = ctypes.c_void_p()
        with calls.deferring():
            check(lib.kmb_comm_create(ctypes.byref(ops), ctypes.byref(params),
                                      ctypes.byref(handle)))
            self._take(handle, calls)

    def _take(self, handle: ctypes.c_void_p, calls: _Calls) -> None:
        self._handle, self._calls, self._users = handle, calls, 0
        self._closer = weakref.finalize(self, _destroy, handle, calls)

    @classmethod
    @checked(name=_given.words, rank=_given.int32, size=_given.int32,
             abort=_given.function)
    def shm(cls, name: str, rank: int, size: int, *,
            abort: Optional[Callable[[int, str], Any]] = None,
            **how: Any) -> 'Comm':
        """Joins processes of one host under a name ("/" and letters) of the
        run's own; waits for all of them."""
        calls, handle = _Calls(None, abort), ctypes.c_void_p()
        params = _params(calls, **how)
        one = cls.__new__(cls)
        with calls.deferring():
            check(lib.kmb_comm_shm_create(_given.encoded('name', name), rank,
                                          size, ctypes.byref(params),
                                          ctypes.byref(handle)))
            one._take(handle, calls)
        return one

    @classmethod
    @checked(size=_given.number(1, 1 << 16), abort=_given.function)
    def threads(cls, size: int, *,
                abort: Optional[Callable[[int, str], Any]] = None,
                **how: Any) -> List['Comm']:
        """Joins threads of this process: one communicator for each, which
        measures on a device of its own."""
        calls, handles = _Calls(None, abort), (ctypes.c_void_p * size)()
        params = _params(calls, **how)
        check(lib.kmb_comm_threads_create(size, ctypes.byref(params), handles))
        ranks = []
        for handle in handles:
            one = cls.__new__(cls)
            one._take(ctypes.c_void_p(handle), calls)
            ranks.append(one)
        return ranks

    @property
    def rank(self) -> int:
        """From 0."""
        return int(lib.kmb_comm_rank(self.handle))

    @property
    def size(self) -> int:
        """Ranks in all."""
        return int(lib.kmb_comm_size(self.handle))

    @contextlib.contextmanager
    def in_use(self) -> Iterator[ctypes.c_void_p]:
        """Within it the communicator cannot be closed."""
        self._users += 1
        try:
            yield self.handle
        finally:
            self._users -= 1

    def raise_for(self, status: int) -> None:
        """Raises what a status means; what a transport raised is its cause."""
        cause, self._calls.error = self._calls.error, None
        if not status:
            return
        if cause is not None and not isinstance(cause, Exception):
            raise cause  # KeyboardInterrupt, say
        error = error_of(status) if status < 0 else \
            errors.RankError(status, str(error_of(status)))
        raise error from cause

    @checked(data=_bytes)
    def gather(self, data: bytes) -> List[bytes]:
        """What every rank gives, by rank. All give as many bytes."""
        out = ctypes.create_string_buffer(max(1, len(data) * self.size))
        with self.in_use() as handle, self._calls.deferring():
            status = lib.kmb_comm_allgather(handle, data, out, len(data))
            self.raise_for(status)
        return [out.raw[r * len(data):(r + 1) * len(data)]
                for r in range(self.size)]

    @checked(number=_given.count)
    def agree(self, number: int) -> int:
        """The least of all ranks' numbers, while a measurement is set up."""
        return min(int(words) for words in
                   self._tell(b'n', b'%d' % number))

    def _tell(self, kind: bytes, words: bytes) -> List[bytes]:
        record = (kind + words)[:_RECORD]
        heard = self.gather(record.ljust(_RECORD, b'\0'))
        for rank, one in enumerate(heard):
            if one[:1] == b'e' and kind != b'e':
                raise errors.RankError(
                    _abi.KMB_ERR_CANCELLED,
                    'rank %d failed before it measured: %s' % (
                        rank, one[1:].rstrip(b'\0').decode('utf-8',
                                                           'replace')))
        return [one[1:].rstrip(b'\0') for one in heard]

    @contextlib.contextmanager
    def setting_up(self) -> Iterator[None]:
        """Within it a rank that fails tells the others, who raise too."""
        try:
            yield
        except errors.RankError:
            raise
        except Exception as error:
            with contextlib.suppress(errors.Error):
                self._tell(b'e', ('%s: %s' % (type(error).__name__, error))
                           .encode('utf-8', 'replace'))
            raise
        self.agree(0)

    def close(self) -> None:
        """Ranks that still wait for this one are told. Raises ``BusyError``
        while it is used."""
        if self._users:
            raise errors.BusyError(_abi.KMB_ERR_BUSY, 'the communicator is in '
                                   'use; close it afterwards')
        self._closer()
        self._handle = None

    def __enter__(self) -> 'Comm':
        self._open()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self.is_open:
            return '<kmb.Comm closed>'
        return '<kmb.Comm rank %d of %d>' % (self.rank, self.size)


class _Alone:
    def __repr__(self) -> str:
        return 'ALONE'


#: One rank, as a default: None is what torch gives for a group that is not yet
#: initialised, and a rank that then measured by itself would not be noticed.
ALONE: Any = _Alone()


def tell_ranks(given: Mapping[str, Any], error: Exception) -> None:
    """Other ranks, which wait for this one, learn why it does not come."""
    comm = given.get('comm', ALONE)
    if comm is ALONE or comm is None:
        return
    with contextlib.suppress(Exception):  # the caller raises the first
        with joined(comm) as ranks:
            if ranks is not None:
                with ranks.setting_up():
                    raise error


@contextlib.contextmanager
def joined(given: Any) -> Iterator[Optional[Comm]]:
    """A communicator for one measurement; the caller's own stays open."""
    if given is None:
        raise TypeError('comm is None: initialise the process group first, or '
                        'leave comm out to measure this rank alone')
    if given is ALONE or isinstance(given, Comm):
        yield None if given is ALONE else given
        return
    with Comm(given) as one:
        yield one
