"""Devices."""
import ctypes
import threading
import weakref
from types import TracebackType
from typing import Any, Dict, Optional, Type, Union

from . import _abi, _given
from ._given import checked
from ._library import check, error_of, lib, text

_ATTRIBUTES = {key: (number, kind)
               for _, number, kind, key in _abi.ATTRIBUTES}


def _close(handle: ctypes.c_void_p) -> None:
    lib.kmb_device_close(handle)


class Device(_given.Held):
    """An open device, such as ``Device("host")`` or ``Device("cuda:0")``.

    One thread uses it at a time: a second one gets ``BusyError``. In a forked
    child it raises ``ForkedError``; the child opens its own.
    """

    _what = 'device'

    @checked(name=_given.words, llc_bytes=_given.count,
             memory_budget=_given.count, threads=_given.count32)
    def __init__(self, name: str = 'auto', *, llc_bytes: int = 0,
                 memory_budget: int = 0, threads: int = 0) -> None:
        self.cancel_flag = ctypes.c_int32(0)
        hooks = _abi.kmb_hooks()
        hooks.struct_size = ctypes.sizeof(hooks)
        hooks.cancel = ctypes.pointer(self.cancel_flag)
        params = _abi.kmb_device_params()
        params.struct_size = ctypes.sizeof(params)
        params.hooks = ctypes.pointer(hooks)
        params.llc_bytes = llc_bytes
        params.memory_budget = memory_budget
        params.threads = threads
        handle = ctypes.c_void_p()
        check(lib.kmb_device_open(_given.encoded('name', name),
                                  ctypes.byref(params), ctypes.byref(handle)))
        self._handle = handle
        self._closer = weakref.finalize(self, _close, handle)

    def close(self) -> None:
        """Closes the device; results stay."""
        self._closer()
        self._handle = None

    def __enter__(self) -> 'Device':
        self._open()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    @checked(on=_given.flag)
    def cancel(self, on: bool = True) -> None:
        """Ends what runs on the device, and all that follows until it is
        taken back; from any thread."""
        self.cancel_flag.value = int(on)

    def release_counters(self) -> None:
        """Gives back the hardware counters that ``kmb.counters(…, keep=True)``
        has kept; nothing if there are none."""
        check(lib.kmb_counters_release(self.handle))

    @checked(key=_given.words)
    def attribute(self, key: str) -> Union[str, int, float]:
        """What the device says of itself: "name", "backend", "llc_bytes"...
        Raises ``UnavailableError`` where it is not known."""
        if key not in _ATTRIBUTES:
            raise KeyError('%s is none of %s' % (key,
                                                 ', '.join(_ATTRIBUTES)))
        number, kind = _ATTRIBUTES[key]
        out: Any = {'TEXT': ctypes.c_char_p, 'U64': ctypes.c_uint64,
                    'F64': ctypes.c_double}[kind]()
        function = getattr(lib, 'kmb_device_attr_' + kind.lower())
        status = function(self.handle, number, ctypes.byref(out))
        if status:
            raise error_of(status)
        return text(out.value) if kind == 'TEXT' else out.value

    @property
    def backend(self) -> str:
        """"host", "cuda", "hip" or a plugin's name."""
        return str(self.attribute('backend'))

    @property
    def name(self) -> str:
        """As the driver or the processor says."""
        return str(self.attribute('name'))

    def __repr__(self) -> str:
        if not self.is_open:
            return '<kmb.Device closed>'
        try:
            return '<kmb.Device %s: %s>' % (self.attribute('spec'), self.name)
        except Exception:  # pylint: disable=broad-except
            return '<kmb.Device of the parent process>'


_opened: Dict[str, Device] = {}
_opening = threading.Lock()


def shared(name: str) -> Device:
    """The device that calls without one of their own use together. It is
    opened once, so that its ceilings are measured once."""
    with _opening:
        if name not in _opened or not _opened[name].is_open:
            _opened[name] = Device(name)
        return _opened[name]
