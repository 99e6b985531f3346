"""Callables on CUDA tensors of torch; on a machine with a GPU."""
import gc
import threading
import time
import unittest
import warnings

import torch

import kmb
from kmb import _cuda

NEEDS = 'torch'
MIB = 1 << 20


def setUpModule():
    if not torch.cuda.is_available():
        raise unittest.SkipTest('torch finds no CUDA GPU')


def codes(result):
    return [f.code for f in result.findings]


class OnCuda(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def works(self):
        x = torch.rand(MIB, device='cuda')
        result = kmb.bench(lambda x: x * 2, (x,),
                           check=lambda r, x: torch.equal(r, x * 2))
        self.assertEqual(result['check'], 'passed before and after timing')
        return result


class Cuda(OnCuda):
    def test_a_wrapper_that_allocates(self):
        result = self.works()
        self.assertEqual((result['launch_mode'], result['cache_state']),
                         ('GRAPH', 'COLD'))
        self.assertGreater(result.time_us, 0.5)

    def test_a_callable_that_returns_nothing(self):
        x = torch.rand(4 * MIB, device='cuda')
        y = torch.zeros_like(x)

        def copy(x, y):
            y.copy_(x)

        result = kmb.bench(copy, (x, y), outputs=['y'],
                           work=kmb.work.copy(x.numel() * 4),
                           check=lambda r, x, y: torch.equal(x, y))
        self.assertEqual(float(y.abs().max()), 0)
        self.assertLess(result['sol_pct'], 105)

    def test_a_wrong_result_is_refused(self):
        x = torch.rand(MIB, device='cuda')
        with self.assertRaises(kmb.IncorrectError):
            kmb.bench(lambda x: x * 2, (x,),
                      check=lambda r, x: torch.equal(r, x * 3))
        with self.assertRaises(kmb.IncorrectError):
            kmb.bench(lambda x, y: x.add_(1), (x, torch.zeros_like(x)),
                      mutates=['x'], outputs=['y'])
        self.works()

    def test_slots_rotate(self):
        cache = kmb.Device('cuda:0').attribute('llc_bytes')
        x = torch.rand(int(cache) // 16, device='cuda')  # a quarter of it
        result = kmb.bench(lambda x: x.sum(), (x,), cache='rotated')
        self.assertEqual((result['cache_state'], result['slots']),
                         ('ROTATED', 9))

    def test_what_cannot_rotate_is_swept_and_says_so(self):
        x = torch.rand(MIB, device='cuda')
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            result = kmb.bench(lambda: x * 2, device='cuda:0',
                               cache='rotated')
        self.assertIn('swept', str(caught[0].message))
        self.assertEqual(result['cache_state'], 'COLD')
        self.assertIn('swept', result.metadata['caller.python.rotation'])
        with self.assertRaises(kmb.UnavailableError):
            kmb.bench(lambda: x * 2, device='cuda:0', cache='rotated',
                      require=['cache'])
        with self.assertRaisesRegex(ValueError, 'device='):
            kmb.bench(lambda: x * 2)

    def test_what_is_changed_in_place(self):
        x = torch.ones(MIB, device='cuda')
        result = kmb.bench(lambda x: x.add_(1), (x,), mutates=['x'])
        self.assertIn('STATE_CARRIED', codes(result))
        kmb.bench(lambda x: x.add_(1), (x,), mutates=['x'],
                  reset=lambda x: x.fill_(1),
                  check=lambda r, x: bool((x == 2).all()))
        self.assertEqual(float(x.max()), 1)

    def test_random_numbers_can_be_captured(self):
        x = torch.rand(MIB, device='cuda')
        kmb.bench(torch.nn.functional.dropout, (x,))

    def test_what_the_callable_raises_comes_out_as_it_is(self):
        class Mine(Exception):
            pass

        x, calls = torch.rand(16, device='cuda'), []
        for bad in (1, _cuda.WARM_CALLS + 1):  # warming, capturing
            calls.clear()

            def fn(x, bad=bad):
                calls.append(1)
                if len(calls) == bad:
                    raise Mine(bad)
                return x + 1

            with self.assertRaisesRegex(Mine, str(bad)):
                kmb.bench(fn, (x,))
        self.works()

    def test_a_callable_that_waits(self):
        x = torch.rand(MIB, device='cuda')

        def waits(x):
            y = x * 2
            torch.cuda.synchronize()
            return y

        with self.assertRaisesRegex(kmb.CaptureError, 'plain'):
            kmb.bench(waits, (x,))
        self.works()

    def test_a_callable_on_another_stream(self):
        x = torch.rand(MIB, device='cuda')
        other = torch.cuda.Stream()

        def elsewhere(x):
            with torch.cuda.stream(other):
                x.sum()

        with self.assertRaisesRegex(kmb.CaptureError, 'stream'):
            kmb.bench(elsewhere, (x,))
        self.works()

    def test_what_a_failed_capture_leaves(self):
        x = torch.rand(MIB, device='cuda')
        other = torch.cuda.Stream()

        def elsewhere(x):
            with torch.cuda.stream(other):
                x.sum()

        with self.assertRaises(kmb.CaptureError):
            kmb.bench(elsewhere, (x,))
        torch.manual_seed(7)
        first = torch.rand(16, device='cuda')
        torch.manual_seed(7)
        self.assertTrue(torch.equal(first, torch.rand(16, device='cuda')))
        # Memory that another stream used comes back, too.
        gc.collect()
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        y = torch.zeros(MIB, device='cuda')
        y.record_stream(other)
        del y
        torch.cuda.synchronize()
        z = torch.zeros(16, device='cuda')
        self.assertLess(torch.cuda.memory_allocated() - before, MIB)
        del z
        self.works()

    def test_a_callable_that_does_nothing(self):
        with self.assertRaises(kmb.CaptureError):
            kmb.bench(lambda x: None, (torch.rand(16, device='cuda'),))
        self.works()

    def test_plain_launches_and_graphs_agree(self):
        x = torch.rand(16 * MIB, device='cuda')
        y = torch.empty_like(x)

        def copy(x, y):
            y.copy_(x)

        times = [kmb.bench(copy, (x, y), outputs=['y'], launch=mode).time_us
                 for mode in (None, 'plain')]
        self.assertLess(abs(times[0] - times[1]),
                        max(0.05, 0.01 * times[1]), times)

    def test_torch_is_as_it_was(self):
        stream = torch.cuda.Stream()
        self.works()
        gc.collect()
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated()
        with torch.cuda.stream(stream):
            self.works()
            self.assertEqual(torch.cuda.current_stream(), stream)
        self.assertEqual(torch.cuda.current_device(), 0)
        gc.collect()
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_hardware_counters(self):
        x = torch.rand(64 * MIB, device='cuda')  # past any cache
        read = 'dram__bytes_read.sum'
        try:
            found = kmb.counters(lambda x: x * 2, (x,), metrics=[read])
        except (kmb.NotPermittedError, kmb.UnsupportedError,
                kmb.UnavailableError) as error:
            self.skipTest(str(error))
        self.assertEqual((len(found.kernels), found.cache), (1, 'cold'))
        ratio = found.kernels[0].values[read] / (4 * x.numel())
        self.assertLess(abs(ratio - 1), 0.05)
        both = kmb.bench(lambda x: x * 2, (x,), launch='plain',
                         confirm_cold=True)
        self.assertEqual(both['counter_passes'], 1)
        self.works()

    @unittest.skipIf(torch.cuda.device_count() < 2, 'one GPU alone')
    def test_two_ranks_in_threads(self):
        found = [None, None]

        def rank(r, comm):
            x = torch.rand(MIB, device='cuda:%d' % r)
            found[r] = kmb.bench(lambda x: x * 2, (x,), comm=comm)

        threads = [threading.Thread(target=rank, args=(r, comm))
                   for r, comm in enumerate(kmb.Comm.threads(2))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([r['world_size'] for r in found], [2, 2])
        self.assertEqual(found[0].samples_ns, found[1].samples_ns)

    def test_how_long_a_call_takes(self):
        x = torch.rand(8 * MIB, device='cuda')
        kmb.bench(lambda x: x.sum(), (x,))
        begin = time.monotonic()
        result = kmb.bench(lambda x: x.sum(), (x,))
        print('a kernel of %.1f us: %.0f ms a call' % (
            result.time_us, 1e3 * (time.monotonic() - begin)))


class Profiler(OnCuda):
    """The last class: torch keeps CUPTI until the process ends."""

    def test_beside_the_torch_profiler(self):
        from torch.profiler import ProfilerActivity, profile
        x = torch.rand(MIB, device='cuda')
        self.assertEqual(self.works()['timer'], 'TRACE')
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            result = self.works()
            x.sum()
            torch.cuda.synchronize()
        self.assertNotEqual(result['timer'], 'TRACE')
        self.assertIn('FALLBACK_TIMER', codes(result))
        self.assertTrue(seen.events())
        self.works()
