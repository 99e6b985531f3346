"""Arrays of torch and numpy among the arguments, on the host."""
import collections
import contextlib
import functools
import io
import os
import re
import shutil
import tempfile
import unittest
from unittest import mock

import numpy
import torch

import kmb
from kmb import _arrays

NEEDS = 'torch numpy'
SOURCE = ''
QUICK = {'min_samples': 60, 'max_samples': 60, 'min_wall_ms': 1e-6,
         'max_wall_ms': 6e5, 'warmup_ms': 0, 'confirm': False, 'batch': 1}


def device():
    return kmb.Device('host', llc_bytes=1 << 16, threads=1)


def quick(fn, *args, **kwargs):
    return kmb.bench(fn, *args, **{**QUICK, 'device': device(), **kwargs})


def same(fn, *args, **kwargs):
    """The arguments in one more slot."""
    arguments = _arrays.Arguments(fn, args, kwargs)
    call, places = (arguments.args, arguments.kwargs), []
    for region in arguments.regions:
        memory = _arrays.Memory(region)
        call = memory.moved(call)
        places.append(memory.low)
    return arguments, call[0], call[1], places


Pair = collections.namedtuple('Pair', 'x y')


class Slots(unittest.TestCase):
    def test_what_named_tuples_and_ordered_dicts_hold_takes_turns(self):
        for one, first in ((Pair(torch.rand(4096), 1), lambda p: p.x),
                           (collections.OrderedDict(x=torch.rand(4096)),
                            lambda p: p['x'])):
            seen = set()

            def note(p, seen=seen, first=first):
                seen.add((type(p), first(p).data_ptr()))

            quick(note, (one,))
            self.assertEqual(len(seen), 2 * 65536 // (4096 * 4) + 1)
            self.assertEqual({kind for kind, _ in seen}, {type(one)})
            quick(lambda p, first=first: first(p).zero_(), (one,),
                  mutates=['p'])
            self.assertGreater(float(first(one).sum()), 0)

    def test_a_change_that_was_not_named_is_found(self):
        def found(result):
            return [f.message for f in result.findings
                    if 'not named in mutates' in f.message]

        x, y = torch.rand(64), torch.rand(64)
        result = quick(lambda x, y: x.add_(y), (x, y))
        words, = found(result)
        self.assertIn('mutates: x;', words)
        self.assertIn('STATE_CARRIED', [f.code for f in result.findings])
        self.assertEqual(found(quick(lambda x, y: x.add_(y), (x, y),
                                     mutates=['x'])), [])
        self.assertEqual(found(quick(lambda x, y: x + y, (x, y))), [])
        with torch.inference_mode():
            z = torch.rand(64)
        self.assertEqual(found(quick(lambda z: z + 1, (z,))), [])
        both = kmb.compare({'a': torch.Tensor.exp, 'b': torch.Tensor.exp_},
                           (x,), device=device(), min_cycles=8, max_cycles=8,
                           min_wall_ms=1e-6, warmup_ms=0, any_cache=True)
        self.assertTrue(found(both['b'].result))

    def test_parameters_stay_parameters(self):
        for needed in (True, False):
            given = torch.nn.Parameter(torch.rand(8), needed)
            _, (copy,), _, _ = same(lambda v: None, given)
            self.assertIs(type(copy), torch.nn.Parameter)
            self.assertEqual((copy.requires_grad, copy.is_leaf),
                             (needed, True))
            self.assertTrue(torch.equal(copy, given))
            self.assertNotEqual(copy.data_ptr(), given.data_ptr())

    def test_lazy_views_keep_their_sign(self):
        x = torch.rand(8, dtype=torch.complex64)
        for view in (x.conj(), x.conj().imag):
            _, (copy,), _, _ = same(lambda v: None, view)
            self.assertNotEqual(copy.data_ptr(), view.data_ptr())
            self.assertEqual((copy.is_conj(), copy.is_neg()),
                             (view.is_conj(), view.is_neg()))
            self.assertTrue(torch.equal(copy.resolve_conj().resolve_neg(),
                                        view.resolve_conj().resolve_neg()))

    def test_inputs_take_turns(self):
        x = torch.rand(4096)
        seen = set()
        result = quick(lambda x: seen.add(x.data_ptr()), (x,))
        self.assertEqual(result['cache_state'], 'ROTATED')
        # Twice the cache between two uses, and one more.
        self.assertEqual(len(seen), 2 * 65536 // (4096 * 4) + 1)
        self.assertEqual(result['slots'], len(seen))
        self.assertIn(x.data_ptr(), seen)
        seen.clear()
        warm = quick(lambda x: seen.add(x.data_ptr()), (x,), cache='warm')
        self.assertEqual((warm['cache_state'], len(seen)), ('WARM', 1))

    def test_too_little_memory_is_not_cold(self):
        result = quick(lambda x: None, (torch.rand(4096),),
                       memory_limit=3 * 16384)
        self.assertEqual(result['slots'], 3)
        self.assertIn('NOT_COLD', [f.code for f in result.findings])

    def test_what_is_changed_is_a_copy(self):
        x, y = torch.ones(1024), torch.zeros(1024)
        result = quick(lambda x, y: y.add_(x), (x, y), mutates=['y'])
        self.assertEqual(float(y.abs().max()), 0)
        self.assertIn('STATE_CARRIED', [f.code for f in result.findings])
        quick(lambda x, y: y.add_(x), (x, y), mutates=[1],
              reset=lambda x, y: y.zero_(),
              check=lambda r, x, y: bool((y == x).all()))
        with self.assertRaises(kmb.IncorrectError):
            quick(lambda x, y: y.add_(x), (x, y), mutates=['y'],
                  check=lambda r, x, y: bool((y == 7).all()))

    def test_outputs_are_checked(self):
        x, y = torch.rand(1024), torch.zeros(1024)

        def scale(x, out):
            torch.mul(x, 2, out=out)

        result = quick(scale, (x,), {'out': y}, outputs=['out'],
                       check=lambda r, x, out: float((out - 2 * x).abs().max()),
                       tolerance=0.0)
        self.assertEqual(result['check'], 'passed before and after timing')
        self.assertEqual(result['check_error'], 0)
        with self.assertRaisesRegex(kmb.IncorrectError, 'out'):
            quick(lambda x, out: None, (x,), {'out': y}, outputs=['out'])

    def test_checks_may_give_numbers_of_arrays(self):
        for zero, one in ((torch.zeros(()), torch.ones(())),
                          (numpy.float32(0), numpy.float32(1))):
            quick(lambda: None, check=lambda _, z=zero: z, tolerance=0.5)
            quick(lambda: None, check=lambda _, z=zero: z == 0)
            for wrong in (one, zero == 1):
                with self.assertRaises(kmb.IncorrectError):
                    quick(lambda: None, check=lambda _, w=wrong: w,
                          tolerance=0.5)

    def test_candidates_have_slots_of_their_own(self):
        x, y = torch.rand(4096), torch.zeros(4096)
        few = {'min_wall_ms': 1e-6, 'max_wall_ms': 6e5, 'tune_wall_ms': 6e5,
               'warmup_ms': 0, 'min_cycles': 8, 'max_cycles': 8, 'batch': 1}
        places = {'a': set(), 'b': set()}

        def scale(which, by):
            def scaled(x, out, factor=by):
                places[which].add((x.data_ptr(), out.data_ptr()))
                torch.mul(x, factor, out=out)
            return scaled

        both = kmb.compare(
            {'a': scale('a', 2), 'b': kmb.Candidate(
                scale('b', 0), knobs={'factor': [3, 2]})},
            (x,), {'out': y}, outputs=['out'], device=device(), tolerance=0.0,
            check=lambda r, x, out: float((out - 2 * x).abs().max()), **few)
        self.assertEqual(float(y.abs().max()), 0)
        self.assertEqual(both['b'].config, {'factor': 2})
        for row in both.rows:
            self.assertEqual(row.result['cache_state'], 'ROTATED')
            self.assertEqual(row.result['check'],
                             'passed before and after timing')
            self.assertGreaterEqual(len(places[row.name]),
                                    row.result['slots'])
        self.assertFalse({o for _, o in places['a']} &
                         {o for _, o in places['b']})
        unlike = [('warm', lambda: None, ()), ('cold', lambda x: None, (x,))]
        with self.assertRaisesRegex(kmb.InvalidError, 'ANY_CACHE'):
            kmb.compare(unlike, device=device(), **few)
        kmb.compare(unlike, device=device(), any_cache=True, **few)

    def test_warm_arguments_exist_once(self):
        weights, x, y = torch.rand(4096), torch.rand(64), torch.rand(64)
        seen, written, cold = set(), set(), set()

        def fn(weights, x, y):
            cold.add(weights.data_ptr())
            seen.add(x.data_ptr())
            written.add(y.data_ptr())
            y.fill_(1)

        quick(fn, (weights, x, y), warm=['x', 'y'], mutates=['y'])
        self.assertEqual(seen, {x.data_ptr()})
        self.assertEqual(len(written), 1)
        self.assertNotIn(y.data_ptr(), written)
        self.assertEqual(len(cold), 9)

    def test_touched_bytes_decide_how_many(self):
        pool = torch.rand(1 << 16)
        result = quick(lambda pool: None, (pool,),
                       touched={'pool': 16384}, memory_limit=1 << 30)
        self.assertEqual(result['slots'], 9)
        self.assertEqual(result['touched_bytes'], 16384)

    def test_numpy_arrays_rotate_too(self):
        x = numpy.arange(4096, dtype='f4')
        seen = set()

        def fn(several):
            seen.add(several[0].ctypes.data)
            assert several[0][7] == 7

        self.assertEqual(quick(fn, ([x],))['slots'], len(seen))
        self.assertEqual(len(seen), 9)

    def test_what_cannot_rotate_is_named(self):
        sparse = torch.eye(8).to_sparse()
        result = quick(lambda a, b: None, (sparse, torch.rand(64)))
        self.assertIn('a (Tensor)',
                      result.metadata['caller.python.not_rotated'])
        closed_over = torch.rand(4096)
        result = quick(lambda: closed_over.sum())
        self.assertEqual(result['cache_state'], 'WARM')


def measured_in_a_worker(_):
    try:
        quick(lambda: None, device=None)
    except kmb.ForkedError:
        return len(quick(lambda: None).samples_ns)
    return 'the parent\'s device works'


class Guide(unittest.TestCase):
    def test_workers_of_a_data_loader(self):
        quick(lambda: None, device=None)  # opened before they are forked
        loader = torch.utils.data.DataLoader(
            [0, 1], num_workers=2, batch_size=None,
            collate_fn=measured_in_a_worker)
        self.assertEqual(list(loader), [60, 60])
        quick(lambda: None, device=None)

    def test_what_the_guide_shows_runs(self):
        with open(SOURCE + '/docs/embedding.md', encoding='utf-8') as file:
            text = file.read()
        blocks = re.findall('```python\n(.*?)```', text, re.S)
        self.assertEqual(len(blocks), 3)
        few = {'max_wall_ms': 6e5, 'min_wall_ms': 1e-6, 'tune_wall_ms': 6e5,
               'warmup_ms': 0, 'min_cycles': 8, 'max_cycles': 8, 'batch': 1}
        words, place = io.StringIO(), {}
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, \
                contextlib.redirect_stdout(words), \
                mock.patch.object(kmb, 'bench', functools.partial(
                    kmb.bench, ceilings=False, device=device(), **QUICK)), \
                mock.patch.object(kmb, 'compare', functools.partial(
                    kmb.compare, device=device(), **few)):
            shutil.copy(SOURCE + '/tests/data/traces/offload_pipeline.csv',
                        folder + '/trace.csv')
            os.chdir(folder)
            try:
                for block in blocks:
                    exec(block, place)
                self.assertEqual(len(kmb.load('result.json')), 1)
            finally:
                os.chdir(here)
        self.assertIn('flash_fwd', words.getvalue())
        self.assertEqual(place['result']['check'],
                         'passed before and after timing')
        self.assertEqual(place['both'].to_dict()['rows'][1]['tuning'][
            'failed'], 0)


class Copies(unittest.TestCase):
    def test_they_lie_as_the_originals_do(self):
        base = torch.arange(4096, dtype=torch.float32)
        x = base[3:1027].view(32, 32).t()
        _, new, _, _ = same(lambda x: None, x)
        self.assertEqual(new[0].stride(), x.stride())
        self.assertEqual(new[0].data_ptr() % 256, x.data_ptr() % 256)
        self.assertNotEqual(new[0].data_ptr(), x.data_ptr())
        self.assertTrue(torch.equal(new[0], x))

    def test_aliases_stay_aliases(self):
        qkv = torch.arange(96, dtype=torch.bfloat16).view(4, 24)
        q, k = qkv[:, :8], qkv[:, 8:16]
        arguments, new, kwargs, places = same(lambda q, *r, **k: None, q, [k],
                                              whole=qkv)
        self.assertEqual(len(arguments.regions), 1)
        self.assertEqual(arguments.regions[0].name, 'q+whole+args[1][0]')
        self.assertEqual(places, [new[0].data_ptr()])
        new[0].fill_(-1)
        self.assertEqual(float(kwargs['whole'][2, 3]), -1)
        self.assertEqual(float(kwargs['whole'][2, 9]), float(qkv[2, 9]))
        self.assertEqual(new[1][0].data_ptr() - new[0].data_ptr(), 16)
        self.assertEqual(float(qkv[2, 3]), 51)

    def test_neighbours_are_no_aliases(self):
        base = torch.arange(128, dtype=torch.float32)
        arguments, _, _, _ = same(lambda a, b: None, base[:64], base[64:])
        self.assertEqual([r.nbytes for r in arguments.regions], [256, 256])

    def test_every_kind_of_number(self):
        for dtype in (torch.bool, torch.uint8, torch.int64, torch.float16,
                      torch.complex64, torch.float64):
            x = torch.ones(33, dtype=dtype)
            self.assertTrue(torch.equal(same(lambda x: None, x)[1][0], x))
            quick(lambda x: None, (x,))

    def test_gradients_are_still_wanted(self):
        w = torch.nn.Parameter(torch.rand(8))
        new = same(lambda w: None, w)[1][0]
        self.assertTrue(new.requires_grad and new.is_leaf)
        self.assertFalse(same(lambda w: None, w.detach())[1][0].requires_grad)
        quick(lambda w: w.sum().backward(), (w,))

    def test_reversed_numpy_arrays(self):
        x = numpy.arange(100, dtype='i4')[::-2]
        new = same(lambda x: None, x)[1][0]
        self.assertTrue((new == x).all())
        self.assertEqual(new.strides, x.strides)
        new[0] = 7
        self.assertEqual(x[0], 99)

    def test_nothing_to_copy(self):
        arguments, new, _, _ = same(lambda a, b: None, torch.empty(0), 3)
        self.assertEqual((arguments.regions, arguments.fixed), ([], []))
        self.assertEqual(new[1], 3)

    def test_a_tensor_and_an_array_that_share_memory(self):
        x = numpy.zeros(64, dtype='f4')
        t = torch.from_numpy(x)
        arguments, new, _, _ = same(lambda t, x: None, t, x)
        self.assertEqual(len(arguments.regions), 1)
        new[0].fill_(3)
        self.assertEqual(new[1][5], 3)
        self.assertEqual(x[5], 0)
