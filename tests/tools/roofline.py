#!/usr/bin/env python3
"""kmb peaks, work, sol and plot roofline: known answers and bad input.

usage: roofline.py KMB RESULT.json
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

KMB, RESULT = sys.argv[1:3]
H100 = 'NVIDIA H100 80GB HBM3'


def run(*words):
    done = subprocess.run([KMB, *map(str, words)], capture_output=True,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def good(*words):
    status, out, err = run(*words, '--json')
    assert status == 0 and not err, (words, status, err)
    return json.loads(out)


def bad(status, words, *arguments):
    got, out, err = run(*arguments)
    assert got == status and words in err and not out, (arguments, got, err)


def near(value, want, relative=1e-3):
    assert abs(value / want - 1) < relative, (value, want)


def a_part_says_what_is_known_and_from_where():
    part = good('peaks', 'NVIDIA H200')
    assert part['name'] == 'H200 SXM' and part['pci_ids'] == ['10de:2335']
    assert part['bf16'] == 989.4 and part['units']['bf16'] == 'TFLOP/s'
    assert '[R quoted]' in part['source'] and 'fp4' not in part
    assert part['references'][0]['kind'] == 'measured'
    assert 'fp64' in good('peaks', 'H800 SXM')['never_from_rates']
    status, out, _ = run('peaks', 'H200')
    assert status == 0 and 'H200 SXM' in out and '[R quoted]' in out
    assert len(good('peaks')['parts']) == 40
    status, out, _ = run('peaks')
    assert status == 0 and 'NVIDIA GB200' in out


def a_part_is_named_as_a_whole():
    bad(1, 'no part called', 'peaks', 'H2')
    bad(1, 'no part called', 'peaks', 'H100')
    bad(1, 'several parts', 'peaks', 'A100 SXM')
    bad(1, 'one name', 'peaks', 'NVIDIA', 'H200')
    bad(1, 'no option', 'peaks', '--jsn')


def a_file_of_peaks_adds_and_overrides(folder):
    path = os.path.join(folder, 'mine.csv')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('name,driver_names,mem_bw_gbs,bf16,source\n'
                   'mine,NVIDIA H200,4000,800,us\nnew,X 1,10,1,them\n')
    assert good('peaks', 'NVIDIA H200', '--file', path)['bf16'] == 800
    sol = good('sol', '--file', path, '--device', 'X 1', '--dtype', 'bf16',
               '--flops', 10**12, '--bytes', 10**6, '--time-ns', 2e9)
    assert sol['compute_ceiling']['kind'] == "caller's"
    near(sol['sol_pct'], 50)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('name,driver_names,bf16\nmine,X,12..5\n')
    bad(2, 'line 2, column 8', 'peaks', '--file', path)
    bad(2, 'line 2, column 8', 'sol', '--file', path, '--device', 'X',
        '--dtype', 'bf16', '--flops', 1, '--bytes', 1, '--time-ns', 1)
    bad(1, 'No such file', 'peaks', '--file', path + '.absent')


def attention(*more):
    return good('work', 'attention', '--heads', 16, '--dim', 128, '--q', 1024,
                '--kv', 2048, '--dtype', 'bf16', *more)


def f34_attention_by_both_conventions():
    exact = attention('--mask', 'bottom-right')
    assert exact['flops'] == 12889096192
    assert 'exactly' in exact['convention']
    average = attention('--mask', 'bottom-right', '--pairs', 'average')
    assert average['flops'] == 12884901888
    assert 'FlashAttention' in average['convention']
    assert attention()['flops'] == 2 * 8589934592


def f35_counts_do_not_wrap():
    work = good('work', 'attention', '--heads', 32, '--dim', 128, '--q', 4096,
                '--kv', 2048, '--dtype', 'bf16')
    assert work['flops'] == 137438953472
    work = good('work', 'elementwise', '--n', 89478486, '--inputs', 2,
                '--outputs', 1, '--dtype', 'f64')
    assert work['least_bytes'] == 2147483664
    work = good('work', 'gemm', '--m', 2**21, '--n', 2**21, '--k', 2**20,
                '--dtype', 'bf16')
    assert work['flops'] == str(2**63)
    bad(1, '64 bits', 'work', 'gemm', '--m', 2**32, '--n', 2**32, '--k', 1,
        '--dtype', 'bf16')
    bad(1, 'cannot be', 'work', 'gemm', '--m', 2**64, '--dtype', 'bf16')


def every_operation_is_counted():
    work = good('work', 'gemm', '--m', 2, '--n', 3, '--k', 4, '--dtype', 'f32',
                '--bias', '--beta', '--batch', 2)
    assert work['flops'] == 2 * 54 and work['read_bytes'] == 2 * (92 + 24)
    work = good('work', 'gemm', '--m', 128, '--n', 128, '--k', 128, '--dtype',
                'fp4', '--a-scales', 'nvfp4', '--out-dtype', 'bf16')
    assert work['read_bytes'] == 9216 + 8192
    work = good('work', 'gemm', '--m', 2, '--n', 3, '--k', 4, '--dtype', 'f32',
                '--epilogue', '--complex')
    assert work['flops'] == 240
    work = good('work', 'grouped', '--group-rows', '3,0,5', '--n', 4, '--k', 2,
                '--dtype', 'bf16')
    assert work['flops'] == 128 and work['read_bytes'] == 80
    work = good('work', 'decode', '--kv-lens', '100,1,17', '--heads', 8,
                '--kv-heads', 2, '--dim', 64, '--dtype', 'bf16')
    assert work['flops'] == 2 * 118 * 8 * 128
    work = good('work', 'mla', '--kv-lens', '10,20', '--heads', 16, '--ckv-dim',
                512, '--kpe-dim', 64, '--dtype', 'bf16')
    assert work['flops'] == 2 * 30 * 16 * 1088
    work = good('work', 'moe', '--tokens', 2, '--hidden', 16, '--intermediate',
                32, '--experts', 8, '--top-k', 2, '--dtype', 'bf16')
    assert work['flops'] == 12288 and work['read_bytes'] == 12416
    work = good('work', 'norm', '--rows', 4, '--hidden', 8, '--dtype', 'bf16',
                '--residual')
    assert work['flops'] == 192 and work['dtype'] == 'f32'
    work = good('work', 'softmax', '--rows', 3, '--columns', 5, '--dtype',
                'bf16')
    assert work['flops'] == 0 and 'intensity' not in work
    work = good('work', 'activation', '--n', 10, '--gated', '--dtype', 'bf16')
    assert work['read_bytes'] == 40
    assert good('work', 'copy', '--bytes', '1e6')['least_bytes'] == 2000000
    work = good('work', 'collective', '--collective', 'all-reduce', '--bytes',
                1000, '--ranks', 8)
    assert work['bus_factor'] == 1.75
    status, out, _ = run('work', 'copy', '--bytes', 8)
    assert status == 0 and 'least bytes  16' in out


def wrong_work_is_refused():
    bad(1, 'which operation', 'work')
    bad(1, 'no operation "gem"', 'work', 'gem')
    bad(1, 'no option "--rows"', 'work', 'gemm', '--rows', 1)
    bad(1, 'needs a value', 'work', 'gemm', '--m')
    bad(1, 'cannot be "bf17"', 'work', 'gemm', '--dtype', 'bf17')
    bad(1, 'cannot be "1,"', 'work', 'grouped', '--group-rows', '1,')
    bad(1, '--dtype is needed', 'work', 'gemm', '--m', 1, '--n', 1, '--k', 1)
    bad(1, 'must be at least 1', 'work', 'gemm', '--m', 0, '--n', 1, '--k', 1,
        '--dtype', 'f32')
    bad(1, 'differ', 'work', 'decode', '--kv-lens', '1,2', '--batch', 3,
        '--heads', 1, '--dim', 1, '--dtype', 'f32')


def sol(device=H100, dtype='bf16', flops=2 * 8192**3, bytes_=3 * 2 * 8192**2,
        time=1.39e6, more=()):
    return ['sol', '--device', device, '--dtype', dtype, '--flops', flops,
            '--bytes', bytes_, '--time-ns', time, *more]


def the_speed_of_light_has_its_keys():
    answer = good(*sol(more=['--clock-mhz', 1830, '--operation', 'gemm']))
    for key in ('intensity', 'ridge', 'bound', 'attainable_flops',
                'sol_time_ns', 'sol_pct', 'achieved_flops',
                'achieved_bytes_per_s', 'findings'):
        assert key in answer, key
    near(answer['ridge'], 295.34, 1e-4)
    near(answer['intensity'], 2730.67, 1e-4)
    assert answer['bound'] == 'compute' and answer['findings'] == []
    near(answer['attainable_flops'], 989.4e12)
    near(answer['sol_time_ns'], 1.1113e6)
    near(answer['sol_pct'], 79.95)
    near(answer['achieved_flops'], 791.0e12)
    near(answer['achieved_bytes_per_s'], 289.7e9)
    near(answer['rate_ceiling']['value'], 989.43e12)
    near(answer['reference_pct'], 99.56)
    assert answer['compute_ceiling']['kind'] == 'datasheet'
    assert answer['absent'] == {}
    status, out, _ = run(*sol())
    assert status == 0 and '79.95%' in out and 'datasheet' in out


def f30_dense_unless_sparse_is_asked_for():
    near(good(*sol())['compute_ceiling']['value'], 989.4e12)
    sparse = good(*sol(more=['--sparse']))
    near(sparse['compute_ceiling']['value'], 1978.8e12)
    assert sparse['compute_ceiling']['sparse'] is True
    for device, peak in (('H100 PCIe', 756.5e12), ('H100 NVL', 835.5e12)):
        near(good(*sol(device))['compute_ceiling']['value'], peak)


def f1_above_the_peak_says_what_to_check():
    answer = good(*sol('NVIDIA GeForce RTX 5090', flops=1, bytes_=67108864,
                       time=13370))
    near(answer['sol_pct'], 280.1)
    finding = answer['findings'][0]
    assert finding['code'] == 'ABOVE_PEAK' and finding['severity'] == 'doubt'
    for word in ('units', 'formula', 'skipped', 'sparse', 'cache', 'baseline'):
        assert word in finding['message'], word


def f31_an_unknown_device_is_unknown():
    answer = good(*sol('NVIDIA X9000'))
    assert answer['bound'] == 'unknown' and 'sol_pct' not in answer
    assert answer['findings'][0]['code'] == 'UNKNOWN_PEAK'
    assert answer['absent']['sol_pct'] == 'the device is unknown'
    near(answer['achieved_flops'], 791.0e12)
    answer = good(*sol('T4'))
    assert answer['bound'] == 'unknown'
    assert answer['findings'][0]['code'] == 'UNKNOWN_PEAK'


def nothing_is_divided_by_zero():
    answer = good(*sol(flops=0))
    assert answer['bound'] == 'unknown' and 'intensity' not in answer
    assert 'FLOPs' in answer['absent']['intensity']
    near(answer['achieved_bytes_per_s'], 289.7e9)
    answer = good(*sol(bytes_=0))
    assert answer['bound'] == 'unknown' and 'intensity' not in answer
    assert 'bytes' in answer['absent']['intensity']
    answer = good(*sol(flops=0, bytes_=0))
    assert answer['bound'] == 'unknown' and answer['findings'] == []
    for time in (0, -1, 'nan', 'inf', '1x', ''):
        bad(1, '--time-ns cannot be', *sol(time=time))
    bad(1, '--clock-mhz cannot be "0"', *sol(more=['--clock-mhz', 0]))
    bad(1, '--dtype cannot be', *sol(dtype='bf17'))
    for flops in (2**64, -1, 1.5, '1e30', '0x10'):
        bad(1, '--flops cannot be', *sol(flops=flops))
    bad(1, 'are needed', *sol()[:-2])
    bad(1, 'no option', *sol(more=['--x']))
    bad(1, 'needs a value', *sol(more=['--file']))


def capped_parts_are_not_computed():
    answer = good(*sol('NVIDIA H20', more=['--clock-mhz', 1980]))
    assert 'must not be computed' in answer['absent']['rate_ceiling']


def a_picture_is_1200_pixels_wide(folder):
    path = os.path.join(folder, 'a.')
    for kind, begin in (('svg', b'<?xml'), ('png', b'\x89PNG'),
                        ('pdf', b'%PDF')):
        status, _, err = run('plot', 'roofline', RESULT, RESULT, '-o',
                             path + kind)
        assert status == 0 and not err, err
        with open(path + kind, 'rb') as file:
            data = file.read()
        assert data.startswith(begin)
        if kind == 'png':
            assert struct.unpack('>I', data[16:20])[0] == 1200
        if kind == 'svg':
            assert b'width="1200px"' in data or b'width="1200"' in data


def copy_of(folder, name, change):
    with open(RESULT, encoding='utf-8') as file:
        document = json.load(file)
    change(document)
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(document, file)
    return path


def strip(document):
    for result in document['results']:
        for key in ('flops', 'intensity', 'achieved_flops', 'ridge',
                    'attainable_flops', 'compute_ceiling', 'memory_ceiling'):
            result.pop(key, None)


def many(document):
    result = document['results'][0]
    result['name'] = '\u00e9\u4e2d' * 200
    document['results'] = [
        dict(result, intensity=10 ** (i % 9 - 4), achieved_flops=10 ** (i % 11),
             memory_ceiling=1e9 * (1 + i % 7), memory_ceiling_name='x' * 300)
        for i in range(200)]


def hostile_results_are_drawn(folder):
    out = os.path.join(folder, 'b.svg')
    for name, change in (('none.json', strip), ('many.json', many)):
        path = copy_of(folder, name, change)
        status, _, err = run('plot', 'roofline', path, '-o', out)
        assert status == 0 and not err, err


def json_lines_are_drawn_as_one_document_is(folder):
    out, names = os.path.join(folder, 'd.png'), ('one', 'two')

    def named(document, name):
        document['results'][0]['name'] = name
    lines = os.path.join(folder, 'lines.json')
    with open(lines, 'w', encoding='utf-8') as file:
        for name in names:
            with open(copy_of(folder, 'one.json', lambda d, n=name: named(d, n)),
                      encoding='utf-8') as one:
                file.write(one.read() + '\n')

    def both(document):
        document['results'] = [dict(document['results'][0], name=n)
                               for n in names]
    pictures = []
    for path in (lines, copy_of(folder, 'whole.json', both)):
        status, _, err = run('plot', 'roofline', path, '-o', out)
        assert status == 0 and not err, err
        with open(out, 'rb') as file:
            pictures.append(file.read())
    assert pictures[0] == pictures[1]


def a_picture_that_cannot_be_is_refused(folder):
    out = os.path.join(folder, 'c.svg')
    bad(1, 'are needed', 'plot', 'roofline', RESULT)
    bad(1, 'are needed', 'plot', 'roofline', '-o', out)
    bad(1, '.svg, .png and .pdf', 'plot', 'roofline', RESULT, '-o', 'a.gif')
    bad(1, 'No such file', 'plot', 'roofline', out + '.json', '-o', out)
    bad(1, 'no option', 'plot', 'roofline', '--x', '-o', out)
    broken = os.path.join(folder, 'broken.json')
    with open(broken, 'w', encoding='utf-8') as file:
        file.write('{"schema": ')
    bad(2, broken, 'plot', 'roofline', broken, '-o', out)
    empty = copy_of(folder, 'empty.json', lambda d: d.update(results=[]))
    bad(2, 'empty.json: no results', 'plot', 'roofline', empty, '-o', out)
    for kind in ('svg', 'png', 'pdf'):
        bad(3, 'absent', 'plot', 'roofline', RESULT, '-o',
            os.path.join(folder, 'absent', 'a.' + kind))


def main():
    plots = 'without cairo' not in run('plot', 'roofline')[2]
    with tempfile.TemporaryDirectory() as folder:
        for name, test in list(globals().items()):
            if not callable(test) or test.__module__ != '__main__' or \
                    name in ('main', 'run', 'good', 'bad', 'near', 'sol',
                             'attention', 'copy_of', 'strip', 'many'):
                continue
            if not plots and ('picture' in name or 'drawn' in name):
                print('no cairo: left out', name)
                continue
            test(*[folder] * test.__code__.co_argcount)
            print('ok', name)
    for command in ('peaks', 'work', 'sol'):
        status, out, _ = run(command, '--help')
        assert status == 0 and 'usage: kmb ' + command in out


main()
