"""The arrays among a call's arguments: which memory they lie in, and copies of
that memory in which they lie the same way, aliases and alignment included."""
import ctypes
import inspect
import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, \
    Tuple

#: Copies keep an array's address modulo this.
ALIGNMENT = 256

Path = Tuple[Any, ...]
Call = Tuple[Tuple[Any, ...], Dict[str, Any]]  # positional, by keyword


def torch_module() -> Any:
    """torch, if the program has imported it."""
    return sys.modules.get('torch')


def numpy_module() -> Any:
    """numpy, if the program has imported it."""
    return sys.modules.get('numpy')


@dataclass
class Array:
    """One array and the bytes that its elements span."""
    path: Path
    name: str
    value: Any
    low: int
    high: int
    dtype: str
    device: str  # "cpu", "cuda:0"
    version: Optional[int] = None  # torch counts changes in place

    @property
    def changed(self) -> bool:
        """Whether torch has seen it changed in place since."""
        return _version(self.value) != self.version


@dataclass
class Region:
    """Bytes that arrays share; ``low`` and ``high`` are addresses."""
    low: int
    high: int
    device: str
    arrays: List[Array] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of the arrays in it."""
        return '+'.join(a.name for a in self.arrays)[:60]

    @property
    def nbytes(self) -> int:
        """Bytes from the first element to the last."""
        return self.high - self.low


def _span(address: int, shape: Sequence[int], strides: Sequence[int],
          itemsize: int) -> Tuple[int, int]:
    """`strides` in bytes."""
    low = address + sum(min(0, (n - 1) * s) for n, s in zip(shape, strides))
    high = address + sum(max(0, (n - 1) * s) for n, s in zip(shape, strides))
    return low, high + itemsize


def _version(value: Any) -> Optional[int]:
    try:
        return int(value._version)
    except (AttributeError, RuntimeError):  # numpy's; an inference tensor
        return None


def _torch_array(path: Path, name: str, value: Any) -> Optional[Array]:
    torch = torch_module()
    if value.layout != torch.strided or value.is_quantized or \
            type(value) not in (torch.Tensor, torch.nn.Parameter) or \
            value.device.type not in ('cpu', 'cuda') or not value.numel():
        return None
    size = value.element_size()
    low, high = _span(value.data_ptr(), value.shape,
                      [s * size for s in value.stride()], size)
    return Array(path, name, value, low, high,
                 str(value.dtype).rsplit('.', 1)[-1], str(value.device),
                 _version(value))


def _numpy_array(path: Path, name: str, value: Any) -> Optional[Array]:
    if type(value) is not numpy_module().ndarray or value.dtype.hasobject or \
            not value.size:
        return None
    low, high = _span(value.ctypes.data, value.shape, value.strides,
                      value.itemsize)
    return Array(path, name, value, low, high, value.dtype.name, 'cpu')


def is_array(value: Any) -> bool:
    """Whether it holds data that could rotate."""
    torch, numpy = torch_module(), numpy_module()
    return bool((torch and isinstance(value, torch.Tensor)) or
                (numpy and isinstance(value, numpy.ndarray)))


def _named(fn: Callable[..., Any], args: Sequence[Any],
           kwargs: Dict[str, Any]) -> Iterable[Tuple[Path, str, Any]]:
    """Each argument with the name of its parameter."""
    names: List[str] = []
    try:
        for one in inspect.signature(fn).parameters.values():
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
                names.append(one.name)
    except (TypeError, ValueError):
        pass
    for i, value in enumerate(args):
        yield (0, i), names[i] if i < len(names) else 'args[%d]' % i, value
    for key, value in kwargs.items():
        yield (1, key), key, value


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, '_make')


def _walk(path: Path, name: str, value: Any) \
        -> Iterable[Tuple[Path, str, Any]]:
    if type(value) in (list, tuple) or _is_named_tuple(value):
        for i, one in enumerate(value):
            yield from _walk(path + (i,), '%s[%d]' % (name, i), one)
    elif type(value) in (dict, OrderedDict):
        for key, one in value.items():
            yield from _walk(path + (key,), '%s[%r]' % (name, key), one)
    else:
        yield path, name, value


def _replaced(value: Any, path: Path, new: Any) -> Any:
    """A copy of nested lists, tuples and dicts with one place changed."""
    if not path:
        return new
    if isinstance(value, dict):
        return type(value)(
            (k, _replaced(v, path[1:], new) if k == path[0] else v)
            for k, v in value.items())
    changed = [_replaced(v, path[1:], new) if i == path[0] else v
               for i, v in enumerate(value)]
    if _is_named_tuple(value):
        return value._make(changed)
    return changed if type(value) is list else tuple(changed)


def at(call: Call, path: Path) -> Any:
    """What lies at a place of positional and keyword arguments."""
    value: Any = call
    for step in path:
        value = value[step]
    return value


def leaves(value: Any) -> List[Any]:
    """What lies in nested lists, tuples and dicts."""
    return [one for _, _, one in _walk((), '', value)]


def replaced(call: Call, path: Path, new: Any) -> Call:
    """The same arguments with something else there."""
    args, kwargs = _replaced(call, path, new)
    return args, kwargs


class Arguments:
    """A call's arguments: its arrays, the regions that these lie in, and the
    names of arrays that cannot be copied."""

    def __init__(self, fn: Callable[..., Any], args: Sequence[Any],
                 kwargs: Dict[str, Any]) -> None:
        if not isinstance(args, (tuple, list)):
            raise TypeError('the arguments are a %s, not a tuple: one alone '
                            'is (x,)' % type(args).__name__)
        self.args, self.kwargs = tuple(args), dict(kwargs)
        self.arrays: List[Array] = []
        self.fixed: List[str] = []
        self._roots: Dict[Any, List[Array]] = {}  # by name and position
        for path, name, value in _named(fn, self.args, self.kwargs):
            found: List[Array] = []
            for inner, label, one in _walk(path, name, value):
                if is_array(one):
                    self._take(inner, label, one, found)
            self._roots[name] = found
            if path[0] == 0:
                self._roots[path[1]] = found
        self.regions = self._merged()

    def _take(self, path: Path, name: str, value: Any,
              found: List[Array]) -> None:
        torch = torch_module()
        of_torch = torch and isinstance(value, torch.Tensor)
        if of_torch and not value.numel() or not of_torch and not value.size:
            return
        array = _torch_array(path, name, value) if of_torch else \
            _numpy_array(path, name, value)
        if array is None:
            self.fixed.append('%s (%s)' % (name, type(value).__name__))
        else:
            found.append(array)
            self.arrays.append(array)

    def _merged(self) -> List[Region]:
        regions: List[Region] = []
        for array in sorted(self.arrays, key=lambda a: (a.device, a.low)):
            last = regions[-1] if regions else None
            if last and last.device == array.device and array.low < last.high:
                last.high = max(last.high, array.high)
                last.arrays.append(array)
            else:
                regions.append(Region(array.low, array.high, array.device,
                                      [array]))
        return regions

    def chosen(self, which: Iterable[Any], what: str) -> List[Array]:
        """The arrays of arguments that are given by name or position."""
        found: List[Array] = []
        for one in [which] if isinstance(which, (str, int)) else which:
            if one not in self._roots:
                raise ValueError('%s names %r, which is no argument: %s' % (
                    what, one, ', '.join(n for n in self._roots if isinstance(
                        n, str)) or 'none'))
            if not self._roots[one]:
                raise ValueError('%s names %r, which holds no array that can '
                                 'be copied' % (what, one))
            found += self._roots[one]
        return found


class Memory:
    """A copy of a region."""

    def __init__(self, region: Region) -> None:
        self.region = region
        of_torch = [a for a in region.arrays
                    if not type(a.value).__module__.startswith('numpy')]
        self.flat: Any
        if of_torch:
            torch = torch_module()
            self.flat = torch.empty(region.nbytes + ALIGNMENT,
                                    dtype=torch.uint8, device=region.device)
            base = self.flat.data_ptr()
        else:
            self.flat = numpy_module().empty(region.nbytes + ALIGNMENT,
                                             dtype='uint8')
            base = self.flat.ctypes.data
        self.skip = (region.low - base) % ALIGNMENT
        self.low = base + self.skip
        self.of_torch = of_torch
        self.fill()

    def fill(self) -> None:
        """Makes it hold what the original holds."""
        if self.region.device == 'cpu':
            ctypes.memmove(self.low, self.region.low, self.region.nbytes)
        else:
            self._copy_on_device(self.of_torch[0].value)

    def moved(self, call: Call) -> Call:
        """Arguments whose arrays of this region lie here."""
        for array in self.region.arrays:
            call = replaced(call, array.path, self.same(array))
        return call

    def _copy_on_device(self, tensor: Any) -> None:
        torch = torch_module()
        storage = tensor.untyped_storage() if \
            hasattr(tensor, 'untyped_storage') else tensor.storage().untyped()
        whole = torch.empty(0, dtype=torch.uint8, device=tensor.device)
        whole.set_(storage)
        start = self.region.low - storage.data_ptr()
        self.flat[self.skip:self.skip + self.region.nbytes].copy_(
            whole[start:start + self.region.nbytes])

    def same(self, array: Array) -> Any:
        """The array's like in this memory."""
        value = array.value
        torch = torch_module()
        if torch and isinstance(value, torch.Tensor):
            offset = self.skip + value.data_ptr() - self.region.low
            size = value.element_size()
            if offset % size:
                raise ValueError('%s is not aligned to its type' % array.name)
            whole = self.flat[:self.flat.numel() // size * size]
            with torch.no_grad():
                new = torch.as_strided(whole.view(value.dtype), value.shape,
                                       value.stride(), offset // size)
                # Lazy views: the memory holds the other sign.
                new = new.conj() if value.is_conj() else new
                new = torch._neg_view(new) if value.is_neg() else new
            if type(value) is torch.nn.Parameter:
                return torch.nn.Parameter(new, value.requires_grad)
            return new.requires_grad_() if value.requires_grad else new
        offset = self.skip + value.ctypes.data - self.region.low
        flat = self.flat if isinstance(self.flat, numpy_module().ndarray) \
            else self.flat.numpy()
        return numpy_module().ndarray(value.shape, value.dtype, flat, offset,
                                      value.strides)
