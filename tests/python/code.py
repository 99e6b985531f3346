"""Captured code in Python, on the virtual GPU, whose kernels a callable launches
itself."""
import ctypes
import hashlib
import json
import os
import tempfile
import unittest

import kmb


class Work:
    """Loads a module of the virtual GPU's and launches its kernel."""

    def __init__(self):
        self.cuda = ctypes.CDLL('libcuda.so.1')
        context, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        self.kernel, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.call('cuInit', 0)
        self.call('cuDevicePrimaryCtxRetain', ctypes.byref(context), 0)
        self.call('cuCtxSetCurrent', context)
        self.call('cuStreamCreate', ctypes.byref(self.stream), 1)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        assert status == 0, (name, status)

    def load(self):
        self.call('cuModuleLoadData', ctypes.byref(self.module),
                  b'.version 6.0')
        self.call('cuModuleGetFunction', ctypes.byref(self.kernel),
                  self.module, b'test_spin')

    def __call__(self, blocks, load=True):
        if load:
            self.load()
        words = (ctypes.c_uint64(1000), ctypes.c_uint64(0))
        arguments = (ctypes.c_void_p * 2)(*map(ctypes.addressof, words))
        for shared in (0, 0, 4096):
            self.call('cuLaunchKernel', self.kernel, blocks, 1, 1, 64, 1, 1,
                      shared, self.stream, arguments, None)


class OnGpu(unittest.TestCase):
    def setUp(self):
        self.work = Work()
        self.device = kmb.Device('cuda:0')
        self.addCleanup(self.device.close)

    def capture(self, **how):
        return kmb.capture(self.work, (2,), how, device=self.device)

    def test_kernels_have_all_that_is_known(self):
        code = self.capture()
        self.assertEqual((code.images, code.graph_launches, code.elsewhere),
                         (1, 0, 0))
        first, second = code.kernels
        self.assertEqual((first.name, first.architecture, first.demangled),
                         ('test_spin', 'sm_90', None))
        self.assertEqual((first.grid, first.block, first.launches),
                         ((2, 1, 1), (64, 1, 1), 2))
        self.assertEqual((first.registers, first.static_shared_bytes,
                          first.local_bytes, first.max_threads,
                          first.blocks_per_unit), (38, 128, 16, 1024, 24))
        self.assertEqual((second.launches, second.dynamic_shared_bytes),
                         (1, 4096))
        # What only AMD's code objects tell.
        for key in ('scalar_registers', 'accumulator_registers',
                    'spilled_registers', 'spilled_scalar_registers'):
            self.assertIsNone(getattr(first, key))
        image = code.image(0)
        self.assertEqual(first.sha256, hashlib.sha256(image).hexdigest())
        part = image[first.code_offset:first.code_offset + first.code_bytes]
        self.assertEqual(first.code_sha256, hashlib.sha256(part).hexdigest())
        self.assertIsNone(first.reason)
        self.assertIn('test_spin', repr(code))

    def test_what_is_not_known_is_none(self):
        self.work.load()
        code = self.capture(load=False)
        first = code.kernels[0]
        self.assertEqual((first.sha256, first.code_sha256, first.code_bytes,
                          first.file), (None,) * 4)
        self.assertIn('before the capture', first.reason)
        with self.assertRaisesRegex(kmb.UnavailableError, 'before the'):
            code.image(0)
        with self.assertRaises(kmb.InvalidError):
            code.image(2)

    def test_results_list_it(self):
        code = self.capture()
        result = kmb.bench(sum, ([1],), device='host', code=code, batch=1,
                           max_samples=8, min_samples=8, min_wall_ms=1e-6,
                           warmup_ms=0, ceilings=False, confirm=False)
        self.assertEqual(result.code, code.kernels)
        again = kmb.loads(result.to_json())[0]
        self.assertEqual(again.code, code.kernels)
        self.assertEqual(again['code'][0]['registers'], 38)

    def test_images_are_saved(self):
        code = self.capture()
        with tempfile.TemporaryDirectory() as folder:
            where = os.path.join(folder, 'result.d')
            code.save(where)
            self.assertEqual(os.listdir(where), [code.kernels[0].file])
            with open(os.path.join(where, code.kernels[0].file),
                      'rb') as file:
                self.assertEqual(file.read(), code.image(0))
        with self.assertRaisesRegex(kmb.Error, '/nowhere'):
            code.save('/nowhere/result.d')

    def test_what_the_callable_raises(self):
        with self.assertRaisesRegex(ZeroDivisionError, 'division'):
            kmb.capture(lambda: 1 // 0, device=self.device)
        self.assertEqual(len(self.capture().kernels), 2)


class WithoutGpu(unittest.TestCase):
    def test_the_host_captures_none(self):
        with self.assertRaisesRegex(kmb.UnsupportedError, 'host captures no'):
            kmb.capture(sum, ([1],))

    def test_what_is_made_by_hand_is_refused(self):
        for kind in (kmb.Code, kmb.Result):
            with self.assertRaisesRegex(TypeError, 'not made by hand'):
                kind(3)

    def test_results_without_code_have_none(self):
        result = kmb.bench(sum, ([1],), max_samples=8, min_samples=8, batch=1,
                           min_wall_ms=1e-6, warmup_ms=0, ceilings=False,
                           confirm=False)
        self.assertEqual(result.code, ())

    def test_amds_rows_are_read(self):
        result = kmb.bench(sum, ([1],), max_samples=8, min_samples=8, batch=1,
                           min_wall_ms=1e-6, warmup_ms=0, ceilings=False,
                           confirm=False)
        whole = json.loads(result.to_json())
        whole['results'][0]['code'] = [{
            'name': 'k', 'architecture': 'gfx942', 'grid': [1, 2, 3],
            'block': [4, 5, 6], 'launches': 7, 'dynamic_shared_bytes': 8,
            'scalar_registers': 9, 'accumulator_registers': 10,
            'spilled_registers': 11, 'spilled_scalar_registers': 12}]
        one, = kmb.loads(json.dumps(whole))[0].code
        self.assertEqual(one, kmb.CodeKernel(
            'k', (1, 2, 3), (4, 5, 6), 7, 8, architecture='gfx942',
            scalar_registers=9, accumulator_registers=10,
            spilled_registers=11, spilled_scalar_registers=12))
        self.assertIsNone(one.registers)
