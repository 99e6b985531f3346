"""Drop-ins for timers that scripts use already: change one import.

The functions take what FlashInfer's and Triton's of the same names take, and
return what those return, in milliseconds; the values are libkmb's. Each finding
that is more than a note becomes a :class:`FindingWarning`, and where the
variable ``KMB_RESULTS`` names a file, the whole result is appended to it as one
line of JSON, which :func:`kmb.loads` reads.

What the originals decide by themselves is decided by libkmb here: how long to
warm up, how many calls a sample has, how the cache is made cold. A number of
samples that is asked for is taken. Where torch.distributed joins several ranks,
FlashInfer's functions give the longest of all ranks, sample by sample; another
``aggregate_op`` than max raises ``UnsupportedError``. Triton's measure the rank
alone.
"""
import json
import math
import os
import statistics
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _abi, _given, errors
from ._arrays import torch_module
from ._given import checked
from .bench import bench
from .comm import ALONE
from .result import Result

Times = Union[float, List[float]]

__all__ = ['FindingWarning', 'bench_gpu_time',
           'bench_gpu_time_with_cuda_event', 'bench_gpu_time_with_cudagraph',
           'bench_gpu_time_with_cupti', 'do_bench', 'do_bench_cudagraph']

#: Pause between runs of samples where a script asks to sleep after each call.
SLEEP_MS = 10.0


class FindingWarning(UserWarning):
    """A reason to doubt the number that was returned."""


def _record(result: Result) -> None:
    path = os.environ.get('KMB_RESULTS')
    if not path:
        return
    line = json.dumps(json.loads(result.to_json()),
                      separators=(',', ':')) + '\n'
    # One write, so that lines of several processes do not mix.
    place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        data = line.encode()
        if os.write(place, data) != len(data):
            raise OSError('%s: the result was not written whole' % path)
    finally:
        os.close(place)


def _warn(result: Result) -> None:
    for finding in result.findings:
        if finding.severity != 'note':
            _given.warn(str(finding), FindingWarning)


def _times_ms(result: Result) -> List[float]:
    """Samples, corrected as the headline is, so that their median is it."""
    bias = float(result.get('bias_ns', 0.0))
    return [(ns - bias) / 1e6 for ns in result.samples_ns]


def _where() -> str:
    torch = torch_module()
    if torch and torch.cuda.is_available():
        return 'cuda:%d' % torch.cuda.current_device()
    return 'host'


def _ranks(aggregate_op: Callable[..., Any]) -> Any:
    """What the ranks are joined by."""
    torch = torch_module()
    if not torch or not torch.distributed.is_available() or \
            not torch.distributed.is_initialized() or \
            torch.distributed.get_world_size() == 1:
        return ALONE
    if aggregate_op is not max:
        raise errors.UnsupportedError(
            _abi.KMB_ERR_UNSUPPORTED, 'several ranks are reduced by max alone')
    return torch.distributed.group.WORLD


def _measured(fn: Callable[..., Any], args: Sequence[Any],
              kwargs: Optional[Dict[str, Any]], **how: Any) -> Result:
    result = bench(fn, args, kwargs, device=_where(), **how)
    _warn(result)
    _record(result)
    return result


def _flashinfer(fn: Callable[..., Any], repeat_iters: Optional[int],
                dry_run_iters: Optional[int], dry_run_time_ms: float,
                repeat_time_ms: float, l2_flush: Tuple[Any, ...],
                sleep_after_run: bool, input_args: Tuple[Any, ...],
                input_kwargs: Optional[Dict[str, Any]], cold_l2_cache: bool,
                launch: str, timer: Optional[str],
                aggregate_op: Callable[..., Any]) -> List[float]:
    if any(one is not None for one in l2_flush):
        _given.warn('l2_flush, l2_flush_size_mb and l2_flush_device are '
                    'deprecated: use cold_l2_cache', DeprecationWarning)
        if l2_flush[0] is not None:
            cold_l2_cache = bool(l2_flush[0])
    how: Dict[str, Any] = {'min_wall_ms': repeat_time_ms}
    if repeat_iters is not None:
        how = {'min_samples': repeat_iters, 'max_samples': repeat_iters,
               'min_wall_ms': 1e-6, 'batch': 1}
    if dry_run_iters is None:
        how['warmup_ms'] = dry_run_time_ms
    if sleep_after_run:
        how['idle_ms'] = SLEEP_MS
    cache = 'warm'
    if cold_l2_cache:
        cache = 'cold' if _where() != 'host' else ''
    return _times_ms(_measured(fn, input_args, input_kwargs,
                               cache=cache or None, launch=launch,
                               timer=timer, comm=_ranks(aggregate_op), **how))


_FLASHINFER: Dict[str, _given.Kind] = {
    'fn': _given.callee, 'dry_run_iters': _given.count,
    'repeat_iters': _given.number(1, 1 << 32),
    'dry_run_time_ms': _given.real, 'repeat_time_ms': _given.real,
    'num_iters_within_graph': _given.count, 'l2_flush': _given.flag,
    'l2_flush_size_mb': _given.real, 'l2_flush_device': _given.anything,
    'sleep_after_run': _given.flag, 'enable_cupti': _given.flag,
    'use_cuda_graph': _given.flag, 'input_args': _given.arguments,
    'input_kwargs': _given.keywords, 'cold_l2_cache': _given.flag,
    'aggregate_op': _given.function}


@checked(_FLASHINFER)
def bench_gpu_time_with_cupti(
        fn: Callable[..., Any], dry_run_iters: Optional[int] = None,
        repeat_iters: Optional[int] = None, dry_run_time_ms: float = 25,
        repeat_time_ms: float = 100, l2_flush: Optional[bool] = None,
        l2_flush_size_mb: Optional[int] = None,
        l2_flush_device: Optional[str] = None, sleep_after_run: bool = False,
        use_cuda_graph: bool = False, input_args: Tuple[Any, ...] = (),
        input_kwargs: Optional[Dict[str, Any]] = None,
        cold_l2_cache: bool = True,
        aggregate_op: Callable[..., Any] = max) -> List[float]:
    """As FlashInfer's: times of each sample in ms, by the tracer. Where there
    is none the timer is another, and a warning says so."""
    return _flashinfer(fn, repeat_iters, dry_run_iters, dry_run_time_ms,
                       repeat_time_ms,
                       (l2_flush, l2_flush_size_mb, l2_flush_device),
                       sleep_after_run, input_args, input_kwargs,
                       cold_l2_cache, 'graph' if use_cuda_graph else 'plain',
                       'trace', aggregate_op)


@checked(_FLASHINFER)
def bench_gpu_time_with_cudagraph(
        fn: Callable[..., Any], dry_run_iters: Optional[int] = None,
        repeat_iters: Optional[int] = None, dry_run_time_ms: float = 25,
        repeat_time_ms: float = 100, num_iters_within_graph: int = 10,
        l2_flush: Optional[bool] = None,
        l2_flush_size_mb: Optional[int] = None,
        l2_flush_device: Optional[str] = None, sleep_after_run: bool = False,
        input_args: Tuple[Any, ...] = (),
        input_kwargs: Optional[Dict[str, Any]] = None,
        cold_l2_cache: bool = True,
        aggregate_op: Callable[..., Any] = max) -> List[float]:
    """As FlashInfer's: times of each sample in ms, of a captured graph. The
    graph holds one call, so that each is cold."""
    del num_iters_within_graph
    return _flashinfer(fn, repeat_iters, dry_run_iters, dry_run_time_ms,
                       repeat_time_ms,
                       (l2_flush, l2_flush_size_mb, l2_flush_device),
                       sleep_after_run, input_args, input_kwargs,
                       cold_l2_cache, 'graph', None, aggregate_op)


@checked(_FLASHINFER)
def bench_gpu_time_with_cuda_event(
        fn: Callable[..., Any], dry_run_iters: Optional[int] = None,
        repeat_iters: Optional[int] = None, dry_run_time_ms: float = 25,
        repeat_time_ms: float = 100, l2_flush: Optional[bool] = None,
        l2_flush_size_mb: Optional[int] = None,
        l2_flush_device: Optional[str] = None, sleep_after_run: bool = False,
        input_args: Tuple[Any, ...] = (),
        input_kwargs: Optional[Dict[str, Any]] = None,
        cold_l2_cache: bool = True,
        aggregate_op: Callable[..., Any] = max) -> List[float]:
    """As FlashInfer's: times of each sample in ms, of plain launches; by the
    best timer that there is."""
    return _flashinfer(fn, repeat_iters, dry_run_iters, dry_run_time_ms,
                       repeat_time_ms,
                       (l2_flush, l2_flush_size_mb, l2_flush_device),
                       sleep_after_run, input_args, input_kwargs,
                       cold_l2_cache, 'plain', None, aggregate_op)


@checked(_FLASHINFER)
def bench_gpu_time(
        fn: Callable[..., Any], dry_run_iters: Optional[int] = None,
        repeat_iters: Optional[int] = None, dry_run_time_ms: float = 25,
        repeat_time_ms: float = 100, l2_flush: Optional[bool] = None,
        l2_flush_size_mb: Optional[int] = None,
        l2_flush_device: Optional[str] = None, sleep_after_run: bool = False,
        enable_cupti: bool = False, use_cuda_graph: bool = False,
        num_iters_within_graph: int = 10, input_args: Tuple[Any, ...] = (),
        input_kwargs: Optional[Dict[str, Any]] = None,
        cold_l2_cache: bool = True,
        aggregate_op: Callable[..., Any] = max) -> List[float]:
    """As FlashInfer's: times of each sample in ms."""
    del num_iters_within_graph
    return _flashinfer(fn, repeat_iters, dry_run_iters, dry_run_time_ms,
                       repeat_time_ms,
                       (l2_flush, l2_flush_size_mb, l2_flush_device),
                       sleep_after_run, input_args, input_kwargs,
                       cold_l2_cache, 'graph' if use_cuda_graph else 'plain',
                       'trace' if enable_cupti else None, aggregate_op)


def _quantile(ordered: List[float], share: float) -> float:
    """Between the two nearest samples, linearly."""
    if not 0 <= share <= 1:
        raise ValueError('a quantile lies in [0, 1], not at %r' % share)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


_MODES: Dict[str, Callable[[List[float]], Times]] = {
    'min': min, 'max': max, 'mean': statistics.mean,
    'median': statistics.median, 'all': list}


def _summary(times: List[float], quantiles: Optional[Sequence[float]],
             return_mode: str) -> Times:
    if quantiles is None:
        return _MODES[return_mode](times)
    several = [_quantile(sorted(times), q) for q in quantiles]
    return several[0] if len(several) == 1 else several


def _mode(name: str, value: Any) -> str:
    if _given.words(name, value) not in _MODES:
        raise ValueError('%s is %r, not one of %s'
                         % (name, value, ', '.join(_MODES)))
    return str(value)


def _quantiles(name: str, value: Any) -> Tuple[float, ...]:
    found = tuple(_given.real('%s[%d]' % (name, i), one) for i, one in
                  enumerate(_given.several(name, value, 'several numbers')))
    for one in found:
        _quantile([0.0], one)
    return found


def _tensors(name: str, value: Any) -> Tuple[Any, ...]:
    found = tuple(_given.several(name, value, 'several tensors'))
    for i, one in enumerate(found):
        if not hasattr(one, 'grad'):
            raise _given.wrong('%s[%d]' % (name, i), one, 'a tensor')
    return found


_TRITON: Dict[str, _given.Kind] = {
    'fn': _given.callee, 'warmup': _given.real, 'rep': _given.real,
    'grad_to_none': _tensors, 'quantiles': _quantiles, 'return_mode': _mode}


@checked(_TRITON)
def do_bench(fn: Callable[[], Any], warmup: float = 25, rep: float = 100,
             grad_to_none: Optional[Sequence[Any]] = None,
             quantiles: Optional[Sequence[float]] = None,
             return_mode: str = 'mean') -> Times:
    """As Triton's: plain launches with a cold cache; the mean in ms, or as
    ``quantiles`` or ``return_mode`` ask."""
    def forget() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None

    result = _measured(fn, (), None, launch='plain', warmup_ms=warmup,
                       min_wall_ms=rep,
                       reset=forget if grad_to_none is not None else None)
    return _summary(_times_ms(result), quantiles, return_mode)


@checked(_TRITON)
def do_bench_cudagraph(fn: Callable[[], Any], rep: float = 20,
                       grad_to_none: Optional[Sequence[Any]] = None,
                       quantiles: Optional[Sequence[float]] = None,
                       return_mode: str = 'mean') -> Times:
    """As Triton's: a captured graph with a warm cache; the mean in ms, or as
    ``quantiles`` or ``return_mode`` ask."""
    for tensor in grad_to_none or ():
        tensor.detach_()
        tensor.requires_grad_(True)
        tensor.grad = None
    result = _measured(fn, (), None, launch='graph', cache='warm',
                       min_wall_ms=rep)
    return _summary(_times_ms(result), quantiles, return_mode)
