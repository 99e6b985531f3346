"""Comparing callables: measured in turns, a ratio and a verdict for each."""
import ctypes
import html
import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, \
    Optional, Sequence, Tuple, Union

from . import _abi, _given, errors
from ._arrays import Arguments
from ._call import Call
from ._given import checked, wrong
from ._library import check as _check, lib, written
from .bench import Options, Plan, Settings, Which, changed_found, \
    device_of, overhead_found, set_up_on_host
from .device import Device
from .result import Result, amended, loads, scaled
from .work import Work

Knobs = Mapping[str, Sequence[Any]]


#: A candidate's fields; all but the first may be None.
_LOOKS: Dict[str, _given.Kind] = {**{key: _given.TIMED[key] for key in (
    'args', 'kwargs', 'mutates', 'outputs', 'warm', 'touched', 'check',
    'reset')}, 'knobs': _given.knobs}


@dataclass
class Candidate:
    """A callable with what is its own; what is None is as :func:`compare` is
    told for all."""
    fn: Callable[..., Any]
    args: Optional[Sequence[Any]] = None
    kwargs: Optional[Mapping[str, Any]] = None
    knobs: Optional[Knobs] = None
    mutates: Optional[Which] = None
    outputs: Optional[Which] = None
    warm: Optional[Which] = None
    touched: Optional[Mapping[Union[str, int], int]] = None
    check: Optional[Callable[..., Any]] = None
    reset: Optional[Callable[..., Any]] = None

    def __post_init__(self) -> None:
        _given.callee('fn', self.fn)
        for key, look in _LOOKS.items():
            value = getattr(self, key)
            if value is not None:
                setattr(self, key, look(key, value))

    def completed(self, common: 'Candidate') -> 'Candidate':
        """With what it does not say itself."""
        return Candidate(**{
            key: getattr(common, key) if value is None else value
            for key, value in vars(self).items()})


Given = Union[Callable[..., Any], Candidate]


@dataclass(frozen=True)
class Row:
    """A candidate in a comparison. What is not known is None."""
    name: str
    verdict: str  #: "baseline", "faster", "slower", "same" or "unresolved"
    reason: str  #: what the verdict rests on, or what is in its way
    ratio: Optional[float]  #: of times, over the baseline's; below 1 is faster
    low: Optional[float]
    high: Optional[float]  #: interval of the ratio, with ``confidence``
    confidence: Optional[float]
    config: Optional[Dict[str, Any]]  #: the knobs' values that were kept
    result: Result


class Comparison:
    """What a comparison came to."""

    def __init__(self, text: str, document: str, rows: List[Row]) -> None:
        self._text, self._document = text, document
        self.rows = tuple(rows)  #: in the order of the candidates

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError('%s is none of %s' % (
            name, ', '.join(r.name for r in self.rows)))

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.rows)

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in self.rows)

    def to_json(self) -> str:
        """The document by libkmb's published schema of comparisons."""
        return self._document

    def to_dict(self) -> Dict[str, Any]:
        """The same: every ratio, every configuration, the whole results."""
        return dict(json.loads(self._document))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return '<kmb.Comparison %s>' % ', '.join(
            '%s %s' % (r.name, r.verdict) for r in self.rows)

    def _repr_html_(self) -> str:
        heads = ('candidate', 'time', 'ratio', 'interval', 'verdict',
                 'configuration', 'reason')
        rows = [[html.escape(cell) for cell in _cells(row)]
                for row in self.rows]
        return '<table><caption>%s</caption><tr><th>%s</th></tr>%s</table>' % (
            html.escape(str(self.to_dict()['name'])), '</th><th>'.join(heads),
            ''.join('<tr><td>%s</td></tr>' % '</td><td>'.join(row)
                    for row in rows))


def _cells(row: Row) -> List[str]:
    time = row.result.get('time_ns')
    interval = '' if row.low is None or row.high is None or \
        row.confidence is None else '%.4g to %.4g (%.4g%%)' % (
            row.low, row.high, 100 * row.confidence)
    return [row.name, '' if time is None else scaled(time),
            '' if row.ratio is None else '%.4g' % row.ratio, interval,
            row.verdict, ', '.join('%s=%s' % pair for pair in
                                   (row.config or {}).items()), row.reason]


class _Configs(Dict[int, Dict[str, Any]]):
    """Keyword arguments by the number of a configuration, which counts like an
    odometer, the last knob fastest."""

    def __init__(self, knobs: Knobs) -> None:
        super().__init__()
        self.knobs = {str(k): list(values) for k, values in knobs.items()}

    def __missing__(self, config: int) -> Dict[str, Any]:
        values, rest = {}, config
        for name in reversed(list(self.knobs)):
            rest, at = divmod(rest, len(self.knobs[name]))
            values[name] = self.knobs[name][at]
        self[config] = {name: values[name] for name in self.knobs}
        return self[config]


class _Entry:
    """A candidate, set up."""

    def __init__(self, name: str, given: Candidate) -> None:
        self.name, self.given = name, given
        self.configs = _Configs(given.knobs or {})
        both = sorted(set(self.configs.knobs) & set(given.kwargs or {}))
        if both:
            raise ValueError('candidate %r has %s both as a knob and as an '
                             'argument' % (name, ', '.join(both)))
        self.arguments = Arguments(given.fn, given.args or (),
                                   dict(given.kwargs or {}))
        self.options = Options(self.arguments, given.mutates or (),
                               given.outputs or (), given.warm or (),
                               given.touched or {})
        self.plan: Optional[Plan] = None
        self.overhead = 0.0

    def set_up(self, call: Call, settings: Settings,
               memory_limit: Optional[int]) -> None:
        """Makes the plan."""
        plan = self.plan = Plan(call.device, self.name, call)
        settings.apply(plan, self.arguments)
        how = {'check': self.given.check, 'tolerance': settings.tolerance,
               'reset': self.given.reset, 'memory_limit': memory_limit,
               'configs': self.configs}
        self.overhead = set_up_on_host(plan, self.given.fn, self.arguments,
                                       self.options, how)
        plan.settle()

    def write(self, raw: _abi.kmb_candidate) -> None:
        """Fills in the library's struct."""
        assert self.plan is not None
        keep = self.plan.keep
        raw.struct_size = ctypes.sizeof(raw)
        raw.bench = ctypes.pointer(self.plan.params)
        knobs = self.configs.knobs
        raw.knobs = keep((_abi.kmb_knob * len(knobs))())
        raw.knob_count = len(knobs)
        for i, (name, values) in enumerate(knobs.items()):
            words = [str(v).encode('utf-8', 'replace') for v in values]
            raw.knobs[i].name = name.encode('utf-8', 'replace')
            raw.knobs[i].values = keep(
                (ctypes.c_char_p * len(words))(*words))
            raw.knobs[i].value_count = len(words)

    def row(self, found: Mapping[str, Any], result: Result) -> Row:
        """From the comparison's document."""
        tuning = found.get('tuning')
        return Row(found['name'], found['verdict'], found['reason'],
                   found.get('ratio'), found.get('low'), found.get('high'),
                   found.get('confidence'),
                   dict(self.configs[tuning['config']]) if tuning else None,
                   amended(result, overhead_found(result, self.overhead) +
                           changed_found(self.arguments)))


def _listed(name: str, value: Any) -> List[Tuple[str, Candidate]]:
    """Candidates with their names."""
    rows = [(key, one) for key, one in value.items()] \
        if isinstance(value, Mapping) else _given.several(
            name, value, 'a mapping from names to callables, or several (name, '
            'fn, args, kwargs)')
    found = []
    for i, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or not 2 <= len(row) <= 4:
            raise wrong('%s[%d]' % (name, i), row,
                        '(name, fn), (name, fn, args) or (name, fn, args, '
                        'kwargs)')
        key, given, *more = row
        key = _given.words('a candidate\'s name', key)
        if not isinstance(given, Candidate):
            if not callable(given):
                raise wrong('candidate %r' % key, given,
                            'callable, nor a kmb.Candidate')
            given = Candidate(given, *more)
        elif more:
            raise ValueError('candidate %r is a Candidate, which holds its '
                             'arguments itself' % (key,))
        found.append((key, given))
    return found


def _index(name: str, value: Any) -> Union[str, int]:
    return _given.words(name, value) if isinstance(value, str) else \
        int(_given.int32(name, value))


def _unsupported(where: str) -> errors.Error:
    return errors.UnsupportedError(
        _abi.KMB_ERR_UNSUPPORTED, 'from Python callables are compared on the '
        'host alone, not on %s; measure each with kmb.bench(), save the '
        'results and compare the files with `kmb compare`' % where)


def _host(given: Union[Device, str, None], entries: Sequence[_Entry]) \
        -> Device:
    for entry in entries:
        for region in entry.arguments.regions:
            if region.device != 'cpu':
                raise _unsupported(region.device)
    if isinstance(given, str) and given != 'host':
        raise _unsupported(given)
    if not entries:
        raise ValueError('there are no candidates')
    device = [device_of(given, e.arguments) for e in entries][0]
    if device.backend != 'host':
        raise _unsupported(device.backend)
    return device


def _baseline(given: Union[str, int], entries: Sequence[_Entry]) -> int:
    if isinstance(given, str):
        names = [e.name for e in entries]
        if given not in names:
            raise ValueError('baseline is %r, not one of %s'
                             % (given, ', '.join(names)))
        return names.index(given)
    if not 0 <= given < len(entries):
        raise ValueError('baseline is %d of %d candidates'
                         % (given, len(entries)))
    return given


def _run(call: Call, entries: Sequence[_Entry],
         params: _abi.kmb_compare_params) -> Comparison:
    raw = (_abi.kmb_candidate * len(entries))()
    for entry, one in zip(entries, raw):
        entry.write(one)
    out = ctypes.c_void_p()
    try:
        _check(call.run(lambda: int(lib.kmb_compare(
            call.device.handle, raw, ctypes.sizeof(_abi.kmb_candidate),
            len(entries), ctypes.byref(params), ctypes.byref(out)))))
        text = written(lib.kmb_comparison_write_text, out)
        document = written(lib.kmb_comparison_write_json, out)
    finally:
        lib.kmb_comparison_destroy(out)
    whole = json.loads(document)
    results = loads(json.dumps(whole['document']))
    return Comparison(text, document, [
        e.row(found, result)
        for e, found, result in zip(entries, whole['rows'], results)])


@checked(_given.TIMED, candidates=_listed, knobs=_given.knobs,
         baseline=_index, threshold_pct=_given.real, any_cache=_given.flag,
         tune_wall_ms=_given.real, min_cycles=_given.count,
         max_cycles=_given.count, turn=_given.count)
def compare(candidates: Union[Mapping[str, Given], Iterable[Tuple[Any, ...]]],
            args: Sequence[Any] = (),
            kwargs: Optional[Mapping[str, Any]] = None, *,
            knobs: Optional[Knobs] = None, name: Optional[str] = None,
            baseline: Union[str, int] = 0, threshold_pct: float = 0.0,
            target_pct: float = 0.0, any_cache: bool = False,
            device: Union[Device, str, None] = None,
            axes: Optional[Mapping[str, Any]] = None,
            work: Optional[Work] = None,
            mutates: Which = (), outputs: Which = (), warm: Which = (),
            touched: Optional[Mapping[Union[str, int], int]] = None,
            check: Optional[Callable[..., Any]] = None,
            tolerance: Optional[float] = None,
            reset: Optional[Callable[..., Any]] = None,
            cache: Optional[str] = None, min_wall_ms: float = 0.0,
            max_wall_ms: float = 0.0, tune_wall_ms: float = 0.0,
            warmup_ms: Optional[float] = None, idle_ms: float = 0.0,
            min_cycles: int = 0, max_cycles: int = 0, turn: int = 0,
            batch: int = 0, seed: Optional[int] = None, threads: int = 0,
            metadata: Optional[Mapping[str, Any]] = None,
            memory_limit: Optional[int] = None) -> Comparison:
    """Compares callables on the host, measured in turns.

    ``candidates`` maps names to callables, or lists ``(name, fn)``,
    ``(name, fn, args)`` or ``(name, fn, args, kwargs)``; in place of a callable
    there may be a :class:`Candidate`. All that is not its own is as given here
    for all of them, and as for :func:`kmb.bench`.

    :param knobs: ``{"block": [64, 128]}``: each configuration is given to the
        callable as keyword arguments, checked and measured briefly, and the
        fastest is kept
    :param baseline: name or index of the one that the others are compared with
    :param threshold_pct: within it, two times are the same; 0 is 1%
    :param target_pct: half-width of the intervals to reach; 0 is a quarter of
        the threshold
    :param any_cache: compare in spite of cache states that came to differ
    :param tune_wall_ms: budget of tuning, each candidate; 0 is 5 s
    :param turn: samples a candidate takes in a turn

    What a callable raises comes out as it is, while tuning too. Ctrl-C ends
    the comparison.
    """
    common = Candidate(_nothing, args, kwargs or {}, knobs or {}, mutates,
                       outputs, warm, touched or {}, check, reset)
    listed: Any = candidates  # as _listed() gives them
    entries = [_Entry(key, given.completed(common)) for key, given in listed]
    params = _abi.kmb_compare_params()
    params.struct_size = ctypes.sizeof(params)
    params.name = None if name is None else name.encode('utf-8', 'replace')
    params.threshold_pct, params.target_pct = threshold_pct, target_pct
    params.min_wall_ns, params.max_wall_ns = min_wall_ms * 1e6, \
        max_wall_ms * 1e6
    params.tune_wall_ns = tune_wall_ms * 1e6
    params.min_cycles, params.max_cycles = min_cycles, max_cycles
    params.turn = turn
    params.baseline = _baseline(baseline, entries)
    if seed is not None:
        params.seed, params.flags = seed, _abi.KMB_COMPARE_SEED
    params.flags |= _abi.KMB_COMPARE_ANY_CACHE if any_cache else 0
    call = Call(_host(device, entries))
    settings = Settings(axes=axes, work=work, tolerance=tolerance, cache=cache,
                        warmup_ms=warmup_ms, idle_ms=idle_ms, batch=batch,
                        threads=threads, metadata=metadata)
    try:
        for entry in entries:
            entry.set_up(call, settings, memory_limit)
        return _run(call, entries, params)
    finally:
        for entry in entries:
            if entry.plan is not None:
                entry.plan.close()


def _nothing() -> None:
    """Stands for the callable in what is common to all."""
