"""Hardware counters in Python, on the virtual GPU, whose kernels a callback
launches itself: a callable on tensors needs torch with CUDA."""
import ctypes
import json
import unittest

import kmb
from kmb import _abi
from kmb.bench import LAUNCH, Plan, Settings
from kmb.counters import SOL, read
from kmb._arrays import Arguments

READ = 'dram__bytes_read.sum'
HIT = 'lts__t_sector_hit_rate.pct'
STREAM = _abi.kmb_launch.stream.offset


class Spins:
    """Launches the virtual GPU's kernel that works on no memory."""

    def __init__(self, count):
        self.count, self.calls = count, 0
        self.cuda = ctypes.CDLL('libcuda.so.1')
        context, module = ctypes.c_void_p(), ctypes.c_void_p()
        self.kernel = ctypes.c_void_p()
        for status in (
                self.cuda.cuInit(0),
                self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                self.cuda.cuCtxSetCurrent(context),
                self.cuda.cuModuleLoadData(ctypes.byref(module),
                                           b'.version 6.0'),
                self.cuda.cuModuleGetFunction(ctypes.byref(self.kernel),
                                              module, b'test_spin')):
            assert status == 0, status

    def __call__(self, _user, raw):
        self.calls += 1
        words = (ctypes.c_uint64(1000), ctypes.c_uint64(0))
        arguments = (ctypes.c_void_p * 2)(*map(ctypes.addressof, words))
        stream = ctypes.c_void_p.from_address(raw + STREAM)
        for _ in range(self.count):
            assert self.cuda.cuLaunchKernel(
                self.kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None) == 0


class OnGpu(unittest.TestCase):
    def setUp(self):
        self.spins = Spins(3)
        self.plan = Plan(kmb.Device('cuda:0'), 'spins')
        self.plan.callback('launch', LAUNCH, self.spins)
        self.addCleanup(self.plan.device.close)

    def test_the_preset_of_each_kernel(self):
        found = read(self.plan)
        self.assertEqual([k.name for k in found.kernels], ['test_spin'] * 3)
        self.assertEqual((found.passes, found.taken, found.launched,
                          found.matched), (9, 9, 3, 3))
        self.assertEqual((found.replay, found.cache, found.mode),
                         ('launch', 'cold', 'auto range, user replay'))
        for one in found.kernels:
            self.assertEqual(set(one.values) | set(one.absent),
                             {metric for _, metric, _ in SOL})
            self.assertEqual(one.values[READ], 0)
            # Nothing was asked for: there is no rate, and no 0 in its place.
            self.assertEqual(list(one.absent), [HIT])
        compute = [m for name, m, _ in SOL if name == 'COMPUTE'][0]
        self.assertEqual(found.kernels[0].values[compute], 12)

    def test_some_metrics_of_some_kernels(self):
        found = read(self.plan, [READ], kernel='^test_sp', skip=1, count=1)
        self.assertEqual((len(found.kernels), found.matched, found.passes),
                         (1, 3, 1))
        self.assertEqual(found.kernels[0].values, {READ: 0})
        for words, how in (('"sm__nonsense.sum"', {'metrics': [
                'sm__nonsense.sum']}), ('gemm', {'kernel': 'gemm'})):
            with self.assertRaisesRegex(kmb.InvalidError, words):
                read(self.plan, **how)
        with self.assertRaisesRegex(ValueError, 'no metrics'):
            read(self.plan, [])
        with self.assertRaisesRegex(ValueError, 'replay is'):
            read(self.plan, replay='twice')

    def test_a_list_reads_none(self):
        found = read(self.plan, list_only=True)
        self.assertEqual((len(found.kernels), found.taken, found.passes),
                         (3, 0, 9))
        self.assertEqual(found.kernels[0].values, {})

    def test_a_session_is_kept(self):
        self.plan.device.release_counters()
        first = read(self.plan, keep=True)
        again = read(self.plan, keep=True)
        self.assertEqual(str(first), str(again))
        self.plan.device.release_counters()
        self.assertEqual(str(read(self.plan)), str(first))

    def test_the_whole_iteration(self):
        found = read(self.plan, replay='graph')
        self.assertEqual([k.name for k in found.kernels], ['(iteration)'])
        self.assertEqual(found.replay, 'graph')

    def test_they_are_text_and_json(self):
        found = read(self.plan, [READ, HIT])
        self.assertIn('3 of 3 kernels', str(found))
        self.assertRegex(str(found), READ + ' +0 B\n')
        self.assertIn('not known: ', str(found))
        self.assertTrue(found._repr_html_().startswith('<pre>'))
        again = json.loads(json.dumps(found.to_dict()))
        self.assertEqual(again['kernels'][2]['values'], {READ: 0})

    def test_what_the_callback_raises(self):
        def raises(*_):
            raise OSError('mine')

        self.plan.callback('launch', LAUNCH, raises)
        with self.assertRaisesRegex(OSError, 'mine'):
            read(self.plan)
        self.plan.callback('launch', LAUNCH, self.spins)
        self.assertEqual(read(self.plan, [READ]).taken, 1)

    def test_after_a_measurement(self):
        for how in ({'confirm_cold': True}, {'counters': True}):
            Settings(timer='trace', launch='plain', min_wall_ms=1e-6,
                     max_wall_ms=6e5, min_samples=8, max_samples=8,
                     warmup_ms=0, confirm=False, ceilings=False, batch=1,
                     **how).apply(self.plan, Arguments(Spins, (), {}))
            result = self.plan.measure()
            self.assertEqual(result['dram_read_bytes'], 0)
            self.assertEqual(result['counter_passes'],
                             9 if 'counters' in how else 1)


class OnHost(unittest.TestCase):
    def test_there_are_none(self):
        with self.assertRaises(kmb.UnsupportedError):
            kmb.counters(sum, ([1],))
        for how in ({'confirm_cold': True}, {'counters': True}):
            result = kmb.bench(sum, ([1],), max_samples=8, min_wall_ms=1e-6,
                               ceilings=False, warmup_ms=0, **how)
            self.assertIsNone(result.get('counter_passes'))
            self.assertIn('host', result.why_absent('counter_passes'))
