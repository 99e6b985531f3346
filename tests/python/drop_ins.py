"""The drop-ins of kmb.testing on the host: shapes, units, warnings, records."""
import inspect
import json
import os
import statistics
import tempfile
import threading
import unittest
import warnings
from unittest import mock

import kmb
from kmb import testing

FLASHINFER = ['bench_gpu_time', 'bench_gpu_time_with_cuda_event',
              'bench_gpu_time_with_cudagraph', 'bench_gpu_time_with_cupti']
# Parameters as FlashInfer 0.7.4 and Triton 3.6 have them, in order.
COMMON = 'fn dry_run_iters repeat_iters dry_run_time_ms repeat_time_ms '
FLUSH = 'l2_flush l2_flush_size_mb l2_flush_device sleep_after_run '
ENDING = 'input_args input_kwargs cold_l2_cache aggregate_op'
SHAPES = {
    'bench_gpu_time': COMMON + FLUSH + 'enable_cupti use_cuda_graph '
                      'num_iters_within_graph ' + ENDING,
    'bench_gpu_time_with_cuda_event': COMMON + FLUSH + ENDING,
    'bench_gpu_time_with_cudagraph': COMMON + 'num_iters_within_graph ' +
                                     FLUSH + ENDING,
    'bench_gpu_time_with_cupti': COMMON + FLUSH + 'use_cuda_graph ' + ENDING,
    'do_bench': 'fn warmup rep grad_to_none quantiles return_mode',
    'do_bench_cudagraph': 'fn rep grad_to_none quantiles return_mode',
}


def callee(n=20000):
    return sum(range(n))


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return function(*args, **kwargs)


class DropIns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'results.jsonl')
        def brief(*args, **kwargs):
            limit = 6e5 if 'max_samples' in kwargs else 50
            return kmb.bench(*args, max_wall_ms=limit, confirm=False,
                             **kwargs)

        for patch in (mock.patch.dict(os.environ, {'KMB_RESULTS': self.path}),
                      mock.patch.object(testing, 'bench', brief)):
            patch.start()
            self.addCleanup(patch.stop)

    def recorded(self):
        with open(self.path, encoding='utf-8') as file:
            return [kmb.loads(line)[0] for line in file]

    def test_parameters_are_those_of_the_originals(self):
        for name, shape in SHAPES.items():
            found = inspect.signature(getattr(testing, name)).parameters
            self.assertEqual(list(found), shape.split(), name)
        for name in FLASHINFER:
            found = inspect.signature(getattr(testing, name)).parameters
            self.assertEqual(
                [found[p].default for p in (
                    'dry_run_iters', 'repeat_iters', 'dry_run_time_ms',
                    'repeat_time_ms', 'input_args', 'cold_l2_cache')],
                [None, None, 25, 100, (), True])

    def test_times_are_in_milliseconds_and_recorded_whole(self):
        times = quiet(testing.bench_gpu_time, callee, repeat_iters=20,
                      input_args=(30000,))
        self.assertEqual(len(times), 20)
        result, = self.recorded()
        self.assertEqual(times, [ns / 1e6 for ns in result.samples_ns])
        self.assertEqual(result.name, 'callee')
        self.assertIsInstance(result.findings, tuple)
        self.assertTrue(result.metadata)

    def test_each_of_flashinfer_s_returns_a_list(self):
        for name in FLASHINFER:
            times = quiet(getattr(testing, name), callee, repeat_iters=10,
                          input_kwargs={'n': 20000}, cold_l2_cache=False)
            self.assertEqual(len(times), 10)
            self.assertEqual(self.recorded()[-1]['cache_state'], 'WARM')

    def test_triton_s_return_a_number_or_what_is_asked_for(self):
        mean = quiet(testing.do_bench, callee, rep=1)
        self.assertIsInstance(mean, float)
        result = self.recorded()[-1]
        self.assertAlmostEqual(
            mean, statistics.mean(result.samples_ns) / 1e6)
        for mode, of in (('min', min), ('max', max),
                         ('median', statistics.median), ('all', list)):
            value = quiet(testing.do_bench, callee, rep=1, return_mode=mode)
            ns = self.recorded()[-1].samples_ns
            self.assertEqual(value, of([n / 1e6 for n in ns]), mode)
        several = quiet(testing.do_bench_cudagraph, callee, rep=1,
                        quantiles=[0.0, 0.5, 1.0])
        ns = self.recorded()[-1].samples_ns
        self.assertEqual([several[0], several[2]],
                         [min(ns) / 1e6, max(ns) / 1e6])
        self.assertAlmostEqual(several[1], statistics.median(ns) / 1e6)
        one = quiet(testing.do_bench, callee, rep=1, quantiles=[0.5])
        self.assertIsInstance(one, float)
        with self.assertRaisesRegex(ValueError, 'return_mode'):
            testing.do_bench(callee, return_mode='mode')

    def test_quantiles_lie_between_samples(self):
        self.assertEqual(testing._quantile([1.0, 2.0, 4.0], 0.75), 3.0)
        self.assertEqual(testing._quantile([1.0], 1.0), 1.0)
        with self.assertRaises(ValueError):
            testing._quantile([1.0], 1.5)

    def test_gradients_are_forgotten_before_each_call(self):
        class Tensor:
            grad = 1

        tensor, seen = Tensor(), []

        def fn():
            seen.append(tensor.grad)
            tensor.grad = 1

        quiet(testing.do_bench, fn, warmup=0, rep=1, grad_to_none=[tensor])
        self.assertEqual(set(seen[1:]), {None})

    def test_findings_become_warnings_where_the_caller_stands(self):
        for function in (testing.do_bench, testing.bench_gpu_time):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter('always')
                function(lambda: None)
            found = [w for w in caught
                     if issubclass(w.category, testing.FindingWarning)]
            self.assertTrue([w for w in found
                             if 'OVERHEAD' in str(w.message)])
            self.assertEqual({w.filename for w in found}, {__file__})
            self.assertFalse([w for w in found
                              if str(w.message).startswith('note')])

    def test_a_tracer_that_is_not_there_is_said(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            testing.bench_gpu_time_with_cupti(callee, repeat_iters=10)
        self.assertTrue([w for w in caught
                         if 'FALLBACK_TIMER' in str(w.message)])

    def test_deprecated_parameters_count(self):
        with self.assertWarns(DeprecationWarning):
            testing.bench_gpu_time(callee, repeat_iters=10, l2_flush=False)
        self.assertEqual(self.recorded()[-1]['cache_requested'], 'WARM')

    def test_lines_of_several_threads_do_not_mix(self):
        result = kmb.bench(callee, min_samples=20, max_samples=20)
        threads = [threading.Thread(target=testing._record, args=(result,))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.recorded()), 8)

    def test_a_file_that_cannot_be_written(self):
        with mock.patch.dict(os.environ, {'KMB_RESULTS': '/nowhere/r'}):
            with self.assertRaises(OSError):
                quiet(testing.do_bench, callee, rep=1)
        with mock.patch.dict(os.environ, {'KMB_RESULTS': ''}):
            quiet(testing.do_bench, callee, rep=1)
        self.assertFalse(os.path.exists(self.path))

    def test_what_the_callable_raises(self):
        with self.assertRaises(ZeroDivisionError):
            testing.do_bench(lambda: 1 // 0)
        self.assertFalse(os.path.exists(self.path))

    def test_the_lines_are_of_the_schema_s_kind(self):
        quiet(testing.do_bench, callee, rep=1)
        with open(self.path, encoding='utf-8') as file:
            document = json.loads(file.readline())
        self.assertEqual(document['schema'], 'kmb-result')
