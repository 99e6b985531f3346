#!/usr/bin/env python3
"""Makes the seed corpus of the JSON fuzzer from a real result.

usage: make_corpus.py RESULT.json FOLDER

RESULT.json is what examples/host_gemm, examples/minimal or any program writes
with kmb_results_write_json(). What stands in FOLDER already is replaced.
"""
import copy
import json
import pathlib
import sys

SAMPLES = 12


def main():
    document = json.loads(pathlib.Path(sys.argv[1]).read_text('utf-8'))
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob('*.json'):
        old.unlink()

    def put(name, what):
        text = what if isinstance(what, str) else json.dumps(
            what, indent=1, ensure_ascii=False)
        (folder / (name + '.json')).write_bytes(
            text.encode('utf-8', 'surrogateescape'))

    one = copy.deepcopy(document)
    one['results'] = one['results'][:1]
    result = one['results'][0]
    result['samples_ns'] = result['samples_ns'][:SAMPLES]
    # A corpus is public: nothing of the machine that made it.
    result['metadata'] = {'host.cpu': 'some cpu', 'kmb.version': '0.1.0'}
    result['metadata_absent'] = {'device.uuid': 'a host has none'}
    op = {'kind': 'kernel', 'name': '_Z1kPf', 'stream': 7, 'bytes': 0,
          'start_ns': 0, 'duration_ns': 9.5, 'min_ns': 9, 'max_ns': 10.25,
          'share_pct': 99.5}
    kernel = {'name': '_Z1kPf', 'demangled': 'k(float*)',
              'architecture': 'sm_90', 'sha256': '0a' * 32,
              'code_sha256': '0b' * 32, 'file': '_Z1kPf.cubin',
              'grid': [1, 2, 4294967295], 'block': [32, 1, 1], 'launches': 1,
              'dynamic_shared_bytes': 0, 'registers': 40,
              'static_shared_bytes': 128, 'local_bytes': 16,
              'max_threads': 1024, 'blocks_per_unit': 8, 'code_offset': 64,
              'code_bytes': 512}
    bare = {'name': 'q', 'grid': [1, 1, 1], 'block': [1, 1, 1], 'launches': 2,
            'dynamic_shared_bytes': 4096, 'reason': 'loaded before'}
    text = json.dumps(one, indent=1)

    def changed(name, change):
        other = copy.deepcopy(one)
        change(other, other['results'][0])
        put(name, other)

    put('ok-real', one)
    put('ok-compact', json.dumps(one, separators=(',', ':')))
    changed('ok-none', lambda d, r: d['results'].clear())
    changed('ok-two', lambda d, r: d['results'].append(copy.deepcopy(r)))
    changed('ok-later', lambda d, r: r.update(later=[{}, [1e3, None], True]))
    changed('ok-counts', lambda d, r: r.update(
        flops='18446744073709551615', seed=9007199254740993))
    changed('ok-small', lambda d, r: r.update(
        samples_ns=[5e-324, 1e308, 0, 0.1, 123456789]))
    changed('ok-text', lambda d, r: r.update(
        name='\u00b5 \U0001f600 "\\/\b\f\n\r\t', reading='\u202e\u0301'))
    changed('ok-finding', lambda d, r: r['findings'].append({
        'code': 'NEWER', 'severity': 'doubt', 'message': 'm',
        'figures': {'a_ns': -1.5, '': 0}}))
    changed('ok-ops', lambda d, r: r.update(ops=[
        op, {**op, 'kind': 'memcpy', 'name': '',
             'bytes': '18446744073709551615'}]))
    changed('ok-op-later', lambda d, r: r.update(ops=[
        {**op, 'kind': 'teleport', 'by': None}]))
    changed('ok-code', lambda d, r: r.update(
        code=[kernel, bare, {**kernel, 'grid': [9, 1, 1]}], code_omitted=0,
        code_unseen=0))
    put('ok-escapes', text.replace('"axes"', '"\\u0061xes"'))
    put('ok-zero', text.replace('"version": 1,', '"version": 1, "x": -0.0,', 1))
    for i in range(1, 8):
        put('bad-cut-%d' % i, text[:len(text) * i // 8])
    changed('bad-negative', lambda d, r: r.update(samples_ns=[-1]))
    changed('bad-version', lambda d, r: d.update(version=2))
    changed('bad-count', lambda d, r: r.update(flops=1.5))
    changed('bad-severity', lambda d, r: r['findings'].append({
        'code': 'A', 'severity': 'x', 'message': '', 'figures': {}}))
    changed('bad-both', lambda d, r: r['metadata_absent'].update(
        {'host.cpu': 'x'}))
    changed('bad-op', lambda d, r: r.update(ops=[{**op, 'start_ns': -1}]))
    changed('bad-op-name', lambda d, r: r.update(ops=[{**op, 'name': 1}]))
    changed('bad-ops', lambda d, r: r.update(ops={}))
    changed('bad-code', lambda d, r: r.update(
        code=[{**kernel, 'file': '../k.cubin'}]))
    changed('bad-code-part', lambda d, r: r.update(
        code=[{**bare, 'registers': 40}]))
    put('bad-twice', text.replace('"version": 1', '"version": 1, "version": 1',
                                  1))
    put('bad-utf8', text.replace('some cpu', 'some \udcff', 1))
    put('bad-surrogate', text.replace('some cpu', '\\ud800', 1))
    put('bad-number', text.replace('"version": 1', '"version": 1e999', 1))
    put('bad-deep', '[' * 100)
    put('bad-tail', text + '1')
    put('bad-empty', '')


if __name__ == '__main__':
    main()
