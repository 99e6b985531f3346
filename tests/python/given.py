"""What callers give to the Python front: whatever it is, they are told by the
argument's name, and nothing else happens."""
import copy
import ctypes
import functools
import inspect
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import kmb
import kmb.testing

SOURCE = ''
QUICK = {'min_samples': 20, 'max_samples': 20, 'min_wall_ms': 1e-6,
         'max_wall_ms': 6e5, 'warmup_ms': 0, 'confirm': False, 'batch': 1}
FEW = {'min_cycles': 8, 'max_cycles': 8, 'min_wall_ms': 1e-6,
       'max_wall_ms': 6e5, 'warmup_ms': 0, 'batch': 1}
REFUSED = (TypeError, ValueError, kmb.Error)


def nothing(*_args, **_kwargs):
    return None


class Board(kmb.Transport):
    """One rank."""

    def start(self, data):
        return data

    def test(self, request):
        return request


def quick(fn, *args, **kwargs):
    return kmb.bench(fn, *args, **{**QUICK, **kwargs})


def calls(folder):
    """Each public callable with arguments that it takes."""
    result, device = quick(nothing), kmb.Device('host')
    comm = kmb.Comm(Board())
    trace = SOURCE + '/tests/data/traces/offload_pipeline.csv'
    path = os.path.join(folder, 'r.json')
    kmb.save(path, result)
    both = kmb.compare({'a': nothing, 'b': nothing}, **FEW)
    found = {
        kmb.bench: {'fn': nothing, **QUICK},
        kmb.compare: {'candidates': {'a': nothing, 'b': nothing}, **FEW},
        kmb.Candidate: {'fn': nothing},
        kmb.counters: {'fn': nothing},
        kmb.capture: {'fn': nothing},
        kmb.gaps: {'path': trace},
        kmb.load: {'path': path},
        kmb.loads: {'document': result.to_json()},
        kmb.save: {'path': path, 'results': result},
        kmb.table: {'results': [result]},
        kmb.library_version: {},
        kmb.Device: {'name': 'host'},
        kmb.Work: {},
        kmb.Comm: {'group': Board()},
        kmb.Comm.shm: {'name': '/kmb-given-%d' % os.getpid(), 'rank': 0,
                       'size': 1},
        kmb.Comm.threads: {'size': 1},
        kmb.Result: {}, kmb.Code: {}, kmb.Gaps: {},
        device.attribute: {'key': 'name'}, device.cancel: {'on': False},
        device.release_counters: {}, device.close: {},
        comm.gather: {'data': b'x'}, comm.close: {},
        result.get: {'key': 'timer'}, result.why_absent: {'key': 'timer'},
        result.to_json: {}, result.to_dict: {}, result.keys: {},
        both.to_json: {}, both.to_dict: {},
        kmb.work.gemm: {'m': 1, 'n': 1, 'k': 1, 'dtype': 'f32'},
        kmb.work.copy: {'nbytes': 1},
        kmb.work.elementwise: {'n': 1, 'inputs': 1, 'outputs': 1,
                               'dtype': 'f32'},
        kmb.work.softmax: {'rows': 1, 'columns': 1, 'dtype': 'f32'},
        kmb.work.activation: {'n': 1, 'dtype': 'f32'},
        kmb.work.dtype_bits: {'dtype': 'f32'},
        kmb.work.dtype_number: {'dtype': 'f32'},
        kmb.work.matmul: {'m': 1, 'n': 1, 'k': 1, 'dtype': 'f32', 'batch': 1,
                          'flags': 0},
        kmb.work.grouped: {'groups': 1, 'n': 1, 'k': 1, 'dtype': 'f32',
                           'rows': [1]},
        kmb.work.attention: {'batch': 1, 'q_heads': 1, 'q_len': 1,
                             'kv_len': 1, 'qk_dim': 1, 'dtype': 'bf16'},
        kmb.work.paged_decode: {'batch': 1, 'q_heads': 1, 'q_len': 1,
                                'kv_lens': [1], 'qk_dim': 1, 'dtype': 'bf16'},
        kmb.work.mla: {'batch': 1, 'heads': 1, 'q_len': 1, 'kv_len': 1,
                       'ckv_dim': 1, 'kpe_dim': 1, 'dtype': 'bf16'},
        kmb.work.moe: {'tokens': 1, 'hidden': 1, 'intermediate': 1,
                       'experts': 1, 'top_k': 1, 'dtype': 'bf16'},
        kmb.work.norm: {'rows': 1, 'hidden': 1, 'norm': 1, 'dtype': 'f32'},
    }
    for name in kmb.testing.__all__:
        one = getattr(kmb.testing, name)
        if one is not kmb.testing.FindingWarning:
            found[one] = {'fn': nothing, **(
                {'repeat_iters': 8} if 'gpu' in name else {'rep': 0.01})}
    return found


#: What only holds values, and what a user derives from or catches.
HOLDERS = {'Counters', 'CodeKernel', 'Comparison', 'Finding', 'Row',
           'Transport', 'work'}
#: Arguments that may be of any kind.
ANY = {('get', 'default'), ('bench_gpu_time', 'l2_flush_device'),
       ('bench_gpu_time_with_cupti', 'l2_flush_device'),
       ('bench_gpu_time_with_cudagraph', 'l2_flush_device'),
       ('bench_gpu_time_with_cuda_event', 'l2_flush_device')}


def parameters(function, good):
    """Names of all that it takes; of **keywords those that are given."""
    names = [p.name for p in inspect.signature(function).parameters.values()
             if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    if function is kmb.Comm:
        names += ['deadline_s', 'first_deadline_s', 'barrier', 'multicast',
                  'collective', 'topology', 'fabric', 'skew_samples']
    return names + [n for n in good if n not in names]


class Given(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.calls = calls(folder.name)
        warnings.simplefilter('ignore')
        self.addCleanup(warnings.resetwarnings)
        brief = mock.patch.object(
            kmb.testing, 'bench', lambda *args, **kwargs: kmb.bench(
                *args, max_wall_ms=5, confirm=False, **kwargs))
        brief.start()
        self.addCleanup(brief.stop)

    def test_no_public_callable_is_left_out(self):
        known = {f.__qualname__ for f in self.calls}
        for name in kmb.__all__:
            one = getattr(kmb, name)
            if name in HOLDERS or (isinstance(one, type) and
                                   issubclass(one, kmb.Error)):
                continue
            self.assertIn(one.__qualname__, known)
        for name, one in vars(kmb.work).items():
            if inspect.isfunction(one) and name[0] != '_' and \
                    one.__module__ == 'kmb.work' and name != 'checked':
                self.assertIn(one, self.calls)

    def test_an_object_is_refused_by_the_argument_s_name(self):
        for function, good in self.calls.items():
            for name in parameters(function, good):
                given = {**good, name: object()}
                if (function.__name__, name) in ANY:
                    function(**given)
                    continue
                with self.subTest(function=function.__qualname__, name=name):
                    with self.assertRaises(REFUSED) as caught:
                        function(**given)
                    if function not in (kmb.Result, kmb.Code, kmb.Gaps):
                        said = str(caught.exception)
                        self.assertIn('comm' if name == 'group' else
                                      'type' if name.endswith('dtype') else
                                      name, said)
                        self.assertNotIn('0x', said)

    def test_nothing_worse_happens_whatever_is_given(self):
        for function, good in self.calls.items():
            for name in parameters(function, good):
                for value in ([object()], {object(): object()}, b'\xff',
                              'a\0b', '\udcff', nothing, -1, 0.5,
                              float('nan'), None, [], (1, 2), ['a\0b']):
                    if (function, name) == (kmb.Comm.threads, 'size'):
                        continue
                    with self.subTest(function=function.__qualname__,
                                      name=name, value=value):
                        try:
                            function(**{**good, name: value})
                        except REFUSED + (OSError, KeyError):
                            pass

    def test_messages_say_what_is_wanted(self):
        for error, words, call in (
                (TypeError, 'code is 3, not a kmb.Code, made by kmb.capture',
                 lambda: quick(nothing, code=3)),
                (TypeError, "batch is '7', not a whole number",
                 lambda: quick(nothing, batch='7')),
                (ValueError, 'batch is -1, not from 0 to 18446744073709551615',
                 lambda: quick(nothing, batch=-1)),
                (ValueError, 'rounds is 4294967296, not from 0 to 4294967295',
                 lambda: quick(nothing, rounds=1 << 32)),
                (ValueError, 'threads is -1', lambda: kmb.Device(
                    'host', threads=-1)),
                (TypeError, "counters is 'no', not True or False",
                 lambda: quick(nothing, counters='no')),
                (TypeError, 'fn is of type list, not callable',
                 lambda: kmb.bench([])),
                (TypeError, 'work is 7, not a kmb.Work',
                 lambda: quick(nothing, work=7)),
                (TypeError, 'device is of type list, not a kmb.Device or the',
                 lambda: quick(nothing, device=[])),
                (TypeError, r'mutates\[1\] is 0.5, not an argument',
                 lambda: quick(nothing, (1, 2), mutates=[0, 0.5])),
                (TypeError, 'a key of kwargs is 1, not a str',
                 lambda: quick(nothing, (), {1: 2})),
                (ValueError, r"axes\['a'\] is 'b\\x00', which has a NUL",
                 lambda: quick(nothing, axes={'a': 'b\0'})),
                (ValueError, "axes has two keys that read '1'",
                 lambda: quick(nothing, axes={1: 2, '1': 3})),
                (ValueError, 'm is -1, not from 0',
                 lambda: kmb.work.gemm(-1, 1, 1, 'f32')),
                (TypeError, 'm is 1.5, not a whole number',
                 lambda: kmb.work.matmul(m=1.5)),
                (ValueError, 'rows has 2 members, groups is 3',
                 lambda: kmb.work.grouped(groups=3, rows=[1, 2])),
                (ValueError, 'kv_lens has 1 members, batch is 0',
                 lambda: kmb.work.mla(kv_lens=[1])),
                (TypeError, r"candidates\[0\] is of type function, not \(",
                 lambda: kmb.compare([nothing, nothing])),
                (TypeError, "candidate 'a' is 7, not callable",
                 lambda: kmb.compare({'a': 7, 'b': nothing})),
                (TypeError, r"knobs\['k'\] is 'abc', not several values",
                 lambda: kmb.Candidate(nothing, knobs={'k': 'abc'})),
                (TypeError, r"results\[0\] is 'x', not a kmb.Result",
                 lambda: kmb.table(['x'])),
                (TypeError, "document is 3, not JSON", lambda: kmb.loads(3)),
                (TypeError, "path is 0, not a path", lambda: kmb.load(0)),
                (TypeError, r"bench\(\): .*argument 'cahce'",
                 lambda: quick(nothing, cahce='warm')),
                (TypeError, "unexpected keyword argument 'deadline'",
                 lambda: kmb.Comm(Board(), deadline=1)),
                (ValueError, 'repeat_iters is 0, not from 1',
                 lambda: kmb.testing.bench_gpu_time(nothing, repeat_iters=0)),
                (ValueError, 'lies in', lambda: kmb.testing.do_bench(
                    nothing, quantiles=[2]))):
            with self.subTest(words):
                self.assertRaisesRegex(error, words, call)

    def test_an_iterator_serves_all_who_look_at_it(self):
        seen = {'a': set(), 'b': set()}
        kmb.compare([(n, lambda k, n=n: seen[n].add(k)) for n in seen],
                    knobs={'k': iter([1, 2])}, tune_wall_ms=6e5, **FEW)
        self.assertEqual(seen, {'a': {1, 2}, 'b': {1, 2}})

    def test_numbers_of_other_makers_are_numbers(self):
        class Seven:
            def __index__(self):
                return 7

        class Half:
            def __float__(self):
                return 0.5

        result = quick(nothing, seed=Seven(), target_pct=Half())
        self.assertEqual(result['seed'], 7)
        self.assertEqual(result['target_pct'], 0.5)


    def test_what_a_call_does_not_run_is_refused(self):
        def generator():
            yield 1

        async def coroutine():
            return 1

        async def both():
            yield 1

        class Called:
            def __call__(self):
                yield 1

        for fn, words in ((generator, 'fn makes a generator'),
                          (coroutine, 'fn makes a coroutine'),
                          (both, 'fn makes a generator'),
                          (functools.partial(generator), 'a generator'),
                          (Called(), 'a generator')):
            for call in (quick, kmb.Candidate, kmb.capture, kmb.counters,
                         kmb.testing.do_bench):
                self.assertRaisesRegex(TypeError, words, call, fn)
        quick(Called)  # makes an object, and that is what is measured


class Paths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_all_kinds_of_paths_are_taken(self):
        trace = SOURCE + '/tests/data/traces/offload_pipeline.csv'
        result = quick(nothing)
        for i, kind in enumerate((str, os.fsencode, pathlib.Path)):
            path = kind(os.path.join(self.folder, '%d.json' % i))
            kmb.save(path, result)
            self.assertEqual(len(kmb.load(path)), 1)
            self.assertTrue(kmb.gaps(kind(trace)).devices)

    def test_a_path_with_a_nul_is_refused(self):
        trace = SOURCE + '/tests/data/traces/offload_pipeline.csv'
        short = os.path.join(self.folder, 'r.json')
        kmb.save(short, quick(nothing))
        for nul in ('\0', '\0.csv'):
            for call in (lambda: kmb.gaps(trace + nul),
                         lambda: kmb.gaps(os.fsencode(trace + nul)),
                         lambda: kmb.gaps(pathlib.Path(trace + nul)),
                         lambda: kmb.load(short + nul),
                         lambda: kmb.save(short + nul, quick(nothing)),
                         lambda: kmb.gaps(trace, 'a' + nul),
                         lambda: kmb.gaps(trace, within='a' + nul),
                         lambda: kmb.Device('host' + nul),
                         lambda: quick(nothing, name='a' + nul)):
                self.assertRaisesRegex(ValueError, 'has a NUL in it', call)


class Closed(unittest.TestCase):
    def closed(self, call, what):
        with self.assertRaises(kmb.InvalidError) as caught:
            call()
        self.assertEqual(str(caught.exception), 'the %s is closed' % what)

    def test_a_closed_device_says_so(self):
        device = kmb.Device('host')
        device.close()
        device.close()
        self.assertFalse(device.is_open)
        for call in (lambda: quick(nothing, device=device),
                     lambda: kmb.compare({'a': nothing, 'b': nothing},
                                         device=device),
                     lambda: kmb.counters(nothing, device=device),
                     lambda: kmb.capture(nothing, device=device),
                     lambda: device.name, lambda: device.attribute('spec'),
                     device.release_counters, device.__enter__):
            self.closed(call, 'device')
        device.cancel()

    def test_a_closed_communicator_says_so(self):
        comm = kmb.Comm(Board())
        self.assertEqual((comm.rank, comm.size), (0, 1))
        comm.close()
        comm.close()
        for call in (lambda: comm.rank, lambda: comm.size,
                     lambda: comm.gather(b'x'), comm.__enter__,
                     lambda: quick(nothing, comm=comm)):
            self.closed(call, 'communicator')

    def test_a_communicator_in_use_is_not_closed(self):
        comm = kmb.Comm(Board())
        with self.assertRaisesRegex(kmb.BusyError, 'close it afterwards'):
            quick(comm.close, comm=comm)
        self.assertEqual(quick(nothing, comm=comm)['world_size'], 1)
        comm.close()

    def test_a_device_that_a_callable_closes(self):
        device = kmb.Device('host')
        quick(device.close, device=device)
        self.closed(lambda: device.name, 'device')


class Ending(unittest.TestCase):
    def test_what_is_called_last_may_use_results(self):
        # Registered before kmb's own, and so called after it.
        trace = SOURCE + '/tests/data/traces/offload_pipeline.csv'
        done = subprocess.run([sys.executable, '-X', 'faulthandler', '-c', """
import atexit, sys
held = []
def last():
    result, loaded, gaps, device, comm = held
    print(result.to_json() == loaded.to_json(), len(str(gaps)) > 99)
    for one in (device, comm):
        try:
            one.handle
        except kmb.InvalidError as error:
            print(error, one)
    print(kmb.bench(len, ([],), max_samples=8, min_wall_ms=1e-6)['samples'])
atexit.register(last)
import kmb
class Board(kmb.Transport):
    pass
result = kmb.bench(len, ([],), max_samples=8, min_wall_ms=1e-6)
held += [result, kmb.loads(result.to_json())[0], kmb.gaps(sys.argv[1]),
         kmb.Device('host'), kmb.Comm(Board())]
""", trace], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, """True True
the device is closed <kmb.Device closed>
the communicator is closed <kmb.Comm closed>
8
""", done.stderr)
        self.assertEqual(done.returncode, 0)


class Objects(unittest.TestCase):
    def test_results_are_copied_and_pickled(self):
        first = quick(nothing, name='first', axes={'n': 1})
        again = [copy.copy(first), copy.deepcopy(first),
                 pickle.loads(pickle.dumps(first))]
        whole = first.to_dict()
        del first
        for one in again:
            self.assertEqual(one.to_dict(), whole)
            self.assertEqual(len(one.samples_ns), 20)

    def test_works_are_copied_and_pickled(self):
        work = kmb.work.gemm(2, 3, 4, 'bf16')
        for one in (copy.deepcopy(work), pickle.loads(pickle.dumps(work))):
            self.assertEqual((one.flops, one.least_bytes, one.convention),
                             (work.flops, work.least_bytes, work.convention))
            self.assertEqual(one.raw.dtype, work.raw.dtype)

    def test_handles_are_not(self):
        trace = SOURCE + '/tests/data/traces/offload_pipeline.csv'
        for one in (kmb.Device('host'), kmb.Comm(Board()), kmb.gaps(trace)):
            for make in (copy.copy, copy.deepcopy, pickle.dumps):
                self.assertRaisesRegex(TypeError, 'cannot be copied', make,
                                       one)

    def test_results_are_gone_through_by_their_keys(self):
        result = quick(nothing)
        self.assertIn('timer', result)
        self.assertNotIn('sol_pct', result)
        self.assertNotIn(0, result)
        self.assertEqual(list(result), result.keys())
        self.assertEqual(dict(result), result.to_dict())
        both = kmb.compare({'a': nothing, 'b': nothing}, **FEW)
        self.assertEqual(list(both), ['a', 'b'])
        self.assertIn('a', both)
        self.assertNotIn('c', both)

    def test_what_is_not_known_says_so_in_one_way(self):
        result = quick(nothing, counters=True)
        for key in ('dram_read_bytes', 'dram_write_bytes', 'dram_bytes_per_s',
                    'counter_kernel', 'counter_mode', 'cold_ratio'):
            with self.assertRaises(kmb.UnavailableError) as caught:
                result[key]
            self.assertEqual(str(caught.exception), key + ': backend host has '
                             'no hardware counters')
            self.assertIsInstance(caught.exception, kmb.AbsentError)
            self.assertIsInstance(caught.exception, KeyError)
            self.assertIsNone(result.get(key))
        self.assertEqual(result.why_absent('busy_ns'),
                         'this measurement has none')
        with self.assertRaisesRegex(KeyError, 'x: there is no such value'):
            result['x']

    def test_what_reading_raises_comes_out(self):
        result = quick(nothing)

        def interrupted(*_):
            raise KeyboardInterrupt

        with mock.patch.object(ctypes, 'string_at', interrupted):
            self.assertRaises(KeyboardInterrupt, result.to_json)
        with mock.patch.object(ctypes, 'memmove', interrupted):
            self.assertRaises(KeyboardInterrupt, kmb.loads, b'{}')
