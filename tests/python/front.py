"""The Python front on the host backend."""
import contextlib
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import kmb
from kmb import _arrays, _library

SOURCE = PACKAGE = LIBRARY = ''
QUICK = {'min_samples': 20, 'max_samples': 20, 'min_wall_ms': 1e-6,
         'max_wall_ms': 6e5, 'warmup_ms': 0, 'confirm': False, 'batch': 1}


def quick(fn, *args, **kwargs):
    return kmb.bench(fn, *args, **{**QUICK, **kwargs})


class Bench(unittest.TestCase):
    def test_a_callable_is_called_with_its_arguments(self):
        seen = []

        def callee(*args, **kwargs):
            seen.append((args, kwargs))

        result = quick(callee, (1, 'two'), {'three': 3}, axes={'n': 1})
        self.assertGreaterEqual(len(seen), 20)
        self.assertEqual(seen[0], ((1, 'two'), {'three': 3}))
        self.assertEqual(result.name, 'callee')
        self.assertEqual(result.axes, {'n': '1'})
        self.assertEqual(len(result.samples_ns), 20)
        self.assertEqual(result['timer'], 'HOST')
        self.assertEqual(result['cache_state'], 'WARM')
        self.assertGreater(result.time_ns, 0)
        self.assertEqual(result.time_us, result.time_ns / 1e3)
        self.assertEqual(result.time_ms, result.time_ns / 1e6)

    def test_what_calling_python_costs_is_said(self):
        result = quick(lambda: None, metadata={'k': 'v'})
        found = [f for f in result.findings if 'python_call_ns' in f.figures]
        self.assertEqual([f.code for f in found], ['OVERHEAD'])
        self.assertGreater(found[0].figures['python_call_ns'], 0)
        self.assertIn('calling Python', str(result))
        self.assertIn('python_call_ns', result.to_json())
        self.assertGreater(
            float(result.metadata['caller.python.call_overhead_ns']), 0)
        self.assertEqual(result.metadata['caller.k'], 'v')
        slow = quick(lambda: sum(range(300000)))
        self.assertFalse([f for f in slow.findings
                          if 'python_call_ns' in f.figures])

    def test_what_is_not_known_says_why(self):
        result = quick(lambda: None)
        self.assertIsNone(result.get('sol_pct'))
        with self.assertRaisesRegex(KeyError, 'sol_pct: '):
            result['sol_pct']
        self.assertTrue(result.why_absent('sol_pct'))
        self.assertEqual(result.why_absent('timer'), 'it is there')
        self.assertIn('no such value', result.why_absent('nonsense'))

    def test_a_result_is_text_json_and_html(self):
        result = quick(lambda: None, name='<b>&')
        self.assertIn('<b>&', str(result))
        page = result._repr_html_()
        self.assertIn('&lt;b&gt;&amp;', page)
        self.assertNotIn('<b>', page)
        self.assertEqual(json.loads(result.to_json())['results'][0],
                         result.to_dict())
        result.to_dict()['time_ns'] = 7
        self.assertNotEqual(result.time_ns, 7)
        self.assertIn('<b>&', repr(result))

    def test_work_gives_the_roofline(self):
        work = kmb.work.gemm(64, 64, 64, 'f32')
        self.assertEqual(work.flops, 2 * 64 ** 3)
        result = quick(sum, (range(10000),), work=work, ceilings=False)
        self.assertEqual(result['flops'], 2 * 64 ** 3)
        self.assertEqual(result['least_bytes'], work.least_bytes)

    def test_work_is_counted_as_in_c(self):
        self.assertEqual(kmb.work.copy(10).least_bytes, 20)
        self.assertEqual(kmb.work.elementwise(4, 2, 1, 'f32', 3).flops, 12)
        self.assertEqual(kmb.work.softmax(2, 3, 'bf16').least_bytes, 24)
        self.assertEqual(kmb.work.activation(8, 'f32', True).least_bytes, 96)
        self.assertEqual(kmb.work.matmul(m=4, n=4, k=4, dtype='f32',
                                         batch=2).flops, 256)
        self.assertEqual(kmb.work.grouped(groups=2, n=4, k=4, rows=[1, 3],
                                          dtype='f32').flops, 128)
        self.assertEqual(kmb.work.attention(
            batch=1, q_heads=1, q_len=1, kv_len=4, qk_dim=8,
            dtype='bf16').flops, 128)
        self.assertEqual(kmb.work.paged_decode(
            batch=2, q_heads=1, q_len=1, kv_lens=[1, 3], qk_dim=8,
            dtype='bf16').flops, 128)
        self.assertEqual(kmb.work.mla(
            batch=1, heads=1, q_len=1, kv_len=1, ckv_dim=512, kpe_dim=64,
            dtype='bf16').flops, 2 * (1024 + 64))
        self.assertEqual(kmb.work.moe(
            tokens=1, hidden=4, intermediate=4, experts=1, top_k=1,
            dtype='bf16').flops, 96)
        self.assertEqual(kmb.work.norm(rows=2, hidden=4, norm=1,
                                       dtype='f32').flops, 40)
        self.assertEqual(kmb.work.dtype_bits('bf16'), 16)

    def test_constants_of_shapes_have_words(self):
        work = kmb.work
        for by_word, by_number in (
                (work.norm(rows=2, hidden=4, norm='layer', flags='residual',
                           dtype='f32'),
                 work.norm(rows=2, hidden=4, norm=2, flags=1, dtype='f32')),
                (work.matmul(m=4, n=4, k=64, a_dtype='f4_e2m1', dtype='bf16',
                             b_dtype='f4_e2m1', a_scales='nvfp4',
                             b_scales='mx', flags=['bias', 'epilogue']),
                 work.matmul(m=4, n=4, k=64, a_dtype='f4_e2m1', dtype='bf16',
                             b_dtype='f4_e2m1', a_scales=1, b_scales=2,
                             flags=2 | 4)),
                (work.attention(batch=1, q_heads=1, q_len=4, kv_len=8,
                                qk_dim=8, dtype='bf16', pass_='backward',
                                mask='causal_bottom_right', pairs='average'),
                 work.attention(batch=1, q_heads=1, q_len=4, kv_len=8,
                                qk_dim=8, dtype='bf16', mask=2, pairs=1,
                                **{'pass': 1}))):
            self.assertEqual(
                [getattr(by_word.raw, n) for n, *_ in by_word.raw._fields_],
                [getattr(by_number.raw, n) for n, *_ in by_word.raw._fields_])
        with self.assertRaisesRegex(ValueError, "mask is 'causal', not one of "
                                    'none, causal_top_left'):
            work.attention(mask='causal')
        with self.assertRaisesRegex(ValueError, "flags is 'beat', not one of "
                                    'beta, bias'):
            work.matmul(flags=['beat'])

    def test_work_that_cannot_be_is_refused(self):
        self.assertTrue(kmb.work.gemm(1, 1, 1, 'f32').convention)
        with self.assertRaises(kmb.InvalidError):
            kmb.work.gemm(0, 1, 1, 'f32')
        with self.assertRaisesRegex(TypeError, 'matmul has no q; it has m'):
            kmb.work.matmul(q=1)
        with self.assertRaisesRegex(ValueError, 'no type of libkmb'):
            kmb.work.gemm(1, 1, 1, 'f31')

    def test_checks_of_what_is_returned(self):
        calls = []
        result = quick(lambda x: x + 1, (1,), check=lambda r, x: r == x + 1)
        self.assertIn('passed', result.metadata['caller.python.check'])
        with self.assertRaises(kmb.IncorrectError):
            quick(calls.append, (1,), check=lambda r, x: False)
        with self.assertRaises(kmb.IncorrectError):
            quick(lambda: 1, check=lambda r: 0.5, tolerance=0.25)
        quick(lambda: 1, check=lambda r: 0.25, tolerance=0.25)
        quick(lambda: 1, check=lambda r: None)
        for given, wrong in ((float('nan'), kmb.IncorrectError),
                             (1, kmb.IncorrectError), ('no', TypeError)):
            with self.assertRaises(wrong):
                quick(lambda: 1, check=lambda r, g=given: g, tolerance=0.25)
        with self.assertRaisesRegex(ValueError, 'no tolerance bounds it'):
            quick(lambda: 1, check=lambda r: 0.25)

    def test_bad_arguments_are_named(self):
        for wrong in ({'cache': 'hot'}, {'timer': 'sundial'},
                      {'launch': 'soon'}, {'require': ['luck']}):
            with self.assertRaisesRegex(ValueError, 'not one of'):
                quick(lambda: None, **wrong)
        with self.assertRaisesRegex(ValueError, "'y', which is no argument"):
            quick(lambda x: None, (1,), mutates=['y'])
        with self.assertRaisesRegex(ValueError, "'#0', which is no argument"):
            quick(lambda x: None, (1,), mutates='#0')
        for args in (7, 'x', None):
            with self.assertRaisesRegex(TypeError, r'one alone is \(x,\)'):
                quick(lambda x: None, args)
        with self.assertRaisesRegex(ValueError, "names 'yes', which is no"):
            quick(lambda x: None, (1,), mutates='yes')
        with self.assertRaisesRegex(ValueError, "require is 'luck'"):
            quick(lambda x: None, (1,), require='luck')
        with self.assertRaisesRegex(ValueError, 'holds no array'):
            quick(lambda x: None, (1,), outputs=[0])
        with self.assertRaises(kmb.UnavailableError):
            quick(lambda: None, timer='graph', require=['timer'])
        with self.assertRaises(kmb.UnsupportedError):
            quick(lambda: None, device='nothing_of_this_name')

    @unittest.skipIf(os.path.exists('/dev/nvidiactl'), 'there may be a GPU')
    def test_no_gpu(self):
        with self.assertRaises(kmb.UnavailableError) as caught:
            quick(lambda: None, device='cuda:0')
        self.assertTrue(str(caught.exception))


class Faults(unittest.TestCase):
    def works(self):
        self.assertEqual(len(quick(lambda: None).samples_ns), 20)

    def test_what_the_callable_raises_comes_out_as_it_is(self):
        class Mine(Exception):
            pass

        calls = []

        def callee():
            calls.append(1)
            if len(calls) == 7:
                raise Mine('seven')

        names = []
        try:
            quick(callee)
            self.fail('nothing was raised')
        except Mine as error:
            self.assertEqual(str(error), 'seven')
            at = error.__traceback__
        while at:
            names.append(at.tb_frame.f_code.co_name)
            at = at.tb_next
        self.assertIn('callee', names)
        self.assertEqual(len(calls), 7)
        for error in (SystemExit(3), GeneratorExit()):
            def exits(error=error):
                raise error
            with self.assertRaises(type(error)):
                quick(exits)
        self.works()

    def test_a_check_that_raises(self):
        with self.assertRaises(ZeroDivisionError):
            quick(lambda: 0, check=lambda r: 1 // r)
        self.works()

    def test_a_benchmark_within_a_callable_is_refused(self):
        with self.assertRaises(kmb.BusyError):
            quick(lambda: quick(lambda: None))
        seen = []

        def catches():
            try:
                quick(lambda: None)
            except kmb.BusyError as error:
                seen.append(error.status)

        quick(catches)
        self.assertGreaterEqual(len(seen), 20)
        other = kmb.Device('host')
        quick(lambda: quick(lambda: None, device=other))
        self.works()

    def test_a_second_thread_finds_the_device_in_use(self):
        entered, leave, seen = threading.Event(), threading.Event(), []

        def callee():
            entered.set()
            leave.wait(60)

        first = threading.Thread(target=quick, args=(callee,))
        first.start()
        entered.wait(60)
        try:
            quick(lambda: None)
        except kmb.BusyError as error:
            seen.append(error)
        own = quick(lambda: None, device=kmb.Device('host'))
        leave.set()
        first.join()
        self.assertEqual(len(seen), 1)
        self.assertEqual(len(own.samples_ns), 20)
        self.works()

    def test_devices_of_their_own_in_several_threads(self):
        results = []

        def one():
            results.append(quick(lambda: None, device=kmb.Device('host')))

        threads = [threading.Thread(target=one) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 3)

    def test_a_forked_child_is_told(self):
        device = kmb.Device('host')
        quick(lambda: None)
        quick(lambda: None, device=device)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for given in (device, None):
                    try:
                        quick(lambda: None, device=given)
                        code = 2
                        break
                    except kmb.ForkedError:
                        code = 0
                if code == 0:
                    repr(device)
                    own = kmb.Device('host')
                    code = 0 if quick(lambda: None, device=own) else 3
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]),
                         0)
        self.works()

    def interrupted(self, fn, **kwargs):
        """Runs `fn`, which causes a SIGINT, in the callable's 50th call."""
        calls = []

        def callee():
            calls.append(1)
            if len(calls) == 50:
                fn()

        with self.assertRaises(KeyboardInterrupt):
            kmb.bench(callee, min_wall_ms=6e5, max_wall_ms=6e5, **kwargs)
        self.assertEqual(signal.getsignal(signal.SIGINT),
                         signal.default_int_handler)
        self.assertEqual(signal.set_wakeup_fd(-1), -1)
        self.works()

    def test_ctrl_c_within_the_callable(self):
        self.interrupted(lambda: os.kill(os.getpid(), signal.SIGINT))

    def test_ctrl_c_from_outside(self):
        def later():
            threading.Timer(0.01, os.kill,
                            (os.getpid(), signal.SIGINT)).start()
        self.interrupted(later)

    def test_ctrl_c_while_no_python_runs(self):
        # Nearly all of the time the library sweeps its cache.
        device = kmb.Device('host', llc_bytes=1 << 26, threads=1)
        calls = []

        def callee():
            calls.append(1)
            if len(calls) == 3:
                threading.Timer(0.01, os.kill,
                                (os.getpid(), signal.SIGINT)).start()

        with self.assertRaises(KeyboardInterrupt):
            kmb.bench(callee, device=device, cache='cold',
                      min_wall_ms=6e5, max_wall_ms=6e5)
        self.assertEqual(device.cancel_flag.value, 0)
        quick(lambda: None, device=device)

    def test_ctrl_c_at_a_bad_moment_leaves_nothing_behind(self):
        # Where a call begins and where it ends; the second one is for who
        # presses twice.
        for where, name in ((os, 'pipe'), (os, 'write'), (os, 'close'),
                            (threading.Thread, 'start'),
                            (threading.Thread, 'join'), (signal, 'signal'),
                            (signal, 'set_wakeup_fd')):
            for times in (1, 2):
                real = getattr(where, name)

                def moment(*args, real=real, times=times, **kwargs):
                    done = real(*args, **kwargs)
                    for _ in range(times):
                        os.kill(os.getpid(), signal.SIGINT)
                    return done

                threads = threading.active_count()
                with mock.patch.object(where, name, moment):
                    with self.assertRaises(KeyboardInterrupt):
                        quick(lambda: None)
                self.assertEqual(signal.getsignal(signal.SIGINT),
                                 signal.default_int_handler)
                self.assertEqual(signal.set_wakeup_fd(-1), -1)
                self.assertEqual(threading.active_count(), threads)
                self.works()

    def test_without_a_thread_to_watch_nothing_is_left_behind(self):
        self.works()
        files = os.listdir('/proc/self/fd')
        with mock.patch.object(threading.Thread, 'start', lambda _: 1 // 0):
            with self.assertRaises(ZeroDivisionError):
                quick(lambda: None)
        self.assertEqual(signal.getsignal(signal.SIGINT),
                         signal.default_int_handler)
        self.assertEqual(signal.set_wakeup_fd(-1), -1)
        self.assertEqual(len(os.listdir('/proc/self/fd')), len(files))
        self.works()

    def test_a_handler_of_the_program_s_own_is_called(self):
        seen = []
        old = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        try:
            calls = []

            def callee():
                calls.append(1)
                if len(calls) == 30:
                    os.kill(os.getpid(), signal.SIGINT)

            try:
                quick(callee, max_samples=100, min_samples=100)
            except kmb.CancelledError:
                pass
            self.assertEqual(seen, [1])
            self.works()
        finally:
            signal.signal(signal.SIGINT, old)

    def test_a_cancelled_device(self):
        device = kmb.Device('host')
        device.cancel()
        with self.assertRaises(kmb.CancelledError):
            quick(lambda: None, device=device)
        device.cancel(False)
        quick(lambda: None, device=device)

    def test_a_closed_device(self):
        with kmb.Device('host') as device:
            self.assertEqual(device.backend, 'host')
        self.assertIn('closed', repr(device))
        with self.assertRaises(kmb.InvalidError):
            quick(lambda: None, device=device)

    def test_errors_are_of_their_kind_and_can_be_pickled(self):
        with self.assertRaises(kmb.Error) as caught:
            kmb.Device('nothing_of_this_name')
        error = caught.exception
        self.assertIsInstance(error, kmb.UnsupportedError)
        self.assertIn('nothing_of_this_name', str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.status),
                         (type(error), str(error), error.status))
        self.assertTrue(issubclass(kmb.InvalidError, ValueError))
        self.assertTrue(issubclass(kmb.OutOfMemoryError, MemoryError))
        self.assertTrue(issubclass(kmb.StreamError, OSError))


class Device(unittest.TestCase):
    def test_what_it_says_of_itself(self):
        device = kmb.Device('host', llc_bytes=1 << 20)
        self.assertEqual(device.attribute('llc_bytes'), 1 << 20)
        self.assertGreater(device.attribute('clock_tick_ns'), 0)
        self.assertTrue(device.name)
        self.assertIn('host', repr(device))
        with self.assertRaises(kmb.UnavailableError):
            device.attribute('uuid')
        with self.assertRaisesRegex(KeyError, 'is none of'):
            device.attribute('colour')


class Results(unittest.TestCase):
    def test_they_are_saved_loaded_and_shown(self):
        results = [quick(lambda: None, name=n) for n in ('first', 'second')]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'r.json')
            kmb.save(path, results)
            again = kmb.load(path)
            kmb.save(path, results[0])
            self.assertEqual(len(kmb.load(path)), 1)
        self.assertEqual([r.name for r in again], ['first', 'second'])
        self.assertEqual(again[0].samples_ns, results[0].samples_ns)
        self.assertEqual(again[1].findings, results[1].findings)
        self.assertIn('second', kmb.table(results))
        self.assertEqual(len(kmb.loads(results[0].to_json())), 1)
        with self.assertRaisesRegex(kmb.FormatError, 'line'):
            kmb.loads('{]')
        with self.assertRaisesRegex(ValueError, 'no results'):
            kmb.table([])

    def test_gaps_of_a_trace(self):
        path = SOURCE + '/tests/data/traces/offload_pipeline.csv'
        gaps = kmb.gaps(path, 'flash_fwd', top=3)
        device = gaps.devices[0]
        self.assertEqual(device.span_ns, device.busy_ns + device.idle_ns)
        self.assertAlmostEqual(device.utilization,
                               device.busy_ns / device.span_ns)
        self.assertEqual(sum(t.idle_ns for t in device.transitions),
                         device.idle_ns)
        self.assertEqual(sum(t.count for t in device.transitions),
                         device.gaps)
        self.assertEqual(device.target.count, 4)
        self.assertTrue(math.isclose(
            device.target.utilization, device.target.mean_duration_ns / (
                device.target.mean_duration_ns +
                device.target.mean_interval_ns)))
        self.assertIn('flash_fwd', str(gaps))
        self.assertIn('<pre>', gaps._repr_html_())
        self.assertIn('busy', repr(gaps))
        self.assertTrue(gaps.to_dict())
        self.assertTrue(all(f.code for f in gaps.findings))
        self.assertIsNone(kmb.gaps(path).devices[0].target)
        self.assertEqual(kmb.gaps(path, device=7).devices, [])
        with self.assertRaises(kmb.StreamError):
            kmb.gaps('/nowhere')
        with self.assertRaises(kmb.InvalidError):
            kmb.gaps(path, '(')
        with self.assertRaises(kmb.UnavailableError):
            kmb.gaps(path, within='no such range')


class Library(unittest.TestCase):
    def imported(self, **environment):
        kept = {k: v for k, v in os.environ.items()
                if k not in ('KMB_LIBRARY', 'LD_LIBRARY_PATH',
                             'PKG_CONFIG_PATH')}
        done = subprocess.run(
            [sys.executable, '-c', 'import kmb; print(kmb.library_version())'],
            env={**kept, **environment}, capture_output=True, text=True,
            check=False)
        return done.stdout.strip() or done.stderr.strip().split('\n')[-1]

    def test_where_it_is_looked_for(self):
        version = _library.version()
        self.assertEqual(self.imported(KMB_LIBRARY=LIBRARY), version)
        folder = os.path.dirname(LIBRARY)
        self.assertEqual(self.imported(LD_LIBRARY_PATH=folder), version)
        with tempfile.TemporaryDirectory() as pc:
            with open(pc + '/kmb.pc', 'w', encoding='utf-8') as file:
                file.write('libdir=%s\nName: kmb\nDescription: d\n'
                           'Version: 0\n' % folder)
            self.assertEqual(self.imported(PKG_CONFIG_PATH=pc), version)
        with tempfile.TemporaryDirectory() as copy:
            os.symlink(PACKAGE + '/kmb', copy + '/source')
            os.mkdir(copy + '/kmb')
            for name in os.listdir(PACKAGE + '/kmb'):
                os.symlink(PACKAGE + '/kmb/' + name, copy + '/kmb/' + name)
            os.symlink(LIBRARY, copy + '/kmb/libkmb.so.0')
            self.assertEqual(self.imported(PYTHONPATH=copy), version)

    def test_where_there_is_none(self):
        self.assertRegex(self.imported(KMB_LIBRARY='/nowhere/libkmb.so.0'),
                         'ImportError: KMB_LIBRARY names no libkmb: /nowhere')
        self.assertRegex(self.imported(KMB_LIBRARY='libm.so.6'),
                         'ImportError: libm.so.6 is no libkmb')
        self.assertRegex(self.imported(PATH='', PKG_CONFIG_LIBDIR=''),
                         'not found .*PKG_CONFIG_PATH, or KMB_LIBRARY')

    def test_the_versions_are_the_same(self):
        with open(SOURCE + '/include/kmb/base.h', encoding='utf-8') as file:
            self.assertIn('"%s"' % kmb.__version__, file.read())


class Arrays(unittest.TestCase):
    def test_places_in_nested_arguments(self):
        call = (([1, (2, 3)], 4), {'k': {'a': 5}})
        self.assertEqual(_arrays.at(call, (0, 0, 1, 1)), 3)
        new = _arrays.replaced(call, (0, 0, 1, 1), 'x')
        self.assertEqual(new, (([1, (2, 'x')], 4), {'k': {'a': 5}}))
        new = _arrays.replaced(call, (1, 'k', 'a'), 'y')
        self.assertEqual(new[1], {'k': {'a': 'y'}})
        self.assertEqual(call, (([1, (2, 3)], 4), {'k': {'a': 5}}))


@contextlib.contextmanager
def at_callback(number, do):
    """Calls `do` where the callback of that number begins, before its first
    instruction; gives a list with an entry for each callback."""
    begun = []

    def trace(frame, _event, _arg):
        if frame.f_code.co_name == 'guarded' and \
                frame.f_code.co_filename == _library.__file__:
            begun.append(1)
            if len(begun) == number:
                do()

    old = sys.gettrace()
    sys.settrace(trace)
    try:
        yield begun
    finally:
        sys.settrace(old)


class WhatCallbacksMiss(unittest.TestCase):
    """What is raised before a callback's first instruction, where ctypes only
    prints it, is not lost, and no document is shorter for it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.saved = os.path.join(self.folder.name, 'saved.json')
        self.result = quick(lambda: None)
        self.document = self.result.to_json()
        self.ways = {
            'to_json': self.result.to_json, 'str': lambda: str(self.result),
            'table': lambda: kmb.table([self.result]),
            'loads': lambda: kmb.loads(self.document),
            'save': lambda: kmb.save(self.saved, [self.result])}

    def each(self):
        """Every way, and the numbers of its first, second and last callback."""
        for name, way in self.ways.items():
            with at_callback(0, None) as begun:
                way()
            self.assertTrue(begun, name)
            for number in sorted({1, min(2, len(begun)), len(begun)}):
                yield name, number

    def test_ctrl_c(self):
        printed = []
        with mock.patch.object(sys, 'unraisablehook', printed.append):
            for name, number in self.each():
                with self.subTest(name, number=number), \
                        self.assertRaises(KeyboardInterrupt), at_callback(
                            number,
                            lambda: signal.raise_signal(signal.SIGINT)):
                    self.ways[name]()
                self.assertEqual(signal.getsignal(signal.SIGINT),
                                 signal.default_int_handler)
        self.assertEqual(printed, [])

    def test_a_handler_that_raises_nothing(self):
        seen = []
        old = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        try:
            for name, number in self.each():
                seen.clear()
                whole = self.ways[name]()
                with self.subTest(name, number=number):
                    with at_callback(
                            number,
                            lambda: signal.raise_signal(signal.SIGINT)):
                        again = self.ways[name]()
                    self.assertEqual(seen, [1])
                    if isinstance(whole, str):
                        self.assertEqual(again, whole)
        finally:
            signal.signal(signal.SIGINT, old)

    def test_anything_else_is_an_error(self):
        def fails():
            raise RuntimeError('from elsewhere')

        printed = []
        with mock.patch.object(sys, 'unraisablehook',
                               lambda one: printed.append(one.exc_type)):
            for name, number in self.each():
                printed.clear()
                with self.subTest(name, number=number), \
                        self.assertRaisesRegex(kmb.Error, 'before a callback'):
                    with at_callback(number, fails):
                        self.ways[name]()
                self.assertEqual(printed, [RuntimeError])
