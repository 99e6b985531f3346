"""Finds libkmb, loads it, and declares its functions."""
import ctypes
import functools
import os
import signal
import subprocess
import threading
from types import FrameType
from typing import Any, Callable, List, Mapping, Optional

from . import _abi, errors

#: Number in the soname of the libraries that this package fits.
ABI = 0
_FILE = 'libkmb.so.%d' % ABI


def _pkg_config() -> Optional[str]:
    try:
        done = subprocess.run(['pkg-config', '--variable=libdir', 'kmb'],
                              capture_output=True, text=True, check=False)
    except OSError:
        return None
    folder = done.stdout.strip()
    return os.path.join(folder, _FILE) if done.returncode == 0 and folder \
        else None


def _open(path: str, tried: List[str]) -> Optional[ctypes.CDLL]:
    try:
        return ctypes.CDLL(path)
    except OSError as why:
        tried.append(str(why))
        return None


def _find() -> ctypes.CDLL:
    """KMB_LIBRARY alone if it is set; else beside this package, where the
    dynamic linker looks, and where pkg-config says."""
    tried: List[str] = []
    named = os.environ.get('KMB_LIBRARY')
    if named:
        found = _open(named, tried)
        if not found:
            raise ImportError('KMB_LIBRARY names no libkmb: ' + tried[0])
        return found
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), _FILE)
    if os.path.exists(beside):
        found = _open(beside, tried)
        if found:
            return found
    found = _open(_FILE, tried)
    if found:
        return found
    installed = _pkg_config()
    if installed is None:
        tried.append('pkg-config does not know kmb')
    else:
        found = _open(installed, tried)
        if found:
            return found
    raise ImportError('libkmb was not found (%s). Install it; in a prefix '
                      'of its own set PKG_CONFIG_PATH, or KMB_LIBRARY to the '
                      'path of %s.'
                      % ('; '.join(tried), _FILE))


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    where = getattr(library, '_name', _FILE)
    try:
        library.kmb_abi_major.restype = ctypes.c_uint32
        major = library.kmb_abi_major()
    except AttributeError:
        raise ImportError('%s is no libkmb' % where) from None
    if major != ABI:
        raise ImportError('%s has ABI %d, this package needs %d'
                          % (where, major, ABI))
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            library.kmb_version.restype = ctypes.c_char_p
            raise ImportError('%s, version %s, lacks %s: it is older than '
                              'this package' % (
                                  where, library.kmb_version().decode(),
                                  name)) from None
        function.restype, function.argtypes = result, arguments
    return library


lib: Any = _declared(_find())


def text(value: Optional[bytes]) -> str:
    """A string of the library."""
    return (value or b'').decode('utf-8', 'replace')


def error_of(status: int) -> errors.Error:
    """The exception for what the library last said on this thread."""
    last, vendor = ctypes.c_int32(), ctypes.c_int64()
    words = lib.kmb_last_error(ctypes.byref(last), ctypes.byref(vendor))
    if last.value != status:
        words, vendor = lib.kmb_status_text(status), ctypes.c_int64()
    return errors.of_status(status, text(words), vendor.value)


def chosen(table: Mapping[Optional[str], int], value: Optional[str],
           what: str) -> int:
    """The number of a word, in any case."""
    key = value.lower() if isinstance(value, str) else value
    if key not in table:
        raise ValueError('%s is %r, not one of %s' % (
            what, value, ', '.join(str(k) for k in table)))
    return table[key]


def check(status: int) -> None:
    """Raises what a status means, unless it is success."""
    if status:
        raise error_of(status)


WRITE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p,
                         ctypes.c_size_t)
READ = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p,
                        ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))


class Deferred:
    """Within it Ctrl-C is only noted; the old handler is called when it ends,
    or by ``let``. Python runs handlers before the first instruction of a
    callback too, where nothing catches what they raise: ctypes would print and
    forget it, and C would get a status that means nothing."""

    def __init__(self) -> None:
        self.old: Any = None
        self.noted: Any = None

    def __enter__(self) -> None:
        # Python runs handlers on no other thread.
        if threading.current_thread() is not threading.main_thread():
            return
        old = signal.getsignal(signal.SIGINT)
        if callable(old):  # neither ignored nor another's than Python's
            self.old = old
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: Optional[FrameType]) -> None:
        self.noted = (number, frame)

    def let(self) -> None:
        """Calls the old handler if there was a Ctrl-C: for callbacks, where
        they catch what it raises."""
        if self.noted is not None and \
                threading.current_thread() is threading.main_thread():
            noted, self.noted = self.noted, None
            self.old(*noted)

    def __exit__(self, *_: Any) -> None:
        if self.old is None:
            return
        try:
            signal.signal(signal.SIGINT, self.old)
        finally:
            self.let()


def _streamed(part: Callable[..., None], kind: Any,
              function: Callable[[Any], int]) -> None:
    """Calls a function of the library that calls ``part``. What that raises,
    KeyboardInterrupt say, comes out: ctypes would print and forget it."""
    deferred = Deferred()
    raised: List[BaseException] = []
    ended = [0]

    def guarded(*arguments: Any) -> int:
        try:
            deferred.let()
            part(*arguments)
            ended[0] += 1
            return _abi.KMB_OK
        except BaseException as error:  # pylint: disable=broad-except
            raised.append(error)
            return _abi.KMB_ERR_IO

    # It counts before the first instruction of guarded(), where handlers of
    # other signals and the limit of recursion raise still.
    counted = functools.lru_cache(maxsize=0)(guarded)
    with deferred:
        status = function(kind(counted))
    if raised:
        raise raised[0]
    if counted.cache_info().misses != ended[0]:
        raise errors.of_status(
            _abi.KMB_ERR_IO, 'something was raised before a callback began; '
            'Python has printed it')
    check(status)


def written(function: Callable[..., int], *handles: Any) -> str:
    """What a function of the library writes."""
    parts: List[bytes] = []

    def write(_user: Any, data: int, size: int) -> None:
        parts.append(ctypes.string_at(data, size))

    _streamed(write, WRITE, lambda to: function(*handles, to, None))
    return b''.join(parts).decode('utf-8', 'replace')


def read(function: Callable[..., int], content: bytes, *rest: Any) -> None:
    """Gives a function of the library something to read."""
    place = [0]

    def give(_user: Any, data: int, size: int, got: Any) -> None:
        part = content[place[0]:place[0] + size]
        ctypes.memmove(data, part, len(part))
        place[0] += len(part)
        got[0] = len(part)

    _streamed(give, READ, lambda source: function(source, None, *rest))


def version() -> str:
    """Version of the library that was loaded."""
    return text(lib.kmb_version())


def handle_of(value: Any, makers: str) -> ctypes.c_void_p:
    """A handle of the library's; anything else would be read as one."""
    if not isinstance(value, ctypes.c_void_p):
        raise TypeError('not made by hand, but by %s' % makers)
    return value


def filled(kind: Any, function: Callable[..., int], *arguments: Any) -> Any:
    """A struct that a function of the library fills."""
    one = kind()
    one.struct_size = ctypes.sizeof(kind)
    check(function(*arguments, ctypes.byref(one)))
    return one
