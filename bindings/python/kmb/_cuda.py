"""Callables on CUDA tensors of torch: captured once a slot into torch's own
graph memory, so that Python is out of the timed path."""
import contextlib
import ctypes
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _abi, _given, errors
from ._arrays import Arguments, Call, Region, leaves, torch_module
from .bench import CHECK, LAUNCH, RESET, Options, Plan, Prepared, \
    changed_found, check_here, copies, describe, judged, slot_count
from .result import Result, amended

_SLOT = _abi.kmb_launch.slot.offset
_STREAM = _abi.kmb_launch.stream.offset
#: Calls of each slot before it is captured: lazy loading, compilation and
#: autotuning happen in them.
WARM_CALLS = 3


class Slot:
    """Arguments, what the callable gave for them, and the graph of it."""

    def __init__(self, call: Call) -> None:
        self.args, self.kwargs = call
        self.returned: Any = None
        self.graph: Any = None


class Session:
    """All that one measurement holds on the device."""

    def __init__(self, plan: Plan, fn: Callable[..., Any],
                 arguments: Arguments, options: Options,
                 how: Dict[str, Any]) -> None:
        self.plan, self.fn = plan, fn
        self.arguments, self.options, self.how = arguments, options, how
        self.torch = torch_module()
        spec = str(plan.device.attribute('spec'))
        self.where = self.torch.device(spec)
        self.stream = self.torch.cuda.Stream(self.where)
        self.regions = [r for r in arguments.regions if r.device != 'cpu']
        self.roles = [options.role(r) for r in self.regions]
        self.places: List[List[int]] = []
        self.slots: List[Slot] = []
        self.memories: List[Any] = []
        self.found: List[Tuple[Region, List[int]]] = []

    def make_slots(self) -> None:
        """As many as rotation needs; one where a sweep makes inputs cold."""
        count = 1
        if self.plan.params.cache == _abi.KMB_CACHE_ROTATED:
            count = slot_count(self.plan, self.options, self.regions,
                               self.how['memory_limit'])
        calls, self.places, self.memories = copies(
            self.arguments, self.regions, self.roles, self.options, count)
        self.slots = [Slot(call) for call in calls]

    def call(self, slot: Slot) -> Any:
        """Runs the callable."""
        return self.fn(*slot.args, **slot.kwargs)

    def reset(self, slot: Slot) -> None:
        """The caller's own reset."""
        if self.how['reset'] is not None:
            self.how['reset'](*slot.args, **slot.kwargs)

    def warm(self) -> None:
        """Every slot, on the stream that captures: libraries keep workspaces
        by stream."""
        cuda = self.torch.cuda
        self.stream.wait_stream(cuda.current_stream(self.where))
        with cuda.stream(self.stream):
            for slot in self.slots:
                for _ in range(WARM_CALLS):
                    self.reset(slot)
                    slot.returned = self.call(slot)
        self.stream.synchronize()

    def capture(self) -> None:
        """Every slot into a graph of its own; memory is shared among them as
        far as torch shares it."""
        pool = self.torch.cuda.graph_pool_handle()
        for slot in self.slots:
            slot.returned = None
            slot.graph = self.torch.cuda.CUDAGraph(keep_graph=True)
            self._capture_one(slot, pool)
            if nodes_of(slot.graph) == 0:
                raise errors.CaptureError(
                    _abi.KMB_ERR_CAPTURE, 'the callable enqueued nothing on '
                    'torch\'s current stream: it does no work on the device, '
                    'or uses another stream')
            slot.graph.instantiate()
        pool_id = tuple(pool)
        self.found = returned_regions(self.torch, pool_id, self.slots,
                                      self.regions)
        # The first replay sets random seeds and uploads the graph.
        with self.torch.cuda.stream(self.stream):
            for slot in self.slots:
                self.reset(slot)
                slot.graph.replay()
        self.stream.synchronize()

    def _capture_one(self, slot: Slot, pool: Any) -> None:
        try:
            self._try_capture(slot, pool)
        except BaseException:
            end_capture(self.torch, self.where, pool)
            raise

    def _try_capture(self, slot: Slot, pool: Any) -> None:
        own: Optional[BaseException] = None
        try:
            with self.torch.cuda.graph(slot.graph, pool=pool,
                                       stream=self.stream,
                                       capture_error_mode='thread_local'):
                try:
                    slot.returned = self.call(slot)
                except BaseException as error:
                    own = error
                    raise
        except BaseException as error:
            if own is not None and not of_capture(own):
                raise own
            if own is None and not isinstance(error, RuntimeError):
                raise
            raise errors.CaptureError(
                _abi.KMB_ERR_CAPTURE, 'the callable cannot be captured into a '
                'graph: %s. It must not wait for the device, nor use a stream '
                'that does not join torch\'s current one; launch="plain" '
                'measures it without a graph' % str(own or error)
                .strip().split('\n')[0]) from (own or error)

    def restore(self) -> None:
        """What warming and capturing changed is as it was given."""
        for memory in self.memories:
            memory.fill()

    def describe(self) -> None:
        """Arguments, and what was returned in memory of the graphs."""
        describe(self.plan, self.regions + [r for r, _ in self.found],
                 self.roles + [_abi.KMB_OUTPUT] * len(self.found),
                 self.places + [lows for _, lows in self.found], self.options)

    def check_here(self) -> None:
        """The caller's check, where the library sees no output."""
        outputs = self.found or any(r != _abi.KMB_INPUT for r in self.roles)
        if self.how['check'] is None or outputs:
            return
        slot = self.slots[0]
        with self.torch.cuda.stream(self.stream):
            self.reset(slot)
            returned = self.call(slot)
        self.stream.synchronize()
        check_here(self.plan, self.how, returned, slot.args, slot.kwargs)

    def set_callbacks(self) -> None:
        """Check and reset; they run on torch's side, between replays."""
        how, slots, plan = self.how, self.slots, self.plan

        def check(_user: Any, raw: Any) -> int:
            slot = slots[raw.contents.slot]
            value = how['check'](slot.returned, *slot.args, **slot.kwargs)
            return _abi.KMB_OK if judged(value, how['tolerance'], raw) else \
                _abi.KMB_ERR_INCORRECT

        def reset(_user: Any, slot: int, stream: Optional[int]) -> None:
            with self.on(stream):
                self.reset(slots[slot])

        if how['check'] is not None:
            plan.callback('check', CHECK, check)
        if how['reset'] is not None:
            plan.callback('reset', RESET, reset)

    def on(self, stream: Optional[int]) -> Any:
        """A stream of the library as torch's current one."""
        cuda = self.torch.cuda
        return cuda.stream(cuda.ExternalStream(stream or 0, self.where))

    def set_plain(self) -> None:
        """The callable itself, called for each iteration."""
        slots = self.slots

        def launch(_user: Any, raw: int) -> None:
            slot = slots[ctypes.c_uint32.from_address(raw + _SLOT).value]
            with self.on(ctypes.c_void_p.from_address(raw + _STREAM).value):
                slot.returned = self.call(slot)

        self.plan.callback('launch', LAUNCH, launch)
        # A capture by the library would find torch's allocator unprepared.
        self.plan.params.flags |= _abi.KMB_BENCH_REQUIRE_LAUNCH

    def set_graphs(self) -> None:
        """The graphs in place of the callable."""
        execs = [int(s.graph.raw_cuda_graph_exec()) for s in self.slots]
        self.plan.params.graphs = self.plan.keep(
            (ctypes.c_void_p * len(execs))(*execs))
        self.plan.params.graph_count = len(execs)


def end_capture(torch: Any, where: Any, pool: Any) -> None:
    """What torch leaves undone where CUDA refuses to end a capture: its random
    generator would go on as if captured, and refuse every later use; its
    allocator would go on serving that capture, keep its memory, and give
    nothing back that several streams used."""
    ordinal = torch.cuda.current_device() if where.index is None else \
        where.index
    generator = torch.cuda.default_generators[ordinal]
    if hasattr(generator, 'graphsafe_set_state'):  # torch 2.4
        generator.graphsafe_set_state(generator.clone_state())
    end = getattr(torch._C, '_cuda_endAllocateToPool', None)
    release = getattr(torch._C, '_cuda_releasePool', None)
    if end is not None and release is not None:
        # An error says that torch itself has ended it.
        with contextlib.suppress(RuntimeError):
            end(ordinal, pool)
            release(ordinal, pool)


def of_capture(error: BaseException) -> bool:
    """Whether CUDA refused something because a stream was captured."""
    return isinstance(error, RuntimeError) and 'captur' in str(error).lower()


def nodes_of(graph: Any) -> Optional[int]:
    """Nodes of a graph; None where the driver cannot be asked."""
    try:
        ask = ctypes.CDLL('libcuda.so.1').cuGraphGetNodes
    except (OSError, AttributeError):
        return None
    ask.argtypes = [ctypes.c_void_p, ctypes.c_void_p,
                    ctypes.POINTER(ctypes.c_size_t)]
    count = ctypes.c_size_t()
    if ask(int(graph.raw_cuda_graph()), None, ctypes.byref(count)):
        return None
    return count.value


def returned_regions(torch: Any, pool: Tuple[int, ...], slots: Sequence[Slot],
                     regions: Sequence[Region]) \
        -> List[Tuple[Region, List[int]]]:
    """Tensors that were returned, dense and in the graphs' own memory: the
    library may poison them and must find them written again. Others may be
    anybody's."""
    own = [(s['address'], s['address'] + s['total_size'])
           for s in torch.cuda.memory_snapshot()
           if tuple(s.get('segment_pool_id', ())) == pool]
    each = [Arguments(lambda *_: None, leaves(s.returned), {}).regions
            for s in slots]
    found = []
    for alike in zip(*each) if len({len(e) for e in each}) == 1 else ():
        first = alike[0]
        dense = all(r.nbytes == sum(
            a.value.numel() * a.value.element_size() for a in r.arrays)
            for r in alike)
        inside = all(any(low <= r.low and r.high <= high for low, high in own)
                     for r in alike)
        if dense and inside and len({r.nbytes for r in alike}) == 1 and \
                len({r.low for r in alike}) == len(alike):
            for array in first.arrays:
                array.name = array.name.replace('args', 'returned')
            found.append((first, [r.low for r in alike]))
    return found


def _needed(plan: Plan) -> Any:
    torch = torch_module()
    if plan.device.backend != 'cuda':
        raise errors.UnsupportedError(
            _abi.KMB_ERR_UNSUPPORTED, 'from Python the host and CUDA are '
            'measured, not backend %s' % plan.device.backend)
    if torch is None or not torch.cuda.is_available():
        raise errors.UnavailableError(
            _abi.KMB_ERR_UNAVAILABLE, 'a callable on a GPU needs torch with '
            'CUDA, imported before')
    if plan.params.launch_mode != _abi.KMB_LAUNCH_PLAIN and \
            not hasattr(torch.cuda.CUDAGraph, 'raw_cuda_graph_exec'):
        raise errors.UnsupportedError(
            _abi.KMB_ERR_UNSUPPORTED, 'torch %s does not give its graphs away '
            '(CUDAGraph.raw_cuda_graph_exec); launch="plain" measures without '
            'them' % torch.__version__)
    return torch


def _swept_instead(plan: Plan, regions: Sequence[Region]) -> None:
    """Nothing among the arguments can rotate: said, and swept."""
    if plan.params.cache != _abi.KMB_CACHE_ROTATED or regions:
        return
    words = 'nothing among the arguments can rotate, so that the cache is ' \
        'swept before each iteration instead (COLD)'
    if plan.params.flags & _abi.KMB_BENCH_REQUIRE_CACHE:
        raise errors.UnavailableError(
            _abi.KMB_ERR_UNAVAILABLE, 'ROTATED is required: ' + words)
    _given.warn('kmb: ' + words)
    plan.metadata['python.rotation'] = words
    plan.params.cache = _abi.KMB_CACHE_COLD


def set_up(one: Prepared, stack: contextlib.ExitStack) \
        -> Callable[[], Result]:
    """What then measures on the GPU. torch's current device and stream are
    afterwards what they were."""
    plan = one.plan
    torch = _needed(plan)
    session = Session(plan, one.fn, one.arguments, one.options, one.how)
    _swept_instead(plan, session.regions)
    stack.enter_context(torch.cuda.device(session.where))
    session.make_slots()
    session.warm()
    if plan.params.launch_mode == _abi.KMB_LAUNCH_PLAIN:
        session.set_plain()
    else:
        session.capture()
        session.set_graphs()
    session.check_here()
    session.restore()
    torch.cuda.synchronize(session.where)
    session.describe()
    session.set_callbacks()
    plan.keep(session)  # the graphs
    return lambda: amended(plan.measure(), changed_found(one.arguments))
