"""Times GPU kernels and host functions so that the number can be defended.

>>> import kmb
>>> result = kmb.bench(sorted, (list(range(1000)),))
>>> result.time_us                                        # doctest: +SKIP
3.1
>>> print(result)                                         # doctest: +SKIP
"""
from . import work
from ._library import version as library_version
from .bench import bench
from .code import Code, capture
from .comm import Comm, Transport
from .compare import Candidate, Comparison, Row, compare
from .counters import Counters, counters
from .device import Device
from .errors import AbsentError, BusyError, CancelledError, CaptureError, \
    DeadlineError, Error, ForkedError, FormatError, IncorrectError, \
    InvalidError, LostError, NotPermittedError, OutOfMemoryError, RankError, \
    StaleError, StreamError, UnavailableError, UnsupportedError, VendorError
from .result import CodeKernel, Finding, Result, load, loads, save, table
from .trace import Gaps, gaps
from .work import Work

__version__ = '0.1.0'
__all__ = [
    'AbsentError', 'BusyError', 'CancelledError', 'Candidate', 'CaptureError',
    'Code', 'CodeKernel', 'Comm', 'Comparison', 'Counters', 'DeadlineError',
    'Device', 'Error', 'Finding', 'ForkedError', 'FormatError', 'Gaps',
    'IncorrectError', 'InvalidError', 'LostError', 'NotPermittedError',
    'OutOfMemoryError', 'RankError', 'Result', 'Row', 'StaleError',
    'StreamError', 'Transport', 'UnavailableError', 'UnsupportedError',
    'VendorError', 'Work', 'bench', 'capture', 'compare', 'counters', 'gaps',
    'library_version', 'load', 'loads', 'save', 'table', 'work',
]
