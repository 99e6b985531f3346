"""Traces and gaps."""
import ctypes
import html
import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from . import _abi, _given
from ._given import Path, checked
from ._library import check, filled, handle_of, lib, text, written
from .result import Finding


@dataclass(frozen=True)
class Target:
    """The launches of the target kernel on one device; times in ns."""
    count: int
    mean_duration_ns: float
    median_duration_ns: float
    intervals: int
    #: The following are None where the kernel ran once.
    mean_interval_ns: Optional[float]
    utilization: Optional[float]
    potential_utilization: Optional[float]
    potential_overlap: Optional[float]


@dataclass(frozen=True)
class Transition:
    """Gaps between operations of one name and another."""
    source: str
    target: str
    count: int
    idle_ns: int
    longest_ns: int


class GapsDevice:
    """One device of an analysis."""

    def __init__(self, gaps: 'Gaps', index: int) -> None:
        self._gaps, self._index = gaps, index
        self._raw = filled(_abi.kmb_gaps_device, lib.kmb_gaps_get_device,
                           gaps.handle, index)

    name = property(lambda self: text(self._raw.name))
    ops = property(lambda self: int(self._raw.ops))
    span_ns = property(lambda self: int(self._raw.span_ns))
    busy_ns = property(lambda self: int(self._raw.busy_ns))
    idle_ns = property(lambda self: int(self._raw.idle_ns))
    gaps = property(lambda self: int(self._raw.gaps))

    @property
    def utilization(self) -> Optional[float]:
        """busy ÷ span; None where graphs hide how busy it was."""
        share = ctypes.c_double()
        status = lib.kmb_gaps_utilization(self._gaps.handle, self._index,
                                          ctypes.byref(share))
        if status == _abi.KMB_ERR_UNAVAILABLE:
            return None
        check(status)
        return share.value

    @property
    def transitions(self) -> List[Transition]:
        """The one with most idle time first."""
        found = []
        for i in range(self._raw.transitions):
            one = filled(_abi.kmb_gaps_transition,
                         lib.kmb_gaps_get_transition, self._gaps.handle,
                         self._index, i)
            found.append(Transition(text(getattr(one, 'from')), text(one.to),
                                    one.count, one.idle_ns, one.longest_ns))
        return found

    @property
    def target(self) -> Optional[Target]:
        """None where no kernel was named, or none matches."""
        one = _abi.kmb_gaps_target()
        one.struct_size = ctypes.sizeof(one)
        status = lib.kmb_gaps_get_target(self._gaps.handle, self._index,
                                         ctypes.byref(one))
        if status == _abi.KMB_ERR_UNAVAILABLE:
            return None
        check(status)
        known = one.intervals > 0
        return Target(one.count, one.mean_duration_ns, one.median_duration_ns,
                      one.intervals,
                      one.mean_interval_ns if known else None,
                      one.utilization if known else None,
                      one.potential_utilization if known else None,
                      one.potential_overlap if known else None)


class Gaps(_given.Held):
    """Where devices waited, and what it cost. ``print(gaps)`` is the report of
    ``kmb gaps``."""

    def __init__(self, trace: ctypes.c_void_p,
                 params: _abi.kmb_gaps_params) -> None:
        handle_of(trace, 'gaps()')
        # Freed in the order in which the library needs it.
        self._handle = ctypes.c_void_p()
        status = lib.kmb_gaps_analyse(trace, ctypes.byref(params),
                                      ctypes.byref(self._handle))
        if status:
            try:
                check(status)
            finally:
                lib.kmb_trace_destroy(trace)

        def free(gaps: ctypes.c_void_p, trace: ctypes.c_void_p) -> None:
            lib.kmb_gaps_destroy(gaps)
            lib.kmb_trace_destroy(trace)

        _given.freed(self, free, self._handle, trace)

    @property
    def devices(self) -> List[GapsDevice]:
        """Devices with operations."""
        return [GapsDevice(self, i)
                for i in range(lib.kmb_gaps_device_count(self.handle))]

    @property
    def findings(self) -> List[Finding]:
        """Reasons to doubt the analysis."""
        found = []
        severities = {_abi.KMB_NOTE: 'note', _abi.KMB_WARNING: 'warning',
                      _abi.KMB_DOUBT: 'doubt'}
        for i in range(lib.kmb_gaps_finding_count(self.handle)):
            one = filled(_abi.kmb_finding, lib.kmb_gaps_get_finding,
                         self.handle, i)
            found.append(Finding(
                text(lib.kmb_finding_name(one.code)),
                severities.get(one.severity, 'unknown'), text(one.message),
                {text(one.figures[k].name): one.figures[k].value
                 for k in range(one.figure_count)}))
        return found

    def to_json(self) -> str:
        """The analysis as `kmb gaps --json` gives it."""
        return written(lib.kmb_gaps_write_json, self.handle)

    def to_dict(self) -> Dict[str, Any]:
        """The same, parsed."""
        return dict(json.loads(self.to_json()))

    def __str__(self) -> str:
        return written(lib.kmb_gaps_write_text, self.handle)

    def __repr__(self) -> str:
        shares = [d.utilization for d in self.devices]
        return '<kmb.Gaps %s>' % (', '.join(
            'unknown' if s is None else 'busy %.1f%%' % (100 * s)
            for s in shares) or 'no devices')

    def _repr_html_(self) -> str:
        return '<pre>%s</pre>' % html.escape(str(self))


@checked(path=_given.path, kernel=_given.words, within=_given.words,
         device=_given.count, top=_given.count)
def gaps(path: Path, kernel: Optional[str] = None, *,
         within: Optional[str] = None, device: Optional[int] = None,
         top: int = 0) -> Gaps:
    """Analyses a trace of Nsight Systems, nvprof, rocprof, the torch profiler,
    or of libkmb itself.

    ``kernel`` is a regular expression for the target kernel, ``within`` the
    name of a range outside which nothing counts, ``device`` the only one to
    look at, ``top`` the rows of each list in the text.
    """
    trace = ctypes.c_void_p()
    check(lib.kmb_trace_load(os.fsencode(path), None, ctypes.byref(trace)))
    params = _abi.kmb_gaps_params()
    params.struct_size = ctypes.sizeof(params)
    if kernel is not None:
        params.kernel = kernel.encode('utf-8', 'replace')
    if within is not None:
        params.range = within.encode('utf-8', 'replace')
    params.top = top
    if device is not None:
        params.device = device
        params.flags = _abi.KMB_GAPS_DEVICE
    return Gaps(trace, params)
