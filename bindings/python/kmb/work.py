"""FLOPs and least bytes, by stated conventions."""
import ctypes
import functools
import operator
from typing import Any, Dict, Mapping, Optional

from . import _abi, _given
from ._given import checked
from ._library import check, chosen, filled, lib, text

_DTYPES = {name: number for _, number, _, name in _abi.DTYPES}
_TORCH = {'uint8': 'u8', 'int8': 'i8', 'bool': 'u8', 'int32': 'i32',
          'int64': 'i64', 'float16': 'f16', 'bfloat16': 'bf16',
          'float32': 'f32', 'float64': 'f64', 'float8_e4m3fn': 'f8_e4m3',
          'float8_e5m2': 'f8_e5m2'}


def dtype_number(dtype: Any) -> int:
    """libkmb's number of a type: "bf16", torch.bfloat16, numpy.float32."""
    name = str(getattr(dtype, '__name__', dtype)).rsplit('.', 1)[-1]
    name = _TORCH.get(name, name)
    if name not in _DTYPES:
        said = str(dtype)
        raise ValueError('%s is no type of libkmb: %s' % (
            said if ' at 0x' not in said else
            'a dtype that is ' + _given.shown(dtype), ', '.join(_DTYPES)))
    return int(_DTYPES[name])


class Work:
    """Work of one launch, counted by the caller."""

    @checked(flops=_given.count, read_bytes=_given.count,
             write_bytes=_given.count, dtype=_given.anything)
    def __init__(self, flops: int = 0, read_bytes: int = 0,
                 write_bytes: int = 0, dtype: Any = 'f32') -> None:
        self.raw = _abi.kmb_work()
        self.raw.struct_size = ctypes.sizeof(self.raw)
        self.raw.flops = flops
        self.raw.read_bytes = read_bytes
        self.raw.write_bytes = write_bytes
        self.raw.dtype = dtype_number(dtype)

    @property
    def flops(self) -> int:
        """0: counted in bytes only."""
        return int(self.raw.flops)

    @property
    def least_bytes(self) -> int:
        """What any implementation must move."""
        return int(self.raw.read_bytes) + int(self.raw.write_bytes)

    @property
    def convention(self) -> str:
        """How it was counted; "" for a caller's own count."""
        return text(self.raw.convention)

    def __reduce__(self) -> Any:
        return _again, ({name: getattr(self.raw, name)
                         for name, *_ in self.raw._fields_},)

    def __repr__(self) -> str:
        return '<kmb.Work %d FLOPs, %d bytes>' % (self.flops,
                                                  self.least_bytes)


def _again(fields: Dict[str, Any]) -> Work:
    work = Work()
    for name, value in fields.items():
        setattr(work.raw, name, value)
    return work


def _counted(name: str, *arguments: Any) -> Work:
    work = Work()
    work.raw = filled(_abi.kmb_work, getattr(lib, 'kmb_work_' + name),
                      *arguments)
    return work


_LINEAR: Dict[str, _given.Kind] = {
    'dtype': _given.anything, 'out_dtype': _given.anything,
    **{name: _given.count for name in ('m', 'n', 'k', 'nbytes', 'rows',
                                       'columns')},
    **{name: _given.count32 for name in ('inputs', 'outputs',
                                         'flops_per_element')},
    'gated': _given.flag}


@checked(_LINEAR)
def gemm(m: int, n: int, k: int, dtype: Any) -> Work:
    """D = A·B with A m×k and B k×n."""
    return _counted('gemm', m, n, k, dtype_number(dtype))


@checked(_LINEAR)
def copy(nbytes: int) -> Work:
    """As many bytes read as written."""
    return _counted('copy', nbytes)


@checked(_LINEAR)
def elementwise(n: int, inputs: int, outputs: int, dtype: Any,
                flops_per_element: int = 0) -> Work:
    """An operation over n elements of several arrays."""
    return _counted('elementwise', n, inputs, outputs, flops_per_element,
                    dtype_number(dtype))


@checked(_LINEAR)
def softmax(rows: int, columns: int, dtype: Any,
            out_dtype: Optional[Any] = None) -> Work:
    """Softmax of rows; exponentials are never counted."""
    return _counted('softmax', rows, columns, dtype_number(dtype),
                    0 if out_dtype is None else dtype_number(out_dtype))


@checked(_LINEAR)
def activation(n: int, dtype: Any, gated: bool = False,
               out_dtype: Optional[Any] = None) -> Work:
    """n elements of output; a gated one reads twice as many."""
    return _counted('activation', n, int(gated), dtype_number(dtype),
                    0 if out_dtype is None else dtype_number(out_dtype))


_Words = Dict[Optional[str], int]


def _constants(prefix: str, *without: str) -> _Words:
    return {name[len(prefix):].lower(): value
            for name, value in vars(_abi).items()
            if name.startswith(prefix) and name not in without}


_SCALES = _constants('KMB_SCALES_')
#: Fields whose values have names.
_NAMED: Dict[str, _Words] = {
    'mask': _constants('KMB_MASK_'), 'pairs': _constants('KMB_PAIRS_'),
    'pass': _constants('KMB_ATTENTION_'), 'scales': _SCALES,
    'a_scales': _SCALES, 'b_scales': _SCALES, 'weight_scales': _SCALES,
    'norm': _constants('KMB_NORM_', 'KMB_NORM_RESIDUAL')}
_FLAGS: Dict[str, _Words] = {
    'matmul': _constants('KMB_MATMUL_'),
    'grouped': _constants('KMB_GROUPED_'), 'moe': _constants('KMB_MOE_'),
    'norm': {'residual': _abi.KMB_NORM_RESIDUAL}}


def _number(kind: str, name: str, value: Any) -> Any:
    """A field's number by its word; of flags by several words."""
    if name == 'flags' and isinstance(value, (str, list, tuple)):
        return functools.reduce(operator.or_, (
            chosen(_FLAGS[kind], one, name)
            for one in _given.texts(name, value)), 0)
    if name in _NAMED and isinstance(value, str):
        return chosen(_NAMED[name], value, name)
    return value


#: Which field says how long an array is.
_LENGTHS = {'rows': 'groups', 'q_lens': 'batch', 'kv_lens': 'batch'}
_NUMBERS = {ctypes.c_uint64: _given.count, ctypes.c_uint32: _given.count32,
            ctypes.c_int32: _given.int32}


def _shape(kind: str, values: Mapping[str, Any]) -> Any:
    """A shape struct from keywords: its fields, types and constants by name,
    arrays as lists."""
    shape = getattr(_abi, 'kmb_%s_shape' % kind)()
    shape.struct_size = ctypes.sizeof(shape)
    kinds = dict(shape._fields_)
    for key, value in values.items():
        name = 'pass' if key == 'pass_' else key
        if name not in kinds or name in ('struct_size', 'reserved'):
            raise TypeError('%s has no %s; it has %s' % (
                kind, name, ', '.join(n for n in kinds if n not in (
                    'struct_size', 'reserved'))))
        value = _number(kind, name, value)
        if name.endswith('dtype'):
            setattr(shape, name, dtype_number(value))
        elif kinds[name] in _NUMBERS:
            setattr(shape, name, _NUMBERS[kinds[name]](name, value))
        else:
            setattr(shape, name, _array(name, value, values))
    return shape


def _array(name: str, value: Any, values: Mapping[str, Any]) -> Any:
    """The library reads as many members as another field says."""
    given = _given.several(name, value, 'several whole numbers')
    wanted = values.get(_LENGTHS[name], 0)
    if len(given) != wanted:
        raise ValueError('%s has %d members, %s is %s' % (
            name, len(given), _LENGTHS[name], wanted))
    return (ctypes.c_uint64 * len(given))(*(
        _given.count('%s[%d]' % (name, i), one)
        for i, one in enumerate(given)))


Size = Any


def matmul(**shape: Size) -> Work:
    """Matrix products: the fields of kmb_matmul_shape (m, n, k, batch, dtype,
    a_dtype, b_dtype, out_dtype, a_scales, b_scales, flags). Scales are "none",
    "nvfp4", "mx" or "block_128", flags "beta", "bias", "epilogue" and
    "complex", one or several in a list."""
    return _counted('matmul', ctypes.byref(_shape('matmul', shape)))


def grouped(**shape: Size) -> Work:
    """Grouped products: the fields of kmb_grouped_shape (groups, n, k, and
    rows of each group or m of all; as for matmul). A flag is "used_b"."""
    return _counted('grouped', ctypes.byref(_shape('grouped', shape)))


def attention(**shape: Size) -> Work:
    """Attention: the fields of kmb_attention_shape (batch, q_heads, kv_heads,
    q_len or q_lens, kv_len or kv_lens, qk_dim, v_dim, dtype, kv_dtype,
    out_dtype, mask, pass_, pairs). ``mask`` is "none", "causal_top_left" or
    "causal_bottom_right", ``pass_`` "forward", "backward" or "both", ``pairs``
    "exact" or "average"."""
    return _counted('attention', ctypes.byref(_shape('attention', shape)))


def paged_decode(**shape: Size) -> Work:
    """Decoding from a paged cache: the fields of kmb_attention_shape."""
    return _counted('paged_decode', ctypes.byref(_shape('attention', shape)))


def mla(**shape: Size) -> Work:
    """Latent attention: the fields of kmb_mla_shape."""
    return _counted('mla', ctypes.byref(_shape('mla', shape)))


def moe(**shape: Size) -> Work:
    """A layer of experts: the fields of kmb_moe_shape. A flag is
    "ungated"."""
    return _counted('moe', ctypes.byref(_shape('moe', shape)))


def norm(**shape: Size) -> Work:
    """Normalisation of rows: the fields of kmb_norm_shape (rows, hidden, norm,
    dtype, out_dtype, flags). ``norm`` is "rms" or "layer", a flag
    "residual"."""
    return _counted('norm', ctypes.byref(_shape('norm', shape)))


def dtype_bits(dtype: Any) -> int:
    """Bits of one element."""
    bits = ctypes.c_uint32()
    check(lib.kmb_dtype_bits(dtype_number(dtype), ctypes.byref(bits)))
    return bits.value
