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
import sys
import tempfile
import unittest

SOURCE, KMB = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
for folder in ('scripts', 'bench'):
    sys.path.insert(0, os.path.join(SOURCE, folder))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import gpu_bars  # noqa: E402
import gpu_tables  # noqa: E402
import payoff_step  # noqa: E402
import peers_counters  # noqa: E402

HEAD = {'device': 'Made up', 'driver': '1.2', 'date': '2026-01-02T03:04:05Z',
        'torch': '2', 'triton': '3'}
COUNTED = {'name': 'read 8 MiB', 'state': 'cold', 'wall_ms': [400, 90],
           'cold_ratio': 1.001, 'time_us': 3.5,
           'metrics': {m: 40.0 for m in peers_counters.COMPARED}}
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
    'code_gpu': {**HEAD, 'bars': [{'name': 'spills', 'bar': 'a flag',
                                   'ok': True}]},
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
        self.assertFalse([r for r in rows if r['ok'] is None and
                          r['bar'] != 'No such file or directory'])

    def test_counters_find_their_kernels_in_the_page(self):
        ours = {**HEAD, 'counters': [
            COUNTED, {**COUNTED, 'name': 'bf16 product', 'time_us': 80},
            {**COUNTED, 'state': 'warm', 'cold_ratio': 0, 'metrics': {
                **COUNTED['metrics'], peers_counters.READ: 0,
                peers_counters.HIT: 99}}]}
        page = os.path.join(self.folder, 'ncu.csv')
        with open(page, 'w', encoding='utf-8') as file:
            file.write('==PROF== Connected\n')
            write = csv.writer(file, quoting=csv.QUOTE_ALL)
            write.writerow(['ID', 'Kernel Name'] + peers_counters.COMPARED)
            write.writerow(['', ''] + ['%'] * len(peers_counters.COMPARED))
            write.writerow([0, 'nvjet'] + [43] * len(peers_counters.COMPARED))
            write.writerow([1, 'test_read'] + ['40.1'] *
                           len(peers_counters.COMPARED))
        out = os.path.join(self.folder, 'counters-beside.json')
        path = self.write('counters', ours)
        self.assertEqual(peers_counters.compare(path, page, out), 1)
        with open(out, encoding='utf-8') as file:
            read, product, warm = json.load(file)['counters']
        self.assertTrue(all(f['ok'] for f in read['figures']), read)
        self.assertFalse(any(f['ok'] for f in product['figures']), product)
        self.assertEqual(product['ncu_kernel'], 'nvjet')
        self.assertTrue(all(f['ok'] for f in warm['figures']), warm)

    def predict(self):
        for shape in ('wide',):
            for kernel, at in (('step_down_mid', 0), ('step_down_fast', 1)):
                self.write('alone-%s-%s' % (shape, kernel), results('copy', at))
        for name in ('step-wide-eager', 'swapped-wide-eager-step_down_fast'):
            payoff_step.made_up(os.path.join(self.folder, name + '.json'))
        row = {'shape': 'wide', 'mode': 'eager', 'kind': 'down',
               'name': 'step_down_fast', 'old_ns': [320e3, 319e3, 321e3],
               'new_ns': [329.5e3, 328e3, 331e3]}
        self.write('measured', {**HEAD, 'dry': True, 'steps': [
            row, {**row, 'new_ns': [200e3, 199e3, 201e3]},
            {**row, 'name': 'step_gone'}]})
        payoff_step.predict(KMB, self.folder)
        with open(os.path.join(self.folder, 'payoff.json'),
                  encoding='utf-8') as file:
            return json.load(file)

    def test_a_swapped_kernel_is_predicted(self):
        report = self.predict()
        near, far, gone = report['steps']
        self.assertAlmostEqual(near['ratio'], 1472 / 1343, 3)
        self.assertAlmostEqual(near['predicted_ns'], 320e3 + 99e3 * (
            near['ratio'] - 1), delta=50)
        self.assertTrue(near['ok'])
        self.assertFalse(far['ok'])
        self.assertTrue(gone['why'])
        self.assertFalse(report['bars'][0]['ok'])

    def test_each_table_is_made(self):
        report = self.predict()
        documents = {**DOCUMENTS, 'payoff/payoff': report,
                     'counters-beside': {**HEAD, 'counters': [
                         {**COUNTED, 'figures': [
                             {'metric': 'a', 'ours': 1, 'ncu': 2,
                              'allowed': 2, 'ok': True},
                             {'metric': 'b', 'ok': False}]}]}}
        before, gpu_tables.RESULTS = gpu_tables.RESULTS, self.folder
        self.addCleanup(setattr, gpu_tables, 'RESULTS', before)
        for theirs, name in gpu_tables.TAKEN.items():
            if theirs in documents:
                self.write(name + '-h200', documents[theirs])
        for name in ('payoff', 'torch_peers', 'counters', 'compared', 'ranks',
                     'allreduce', 'gemm_rs'):
            lines = gpu_tables.made(name).split('\n')
            self.assertTrue(lines[0].startswith('|'), lines[0])
            columns = {line.count('|') for line in lines
                       if line.startswith('|')}
            self.assertEqual(len(columns), 1, lines)
        self.assertEqual(gpu_tables.made('copy'), 'Not measured on a GPU yet.')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
