"""Results."""
import ctypes
import html
import json
from dataclasses import dataclass, field, fields
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, \
    Tuple, Union

from . import _abi, _given, errors
from ._given import Path, checked, several, wrong
from ._library import Deferred, check, handle_of, lib, read, text, written


@dataclass(frozen=True)
class Finding:
    """A reason to doubt a number."""
    code: str
    severity: str  #: "note", "warning" or "doubt"
    message: str
    figures: Dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return '%s %s: %s' % (self.severity, self.code, self.message)


@dataclass(frozen=True)
class CodeKernel:
    """A kernel whose code was captured, with one launch configuration. What is
    not known is None, and ``reason`` says why."""
    name: str  #: as the code object has it
    grid: Tuple[int, ...]
    block: Tuple[int, ...]
    launches: int
    dynamic_shared_bytes: int
    demangled: Optional[str] = None  #: as people write it
    architecture: Optional[str] = None  #: "sm_90", "gfx942"
    sha256: Optional[str] = None  #: of its image
    code_sha256: Optional[str] = None  #: of its instructions alone
    file: Optional[str] = None  #: its image's, in the folder RESULT.d
    reason: Optional[str] = None
    registers: Optional[int] = None  #: of a thread; AMD: VGPRs
    static_shared_bytes: Optional[int] = None  #: of a block; AMD: LDS
    local_bytes: Optional[int] = None  #: of a thread; AMD: scratch
    max_threads: Optional[int] = None
    blocks_per_unit: Optional[int] = None  #: that fit at once
    scalar_registers: Optional[int] = None  #: AMD's alone, as the next three
    accumulator_registers: Optional[int] = None
    spilled_registers: Optional[int] = None
    spilled_scalar_registers: Optional[int] = None
    code_offset: Optional[int] = None  #: of its instructions in the image
    code_bytes: Optional[int] = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> 'CodeKernel':
        """From a row of the JSON."""
        known = {f.name: row[f.name] for f in fields(cls) if f.name in row}
        known['grid'], known['block'] = tuple(row['grid']), tuple(row['block'])
        return cls(**known)


def scaled(ns: float) -> str:
    """A time in a unit that suits it."""
    for limit, factor, unit in ((1e3, 1, 'ns'), (1e6, 1e3, 'µs'),
                                (1e9, 1e6, 'ms')):
        if ns < limit:
            return '%.4g %s' % (ns / factor, unit)
    return '%.4g s' % (ns / 1e9)


#: Of all values that a measurement can have.
_KEYS = frozenset(key for _, _, _, key, _ in _abi.VALUES)


class Result:
    """What a measurement came to. ``result["sol_pct"]`` is a value by the key
    that the JSON has; what is not known raises :class:`kmb.AbsentError`, a
    ``KeyError``, with the reason, and ``result.get("sol_pct")`` gives
    ``None``."""

    def __init__(self, handle: ctypes.c_void_p, owner: Any = None) -> None:
        self._handle = handle_of(handle, 'bench(), load() and the like')
        self._owner = owner  # the list that the result is in
        self._values: Optional[Dict[str, Any]] = None
        if owner is None:
            _given.freed(self, lib.kmb_result_destroy, handle)

    def to_json(self) -> str:
        """The document by libkmb's published schema, with this result."""
        return written(lib.kmb_result_write_json, self._handle)

    def to_dict(self) -> Dict[str, Any]:
        """All of the result: its object in the JSON, samples and metadata
        included."""
        if self._values is None:
            self._values = json.loads(self.to_json())['results'][0]
        return dict(json.loads(json.dumps(self._values)))

    def _all(self) -> Dict[str, Any]:
        if self._values is None:
            self.to_dict()
        return self._values or {}

    def __getitem__(self, key: str) -> Any:
        values = self._all()
        if key in values:
            return values[key]
        raise errors.AbsentError(_abi.KMB_ERR_UNAVAILABLE, '%s: %s' % (
            key, self.why_absent(key)))

    def __contains__(self, key: object) -> bool:
        return key in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> List[str]:
        """Of the values that are known."""
        return list(self._all())

    @checked(key=_given.words, default=_given.anything)
    def get(self, key: str, default: Any = None) -> Any:
        """A value, or ``default`` where it is not known."""
        return self._all().get(key, default)

    @checked(key=_given.words)
    def why_absent(self, key: str) -> str:
        """Why a value is not there."""
        if key in self._all():
            return 'it is there'
        return str(self._all().get('absent', {}).get(
            key, 'this measurement has none' if key in _KEYS else
            'there is no such value'))

    def __reduce__(self) -> Any:
        return _again, (self.to_json(),)

    @property
    def name(self) -> str:
        """The benchmark's name, "" if it has none."""
        return str(self.get('name', ''))

    @property
    def time_ns(self) -> float:
        """The median of an iteration, corrected where the timer's bias is
        known."""
        return float(self['time_ns'])

    @property
    def time_us(self) -> float:
        """``time_ns`` in microseconds."""
        return self.time_ns / 1e3

    @property
    def time_ms(self) -> float:
        """``time_ns`` in milliseconds."""
        return self.time_ns / 1e6

    @property
    def interval_ns(self) -> Optional[Tuple[float, float]]:
        """The 99% within-run interval of the median; None if too few samples
        were taken."""
        low, high = self.get('interval_low_ns'), self.get('interval_high_ns')
        return None if low is None or high is None else (low, high)

    @property
    def samples_ns(self) -> List[float]:
        """Raw samples in the order in which they were taken."""
        at = ctypes.POINTER(ctypes.c_double)()
        count = ctypes.c_uint64()
        check(lib.kmb_result_samples(self._handle, ctypes.byref(at),
                                     ctypes.byref(count)))
        return at[:count.value]

    @property
    def findings(self) -> Tuple[Finding, ...]:
        """Reasons to doubt the number."""
        return tuple(Finding(f['code'], f['severity'], f['message'],
                             f.get('figures', {}))
                     for f in self.get('findings', []))

    @property
    def axes(self) -> Dict[str, str]:
        """What identifies the point."""
        return {a['key']: a['value'] for a in self.get('axes', [])}

    @property
    def metadata(self) -> Dict[str, str]:
        """What was measured on."""
        return dict(self.get('metadata', {}))

    @property
    def ops(self) -> List[Dict[str, Any]]:
        """A row for each device operation of an iteration that was traced."""
        return list(self.get('ops', []))

    @property
    def code(self) -> Tuple[CodeKernel, ...]:
        """A row for each kernel whose code was captured; see
        :func:`kmb.capture`."""
        return tuple(map(CodeKernel.of, self.get('code', [])))

    @property
    def ranks(self) -> List[Dict[str, Any]]:
        """A row for each rank, where several measured together."""
        return list(self.get('ranks', []))

    def __str__(self) -> str:
        return written(lib.kmb_result_write_text, self._handle)

    def __repr__(self) -> str:
        codes = ' '.join(f.code for f in self.findings)
        return '<kmb.Result %s%s%s>' % (
            self.name + ' ' if self.name else '', scaled(self.time_ns),
            ' ' + codes if codes else '')

    def _repr_html_(self) -> str:
        rows = [('time', scaled(self.time_ns))]
        interval = self.interval_ns
        if interval:
            rows.append(('99% interval', '%s to %s' % (
                scaled(interval[0]), scaled(interval[1]))))
        rows += list(self.axes.items())
        for key in ('timer', 'launch_mode', 'cache_state', 'stop_reason',
                    'samples', 'check', 'reading'):
            if self.get(key) is not None:
                rows.append((key.replace('_', ' '), str(self[key])))
        if self.get('sol_pct') is not None:
            rows.append(('speed of light', '%.1f%%' % self['sol_pct']))
        rows += [(f.severity, '%s: %s' % (f.code, f.message))
                 for f in self.findings]
        return '<table><caption>%s</caption>%s</table>' % (
            html.escape(self.name), ''.join(
                '<tr><th>%s</th><td>%s</td></tr>'
                % (html.escape(k), html.escape(v)) for k, v in rows))


def _results(name: str, value: Any) -> List[Result]:
    """One result, or several."""
    if isinstance(value, Result):
        return [value]
    if isinstance(value, Mapping):
        raise wrong(name, value, 'a kmb.Result or several, in a list')
    found = several(name, value, 'a kmb.Result or several')
    for i, one in enumerate(found):
        if not isinstance(one, Result):
            raise wrong('%s[%d]' % (name, i), one, 'a kmb.Result')
    return found


def _json(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode('utf-8', 'replace')
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise wrong(name, value, 'JSON in a str or bytes; load() reads files')


def _document(results: Any) -> bytes:
    whole: Optional[Dict[str, Any]] = None
    for result in results:
        one = json.loads(result.to_json())
        if whole is None:
            whole = one
        else:
            whole['results'] += one['results']
    if whole is None:
        raise ValueError('there are no results')
    return json.dumps(whole, ensure_ascii=False).encode('utf-8', 'replace')


class _List:
    """A list of the library's, and the results in it."""

    def __init__(self, document: bytes) -> None:
        self.handle = ctypes.c_void_p()
        with Deferred():  # or a Ctrl-C would leave what was read
            read(lib.kmb_results_read_json, document, None,
                 ctypes.byref(self.handle))
            _given.freed(self, lib.kmb_results_destroy, self.handle)

    def results(self) -> List[Result]:
        """Each keeps the list alive."""
        found = []
        for i in range(lib.kmb_results_count(self.handle)):
            one = ctypes.c_void_p()
            check(lib.kmb_results_get(self.handle, i, ctypes.byref(one)))
            found.append(Result(one, self))
        return found


def amended(result: Result, findings: Iterable[Finding]) -> Result:
    """The result with findings that only Python can make."""
    more = [{'code': f.code, 'severity': f.severity, 'message': f.message,
             'figures': f.figures} for f in findings]
    if not more:
        return result
    whole = json.loads(result.to_json())
    whole['results'][0]['findings'] += more
    return _List(json.dumps(whole).encode()).results()[0]


@checked(document=_json)
def loads(document: Union[str, bytes]) -> List[Result]:
    """The results of a JSON document."""
    return _List(bytes(document)).results()  # type: ignore


def _again(document: str) -> Result:
    return loads(document)[0]


@checked(path=_given.path)
def load(path: Path) -> List[Result]:
    """The results of a JSON file."""
    with open(path, 'rb') as file:
        return loads(file.read())


@checked(path=_given.path, results=_results)
def save(path: Path, results: Union[Result, Iterable[Result]]) -> None:
    """Writes results as one JSON document."""
    together = _List(_document(results))
    whole = written(lib.kmb_results_write_json, together.handle)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(whole)


@checked(results=_results)
def table(results: Union[Result, Iterable[Result]]) -> str:
    """A table for a person, with readings and findings in words below."""
    together = _List(_document(results))
    return written(lib.kmb_results_write_table, together.handle)


def finding_names() -> List[str]:
    """The codes that findings of this version can have."""
    return [text(lib.kmb_finding_name(number))
            for _, number in _abi.FINDINGS]
