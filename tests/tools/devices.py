#!/usr/bin/env python3
"""kmb info and kmb calibrate: on the host, and on virtual GPUs whose clocks do
not wait.

usage: devices.py KMB CUDA_FOLDER CUDA_CLOCKS HIP_FOLDER HIP_CLOCKS
       (folders and clocks left out: the host alone)
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

KMB, *SIMULATED = sys.argv[1:]


def environment(folder=None, clocks=None):
    """Without the vendors' libraries, unless they are named: what runs this may
    have put the virtual ones into the path."""
    result = dict(os.environ, HIP_VISIBLE_DEVICES='', CUDA_VISIBLE_DEVICES='')
    result.pop('LD_LIBRARY_PATH', None)
    if folder:
        del result['HIP_VISIBLE_DEVICES'], result['CUDA_VISIBLE_DEVICES']
        result.update(LD_LIBRARY_PATH=folder, LD_PRELOAD=os.path.abspath(clocks))
    return result


def run(*words, env=None):
    done = subprocess.run([KMB, *words], capture_output=True, check=False,
                          env=env or environment(), timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def good(*words, env=None):
    status, out, err = run(*words, '--json', env=env)
    assert (status, err) == (0, ''), (status, err)
    return json.loads(out)


def cuda():
    return environment(SIMULATED[0], SIMULATED[1])


def timers_of(device):
    return {t['timer']: t for t in device['timers']}


def the_host_is_described():
    answer = good('info')
    host = answer['devices'][0]
    assert host['attributes']['backend'] == 'host'
    assert host['attributes']['units'] >= 1
    assert host['attributes']['clock_tick_ns'] > 0
    timers = timers_of(host)
    assert set(timers) == {'TRACE', 'GRAPH', 'EVENT', 'HOST'}
    assert timers['HOST']['works'] and timers['HOST']['launch_mode'] == 'PLAIN'
    for other in ('TRACE', 'GRAPH', 'EVENT'):
        assert not timers[other]['works'] and other in timers[other]['reason']
    # Everything is either known or has a reason, never both.
    both = set(host['attributes']) & set(host['absent'])
    assert not both and all(host['absent'].values())
    assert host['ceilings_measured'] is False
    status, out, _ = run('info')
    assert status == 0 and out.startswith('host: ')
    assert 'HOST   works' in out and 'TRACE  no: ' in out
    assert 'not measured; --ceilings does' in out


def absent_backends_have_a_reason():
    answer = good('info')
    backends = {d['attributes']['backend'] for d in answer['devices']}
    for name in ('cuda', 'hip'):
        assert (name in backends) != bool(answer['absent'].get(name)), name
        if name not in backends:
            assert name + ': none: ' in run('info')[1]


def wrong_words_are_refused():
    for words, said in ((('info', '--x'), 'no option'),
                        (('info', '--device'), 'needs a value'),
                        (('info', '--device', 'nowhere'),
                         'built in are cuda, hip, host'),
                        (('info', 'x'), 'no option')):
        status, out, err = run(*words)
        assert status != 0 and said in err and not out, (words, err)
    status, _, err = run('info', '--device', '63')
    assert status == 1 and 'cuda:63: ' in err and 'hip:63: ' in err


def output_that_cannot_be_written_is_said():
    for words in (('info', '--device', 'host'),
                  ('info', '--device', 'host', '--json')):
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([KMB, *words], stdout=full, check=False,
                                  stderr=subprocess.PIPE, env=environment())
        assert done.returncode == 3 and b'could not be written' in done.stderr


def a_virtual_gpu_is_described():
    device = good('info', '--device', '0', env=cuda())['devices'][0]
    assert device['attributes']['spec'] == 'cuda:0'
    assert all(t['works'] for t in device['timers']), device['timers']
    assert device['attributes']['llc_bytes'] == 60 << 20
    sources = {c['source'] for c in device['ceilings']}
    assert sources == {'datasheet'}
    assert any(c['value'] == 4.8e12 for c in device['ceilings'])


def a_timer_that_does_not_work_says_why(folder):
    for name in os.listdir(SIMULATED[0]):
        if '.so' in name and not name.startswith('libcupti') and \
                os.path.isfile(os.path.join(SIMULATED[0], name)):
            os.symlink(os.path.join(SIMULATED[0], name),
                       os.path.join(folder, name))
    env = environment(folder, SIMULATED[1])
    device = good('info', '--device', 'cuda:0', env=env)['devices'][0]
    timers = timers_of(device)
    assert not timers['TRACE']['works']
    # Another CUPTI of the machine may be found, which knows no such GPU.
    assert 'cupti' in timers['TRACE']['reason'].lower()
    assert timers['GRAPH']['works'] and timers['EVENT']['works']


def a_virtual_amd_gpu_is_described():
    env = environment(SIMULATED[2], SIMULATED[3])
    device = good('info', '--device', 'hip:0', env=env)['devices'][0]
    timers = timers_of(device)
    assert timers['GRAPH']['works'] and timers['EVENT']['works']
    assert 'hip:0:trace' in timers['TRACE']['reason']
    assert device['no_datasheet']


def ceilings_are_measured_when_asked():
    env = environment(SIMULATED[2], SIMULATED[3])
    device = good('info', '--device', 'hip:0', '--ceilings',
                  env=env)['devices'][0]
    measured = [c for c in device['ceilings'] if c['source'] == 'measured']
    assert device['ceilings_measured'] and len(measured) == 4
    # This backend measures none, and says so of each.
    assert all(c['reason'] and 'value' not in c for c in measured), measured


def the_host_has_a_floor_and_no_bias(folder):
    out = os.path.join(folder, 'a.')
    answer = good('calibrate', '--device', 'host')
    rows = {(t['timer'], t['launch_mode']): t for t in answer['timers']}
    assert len(rows) == 6 and answer['operation'] == 'an empty function'
    host = rows['HOST', 'PLAIN']
    assert host['works'] and host['floor_ns'] > 0
    assert host['floor_low_ns'] <= host['floor_ns'] <= host['floor_high_ns']
    assert 'bias_ns' not in host and host['no_bias']
    assert host['overhead_upper_ns'] >= 0
    assert all(rows[r]['reason'] for r in rows if r[0] != 'HOST')
    status, text, err = run('calibrate', '--device', 'host', '-o', out + 'svg')
    assert status == 0 and 'bias unknown, at most' in text
    if 'without cairo' not in err:
        assert os.path.getsize(out + 'svg') > 1000
    assert run('calibrate', '--x')[0] == 1
    # Where no picture can be written, nothing is measured, nor a device opened.
    absent = os.path.join(folder, 'absent', 'a.svg')
    for path, want, said in ((out + 'gif', 1, '.svg'),
                             (absent, 3, 'absent/a.svg: cannot be created')):
        for device in ('host', 'nowhere'):
            status, text, err = run('calibrate', '--device', device, '-o', path)
            assert not text and (status == want and said in err or
                                 status == 1 and 'cairo' in err), err


def each_timer_of_a_virtual_gpu_is_calibrated(folder):
    out = os.path.join(folder, 'b.png')
    status, text, err = run('calibrate', '--device', '0', '--json', '-o', out,
                            env=cuda())
    assert status == 0 and not err, err
    rows = {(t['timer'], t['launch_mode']): t
            for t in json.loads(text)['timers']}
    assert rows['TRACE', 'PLAIN']['bias_ns'] == 0
    # The virtual GPU's events cost what an H200's do.
    event = rows['EVENT', 'PLAIN']
    assert 3500 < event['bias_ns'] < 4200
    assert 0 < event['bias_uncertainty_ns'] < 1000
    for row in rows.values():
        assert row['works'] and row['floor_ns'] > 1000, row
        if 'bias_ns' in row:
            corrected = row['floor_ns'] - row['bias_ns']
            assert abs(corrected - rows['TRACE', 'PLAIN']['floor_ns']) < \
                row['bias_uncertainty_ns'] + 64, row
    with open(out, 'rb') as file:
        assert struct.unpack('>I', file.read(20)[16:])[0] == 1200


def main():
    host = [the_host_is_described, absent_backends_have_a_reason, wrong_words_are_refused,
            output_that_cannot_be_written_is_said]
    virtual = [a_virtual_gpu_is_described, a_virtual_amd_gpu_is_described,
               ceilings_are_measured_when_asked]
    for test in host + (virtual if SIMULATED else []):
        test()
        print('ok', test.__name__)
    tests = [the_host_has_a_floor_and_no_bias]
    if SIMULATED:
        tests += [a_timer_that_does_not_work_says_why,
                  each_timer_of_a_virtual_gpu_is_calibrated]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
            print('ok', test.__name__)


main()
