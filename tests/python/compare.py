"""Comparisons in Python, on the host backend."""
import os
import signal
import sys
import unittest
from unittest import mock

import kmb
from kmb import _arrays

FEW = {'min_wall_ms': 1e-6, 'max_wall_ms': 6e5, 'tune_wall_ms': 6e5,
       'warmup_ms': 0, 'min_cycles': 8, 'max_cycles': 8, 'turn': 1, 'batch': 1}
VERDICTS = {'faster', 'slower', 'same', 'unresolved'}


def few(candidates, *args, **kwargs):
    return kmb.compare(candidates, *args, **{**FEW, **kwargs})


def spend(n=100, **_):
    return sum(range(n))


class Compare(unittest.TestCase):
    def test_callables_are_called_with_the_arguments_of_all(self):
        seen = {'a': [], 'b': []}
        both = few({k: lambda *a, to=v, **kw: to.append((a, kw))
                    for k, v in seen.items()}, (1, 'two'), {'three': 3},
                   axes={'n': 1}, name='pair')
        for calls in seen.values():
            self.assertGreaterEqual(len(calls), 16)
            self.assertEqual({repr(c) for c in calls},
                             {"((1, 'two'), {'three': 3})"})
        self.assertEqual([r.name for r in both.rows], ['a', 'b'])
        self.assertEqual(both.rows[0].verdict, 'baseline')
        self.assertIsNone(both.rows[0].ratio)
        self.assertIn(both.rows[1].verdict, VERDICTS)
        self.assertTrue(both.rows[1].reason)
        self.assertIsNone(both.rows[1].config)
        self.assertEqual(both['b'].result.axes, {'n': '1'})
        self.assertIs(both['b'], both.rows[1])
        with self.assertRaisesRegex(KeyError, 'c is none of a, b'):
            both['c']

    def test_rows_are_those_of_the_document(self):
        both = few({'a': spend, 'b': spend}, metadata={'k': 'v'})
        whole = both.to_dict()
        self.assertEqual(whole['schema'], 'kmb-comparison')
        found, row = whole['rows'][1], both.rows[1]
        for key in ('name', 'verdict', 'reason', 'ratio', 'low', 'high',
                    'confidence'):
            self.assertEqual(getattr(row, key), found[key], key)
        self.assertEqual(len(found['ratios']), 8)
        for one, result in zip(both.rows, whole['document']['results']):
            self.assertEqual(one.result.name, one.name)
            self.assertEqual(one.result.time_ns, result['time_ns'])
            self.assertEqual(one.result.samples_ns, result['samples_ns'])
            self.assertEqual(one.result.metadata['caller.k'], 'v')
            self.assertGreater(float(
                one.result.metadata['caller.python.call_overhead_ns']), 0)

    def test_what_calling_python_costs_is_said(self):
        both = few({'a': lambda: None, 'b': lambda: None})
        for row in both.rows:
            self.assertTrue([f for f in row.result.findings
                             if 'python_call_ns' in f.figures])

    def test_a_comparison_is_text_json_and_html(self):
        both = few({'<b>&': spend, 'other': spend}, name='<i>')
        self.assertIn('<i>: 2 candidates', str(both))
        self.assertIn('<b>&', str(both))
        self.assertIn('"kmb-comparison"', both.to_json())
        both.to_dict()['rows'].clear()
        self.assertEqual(len(both.to_dict()['rows']), 2)
        page = both._repr_html_()
        self.assertIn('&lt;b&gt;&amp;', page)
        self.assertIn('&lt;i&gt;', page)
        self.assertIn(both.rows[1].verdict, page)
        self.assertNotIn('<b>', page)
        self.assertIn('other ' + both.rows[1].verdict, repr(both))

    def test_candidates_with_arguments_of_their_own(self):
        seen = []

        def note(*args, **kwargs):
            seen.append((args, kwargs))

        few([('a', note), ('b', note, (2,)), ('c', note, (3,), {'k': 3}),
             ('d', kmb.Candidate(note, kwargs={'k': 4}))], (1,))
        for one in (((1,), {}), ((2,), {}), ((3,), {'k': 3}),
                    ((1,), {'k': 4})):
            self.assertGreaterEqual(seen.count(one), 16, one)

    def test_the_baseline_is_named_or_counted(self):
        three = {'a': spend, 'b': spend, 'c': spend}
        for baseline in ('b', 1):
            self.assertEqual(
                [r.name for r in few(three, baseline=baseline).rows
                 if r.verdict == 'baseline'], ['b'])

    def test_how_to_compare_is_passed_on(self):
        whole = few({'a': spend, 'b': spend}, threshold_pct=7, turn=3,
                    max_cycles=9, min_cycles=9, seed=0).to_dict()
        self.assertEqual(whole['threshold_pct'], 7)
        self.assertEqual(whole['turn_samples'], 3)
        self.assertEqual(whole['cycles'], 9)

    def test_work_gives_the_roofline(self):
        self.assertEqual(
            few({'a': spend, 'b': spend}, work=kmb.work.copy(10),
                device=kmb.Device('host', llc_bytes=1 << 16, threads=1))
            ['b'].result['least_bytes'], 20)

    def test_bad_arguments_are_named(self):
        pair = {'a': spend, 'b': spend}
        for words, call in (
                ('baseline is \'c\'', lambda: few(pair, baseline='c')),
                ('baseline is 2', lambda: few(pair, baseline=2)),
                ('baseline is -1', lambda: few(pair, baseline=-1)),
                ('baseline is 0 of 0', lambda: few({})),
                ('n both as a knob', lambda: few(
                    pair, kwargs={'n': 1}, knobs={'n': [1]})),
                ('Candidate, which', lambda: few(
                    [('a', kmb.Candidate(spend), (1,)), ('b', spend)])),
                ('both named', lambda: few([('a', spend), ('a', spend)])),
                (r"knobs\['n'\] has no values", lambda: few(
                    pair, knobs={'n': []}))):
            with self.assertRaisesRegex(ValueError, words):
                call()
        few(pair)

    def test_a_check_that_fails(self):
        few({'a': spend, 'b': spend}, check=lambda r: r == 4950)
        with self.assertRaises(kmb.IncorrectError) as caught:
            few({'a': spend, 'wrong': lambda: 7}, check=lambda r: r == 4950)
        self.assertIn('wrong', str(caught.exception))
        few({'a': spend, 'b': spend}, check=lambda r: 0.5, tolerance=1)
        with self.assertRaises(kmb.IncorrectError):
            few({'a': spend, 'b': spend}, check=lambda r: 2.0, tolerance=1)


class Knobs(unittest.TestCase):
    def test_each_configuration_is_given_as_keyword_arguments(self):
        seen, blocks = set(), (64, 128)
        both = few({'plain': spend, 'tuned': kmb.Candidate(
            lambda n, block, order: seen.add((n, block, order)) or spend(n),
            knobs={'block': blocks, 'order': ['ij', None]})}, (100,))
        self.assertEqual(seen, {(100, b, o) for b in blocks
                                for o in ('ij', None)})
        tuning = both.to_dict()['rows'][1]['tuning']
        self.assertEqual((tuning['configs'], tuning['measured']), (4, 4))
        kept = both['tuned'].config
        self.assertEqual('block=%s, order=%s' % (
            kept['block'], kept['order']), tuning['text'])
        self.assertIn(kept['block'], blocks)
        self.assertIsNone(both['plain'].config)

    def test_the_numbers_of_configurations_are_the_library_s(self):
        both = few({'plain': spend, 'tuned': kmb.Candidate(
            spend, knobs={'a': [1, 2, 3], 'b': ['x', 'y']})})
        configs = sys.modules['kmb.compare']._Configs(
            {'a': [1, 2, 3], 'b': ['x', 'y']})
        for arm in both.to_dict()['rows'][1]['tuning']['arms']:
            self.assertEqual(arm['text'],
                             'a={a}, b={b}'.format(**configs[arm['config']]))

    def test_knobs_of_all_and_of_none(self):
        both = few({'tuned': spend, 'plain': kmb.Candidate(
            lambda: spend(), knobs={})}, knobs={'n': [10]})
        self.assertEqual(both['tuned'].config, {'n': 10})
        self.assertIsNone(both['plain'].config)

    def test_a_configuration_that_is_wrong_is_not_kept(self):
        both = few({'plain': spend, 'tuned': kmb.Candidate(
            lambda bad: -1 if bad else spend(), knobs={'bad': [True, False]})},
                   check=lambda returned: returned == 4950)
        self.assertEqual(both['tuned'].config, {'bad': False})
        tuning = both.to_dict()['rows'][1]['tuning']
        self.assertEqual((tuning['measured'], tuning['failed']), (1, 1))
        self.assertIn('ERR_INCORRECT', [a.get('status')
                                        for a in tuning['arms']])


class Faults(unittest.TestCase):
    def test_what_a_callable_raises_comes_out_as_it_is(self):
        calls, error = [], OSError('mine')

        def bad():
            calls.append(1)
            if len(calls) == 5:
                raise error

        with self.assertRaises(OSError) as caught:
            few({'a': spend, 'bad': bad})
        self.assertIs(caught.exception, error)
        self.assertEqual(len(calls), 5)
        few({'a': spend, 'b': spend})

    def test_while_tuning_it_ends_the_comparison_at_once(self):
        tried = []

        def bad(k):
            tried.append(k)
            if len(tried) == 1 + tried.count(tried[0]):
                raise OSError('the second one')

        with self.assertRaisesRegex(OSError, 'the second one'):
            few({'bad': kmb.Candidate(bad, knobs={'k': range(9)}),
                 'b': spend})
        self.assertEqual(len(set(tried)), 2)
        few({'a': spend, 'b': spend})  # what it cancelled is taken back

    def test_a_check_that_raises(self):
        def check(_):
            raise ZeroDivisionError('in the check')

        with self.assertRaisesRegex(ZeroDivisionError, 'in the check'):
            few({'a': spend, 'b': spend}, check=check)

    def test_the_caller_s_cancel_stays(self):
        with kmb.Device('host') as device:
            def bad():
                device.cancel()
                raise OSError('mine')

            with self.assertRaises(OSError):
                few({'bad': bad, 'b': spend}, device=device)
            with self.assertRaises(kmb.CancelledError):
                few({'a': spend, 'b': spend}, device=device)
            device.cancel(False)
            few({'a': spend, 'b': spend}, device=device)

    def test_ctrl_c_ends_it(self):
        calls = []

        def interrupted(k=0):
            calls.append(k)
            if len(calls) == 3:
                os.kill(os.getpid(), signal.SIGINT)

        for knobs in ({}, {'k': range(5)}):
            calls.clear()
            with self.assertRaises(KeyboardInterrupt):
                kmb.compare({'a': kmb.Candidate(interrupted, knobs=knobs),
                             'b': spend}, min_wall_ms=6e5, max_wall_ms=6e5)
            self.assertEqual(len(set(calls)), 1)
        few({'a': spend, 'b': spend})

    def test_gpus_are_refused_with_a_sentence(self):
        pair = {'a': spend, 'b': spend}
        with self.assertRaisesRegex(kmb.UnsupportedError,
                                    'host alone, not on cuda:0; measure each'):
            few(pair, device='cuda:0')
        there = _arrays.Region(0, 4, 'cuda:1', [])
        with mock.patch.object(_arrays.Arguments, '_merged',
                               lambda _: [there]):
            for device in (None, 'host'):
                with self.assertRaisesRegex(kmb.UnsupportedError,
                                            'not on cuda:1'):
                    few(pair, device=device)
