"""Measuring a callable."""
import contextlib
import ctypes
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, \
    Sequence, Tuple, TYPE_CHECKING, Union

from . import _abi, _given, errors
from ._arrays import Arguments, Array, Call as Args, Memory, Region, at, \
    replaced, torch_module
from ._call import Call
from ._given import checked
from ._library import check, chosen, lib
from .comm import ALONE, Comm, joined, tell_ranks
from .device import Device, shared
from .result import Finding, Result, amended
from .work import Work, dtype_number

if TYPE_CHECKING:
    from .code import Code

CACHES = {None: _abi.KMB_CACHE_DEFAULT, 'cold': _abi.KMB_CACHE_COLD,
           'rotated': _abi.KMB_CACHE_ROTATED, 'warm': _abi.KMB_CACHE_WARM}
_TIMERS = {None: _abi.KMB_TIMER_AUTO, 'trace': _abi.KMB_TIMER_TRACE,
           'graph': _abi.KMB_TIMER_GRAPH, 'event': _abi.KMB_TIMER_EVENT,
           'host': _abi.KMB_TIMER_HOST}
_MODES = {None: _abi.KMB_LAUNCH_AUTO, 'plain': _abi.KMB_LAUNCH_PLAIN,
          'graph': _abi.KMB_LAUNCH_GRAPH}
_REQUIRE = {'timer': _abi.KMB_BENCH_REQUIRE_TIMER,
            'cache': _abi.KMB_BENCH_REQUIRE_CACHE,
            'launch': _abi.KMB_BENCH_REQUIRE_LAUNCH,
            'check': _abi.KMB_BENCH_REQUIRE_CHECK}

LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
RESET = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32,
                         ctypes.c_void_p)
SETUP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32,
                         ctypes.c_uint32)
CHECK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p,
                         ctypes.POINTER(_abi.kmb_check))
_SLOT = _abi.kmb_launch.slot.offset
_CONFIG = _abi.kmb_launch.config.offset

#: Distance between two uses of a slot, in last-level caches, as in the library.
REUSE_FACTOR = 2
#: Beyond this many, Python's own objects fill the cache.
MOST_SLOTS = 4096

Which = Iterable[Union[str, int]]


class Plan:
    """What is measured, as the library's structs, and all that these point
    to."""

    def __init__(self, device: Device, name: str,
                 call: Optional[Call] = None) -> None:
        self.device = device
        self.call = Call(device) if call is None else call
        self.kept: List[Any] = []
        self.params = _abi.kmb_bench_params()
        self.params.struct_size = ctypes.sizeof(self.params)
        self.params.name = name.encode('utf-8', 'replace')
        self.metadata: Dict[str, str] = {}
        self.buffers = ctypes.c_void_p()
        self.ranks: Optional[Comm] = None

    def keep(self, value: Any) -> Any:
        """Something that must live until the measurement has ended."""
        self.kept.append(value)
        return value

    def callback(self, field: str, kind: Any,
                 function: Callable[..., Any]) -> None:
        """Sets a callback that may raise."""
        pointer = self.keep(kind(self.call.guard(function)))
        fields: Any = _abi.kmb_bench_params._fields_
        setattr(self.params, field, ctypes.cast(pointer, dict(fields)[field]))

    def pairs(self, values: Mapping[str, Any]) -> Any:
        """Keys and values as the library takes them."""
        array = (_abi.kmb_pair * len(values))()
        for i, (key, value) in enumerate(values.items()):
            array[i].key = str(key).encode('utf-8', 'replace')
            array[i].value = str(value).encode('utf-8', 'replace')
        return self.keep(array)

    def settle(self) -> None:
        """Completes ``params``, once all has been set up."""
        if self.metadata:
            note = self.keep(_abi.kmb_metadata_params())
            note.struct_size = ctypes.sizeof(note)
            note.pairs = self.pairs(self.metadata)
            note.pair_count = len(self.metadata)
            self.params.metadata = ctypes.pointer(note)
        self.params.buffers = self.buffers
        if self.ranks is not None:
            self.params.comm = self.ranks.handle

    def measure(self) -> Result:
        """Runs it."""
        self.settle()
        out = ctypes.c_void_p()
        used = contextlib.nullcontext() if self.ranks is None else \
            self.ranks.in_use()
        try:
            with used:
                status = self.call.run(lambda: int(lib.kmb_bench(
                    self.device.handle, ctypes.byref(self.params),
                    ctypes.byref(out))))
            if self.ranks is None:
                check(status)
            else:
                self.ranks.raise_for(status)
        except BaseException:
            lib.kmb_result_destroy(out)
            raise
        return Result(out)

    def close(self) -> None:
        """Gives back what the library holds."""
        lib.kmb_buffers_destroy(self.buffers)
        self.buffers = ctypes.c_void_p()


def describe(plan: Plan, regions: Sequence[Region],
             roles: Sequence[int], places: Sequence[Sequence[int]],
             options: 'Options') -> None:
    """Tells the library of the slots' memory: ``places[r]`` are the addresses
    of a region, one a slot, or one for all if it is warm."""
    if not regions:
        return
    descs = plan.keep((_abi.kmb_buffer_desc * len(regions))())
    for desc, region, role, lows in zip(descs, regions, roles, places):
        desc.struct_size = ctypes.sizeof(desc)
        desc.name = region.name.encode('utf-8', 'replace')
        desc.bytes = region.nbytes
        kinds = {a.dtype for a in region.arrays}
        try:
            desc.dtype = dtype_number(kinds.pop()) if len(kinds) == 1 else \
                _abi.KMB_U8
        except ValueError:  # complex numbers, say: only bytes are looked at
            desc.dtype = _abi.KMB_U8
        desc.role = role
        desc.fill = _abi.KMB_FILL_CALLER
        desc.touched_bytes = options.touched(region)
        desc.pointers = plan.keep((ctypes.c_void_p * len(lows))(*lows))
        desc.pointer_count = len(lows)
        if options.is_warm(region):
            desc.residency = _abi.KMB_RESIDENT_WARM
    check(lib.kmb_buffers_create(plan.device.handle, descs,
                                 ctypes.sizeof(_abi.kmb_buffer_desc),
                                 len(regions), None,
                                 ctypes.byref(plan.buffers)))


class Options:
    """What the caller says of its arguments."""

    def __init__(self, arguments: Arguments, mutates: Which, outputs: Which,
                 warm: Which, touched: Mapping[Union[str, int], int]) -> None:
        self._mutated = self._ids(arguments.chosen(mutates, 'mutates'))
        self._outputs = self._ids(arguments.chosen(outputs, 'outputs'))
        self._warm = self._ids(arguments.chosen(warm, 'warm'))
        self._touched: Dict[int, int] = {}
        for one, nbytes in touched.items():
            for array in arguments.chosen([one], 'touched'):
                self._touched[id(array)] = nbytes

    @staticmethod
    def _ids(arrays: Iterable[Array]) -> List[int]:
        return [id(a) for a in arrays]

    def role(self, region: Region) -> int:
        """An output only if nothing else lies there."""
        ids = [id(a) for a in region.arrays]
        if all(i in self._outputs and i not in self._mutated for i in ids):
            return _abi.KMB_OUTPUT
        if any(i in self._outputs or i in self._mutated for i in ids):
            return _abi.KMB_INOUT
        return _abi.KMB_INPUT

    def is_warm(self, region: Region) -> bool:
        """Whether all in it was just written by what runs before."""
        return all(id(a) in self._warm for a in region.arrays)

    def touched(self, region: Region) -> int:
        """Bytes that one launch reads or writes; 0: all."""
        if any(id(a) not in self._touched for a in region.arrays):
            return 0
        return min(region.nbytes, sum(self._touched[id(a)]
                                      for a in region.arrays))

    def cold_bytes(self, regions: Sequence[Region]) -> int:
        """As the library counts them: cold inputs, else cold outputs."""
        cold = [(self.role(r), self.touched(r) or r.nbytes) for r in regions
                if not self.is_warm(r)]
        inputs = sum(n for role, n in cold if role != _abi.KMB_OUTPUT)
        return inputs or sum(n for _, n in cold)


def slot_count(plan: Plan, options: Options, regions: Sequence[Region],
               limit: Optional[int]) -> int:
    """Slots that make inputs cold, as far as ``limit`` bytes go; on every rank
    as many."""
    count = _slots_here(plan.device, options, regions,
                        memory_limit(plan.device, limit))
    return count if plan.ranks is None else plan.ranks.agree(count)


def _slots_here(device: Device, options: Options, regions: Sequence[Region],
                limit: int) -> int:
    cold = options.cold_bytes(regions)
    if not cold:
        return 1
    try:
        cache = int(device.attribute('llc_bytes'))
    except errors.UnavailableError:
        return 1
    wanted = -(-REUSE_FACTOR * cache // cold) + 1
    each = sum(r.nbytes for r in regions if not options.is_warm(r))
    return max(1, min(wanted, limit // max(1, each), MOST_SLOTS))


def memory_limit(device: Device, given: Optional[int]) -> int:
    """Bytes that copies of arguments may take."""
    if given is not None:
        return given
    try:
        return int(device.attribute('memory_budget')) // 2
    except errors.UnavailableError:
        return 1 << 30


def copies(arguments: Arguments, regions: Sequence[Region],
           roles: Sequence[int], options: Options, slots: int) \
        -> Tuple[List[Args], List[List[int]], List[Memory]]:
    """Arguments for each slot, where each region lies in them, and the memory
    that the callable may change.

    The caller's own arrays are the first slot, unless they would change. Warm
    ones exist once."""
    all_args: List[Args] = []
    places: List[List[int]] = [[] for _ in regions]
    changed: List[Memory] = []
    for slot in range(slots):
        call: Args = (arguments.args, arguments.kwargs)
        for region, role, lows in zip(regions, roles, places):
            if slot and options.is_warm(region):
                for array in region.arrays:
                    call = replaced(call, array.path,
                                    at(all_args[0], array.path))
            elif slot or role != _abi.KMB_INPUT:
                memory = Memory(region)
                call = memory.moved(call)
                lows.append(memory.low)
                if role != _abi.KMB_INPUT:
                    changed.append(memory)
            else:
                lows.append(region.low)
        all_args.append(call)
    return all_args, places, changed


def judged(value: Any, tolerance: Optional[float],
           out: Optional[Any]) -> bool:
    """What a check gave: None or a truth, or the largest error. Numbers and
    truths of numpy and torch are such, too."""
    if value is None:
        return True
    if isinstance(value, bool) or \
            str(getattr(value, 'dtype', '')).rsplit('.', 1)[-1] == 'bool':
        return bool(value)
    if not hasattr(value, '__float__'):
        raise TypeError('a check gives None, True or False, or the largest '
                        'error, not a %s' % type(value).__name__)
    error = float(value)
    if tolerance is None:
        raise ValueError('the check gives an error, %g, and no tolerance '
                         'bounds it' % error)
    if out is not None:
        out.contents.error = error
    return error <= tolerance


_overhead: Dict[int, float] = {}


def call_overhead_ns(device: Device) -> float:
    """What it costs to call a Python function that does nothing, measured once
    in this process."""
    if os.getpid() not in _overhead:
        def nothing() -> None:
            pass

        plan = Plan(device, 'python call')

        def launch(_user: Any, _raw: int) -> None:
            nothing()

        plan.callback('launch', LAUNCH, launch)
        plan.params.min_wall_ns = 5e6
        plan.params.max_wall_ns = 5e7
        plan.params.cache = _abi.KMB_CACHE_WARM
        plan.params.flags = _abi.KMB_BENCH_NO_CONFIRM | \
            _abi.KMB_BENCH_NO_CEILINGS
        plan.params.warmup_ns = 5e6
        _overhead[os.getpid()] = plan.measure().time_ns
    return _overhead[os.getpid()]


def overhead_found(result: Result, overhead: float) -> List[Finding]:
    share = 100 * overhead / result.time_ns if result.time_ns > 0 else 100.0
    if share < 1:
        return []
    return [Finding('OVERHEAD', 'warning',
                    'calling Python is in each iteration and costs about '
                    '%.0f ns, %.3g%% of the time; it is not subtracted'
                    % (overhead, share),
                    {'python_call_ns': overhead, 'share_pct': share})]


def changed_found(arguments: Arguments) -> List[Finding]:
    """Of what is named as changed there are copies: the caller's own arrays
    change only where they were not named. Those of numpy do not tell."""
    names = ', '.join(a.name for a in arguments.arrays if a.changed)
    if not names:
        return []
    return [Finding('STATE_CARRIED', 'warning',
                    'changed in place and not named in mutates: %s; the '
                    'caller\'s own memory was changed, and iterations begin '
                    'with what earlier ones left' % names)]


def set_up_on_host(plan: Plan, fn: Callable[..., Any], arguments: Arguments,
                   options: Options, how: Dict[str, Any]) -> float:
    """All but measuring; gives what calling Python costs. With
    ``how['configs']``, keyword arguments by the number of a configuration."""
    regions = arguments.regions
    rotates = plan.params.cache in (_abi.KMB_CACHE_DEFAULT,
                                    _abi.KMB_CACHE_ROTATED)
    slots = slot_count(plan, options, regions,
                       how['memory_limit']) if rotates else 1
    roles = [options.role(r) for r in regions]
    all_args, places, _ = copies(arguments, regions, roles, options, slots)
    describe(plan, regions, roles, places, options)
    returned: Dict[int, Any] = {}
    _set_launch(plan, fn, all_args, returned if how['check'] else None,
                how.get('configs'))
    _set_check(plan, fn, all_args, returned, how,
               any(r != _abi.KMB_INPUT for r in roles))
    if how['reset'] is not None:
        def reset(_user: Any, slot: int, _stream: Any) -> None:
            args, kwargs = all_args[slot]
            how['reset'](*args, **kwargs)

        plan.callback('reset', RESET, reset)
    overhead = call_overhead_ns(plan.device)
    plan.metadata['python.call_overhead_ns'] = '%.1f' % overhead
    return overhead


def check_here(plan: Plan, how: Dict[str, Any], returned: Any,
               args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
    """The caller's check where no buffer of the library's holds an output."""
    value = how['check'](returned, *args, **kwargs)
    if not judged(value, how['tolerance'], None):
        raise errors.IncorrectError(
            _abi.KMB_ERR_INCORRECT, 'the check failed on what the callable '
            'returned (%r)' % (value,))
    plan.metadata['python.check'] = 'what was returned passed before timing'
    plan.params.flags &= ~_abi.KMB_BENCH_REQUIRE_CHECK


def _set_launch(plan: Plan, fn: Callable[..., Any], all_args: List[Args],
                returned: Optional[Dict[int, Any]],
                configs: Optional[Mapping[int, Dict[str, Any]]]) -> None:
    slot_at = ctypes.c_uint32.from_address
    args, kwargs = all_args[0]

    def one(_user: Any, _raw: int) -> None:
        fn(*args, **kwargs)

    def rotating(_user: Any, raw: int) -> None:
        args, kwargs = all_args[slot_at(raw + _SLOT).value]
        fn(*args, **kwargs)

    def keeping(_user: Any, raw: int) -> None:
        slot = slot_at(raw + _SLOT).value
        args, kwargs = all_args[slot]
        assert returned is not None
        returned[slot] = fn(*args, **kwargs)

    def configured(_user: Any, raw: int) -> None:
        slot = slot_at(raw + _SLOT).value
        args, kwargs = all_args[slot]
        assert configs is not None
        value = fn(*args, **kwargs, **configs[slot_at(raw + _CONFIG).value])
        if returned is not None:
            returned[slot] = value

    plan.callback('launch', LAUNCH, configured if configs is not None else
                  keeping if returned is not None else
                  rotating if len(all_args) > 1 else one)


def _set_check(plan: Plan, fn: Callable[..., Any], all_args: List[Args],
               returned: Dict[int, Any], how: Dict[str, Any],
               has_outputs: bool) -> None:
    """The library checks what lies in buffers; what a callable returns is
    checked here, before timing."""
    user_check, tolerance = how['check'], how['tolerance']
    if user_check is None:
        return
    if has_outputs:
        def compare(_user: Any, raw: Any) -> int:
            slot = raw.contents.slot
            args, kwargs = all_args[slot]
            value = user_check(returned.get(slot), *args, **kwargs)
            return _abi.KMB_OK if judged(value, tolerance, raw) else \
                _abi.KMB_ERR_INCORRECT

        plan.callback('check', CHECK, compare)
        return
    args, kwargs = all_args[0]
    configs: Any = how.get('configs')
    if configs is None:
        check_here(plan, how, fn(*args, **kwargs), args, kwargs)
        return

    def each(_user: Any, slot: int, config: int) -> int:
        value = True if slot else user_check(
            fn(*args, **kwargs, **configs[config]), *args, **kwargs)
        return _abi.KMB_OK if judged(value, tolerance, None) else \
            _abi.KMB_ERR_INCORRECT

    plan.callback('setup', SETUP, each)
    plan.metadata['python.check'] = 'what was returned passed before timing'


@dataclass
class Settings:
    """How to measure, as :func:`bench` is told."""
    axes: Optional[Mapping[str, Any]] = None
    work: Optional[Work] = None
    tolerance: Optional[float] = None
    cache: Optional[str] = None
    timer: Optional[str] = None
    launch: Optional[str] = None
    require: Iterable[str] = ()
    rounds: int = 0
    target_pct: float = 0.0
    min_wall_ms: float = 0.0
    max_wall_ms: float = 0.0
    warmup_ms: Optional[float] = None
    idle_ms: float = 0.0
    min_samples: int = 0
    max_samples: int = 0
    batch: int = 0
    seed: Optional[int] = None
    confirm: bool = True
    ceilings: bool = True
    threads: int = 0
    metadata: Optional[Mapping[str, Any]] = None
    boundary: Optional[str] = None
    confirm_cold: bool = False
    counters: bool = False

    def apply(self, plan: Plan, arguments: Arguments) -> None:
        """Writes them into a plan."""
        params = plan.params
        params.cache = chosen(CACHES, self.cache, 'cache')
        params.timer = chosen(_TIMERS, self.timer, 'timer')
        params.launch_mode = chosen(_MODES, self.launch, 'launch')
        for one in [self.require] if isinstance(self.require, str) \
                else self.require:
            params.flags |= chosen(_REQUIRE, one, 'require')  # type: ignore
        params.rounds, params.batch = self.rounds, self.batch
        params.threads, params.target_pct = self.threads, self.target_pct
        params.min_wall_ns = self.min_wall_ms * 1e6
        params.max_wall_ns = self.max_wall_ms * 1e6
        params.idle_ns = self.idle_ms * 1e6
        params.min_samples = self.min_samples
        params.max_samples = self.max_samples
        if self.warmup_ms is not None:
            params.warmup_ns = self.warmup_ms * 1e6
            params.flags |= 0 if self.warmup_ms else _abi.KMB_BENCH_NO_WARMUP
        if self.seed is not None:
            params.seed = self.seed
            params.flags |= _abi.KMB_BENCH_SEED
        if self.tolerance is not None:
            params.tolerance = self.tolerance
            params.flags |= _abi.KMB_BENCH_TOLERANCE
        params.flags |= 0 if self.confirm else _abi.KMB_BENCH_NO_CONFIRM
        params.flags |= 0 if self.ceilings else _abi.KMB_BENCH_NO_CEILINGS
        params.flags |= _abi.KMB_BENCH_CONFIRM_COLD * self.confirm_cold
        params.flags |= _abi.KMB_BENCH_COUNTERS * self.counters
        self._describe(plan, arguments)

    def _describe(self, plan: Plan, arguments: Arguments) -> None:
        if self.axes:
            plan.params.axes = plan.pairs(self.axes)
            plan.params.axis_count = len(self.axes)
        if self.boundary is not None:
            plan.params.boundary = self.boundary.encode('utf-8', 'replace')
        if self.work is not None:
            plan.params.work = ctypes.pointer(plan.keep(self.work).raw)
        plan.metadata.update({str(k): str(v)
                              for k, v in (self.metadata or {}).items()})
        if arguments.fixed:
            plan.metadata['python.not_rotated'] = ', '.join(arguments.fixed)


def name_of(fn: Callable[..., Any]) -> str:
    """What a callable is called."""
    return str(getattr(fn, '__name__', type(fn).__name__))


@checked(_given.TIMED, refused=tell_ranks, timer=_given.words, require=_given.texts,
         rounds=_given.count32, min_samples=_given.count,
         max_samples=_given.count, confirm=_given.flag, ceilings=_given.flag,
         confirm_cold=_given.flag, counters=_given.flag, comm=_given.anything,
         boundary=_given.words, code=_given.code)
def bench(fn: Callable[..., Any], args: Sequence[Any] = (),
          kwargs: Optional[Mapping[str, Any]] = None, *,
          name: Optional[str] = None,
          device: Union[Device, str, None] = None,
          axes: Optional[Mapping[str, Any]] = None,
          work: Optional[Work] = None,
          mutates: Which = (), outputs: Which = (), warm: Which = (),
          touched: Optional[Mapping[Union[str, int], int]] = None,
          check: Optional[Callable[..., Any]] = None,
          tolerance: Optional[float] = None,
          reset: Optional[Callable[..., Any]] = None,
          cache: Optional[str] = None, timer: Optional[str] = None,
          launch: Optional[str] = None, require: Iterable[str] = (),
          rounds: int = 0, target_pct: float = 0.0,
          min_wall_ms: float = 0.0, max_wall_ms: float = 0.0,
          warmup_ms: Optional[float] = None, idle_ms: float = 0.0,
          min_samples: int = 0, max_samples: int = 0, batch: int = 0,
          seed: Optional[int] = None, confirm: bool = True,
          ceilings: bool = True, threads: int = 0,
          metadata: Optional[Mapping[str, Any]] = None,
          memory_limit: Optional[int] = None, confirm_cold: bool = False,
          counters: bool = False, comm: Any = ALONE,
          boundary: Optional[str] = None,
          code: Optional['Code'] = None) -> Result:
    """Measures ``fn(*args, **kwargs)``.

    Arrays among the arguments (torch tensors, numpy arrays, also within lists,
    tuples and dicts) are copied into slots that take turns, so that inputs are
    cold; aliases and alignment are kept. What ``fn`` closes over cannot rotate:
    the result's ``cache_state`` is what was achieved. Tensors on a GPU, or
    ``device="cuda:0"``, measure captured graphs, one a slot; else the callable
    is timed on the host, and so is what Python takes to call it.

    :param name: defaults to the callable's
    :param device: a Device, or the name of one; by default that of the tensors
    :param axes: what identifies the point, in order
    :param work: see :mod:`kmb.work`; gives the roofline
    :param mutates: arguments, by name or position, that are changed in place
    :param outputs: arguments that are wholly written
    :param warm: arguments that a cache holds when the callable starts
    :param touched: bytes that one call touches of an argument
    :param check: ``check(returned, *args, **kwargs)`` gives None or True,
        False, or the largest error, which ``tolerance`` bounds
    :param reset: ``reset(*args, **kwargs)``, untimed, before each iteration
    :param cache: "cold", "rotated" or "warm"
    :param timer: "trace", "graph", "event" or "host"
    :param launch: "plain" or "graph"
    :param require: which of "timer", "cache", "launch", "check" must be had
    :param rounds: repeats with fresh memory
    :param warmup_ms: longest warm-up; 0 for one call a slot
    :param memory_limit: bytes that copies of arguments may take
    :param confirm_cold: read by a hardware counter, after timing, how much came
        from DRAM, which proves the cache state
    :param counters: read the preset of hardware counters, after timing; what
        keeps either from being read is said in the result
    :param comm: the ranks that measure together, each with the same call: a
        process group of torch, a communicator of mpi4py, or a :class:`kmb.Comm`
    :param boundary: what the callable encloses; by default "all that the
        callback enqueues"
    :param code: what :func:`kmb.capture` saw; the result lists it

    What the callable raises comes out as it is, and on other ranks as
    :class:`kmb.RankError`. Ctrl-C ends the measurement.
    """
    how = {'check': check, 'tolerance': tolerance, 'reset': reset,
           'memory_limit': memory_limit}
    settings = Settings(
        axes, work, tolerance, cache, timer, launch, require, rounds,
        target_pct, min_wall_ms, max_wall_ms, warmup_ms, idle_ms, min_samples,
        max_samples, batch, seed, confirm, ceilings, threads, metadata,
        boundary, confirm_cold, counters)

    def planned(ranks: Optional[Comm]) -> Prepared:
        arguments = Arguments(fn, args, dict(kwargs or {}))
        options = Options(arguments, mutates, outputs, warm, touched or {})
        where = device_of(device, arguments)
        plan = Plan(where, name_of(fn) if name is None else str(name))
        plan.ranks = ranks
        settings.apply(plan, arguments)
        if code is not None:
            plan.params.code = plan.keep(code).handle
        return Prepared(plan, fn, arguments, options, how)

    stack = contextlib.ExitStack()
    with contextlib.closing(stack), joined(comm) as ranks:
        with ranks.setting_up() if ranks else contextlib.nullcontext():
            one = planned(ranks)
            stack.callback(one.plan.close)
            measure = one.set_up(stack)
        return measure()


@dataclass
class Prepared:
    """A callable and all that is said of it."""
    plan: Plan
    fn: Callable[..., Any]
    arguments: Arguments
    options: Options
    how: Dict[str, Any]

    def set_up(self, stack: contextlib.ExitStack) -> Callable[[], Result]:
        """What then measures it, within ``stack``."""
        if self.plan.device.backend == 'host':
            overhead = set_up_on_host(self.plan, self.fn, self.arguments,
                                      self.options, self.how)

            def measure() -> Result:
                result = self.plan.measure()
                return amended(result, overhead_found(result, overhead) +
                               changed_found(self.arguments))

            return measure
        from . import _cuda  # pylint: disable=import-outside-toplevel
        return _cuda.set_up(self, stack)


def device_of(given: Union[Device, str, None],
              arguments: Arguments) -> Device:
    """Where a callable with these arguments is measured."""
    places = sorted({r.device for r in arguments.regions})
    gpus = [p for p in places if p != 'cpu']
    if len(gpus) > 1:
        raise ValueError('the tensors lie on several devices: %s'
                         % ', '.join(gpus))
    if isinstance(given, Device):
        return given
    torch = torch_module()
    if given is None and not places and torch and torch.cuda.is_initialized():
        raise ValueError('no argument says where the callable works, and this '
                         'process uses a GPU: give device="host" or '
                         'device="cuda:0"')
    if given is None:
        given = gpus[0] if gpus else 'host'
    if gpus and given == 'host':
        raise ValueError('device is "host", but tensors lie on %s' % gpus[0])
    return shared(given)
