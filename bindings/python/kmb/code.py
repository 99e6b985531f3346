"""Captured code: which kernels ran, and the images that they come from."""
import ctypes
import os
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, \
    Union

from . import _abi, _given
from ._arrays import Arguments
from ._call import Call
from ._given import Path, checked
from ._library import check, filled, handle_of, lib, text
from .bench import device_of
from .device import Device
from .result import CodeKernel

_RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_TEXTS = {'name': 'name', 'demangled': 'demangled', 'architecture': 'arch',
          'sha256': 'hash', 'code_sha256': 'code_hash', 'file': 'file',
          'reason': 'reason'}
#: Counts, and the flag by which they are known.
_COUNTS = {
    'registers': _abi.KMB_CODE_HAS_ATTRIBUTES,
    'static_shared_bytes': _abi.KMB_CODE_HAS_ATTRIBUTES,
    'local_bytes': _abi.KMB_CODE_HAS_ATTRIBUTES,
    'max_threads': _abi.KMB_CODE_HAS_ATTRIBUTES,
    'blocks_per_unit': _abi.KMB_CODE_HAS_OCCUPANCY,
    'scalar_registers': _abi.KMB_CODE_HAS_SCALARS,
    'accumulator_registers': _abi.KMB_CODE_HAS_ACCUMULATORS,
    'spilled_registers': _abi.KMB_CODE_HAS_SPILLS,
    'spilled_scalar_registers': _abi.KMB_CODE_HAS_SPILLS,
}


def _row(raw: Any) -> CodeKernel:
    """As a row of the JSON has it: what is not known is not there."""
    row: Dict[str, Any] = {
        'grid': [raw.grid_x, raw.grid_y, raw.grid_z],
        'block': [raw.block_x, raw.block_y, raw.block_z],
        'launches': raw.launches,
        'dynamic_shared_bytes': raw.dynamic_shared_bytes}
    for key, name in _TEXTS.items():
        if getattr(raw, name) or key == 'name':
            row[key] = text(getattr(raw, name))
    row.update((key, getattr(raw, key)) for key, flag in _COUNTS.items()
               if raw.flags & flag)
    if raw.code_bytes:
        row['code_offset'], row['code_bytes'] = raw.code_offset, raw.code_bytes
    return CodeKernel.of(row)


class Code(_given.Held):
    """What :func:`capture` saw. ``kmb.bench(..., code=code)`` lists it in the
    result."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle_of(handle, 'capture()')
        _given.freed(self, lib.kmb_code_destroy, handle)
        info = filled(_abi.kmb_code_info, lib.kmb_code_get_info, handle)
        self.images = int(info.images)  #: that were loaded meanwhile
        #: Launches of graphs, whose kernels are not seen (NVIDIA).
        self.graph_launches = int(info.graph_launches)
        self.elsewhere = int(info.elsewhere)  #: launches on other devices
        #: In the order of their first launches.
        self.kernels: Tuple[CodeKernel, ...] = tuple(
            _row(filled(_abi.kmb_code_kernel, lib.kmb_code_get_kernel, handle,
                        i)) for i in range(info.kernels))

    @checked(index=_given.count)
    def image(self, index: int) -> bytes:
        """The image that a kernel comes from. Raises ``UnavailableError``,
        with the reason, where there is none."""
        at, size = ctypes.c_void_p(), ctypes.c_uint64()
        check(lib.kmb_code_get_image(self.handle, index, ctypes.byref(at),
                                     ctypes.byref(size)))
        return ctypes.string_at(at.value or 0, size.value)

    @checked(folder=_given.path)
    def save(self, folder: Path) -> None:
        """Writes each image into a folder: "result.d" beside "result.json"."""
        check(lib.kmb_code_save(self.handle, os.fsencode(folder)))

    def __repr__(self) -> str:
        return '<kmb.Code of %s>' % (', '.join(
            k.demangled or k.name for k in self.kernels) or 'no kernels')


@checked(_given.CALL)
def capture(fn: Callable[..., Any], args: Sequence[Any] = (),
            kwargs: Optional[Mapping[str, Any]] = None, *,
            device: Union[Device, str, None] = None) -> Code:
    """Calls ``fn(*args, **kwargs)`` once and keeps which kernels it launches,
    and the code objects that are loaded meanwhile: the first call is the one
    that loads them. Nothing is timed.

    :param device: a Device, or the name of one; by default that of the
        tensors. On AMD GPUs ``kmb.Device("hip:0:trace")``, opened before
        anything uses HIP.
    """
    arguments = Arguments(fn, args, dict(kwargs or {}))
    where = device_of(device, arguments)
    call = Call(where)

    def run(_user: Any) -> None:
        fn(*args, **dict(kwargs or {}))

    out = ctypes.c_void_p()
    try:
        check(call.run(lambda: int(lib.kmb_code_capture(
            where.handle, _RUN(call.guard(run)), None, ctypes.byref(out)))))
    except BaseException:
        lib.kmb_code_destroy(out)
        raise
    return Code(out)
