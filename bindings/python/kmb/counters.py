"""Hardware counters: why an operation takes as long as it does."""
import contextlib
import ctypes
import html
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, \
    Sequence, Union

from . import _abi, _given
from ._arrays import Arguments
from ._given import checked
from ._library import check, chosen, error_of, filled, lib, text
from .bench import CACHES, LAUNCH, Options, Plan, Prepared, Settings, Which, \
    device_of, name_of
from .device import Device

_REPLAYS = {None: _abi.KMB_REPLAY_AUTO, 'launch': _abi.KMB_REPLAY_LAUNCH,
            'kernel': _abi.KMB_REPLAY_KERNEL, 'graph': _abi.KMB_REPLAY_GRAPH}
#: The preset: name, the vendor's metric, unit.
SOL = [(name, metric, unit) for name, _, metric, unit, _ in _abi.COUNTERS_SOL]
_UNITS = {metric: unit for _, metric, unit in SOL}


@dataclass(frozen=True)
class Kernel:
    """One launch of an iteration, or all of it."""
    name: str  #: as the tracer has it; "(iteration)" for all of it
    #: By the vendor's name of the metric; those without a number are in
    #: ``absent``, with the reason.
    values: Dict[str, float]
    absent: Dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Counters:
    """What was read, and how."""
    kernels: List[Kernel]  #: those that were chosen, in the order of launch
    passes: int  #: that the metrics need
    taken: int  #: that were run
    launched: int  #: kernels of an iteration
    matched: int  #: those whose name matches
    mode: str  #: "auto range, user replay" and so on
    replay: str  #: "launch", "kernel" or "graph"
    cache: str  #: state in which they were read: "cold", "rotated", "warm"

    def to_dict(self) -> Dict[str, Any]:
        """For JSON."""
        return {**vars(self), 'kernels': [dict(vars(k))
                                          for k in self.kernels]}

    def __str__(self) -> str:
        lines = ['%d of %d kernels, %s, %d of %d passes, cache %s' % (
            len(self.kernels), self.launched, self.mode, self.taken,
            self.passes, self.cache)]
        for one in self.kernels:
            lines.append(one.name)
            lines += ['  %-70s %.6g %s' % (metric, value,
                                           _UNITS.get(metric, ''))
                      for metric, value in one.values.items()]
            lines += ['  %-70s not known: %s' % pair
                      for pair in one.absent.items()]
        return '\n'.join(line.rstrip() for line in lines) + '\n'

    def _repr_html_(self) -> str:
        return '<pre>%s</pre>' % html.escape(str(self))


def _row(handle: ctypes.c_void_p, row: int, metrics: Sequence[str]) -> Kernel:
    name = ctypes.c_char_p()
    check(lib.kmb_counters_name(handle, row, ctypes.byref(name)))
    one = Kernel(text(name.value), {})
    for i, metric in enumerate(metrics):
        value = ctypes.c_double()
        status = lib.kmb_counters_value(handle, row, i, ctypes.byref(value))
        if status:
            one.absent[metric] = str(error_of(status))
        else:
            one.values[metric] = value.value
    return one


def _of(table: Mapping[Optional[str], int], number: int) -> str:
    return next((k for k, v in table.items() if k and v == number), '')


def _counters(handle: ctypes.c_void_p, metrics: Sequence[str]) -> Counters:
    info = filled(_abi.kmb_counters_info, lib.kmb_counters_get_info, handle)
    return Counters(
        [_row(handle, row, metrics)
         for row in range(lib.kmb_counters_row_count(handle))],
        info.passes, info.taken, info.kernels, info.matched, text(info.mode),
        _of(_REPLAYS, info.replay), _of(CACHES, info.cache))


def read(plan: Plan, metrics: Optional[Iterable[str]] = None,
         kernel: Optional[str] = None, skip: int = 0, count: int = 0,
         replay: Optional[str] = None, list_only: bool = False,
         keep: bool = False) -> Counters:
    """Reads them for what a plan measures."""
    params = _abi.kmb_counters_params()
    params.struct_size = ctypes.sizeof(params)
    names = None if metrics is None else \
        [metrics] if isinstance(metrics, str) else list(metrics)
    if names is not None:
        if not names:
            raise ValueError('there are no metrics; leave them out for the '
                             'preset')
        words = [name.encode('utf-8', 'replace') for name in names]
        params.metrics = (ctypes.c_char_p * len(words))(*words)
        params.metric_count = len(words)
    if kernel is not None:
        params.kernel = kernel.encode('utf-8', 'replace')
    params.skip, params.count = skip, count
    params.replay = chosen(_REPLAYS, replay, 'replay')
    params.flags = _abi.KMB_COUNTERS_LIST * bool(list_only) | \
        _abi.KMB_COUNTERS_KEEP * bool(keep)
    plan.settle()
    out = ctypes.c_void_p()
    try:
        check(plan.call.run(lambda: int(lib.kmb_counters_read(
            plan.device.handle, ctypes.byref(plan.params),
            ctypes.byref(params), ctypes.byref(out)))))
        return _counters(out, [] if list_only else names or
                         [metric for _, metric, _ in SOL])
    finally:
        lib.kmb_counters_destroy(out)


@checked(_given.CALL, metrics=_given.texts, kernel=_given.words,
         skip=_given.count, count=_given.count, replay=_given.words,
         list_only=_given.flag, keep=_given.flag)
def counters(fn: Callable[..., Any], args: Sequence[Any] = (),
             kwargs: Optional[Mapping[str, Any]] = None, *,
             metrics: Optional[Iterable[str]] = None,
             kernel: Optional[str] = None, skip: int = 0, count: int = 0,
             replay: Optional[str] = None, list_only: bool = False,
             keep: bool = False, name: Optional[str] = None,
             device: Union[Device, str, None] = None, mutates: Which = (),
             outputs: Which = (), warm: Which = (),
             touched: Optional[Mapping[Union[str, int], int]] = None,
             reset: Optional[Callable[..., Any]] = None,
             cache: Optional[str] = None, launch: str = 'plain',
             memory_limit: Optional[int] = None) -> Counters:
    """Reads hardware counters of ``fn(*args, **kwargs)`` on a GPU, in the cache
    state that :func:`kmb.bench` would measure. Nothing is timed: each pass
    launches it again.

    :param metrics: the vendor's names; by default the preset ``SOL``
    :param kernel: regular expression that a kernel's name must match
    :param skip: matching launches to pass over
    :param count: matching launches to keep; 0: all
    :param replay: "launch", "kernel" or "graph"
    :param list_only: list kernels and count passes, read none
    :param keep: the next call on this device is shorter; until then, or until
        :meth:`kmb.Device.release_counters`, the GPU's counters are held, which
        may keep other processes' profilers from them
    :param launch: "plain" gives a row for each kernel, "graph" one of the whole

    The others are as for :func:`kmb.bench`.
    """
    arguments = Arguments(fn, args, dict(kwargs or {}))
    options = Options(arguments, mutates, outputs, warm, touched or {})
    where = device_of(device, arguments)
    plan = Plan(where, name_of(fn) if name is None else str(name))
    Settings(cache=cache, launch=launch).apply(plan, arguments)
    stack = contextlib.ExitStack()
    stack.callback(plan.close)
    with contextlib.closing(stack):
        if where.backend == 'host':  # which has none, and says so
            plan.callback('launch', LAUNCH, lambda *_: None)
        else:
            Prepared(plan, fn, arguments, options, {
                'check': None, 'tolerance': None, 'reset': reset,
                'memory_limit': memory_limit}).set_up(stack)
        return read(plan, metrics, kernel, skip, count, replay, list_only,
                    keep)
