#!/usr/bin/env python3
"""What sets figures of a GPU beside their bars and makes tables of them, on
figures that are made up.

usage: gpu_scripts.py SOURCE_DIR KMB
"""
import copy
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SOURCE, KMB = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
for folder in ('scripts', 'bench'):
    sys.path.insert(0, os.path.join(SOURCE, folder))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import code_gpu  # noqa: E402
import gpu_bars  # noqa: E402
import gpu_tables  # noqa: E402
import payoff_step  # noqa: E402
import peers_counters  # noqa: E402
# Only what judges figures is of interest here.
with unittest.mock.patch.dict(sys.modules, {
        name: unittest.mock.MagicMock()
        for name in ('torch', 'kmb', 'kmb._arrays', 'kmb._library',
                     'gpu_front')}):
    import peers_torch  # noqa: E402

HEAD = {'device': 'Made up', 'driver': '1.2', 'date': '2026-01-02T03:04:05Z',
        'torch': '2', 'triton': '3'}
COUNTED = {'name': 'read 8 MiB', 'state': 'cold', 'wall_ms': [400, 350],
           'kernel': 'test_read', 'written_bytes': 0, 'kept_ms': 200,
           'cold_ratio': 1.001, 'time_us': 3.5,
           'occupancy': {'checked': True},
           'metrics': {m: 40.0 for m in peers_counters.COMPARED},
           'metrics_kept': {m: 40.2 for m in peers_counters.COMPARED}}
PRODUCT = {**COUNTED, 'name': 'bf16 product', 'kernel': 'nvjet_sm90_tst',
           'written_bytes': 240 << 20, 'time_us': 80}
WARM = {**COUNTED, 'state': 'warm', 'cold_ratio': 0, 'metrics': {
    **COUNTED['metrics'], peers_counters.READ: 0, peers_counters.HIT: 99},
    'metrics_kept': {**COUNTED['metrics'], peers_counters.READ: 4096,
                     peers_counters.HIT: 98}}
PAIRS = {'pairs': 50, 'faster': 0, 'slower': 0, 'same': 50, 'unresolved': 0,
         'failed': 0, 'median_ratio': 1, 'median_wall_ms': 100}
CASE = {'skew_p50_us': 0.5, 'skew_p99_us': 1.0, 'barrier': 'FLAG: flags'}


def results(name, *indices):
    """A document of some results that were recorded once."""
    with open(os.path.join(SOURCE, 'bench', 'results', name + '-h200.json'),
              encoding='utf-8') as file:
        document = json.load(file)
    document['results'] = [document['results'][i] for i in indices]
    return document


def reduced(size):
    document = results('copy', 0)
    one = document['results'][0]
    one['axes'] = [{'key': 'bytes', 'value': str(size)}]
    one['metadata']['caller.nccl_tests_us'] = '5.5'
    return one


def scattered(name):
    document = results('copy', 0)
    one = document['results'][0]
    one.update(name=name, flops=1 << 30, release_skew_ns=300.0,
               axes=[{'key': 'shape', 'value': '64x64x64'},
                     {'key': 'ranks', 'value': '2'}],
               ranks=[{'median_ns': 2e3}, {'median_ns': 3e3}])
    return one


DOCUMENTS = {
    'compare': {**HEAD, 'identical': PAIRS,
                'three_pct_more': {**PAIRS, 'slower': 50, 'same': 0},
                'after_idleness': {'turns_error_pct': 0.01,
                                   'apart_error_pct': 0.02},
                'drift': {'turns_error_pct': 0.1, 'apart_error_pct': 3}},
    'ranks': {**HEAD, 'cases': [
        {'case': 'auto', 'value': 0, 'time_us': 20, **CASE},
        {'case': 'x, late before the gate', 'value': 0, 'time_us': 9, **CASE},
        {'case': 'x, late before the gate', 'value': 50, 'time_us': 9.2,
         **CASE},
        {'case': 'spin, late inside', 'value': 0, 'time_us': 20, **CASE},
        {'case': 'spin, late inside', 'value': 50, 'time_us': 70.5, **CASE}]},
    'allreduce': {**results('copy', 0),
                  'results': [reduced(1 << 10), reduced(1 << 30)]},
    'threads_gemm_rs': {**results('copy', 0), 'results': [
        scattered(name) for name in ('gemm and reduce-scatter', 'gemm alone',
                                     'reduce-scatter alone')]},
    'code': {'change_pct': -0.1, 'cubin': True},
    'code_gpu': {**HEAD, 'bars': [
        {'name': 'spills', 'bar': 'a flag', 'ok': True, 'kernels': [
            {'name': 'q', 'reason': 'no image'},
            {'name': 'k', 'code': [{'name': 'k', 'registers': 32, 'classes': {
                'hgmma': 4, 'global_load_16': 2, 'integer': 9},
                                    'flags': [{'flag': 'SPILLS'}]}]}]},
        {'name': 'the image', 'bar': 'the same', 'ok': True,
         'cuobjdump': {}}],
                 'times': {'wide': {'us': 21.5, 'gb_s': 4000.4,
                                    'sol_pct': 83.21, 'timer': 'TRACE',
                                    'cache': 'COLD'}}},
    'peers_torch': {**HEAD, 'wall': {'us': 20.1, 'median_ms': 80}, 'rows': [
        {'name': 'copy', 'kmb_us': 1.5, 'kmb_c_us': 1.49, 'do_bench': 4,
         'do_bench_cudagraph': None, 'ok': True},
        {'name': 'q', 'kmb_us': 9, 'kmb_c_us': 8, 'same_kernels': False,
         'ok': False}],
                    'bars': [{'name': 'agree', 'value': 1, 'bar': 'all of 2',
                              'ok': False}]},
}


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, value):
        path = os.path.join(self.folder, name + '.json')
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(value, file)
        return path

    def bars(self, **changed):
        for name, document in {**DOCUMENTS, **changed}.items():
            self.write(name, document)
        return {r['name']: r for r in gpu_bars.collect(self.folder)}

    def test_figures_stand_beside_their_bars(self):
        rows = self.bars()
        self.assertTrue(rows['release skew, p99, us']['ok'])
        self.assertTrue(rows['pairs with 3% more work found, of 50']['ok'])
        self.assertTrue(rows['drift: error in turns, %']['ok'])
        self.assertIsNone(rows['after_idleness: error in turns, %']['ok'])
        self.assertTrue(rows['spin, late inside by 50 us, shows in full']['ok'])
        self.assertTrue(rows[
            'x, late before the gate by 50 us, moves the time by']['ok'])
        self.assertFalse(rows['agree']['ok'])
        self.assertTrue(rows['spills']['ok'])
        self.assertTrue(rows["all-reduce beside nccl-tests' way, sizes"]['ok'])
        self.assertIsNone(rows['accuracy.json']['ok'])

    def test_what_misses_its_bar_is_said(self):
        bad = copy.deepcopy(DOCUMENTS)
        bad['compare']['identical']['slower'] = 1
        bad['compare']['three_pct_more']['slower'] = 47
        bad['compare']['drift']['turns_error_pct'] = 1
        bad['ranks']['cases'][0]['skew_p99_us'] = 1.3
        bad['ranks']['cases'][2]['time_us'] = 10.1
        bad['ranks']['cases'][4]['time_us'] = 66
        bad['code']['change_pct'] = 0.6
        rows = self.bars(**bad)
        missed = {name for name, r in rows.items() if r['ok'] is False}
        self.assertEqual(missed, {
            'identical pairs called different, of 50',
            'pairs with 3% more work found, of 50', 'drift: error in turns, %',
            'release skew, p99, us', 'agree',
            'x, late before the gate by 50 us, moves the time by',
            'spin, late inside by 50 us, shows in full',
            'time after a capture, change in %'})

    def test_recorded_figures_are_read(self):
        for theirs, name in gpu_tables.TAKEN.items():
            path = os.path.join(SOURCE, 'bench', 'results',
                                name + '-h200.json')
            if os.path.exists(path) and '/' not in theirs:
                shutil.copy(path, os.path.join(self.folder, theirs + '.json'))
        rows = gpu_bars.collect(self.folder)
        self.assertGreater(sum(r['ok'] is True for r in rows), 20)
        self.assertFalse([r for r in rows if r['ok'] is None and not
                          r['bar'].startswith(('No such file', 'no ramp'))])

    def page(self, kernels, bytes_unit='byte'):
        """A raw page as ncu writes it: its messages, names, units, launches."""
        path = os.path.join(self.folder, 'ncu.csv')
        head = ['ID', 'Process ID', 'Process Name', 'Host Name', 'Kernel Name',
                'Context', 'Stream', 'Block Size', 'Grid Size', 'Device', 'CC']
        metrics = sorted(peers_counters.COMPARED)
        with open(path, 'w', encoding='utf-8') as file:
            file.write('==PROF== Connected to process 7 (/x/gpu_counters)\n'
                       '==PROF== Profiling "test_read" - 0: 0%....100% - 9 '
                       'passes\n==WARNING== a "quoted" word\n'
                       '==PROF== Disconnected from process 7\n')
            write = csv.writer(file, quoting=csv.QUOTE_ALL)
            write.writerow(head + metrics)
            write.writerow([''] * len(head) + [
                bytes_unit if 'bytes' in m else '%' for m in metrics])
            for place, (name, values) in enumerate(kernels):
                write.writerow([place, 7, 'gpu_counters', '127.0.0.1', name, 1,
                                13, '(512, 1, 1)', '(1,056, 1, 1)', 0, '9.0'] +
                               [values.get(m, values['']) for m in metrics])
        return path

    def beside(self, rows, page):
        out = os.path.join(self.folder, 'counters-beside.json')
        path = self.write('counters', {**HEAD, 'llc_bytes': 60 << 20,
                                       'counters': copy.deepcopy(rows)})
        code = peers_counters.compare(path, page, out)
        with open(out, encoding='utf-8') as file:
            return code, json.load(file)['counters']

    def test_counters_find_their_kernels_in_the_page(self):
        near, far = {'': '40.1'}, {'': 43}
        code, (read, product, warm) = self.beside(
            [COUNTED, PRODUCT, WARM], self.page([
                ('void splitK_reduce<int>(float *, int)', near),
                ('nvjet_sm90_tst(__nv_bfloat16 const *)', far),
                ('test_read', near)]))
        self.assertEqual(code, 1)
        self.assertTrue(all(f['ok'] for f in read['figures']), read)
        self.assertEqual(product['ncu_kernel'],
                         'nvjet_sm90_tst(__nv_bfloat16 const *)')
        self.assertEqual([f['metric'] for f in product['figures'] if f['ok']],
                         ['figures as without KMB_COUNTERS_KEEP'])
        self.assertTrue(all(f['ok'] for f in warm['figures']), warm)
        self.assertIn('confirm_cold ratio',
                      [f['metric'] for f in warm['figures']])

    def test_pages_of_several_processes_give_a_range(self):
        pages = []
        for value in (41, 45, 43):
            with open(self.page([('test_read', {'': value})]),
                      encoding='utf-8') as file:
                pages.append(file.read())
        path = os.path.join(self.folder, 'ncu.csv')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(''.join(pages))
        hit = peers_counters.HIT
        for ours, ok in ((38.9, False), (39.1, True), (46.9, True),
                         (47.1, False)):
            row = {**COUNTED, 'time_us': 60,
                   'metrics': {**COUNTED['metrics'], hit: ours}}
            _, (got,) = self.beside([row], path)
            (figure,) = [f for f in got['figures'] if f['metric'] == hit]
            self.assertEqual((figure['ncu'], figure['ncu_between'],
                              figure['ok']), (43, [41, 45], ok))

    def test_cells_of_the_page_are_read_with_their_units(self):
        metrics = {m: 40.0 for m in peers_counters.COMPARED}
        read, written = peers_counters.READ, peers_counters.WRITTEN
        row = {**COUNTED, 'written_bytes': 1 << 30,
               'metrics': {**metrics, read: 8391936, written: 0}}
        for unit, cell in (('byte', '8,391,424'), ('Kbyte', '8391.424'),
                           ('Mbyte', '8.391424')):
            _, (got,) = self.beside([row], self.page([('test_read', {
                '': '40', read: cell, written: 0})], unit))
            figures = {f['metric']: f for f in got['figures']}
            self.assertAlmostEqual(figures[read]['ncu'], 8391424)
            self.assertTrue(figures[read]['ok'])
            self.assertTrue(figures[written]['ok'])
        for unit, cell in (('byte', '8300000'), ('byte', 'n/a'), ('byte', ''),
                           ('byte', 'nan'), ('furlong', '8391424')):
            _, (got,) = self.beside([row], self.page([('test_read', {
                '': '40', read: cell})], unit))
            figures = {f['metric']: f for f in got['figures']}
            self.assertIs(figures[read]['ok'],
                          False if cell == '8300000' else None)

    def test_written_bytes_that_the_cache_may_hold_are_shown(self):
        written = peers_counters.WRITTEN
        page = self.page([('test_read', {'': 40, written: 80})])
        for size, ok in ((0, True), (8 << 20, True), ((240 << 20) - 1, True),
                         (240 << 20, False)):
            _, (got,) = self.beside([{**COUNTED, 'written_bytes': size}], page)
            figures = {f['metric']: f for f in got['figures']}
            self.assertIs(figures[written]['ok'], ok, size)
            self.assertEqual('shown' in figures[written].get('bar', ''), ok)

    def test_a_kept_session_reads_the_same(self):
        page = self.page([('test_read', {'': 40})])
        hit, read = peers_counters.HIT, peers_counters.READ
        for row, metric, value in ((COUNTED, hit, 45), (COUNTED, read, 41),
                                   (WARM, read, 8 << 20), (WARM, hit, 94)):
            kept = {**row['metrics_kept'], metric: value}
            for one in (kept, {k: v for k, v in kept.items() if k != metric}):
                code, (got,) = self.beside([{**row, 'metrics_kept': one}],
                                           page)
                figure = [f for f in got['figures'] if 'KEEP' in f['metric']
                          and 'figures' in f['metric']][0]
                self.assertEqual((code, figure['ours'], figure['ok']),
                                 (1, 5, False))
                self.assertIn(metric, figure['bar'])

    def test_what_becomes_of_another_profiler_is_shown(self):
        self.write('profiler-beside', {**HEAD, 'beside': [
            {'when': 'alone', 'code': 0, 'kernels': 6, 'said': ''},
            {'when': 'beside a kept session', 'code': 9, 'kernels': 0,
             'said': '==ERROR== in use'}]})
        rows = [(r['value'], r['bar']) for r in gpu_bars.collect(self.folder)
                if 'another process' in r['name']]
        self.assertEqual(rows, [(6, 'shown; it ended with 0'),
                                (0, '==ERROR== in use')])

    def test_a_kernel_that_is_not_in_the_page_is_absent(self):
        near = {'': 40}
        second = {**COUNTED, 'name': 'read 512 MiB', 'time_us': 130}
        for kernels in ([('test_read', near)],
                        [('test_read', near), ('test_copy', near)]):
            code, (read, other) = self.beside([COUNTED, second],
                                              self.page(kernels))
            self.assertEqual(code, 0)
            self.assertIsNone(other['ncu_kernel'])
            self.assertIsNone(other['figures'][-1]['ok'])
            self.assertEqual(bool(read['ncu_kernel']), len(kernels) == 2)
        # Of two other kernels neither is the product's by guess.
        _, (product,) = self.beside([PRODUCT], self.page([
            ('splitK', near), ('gemm', near)]))
        self.assertIsNone(product['ncu_kernel'])
        _, (product,) = self.beside([PRODUCT], self.page([('gemm', near)]))
        self.assertEqual(product['ncu_kernel'], 'gemm')

    def test_without_a_page_our_own_bars_stand(self):
        empty = os.path.join(self.folder, 'ncu.csv')
        with open(empty, 'w', encoding='utf-8') as file:
            file.write('==ERROR== ERR_NVGPUCTRPERM - no permission\n')
        for page in (empty, os.path.join(self.folder, 'none')):
            code, (read, warm) = self.beside([COUNTED, WARM], page)
            self.assertEqual(code, 0)
            self.assertTrue(read['figures'][0]['ok'])
            self.assertIn('ERR_NVGPUCTRPERM' if page == empty else 'No such',
                          read['figures'][-1]['bar'])
            self.assertTrue(all(f['ok'] for f in warm['figures']))

    def counted_bars(self, rows, page):
        self.beside(rows, page)
        return {r['name']: r['ok'] for r in gpu_bars.collect(self.folder)}

    def test_the_first_call_of_later_processes_is_judged(self):
        name = "a process's first call for counters, median, ms"

        def judge(*calls):
            self.write('counters-first', {'calls': [
                {'cublas': cublas, 'first_ms': ms, 'second_ms': 370}
                for cublas, ms in calls]})
            return {r['name']: r['ok'] for r in gpu_bars.collect(self.folder)}

        rest = [(True, 900)] * 4
        good = judge((False, 1100), (False, 500), (False, 510), (False, 400),
                     *rest)
        self.assertIs(good[name], True)
        bad = judge((False, 100), (False, 501), (False, 510), (False, 400),
                    *rest)
        self.assertIs(bad[name], False)
        absent = judge((False, 100), *rest)
        self.assertNotIn(name, absent)
        self.assertIsNone(absent['counters-first.json'])

    def test_each_bar_of_counters_is_judged(self):
        page = self.page([('test_read', {'': 40})])
        bars = self.counted_bars([COUNTED, WARM], page)
        cold, warm = 'read 8 MiB, cold: ', 'read 8 MiB, warm: '
        judged = [cold + 'confirm_cold ratio', cold + 'first call, ms',
                  cold + 'second call with KMB_COUNTERS_KEEP, ms',
                  warm + 'confirm_cold ratio',
                  cold + 'the driver counts as many blocks',
                  warm + 'L2 hit rate, %', warm + 'DRAM bytes read over touched']
        self.assertEqual({bars[name] for name in judged}, {True})
        self.assertIsNone(bars["kernels that stand whole beside ncu's"])
        bad = [{**COUNTED, 'cold_ratio': 1.03, 'wall_ms': [501, 251], 'kept_ms': 251,
                'occupancy': {'checked': False}, 'error': 'occupancy'},
               {**WARM, 'cold_ratio': 0.03, 'metrics': {
                   **WARM['metrics'], peers_counters.READ: 84000,
                   peers_counters.HIT: 89}}]
        bars = self.counted_bars(bad, page)
        self.assertEqual({bars[name] for name in judged}, {False})
        self.assertIs(bars[cold + 'fails'], False)
        unknown = [{'name': 'read 8 MiB', 'state': state, 'cold_ratio': None,
                    'time_us': None, 'error': 'x'} for state in ('cold', 'warm')]
        bars = self.counted_bars(unknown, page)
        self.assertIsNone(bars[cold + 'confirm_cold ratio'])
        self.assertIsNone(bars[warm + 'L2 hit rate, %'])
        names = ['read 8 MiB', 'read 512 MiB', 'copy 512 MiB',
                 'copy 8 MiB, one block', 'rows 64 MiB']
        bars = self.counted_bars(
            [{**COUNTED, 'name': name} for name in names] + [PRODUCT],
            self.page([('test_read', {'': 40})] * 5 +
                      [('nvjet_sm90_tst', {'': 40})]))
        self.assertIs(bars["kernels that stand whole beside ncu's"], True)

    def code(self, name, *kernels):
        """What is said of kernels of the test's cubin, nvdisasm made up."""
        data = os.path.join(SOURCE, 'tests', 'data', 'code')
        path = os.path.join(self.folder, 'nvdisasm')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\nexec /bin/cat "%s"\n' % os.path.join(
                data, 'kernels.sass'))
        os.chmod(path, 0o755)
        before = os.environ['PATH']
        self.addCleanup(os.environ.__setitem__, 'PATH', before)
        os.environ['PATH'] = self.folder + os.pathsep + before
        self.assertEqual(code_gpu.of_toolkit('none', 'nvdisasm'), path)
        return code_gpu.judge({'bars': []}, KMB, name, data, [
            {'name': kernel, 'file': 'kernels.cubin'} for kernel in kernels])

    def test_only_the_kernels_that_ran_are_judged(self):
        if 'no kmb code' in subprocess.run(
                [KMB, 'code', 'x'], capture_output=True, text=True,
                check=False).stderr:
            self.skipTest('kmb code is not built')
        self.assertTrue(self.code('spills', '_Z6spillsILi36EEvPKfPf')['ok'])
        self.assertFalse(self.code('spills', 'copy_wide')['ok'])
        self.assertTrue(self.code('scalar_copy', 'copy_narrow')['ok'])
        self.assertFalse(self.code('triton_copy', 'copy_narrow')['ok'])
        self.assertTrue(self.code('triton_copy', 'copy_wide')['ok'])
        missing = self.code('cublas_bf16', 'nvjet')
        self.assertIn('none of its', missing['why'])
        nothing = code_gpu.judge({'bars': []}, KMB, 'cublas_bf16', '', [
            {'name': 'nvjet', 'reason': 'it was loaded before'}])
        self.assertEqual(nothing['why'], 'nvjet has no image: '
                         'it was loaded before')

    def predict(self):
        for shape in ('wide',):
            for kernel, at in (('step_down_mid', 0), ('step_down_fast', 1)):
                self.write('alone-%s-%s' % (shape, kernel), results('copy', at))
        for name in ('step-wide-eager-step_down_fast-0',
                     'step-wide-eager-step_down_fast-1',
                     'swapped-wide-eager-step_down_fast'):
            payoff_step.made_up(os.path.join(self.folder, name + '.json'))

        def took(ns):
            return {'device_ns': [ns] * 3, 'host_ns': [10, 30, 20],
                    'whole_ns': [2 * ns] * 3}

        def row(name, *new):
            return {'shape': 'wide', 'mode': 'eager', 'kind': 'down',
                    'name': name, 'old_ns': [320e3, 319e3, 321e3],
                    'new_ns': [new[0], new[0] - 1e3, new[0] + 1e3], 'rounds': [
                        {'recorded': {'device_ns': [], 'host_ns': [],
                                      'whole_ns': []},
                         'old': took(320e3), 'new': took(ns)} for ns in new]}
        self.write('measured', {**HEAD, 'dry': True, 'steps': [
            row('step_down_fast', 329.5e3, 329.7e3),
            row('step_down_fast', 200e3, 201e3), row('step_gone', 1e3)]})
        payoff_step.predict(KMB, self.folder)
        with open(os.path.join(self.folder, 'payoff.json'),
                  encoding='utf-8') as file:
            return json.load(file)

    def test_a_swapped_kernel_is_predicted(self):
        report = self.predict()
        near, far, gone = report['steps']
        old, new = (results('copy', at)['results'][0]['time_ns']
                    for at in (0, 1))
        self.assertAlmostEqual(near['ratio'], new / old, 6)
        self.assertAlmostEqual(near['predicted_ns'], 320e3 + 99e3 * (
            near['ratio'] - 1), delta=50)
        self.assertTrue(near['ok'])
        self.assertTrue(near['within'])
        self.assertEqual(near['host_step_ns'], {'old': 20, 'new': 20})
        self.assertEqual([r['new_ns'] for r in near['rounds']],
                         [329.5e3, 329.7e3])
        self.assertFalse(far['ok'])
        self.assertTrue(gone['why'])
        self.assertFalse(report['bars'][0]['ok'])

    @staticmethod
    def judged(mine, theirs, kernels, c_kernels, **other):
        def side(times, names, **changed):
            return [{'time_ns': t, 'timer': 'TRACE', 'launch_mode': 'GRAPH',
                     'cache_state': 'COLD', 'slots': 1,
                     'ops': [{'kind': 'kernel', 'name': n} for n in names],
                     **changed} for t in times]
        row = {}
        peers_torch.judge(row, side(mine, kernels), side(theirs, c_kernels,
                                                         **other))
        return row

    def test_what_ran_alike_is_compared(self):
        near = self.judged([20100, 20150, 26000], [20000] * 3, 'k', 'k')
        self.assertTrue(near['ok'], near)
        self.assertAlmostEqual(near['off_us'], 0.15)
        moved = self.judged([10000, 10100, 10400], [10000, 10250, 10250], 'k',
                            'k')
        self.assertEqual((moved['off_us'], moved['ok']), (0, True))
        short = self.judged([1049], [1000], 'k', 'k')
        self.assertTrue(short['ok'], short)
        self.assertFalse(self.judged([1051], [1000], 'k', 'k')['ok'])
        self.assertFalse(self.judged([20210], [20000], 'k', 'k')['ok'])
        self.assertFalse(self.judged([19790], [20000], 'k', 'k')['ok'])

    def test_other_kernels_or_another_way_are_not(self):
        other = self.judged([1000], [1000], 'k', 'kr')
        self.assertEqual((other['same_kernels'], other['ok']), (False, False))
        unknown = self.judged([1000], [1000], '', 'k')
        self.assertIsNone(unknown['same_kernels'])
        for key, value in [('timer', 'EVENT'), ('launch_mode', 'PLAIN'),
                           ('cache_state', 'WARM'), ('slots', 3)]:
            way = self.judged([1000], [1000], 'k', 'k', **{key: value})
            self.assertEqual((way['same_way'], way['ok']), (False, False))

    def test_disturbed_steps_are_left_out(self):
        self.assertEqual(payoff_step.disturbed([100, 109, 111, 90, 100]), {2})
        path = self.write('recording', {
            'names': ['step', 'k'], 'ops': [],
            'ranges': [[0, 0, 50, 9], [0, 0, 10, 9], [0, 1, 5, 9]]})
        payoff_step.leave_out(path, 'step', {0})
        with open(path, encoding='utf-8') as file:
            after = json.load(file)
        self.assertEqual(after['names'][2], 'step, disturbed')
        self.assertEqual([r[1] for r in after['ranges']], [0, 2, 1])

    @staticmethod
    def turn(recorded, old, new):
        """A round by the host's parts of a step that takes 1 ms."""
        return {which: {'device_ns': [1e6], 'host_ns': [ns]} for which, ns in
                (('recorded', recorded), ('old', old), ('new', new))}

    def test_rounds_of_a_host_that_kept_its_speed_are_kept(self):
        good = [self.turn(5e5 + more, 4e5, 4e5 + apart)
                for more, apart in ((0, 0), (15e3, 19e3), (-15e3, -19e3))]
        bad = [self.turn(5e5, 4e5, 4.21e5), self.turn(5e5, 4.21e5, 4e5),
               self.turn(5.4e5, 4e5, 4e5), self.turn(4.6e5, 4e5, 4e5)]
        kept, added = payoff_step.steady_of(bad[:2] + good + bad[2:])
        self.assertEqual(kept, good)
        self.assertEqual(added, 1e5)
        kept, added = payoff_step.steady_of([self.turn(3.9e5, 4e5, 4e5)])
        self.assertEqual((len(kept), added), (1, 0))
        self.assertEqual(payoff_step.steady_of(bad[:2]), ([], 0))

    def test_the_interval_of_a_median_is_of_order_statistics(self):
        self.assertEqual(payoff_step.interval([5, 1, 3]), (1, 5))
        self.assertEqual(payoff_step.interval(range(6)), (0, 5))
        # 2 * (1 + 10) / 1024 is below 5%, with 45 more it is above.
        self.assertEqual(payoff_step.interval(range(10)), (1, 8))
        self.assertEqual(payoff_step.interval(range(17)), (4, 12))

    def test_calls_are_counted_in_the_steps_alone(self):
        path = self.write('calls', {
            'kmb_trace': 1, 'names': ['x', 'step'],
            'ranges': [[0, 1, 0, 100], [0, 1, 200, 100], [0, 0, 300, 100]],
            'calls': [['other', 0, 0, at, 1, 0]
                      for at in (0, 50, 99, 100, 250, 310)]})
        self.assertEqual(payoff_step.calls_of(path), 2)

    def test_each_table_is_made(self):
        report = self.predict()
        documents = {**DOCUMENTS, 'payoff/payoff': report,
                     'counters-beside': {**HEAD, 'counters': [
                         {**COUNTED, 'figures': [
                             {'metric': peers_counters.HIT, 'ours': 1,
                              'ncu': 2, 'allowed': 2, 'ok': True},
                             {'metric': peers_counters.READ, 'ours': 1e6,
                              'ncu': 2e6, 'allowed': 1, 'ok': False},
                             {'metric': peers_counters.WRITTEN, 'ours': 3e6,
                              'ncu': 4e6, 'ok': True},
                             {'metric': 'b', 'ok': False}]}]}}
        before, gpu_tables.RESULTS = gpu_tables.RESULTS, self.folder
        self.addCleanup(setattr, gpu_tables, 'RESULTS', before)
        for theirs, name in gpu_tables.TAKEN.items():
            if theirs in documents:
                self.write(name + '-h200', documents[theirs])
        for name in ('payoff', 'torch_peers', 'counters', 'compared', 'ranks',
                     'allreduce', 'gemm_rs'):
            text = gpu_tables.made(name)
            self.assertTrue(text.startswith('|'), text)
            for part in text.split('\n\n'):
                columns = {line.count('|') for line in part.split('\n')
                           if line.startswith('|')}
                self.assertLessEqual(len(columns), 1, part)
        text = gpu_tables.made('counters')
        for cell in ('1 / 2', '**1 / 2**', '(3 / 4)', '(– / –)'):
            self.assertIn('| %s |' % cell, text)
        self.assertEqual(gpu_tables.made('copy'), 'Not measured on a GPU yet.')

    def test_the_page_on_code(self):
        before, gpu_tables.RESULTS = gpu_tables.RESULTS, self.folder
        self.addCleanup(setattr, gpu_tables, 'RESULTS', before)
        self.assertEqual(gpu_tables.made('code'), 'Not measured on a GPU yet.')
        self.write('code-h200', DOCUMENTS['code_gpu'])
        lines = gpu_tables.made('code').split('\n')
        self.assertIn('| spills | `k` | 32 | hgmma: 4, global load 16: 2 | '
                      'SPILLS |', lines)
        self.assertIn('| `wide` | 21.50 | 4000 | 83.2% | TRACE | COLD |', lines)
        self.assertTrue(lines[-3].endswith('takes out of it.'), lines)
        self.assertTrue(lines[-1].startswith('Made up, driver 1.2'), lines)
        # Without times, as before they were taken, and one that was not read.
        self.write('code-h200', {**DOCUMENTS['code_gpu'], 'times': {}, 'bars': [
            {'name': 'x', 'ok': False, 'why': 'no kernel was captured'},
            {'name': 'y', 'ok': False, 'kernels': [
                {'name': 'k', 'code': [{'name': 'k'}]}]}]})
        lines = gpu_tables.made('code').split('\n')
        self.assertEqual(lines[2:4], ['| y | `k` | – | – | – |', ''])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
