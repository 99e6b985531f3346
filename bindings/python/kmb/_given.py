"""What callers give. Each argument of a public function is looked at once, at
its front: what is of another kind is refused there, by the argument's name."""
import ctypes
import functools
import importlib
import inspect
import operator
import os
import sys
import warnings
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type, \
    TypeVar, Union, cast

from . import _abi, errors

#: Looks at an argument, given its name; gives what the package goes on with.
Kind = Callable[[str, Any], Any]
Path = Union[str, bytes, 'os.PathLike[str]', 'os.PathLike[bytes]']
_Function = TypeVar('_Function', bound=Callable[..., Any])


def shown(value: Any) -> str:
    """What was given, in a message: a short value itself, else its type."""
    if value is None or type(value) in (bool, int, float, str, bytes):
        words = repr(value)
        return words if len(words) <= 60 else words[:57] + '...'
    kind = type(value)
    return ('of type %s' % kind.__qualname__ if kind.__module__ == 'builtins'
            else 'of type %s.%s' % (kind.__module__, kind.__qualname__))


def wrong(name: str, value: Any, wanted: str) -> TypeError:
    """For an argument of another kind than is wanted."""
    return TypeError('%s is %s, not %s' % (name, shown(value), wanted))


def _whole(name: str, text: Any) -> Any:
    """What ends with a NUL would be cut short there without a word."""
    if ('\0' if isinstance(text, str) else b'\0') in text:
        raise ValueError('%s is %s, which has a NUL in it'
                         % (name, shown(text)))
    return text


def words(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong(name, value, 'a str')
    return str(_whole(name, value))


def encoded(name: str, value: Any) -> bytes:
    """Any value as the library takes a text."""
    return bytes(_whole(name, str(value)).encode('utf-8', 'replace'))


def path(name: str, value: Any) -> Union[str, bytes]:
    """A file's name."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise wrong(name, value, 'a path (str, bytes or os.PathLike)')
    plain: Union[str, bytes] = _whole(name, os.fspath(value))
    return plain


def flag(name: str, value: Any) -> bool:
    """True or false, of Python or numpy, or as a number."""
    if isinstance(value, bool) or \
            type(value).__name__ == 'bool_' or \
            (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise wrong(name, value, 'True or False')


def number(least: int, most: int) -> Kind:
    """A whole number within bounds."""
    def look(name: str, value: Any) -> int:
        try:
            whole = operator.index(value)
        except TypeError:
            raise wrong(name, value, 'a whole number') from None
        if not least <= whole <= most:
            raise ValueError('%s is %s, not from %d to %d'
                             % (name, shown(whole), least, most))
        return whole
    return look


count32 = number(0, (1 << 32) - 1)
count = number(0, (1 << 64) - 1)
int32 = number(-(1 << 31), (1 << 31) - 1)


def real(name: str, value: Any) -> float:
    """A number; what is no number at all (NaN) the library refuses."""
    if isinstance(value, (str, bytes, bytearray)) or \
            not (hasattr(value, '__float__') or hasattr(value, '__index__')):
        raise wrong(name, value, 'a number')
    try:
        return float(value)
    except OverflowError:
        raise ValueError('%s is %s, which is too large'
                         % (name, shown(value))) from None
    except Exception as error:
        raise TypeError('%s is %s, not a number: %s'
                        % (name, shown(value), error)) from None


def function(name: str, value: Any) -> Any:
    """What can be called."""
    if not callable(value):
        raise wrong(name, value, 'callable')
    return value


def callee(name: str, value: Any) -> Any:
    """What a call of runs: of a generator's or a coroutine's function a call
    makes an object alone."""
    function(name, value)
    if isinstance(value, type):
        return value
    inner = value if inspect.isroutine(value) or isinstance(
        value, functools.partial) else getattr(value, '__call__')
    made = 'a generator' if inspect.isgeneratorfunction(inner) or \
        inspect.isasyncgenfunction(inner) else \
        'a coroutine' if inspect.iscoroutinefunction(inner) else None
    if made is not None:
        raise TypeError('%s makes %s, and a call of it runs nothing: give a '
                        'function that runs it' % (name, made))
    return value


def arguments(name: str, value: Any) -> Tuple[Any, ...]:
    """Positional arguments of a call."""
    if not isinstance(value, (tuple, list)):
        raise wrong(name, value, 'a tuple or a list: one alone is (x,)')
    return tuple(value)


def mapping(name: str, value: Any) -> Dict[Any, Any]:
    """By keys of any kind."""
    if not isinstance(value, Mapping):
        raise wrong(name, value, 'a mapping, such as a dict')
    return dict(value)


def keywords(name: str, value: Any) -> Dict[str, Any]:
    """Keyword arguments of a call."""
    for key in mapping(name, value):
        if not isinstance(key, str):
            raise wrong('a key of ' + name, key, 'a str')
    return dict(value)


def pairs(name: str, value: Any) -> Dict[str, str]:
    """What the library keeps as texts."""
    found: Dict[str, str] = {}
    for key, one in mapping(name, value).items():
        plain = str(_whole('a key of ' + name, str(key)))
        if plain in found:
            raise ValueError('%s has two keys that read %r' % (name, plain))
        found[plain] = _whole('%s[%r]' % (name, plain), str(one))
    return found


def several(name: str, value: Any, wanted: str) -> List[Any]:
    """The members of what can be gone through, once and for all: a generator
    that two look at has nothing left for the second."""
    try:
        return list(iter(value))
    except TypeError:
        raise wrong(name, value, wanted) from None


def texts(name: str, value: Any) -> Tuple[str, ...]:
    """One text, or several."""
    if isinstance(value, str):
        return (words(name, value),)
    return tuple(words('%s[%d]' % (name, i), one) for i, one in
                 enumerate(several(name, value, 'a str or several')))


def which(name: str, value: Any) -> Tuple[Any, ...]:
    """Arguments of a call, by name or position."""
    if isinstance(value, (str, int)):
        return (value,)
    wanted = 'an argument\'s name or position'
    return tuple(_place('%s[%d]' % (name, i), one) for i, one in enumerate(
        several(name, value, wanted + ', or several')))


def _place(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise wrong(name, value, 'an argument\'s name or position') from None


def touched(name: str, value: Any) -> Dict[Any, int]:
    """Bytes of arguments."""
    return {_place('a key of ' + name, k): count('%s[%r]' % (name, k), v)
            for k, v in mapping(name, value).items()}


def knobs(name: str, value: Any) -> Dict[str, Tuple[Any, ...]]:
    """Values to try, by keyword."""
    found = {}
    for key, values in mapping(name, value).items():
        if not isinstance(key, str):
            raise wrong('a key of ' + name, key, 'a str')
        where, wanted = '%s[%r]' % (name, key), 'several values, in a list'
        if isinstance(values, (str, bytes, Mapping)):
            raise wrong(where, values, wanted)
        found[key] = tuple(several(where, values, wanted))
        if not found[key]:
            raise ValueError('%s has no values' % where)
    return found


def one_of(module: str, names: Tuple[str, ...], wanted: str) -> Kind:
    """An instance of classes of this package, which are looked up when they
    are needed: their modules have arguments to look at themselves."""
    def look(name: str, value: Any) -> Any:
        home = importlib.import_module('.' + module, __package__)
        if not isinstance(value, tuple(getattr(home, n) for n in names)):
            raise wrong(name, value, wanted)
        return value
    return look


_opened = one_of('device', ('Device',), 'a kmb.Device or the name of one')


def device(name: str, value: Any) -> Any:
    """A device, or its name."""
    return words(name, value) if isinstance(value, str) else \
        _opened(name, value)


def anything(_name: str, value: Any) -> Any:
    """What is looked at elsewhere, or may be of any kind."""
    return value


work = one_of('work', ('Work',), 'a kmb.Work')
code = one_of('code', ('Code',), 'a kmb.Code, made by kmb.capture()')

#: What bench() and its like have in common.
CALL: Dict[str, Kind] = {
    'fn': callee, 'args': arguments, 'kwargs': keywords, 'name': words,
    'device': device, 'mutates': which, 'outputs': which, 'warm': which,
    'touched': touched, 'reset': function, 'cache': words, 'launch': words,
    'memory_limit': count}
#: What bench() and compare() have in common.
TIMED: Dict[str, Kind] = {
    **CALL, 'axes': pairs, 'work': work, 'check': function, 'tolerance': real,
    'target_pct': real, 'min_wall_ms': real, 'max_wall_ms': real,
    'warmup_ms': real, 'idle_ms': real, 'batch': count, 'seed': count,
    'threads': count32, 'metadata': pairs}


def checked(kinds: Optional[Mapping[str, Kind]] = None,
            refused: Optional[Callable[[Mapping[str, Any], Exception],
                                       None]] = None,
            **more: Kind) -> Callable[[_Function], _Function]:
    """Looks at each argument of a function before it is called, by kind; what
    is the default needs no look. Every parameter must have a kind. ``refused``
    is told, before the error is raised, of what was given."""
    known = {**(kinds or {}), **more}

    def decorate(inner: _Function) -> _Function:
        signature = inspect.signature(inner)
        takes = {n: p for n, p in signature.parameters.items()
                 if n not in ('self', 'cls') and p.kind not in (
                     p.VAR_POSITIONAL, p.VAR_KEYWORD)}
        looks = [(n, known[n], p.default) for n, p in takes.items()]
        title = '' if inner.__name__[:1] == '_' != inner.__name__[1] else \
            inner.__qualname__.replace('.__init__', '') + '(): '

        @functools.wraps(inner)
        def front(*args: Any, **kwargs: Any) -> Any:
            given: Dict[str, Any] = kwargs
            try:
                bound = bind(args, kwargs)
                given = bound.arguments
                for name, look, default in looks:
                    if name in given and given[name] is not default:
                        given[name] = look(name, given[name])
            except Exception as error:
                if refused is not None:
                    refused(given, error)
                raise
            return inner(*bound.args, **bound.kwargs)

        def bind(args: Any, kwargs: Any) -> inspect.BoundArguments:
            try:
                return signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError('%s%s' % (title, error)) from None

        return cast(_Function, front)

    return decorate


def warn(message: str, category: Type[Warning] = UserWarning) -> None:
    """A warning at the line that called this package."""
    frame, depth = sys._getframe(1), 2
    package = (__package__ or '') + '.'
    while frame.f_back and \
            frame.f_globals.get('__name__', '').startswith(package):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)


def freed(owner: Any, function: Callable[..., Any], *handles: Any) -> None:
    """Frees with its owner what is memory alone: where Python ends, functions
    that it calls last may still use it."""
    weakref.finalize(owner, function, *handles).atexit = False


class Held:
    """What holds a handle of the library: it is one object of one process, and
    has no copy."""

    _what = 'handle'
    _handle: Optional[ctypes.c_void_p] = None
    _closer: Any = None

    @property
    def is_open(self) -> bool:
        """Until it is closed, or Python ends."""
        return bool(self._handle) and (self._closer is None or
                                       self._closer.alive)

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None or not self.is_open:
            raise errors.InvalidError(_abi.KMB_ERR_INVALID,
                                      'the %s is closed' % self._what)
        return self._handle

    @property
    def handle(self) -> ctypes.c_void_p:
        """The library's. Raises ``InvalidError`` once it is closed."""
        return self._open()

    def __reduce__(self) -> Any:
        raise TypeError('a kmb.%s cannot be copied or pickled'
                        % type(self).__name__)
