#!/usr/bin/env python3
"""kmb code: known answers and bad input.

usage: code.py KMB FOLDER     (tests/data/code)
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import amd_object

SKIPPED = 77
KMB, DATA = sys.argv[1:3]


def run(*words, path='/nowhere', home='/nowhere'):
    """No disassembler of the machine is found."""
    done = subprocess.run([KMB, 'code', *map(str, words)], capture_output=True,
                          check=False,
                          env={**os.environ, 'PATH': path, 'CUDA_HOME': home})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def good(*words):
    status, out, err = run(*words, '--json')
    assert status == 0 and not err, (words, status, err)
    return json.loads(out)


def bad(status, words, *arguments):
    got, out, err = run(*arguments)
    assert got == status and words in err and not out, (arguments, got, err)
    assert err.count('\n') == 1, err


def data(name):
    return os.path.join(DATA, name)


def content(name):
    with open(data(name), 'rb') as file:
        return file.read()


def kernels_are_listed():
    image = good(data('kernels.cubin'))
    assert image['architecture'] == 'sm_90a'
    assert image['sha256'] == hashlib.sha256(
        content('kernels.cubin')).hexdigest()
    names = [k['name'] for k in image['kernels']]
    assert names == sorted(names) and len(names) == 5
    spills = image['kernels'][0]
    assert spills['demangled'] == 'void spills<36>(float const*, float*)'
    assert spills['registers'] == 32 and spills['stack_bytes'] == 80
    assert spills['max_threads'] == 1024
    assert 'max_threads' not in image['kernels'][1]
    status, out, err = run(data('kernels.cubin'))
    assert status == 0 and not err
    for words in ('cubin for sm_90a', 'void spills<36>(float const*, float*)',
                  '_Z6spillsILi36EEvPKfPf', 'not stated', image['sha256']):
        assert words in out, words


def code_of_a_kernel_has_a_hash_of_its_own():
    new, old = good(data('tiny.cubin')), good(data('older.cubin'))
    assert new['sha256'] != old['sha256']
    assert new['kernels'][0]['code_sha256'] != new['sha256']
    assert len(new['kernels'][0]['code_sha256']) == 64


def kernels_are_chosen_by_either_name():
    for regex in ('^copy_', 'spills<36>', '^_Z6spills', 'copy_wide|dot'):
        image = good(data('kernels.cubin'), '--kernel', regex)
        assert 1 <= len(image['kernels']) <= 2, regex
    bad(1, 'none of its 5 kernels matches "nothing"', data('kernels.cubin'),
        '--kernel', 'nothing')
    bad(1, 'the kernel "(": ', data('kernels.cubin'), '--kernel', '(')


def wrong_arguments_are_refused():
    bad(1, 'a file is needed')
    bad(1, 'needs a value', data('tiny.cubin'), '--kernel')
    bad(1, '--kernel is empty', data('tiny.cubin'), '--kernel', '')
    bad(1, '--other-kernel is empty', data('tiny.cubin'), '--diff',
        data('tiny.cubin'), '--other-kernel', '')
    bad(1, 'no option "--jsn"', data('tiny.cubin'), '--jsn')
    bad(1, 'one file', data('tiny.cubin'), data('tiny.cubin'))
    bad(1, 'No such file', data('absent'))
    bad(1, 'absent', data('absent'))
    bad(1, 'kmb: ', DATA)


def no_entries(image):
    """The same without a function that can be launched."""
    changed = bytearray(image)
    at = changed.find(b'\x12\x10')
    assert at > 0 and changed.find(b'\x12\x10', at + 1) < 0
    changed[at + 1] = 0
    return bytes(changed)


def twice(image):
    """The same with its kernel's symbol in place of the one before, too."""
    at = image.find(b'\x12\x10') - 4
    return image[:at - 24] + image[at:at + 24] + image[at:]


def what_is_no_cubin_is_named(folder):
    tiny = content('tiny.cubin')
    inputs = {
        'it is empty': b'',
        'a fat binary': b'\x50\xed\x55\xba' + tiny,
        'it is PTX': b'.version 9.0\n.target sm_90\n.visible .entry k()\n',
        'neither a cubin': b'hello',
        'cut short': tiny[:-1],
        'machine 62': tiny[:18] + b'\x3e' + tiny[19:],
        'unknown architecture, number 211': tiny[:49] + b'\xd3' + tiny[50:],
        'holds no kernels': no_entries(tiny),
        'two kernels have the name _Z4tinyPi': twice(tiny),
        'claim more code than the file holds': amd_object.build(
            names=['k%d' % i for i in range(700)], overlap=True),
    }
    path = os.path.join(folder, 'input')
    for words, image in inputs.items():
        with open(path, 'wb') as file:
            file.write(image)
        bad(2, words, path)


LISTED = ('--listing', data('kernels.sass'))


def named(image, name):
    return next(k for k in image['kernels'] if k['name'] == name)


def flags_of(kernel):
    return [f['flag'] for f in kernel['flags']]


def classes_come_from_a_listing():
    image = good(data('kernels.cubin'), *LISTED)
    narrow = named(image, 'copy_narrow')
    assert narrow['classes'] == {'global_load_4': 1, 'global_store_4': 1,
                                 'integer': 15, 'other': 31}
    assert narrow['loops'] == [
        {'from': 0x130, 'to': 0x1f0, 'instructions': 13, 'innermost': True,
         'classes': {'global_load_4': 1, 'global_store_4': 1, 'integer': 10,
                     'other': 1}}]
    assert named(image, 'copy_wide')['classes']['global_load_16'] == 1
    copies = good(data('kernels.cubin'), '--kernel', '^copy_', '--listing',
                  data('copies.cuobjdump'))
    assert [k for k in image['kernels'] if k['name'].startswith('copy_')] == \
        copies['kernels']
    status, out, err = run(data('kernels.cubin'), *LISTED)
    assert status == 0 and not err
    for words in ('global load 16 B: 1', 'local load 4 B: 18', 'f32: 36',
                  'loop          0x130-0x1f0, 13 instructions: global load'):
        assert words in out, words


def flags_say_what_to_look_at():
    image = good(data('kernels.cubin'), *LISTED)
    spills = named(image, '_Z6spillsILi36EEvPKfPf')
    assert flags_of(spills) == ['NARROW_LOADS', 'SPILLS']
    assert spills['flags'][1]['text'].startswith('19 loads and 19 stores of')
    assert flags_of(named(image, 'copy_narrow')) == ['NARROW_LOADS']
    assert '0x130-0x1f0' in named(image, 'copy_narrow')['flags'][0]['text']
    assert not flags_of(named(image, 'copy_wide'))
    assert not flags_of(named(image, 'dot'))
    assert flags_of(named(image, 'table')) == ['NARROW_LOADS', 'LOCAL_ARRAY']


def an_expected_matrix_unit_is_missed():
    def flags(expect, kernel):
        image = good(data('matrix.cubin'), '--listing', data('matrix.sass'),
                     '--expect', expect, '--kernel', kernel)
        return flags_of(image['kernels'][0])

    assert flags('hgmma', 'wgmma_kinds') == []
    assert flags('HGMMA', '^mma_kinds') == ['MATRIX_UNIT_UNUSED',
                                           'OLDER_MATRIX_UNIT', 'NARROW_LOADS']
    assert 'MATRIX_UNIT_UNUSED' not in flags('any', '^mma_kinds')
    assert 'MATRIX_UNIT_UNUSED' in flags('any', 'arithmetic')
    assert 'MATRIX_UNIT_UNUSED' not in flags('dmma', '^mma_kinds')
    bad(1, '--expect cannot be "f32"', data('matrix.cubin'), '--expect', 'f32')


def a_listing_of_other_code_is_refused():
    image = good(data('kernels.cubin'), '--listing', data('matrix.sass'))
    assert all('lacks this kernel' in k['classes_absent']
               for k in image['kernels'])
    image = good(data('tiny.cubin'), '--listing', data('older.sass'))
    assert image['kernels'][0]['classes']['bar'] == 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'cut')
        with open(data('older.sass'), encoding='utf-8') as file:
            text = file.read()
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text.replace('        /*01f0*/', '        //'))
        image = good(data('tiny.cubin'), '--listing', path)
        assert 'of other code' in image['kernels'][0]['classes_absent']
    status, out, err = run(data('tiny.cubin'), '--listing', data('tiny.cu'))
    assert status == 2 and 'tiny.cu holds is no listing of nvdisasm' in err
    assert 'registers' in out


def stand_in(folder, name, script):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\n' + script)
    os.chmod(path, 0o755)
    return path


def shown_but_failed(status, words, *arguments, **where):
    got, out, err = run(data('kernels.cubin'), *arguments, **where)
    assert got == status and words in err and words in out, (got, err)
    assert 'registers     32' in out


def disassemblers_are_found_and_run(folder):
    where = os.path.join(folder, 'there', 'bin')
    os.makedirs(where)
    listing = ('[ "$1" = %s ] || exit 5\n[ "$2" = "' + data('kernels.cubin') +
               '" ] || exit 6\nexec /bin/cat "' + data('%s') + '"\n')
    stand_in(where, 'cuobjdump', listing % ('-sass', 'copies.cuobjdump'))
    for found in ({'path': where}, {'home': os.path.dirname(where)}):
        status, out, err = run(data('kernels.cubin'), '--kernel', 'copy_wide',
                               **found)
        assert status == 0 and not err and 'load 16 B: 1' in out, err
    stand_in(where, 'nvdisasm', listing % ('-c', 'kernels.sass'))
    status, out, err = run(data('kernels.cubin'), path=where)
    assert status == 0 and not err and 'local load 4 B: 18' in out
    status, out, err = run(data('kernels.cubin'), '--list', '--kernel', 'dot',
                           path=where)
    assert status == 0 and not err and out.count('LDG.E.128') == 2
    assert 'copy_wide' not in out
    named_one = stand_in(folder, 'cuobjdump-12', listing % (
        '-sass', 'copies.cuobjdump'))
    status, out, err = run(data('kernels.cubin'), '--kernel', 'copy_',
                           '--disassembler', named_one)
    assert status == 0 and not err and 'load 16 B: 1' in out


def a_missing_disassembler_is_said():
    status, out, err = run(data('kernels.cubin'))
    assert status == 0 and not err
    assert 'unknown: neither nvdisasm nor cuobjdump' in out
    assert 'neither nvdisasm' in good(
        data('kernels.cubin'))['kernels'][0]['classes_absent']
    bad(1, 'neither nvdisasm', data('kernels.cubin'), '--list')
    shown_but_failed(1, '/nowhere/x cannot be started: No such file',
                     '--disassembler', '/nowhere/x')


def a_failing_disassembler_is_said(folder):
    def with_script(script):
        return ('--disassembler', stand_in(folder, 'nvdisasm', script))

    shown_but_failed(3, 'failed with status 7: nvdisasm fatal: no',
                     *with_script('echo "nvdisasm fatal: no" >&2\nexit 7\n'))
    shown_but_failed(3, 'was ended by signal 9', *with_script('kill -9 $$\n'))
    shown_but_failed(2, 'is no listing', *with_script('echo hello\n'))
    shown_but_failed(2, 'is no listing', *with_script('exit 0\n'))
    for hang in ('exec /bin/sleep 1000\n', '/bin/sleep 1000 & wait\n',
                 'exec >&- 2>&-\n/bin/sleep 1000 & wait\n',
                 'while :; do :; done\n'):
        shown_but_failed(3, 'did not end in time', '--deadline', '0.2',
                         *with_script(hang))
    for value in ('0', '-1', 'x', '1e9'):
        bad(1, '--deadline cannot be', data('tiny.cubin'), '--deadline', value)


def kernels_are_compared():
    both = ('--listing', data('kernels.sass'), '--other-listing',
            data('kernels.sass'))
    diff = good(data('kernels.cubin'), '--diff', data('kernels.cubin'), *both)
    assert diff['same_image'] and len(diff['kernels']) == 5
    assert all(k['same_code'] and k['a'] == k['b'] for k in diff['kernels'])
    assert not diff['only_a'] and not diff['only_b']
    diff = good(data('kernels.cubin'), '--kernel', 'copy_narrow', '--diff',
                data('kernels.cubin'), '--other-kernel', 'copy_wide', *both)
    pair = diff['kernels'][0]
    assert not pair['same_code'] and pair['b'] == 'copy_wide'
    rows = {r['what']: (r['a'], r['b']) for r in pair['rows']}
    assert rows['registers'] == (10, 14)
    assert rows['global load 4 B'] == (1, 0)
    assert rows['global load 16 B'] == (0, 1)
    assert rows['integer'] == (15, 15) and 'HGMMA' not in rows
    status, out, err = run(
        data('kernels.cubin'), '--kernel', 'copy_narrow', '--diff',
        data('kernels.cubin'), '--other-kernel', 'copy_wide', *both)
    assert status == 0 and not err and 'different code' in out
    assert any(line.split() == ['registers', '10', '14', '+4']
               for line in out.splitlines())
    # Without a listing what the images say is compared all the same.
    words = (data('kernels.cubin'), '--kernel', 'copy_narrow', '--diff',
             data('kernels.cubin'), '--other-kernel', 'dot')
    pair = good(*words)['kernels'][0]
    hashes = [k['code_sha256'] for k in good(data('kernels.cubin'))['kernels']
              if k['name'] in ('copy_narrow', 'dot')]
    assert [pair['code_sha256_a'], pair['code_sha256_b']] == hashes, pair
    rows = {r['what']: (r['a'], r['b']) for r in pair['rows']}
    assert rows['code bytes'] == (768, 1280) and 'integer' not in rows, rows
    status, out, err = run(*words)
    assert status == 0 and not err
    for row in (['code', 'sha256'] + [h[:10] for h in hashes],
                ['code', 'bytes', '768', '1280', '+512']):
        assert row in [line.split() for line in out.splitlines()], (row, out)


def kernels_that_nobody_chose_are_not_absent():
    """Both sides are the same file: no kernel is in one of them only."""
    words = (data('kernels.cubin'), '--kernel', 'copy_narrow', '--diff',
             data('kernels.cubin'), '--other-kernel', 'copy_wide|dot')
    diff = good(*words)
    assert not diff['kernels'] and not diff['only_a'] and not diff['only_b']
    assert diff['unpaired_a'] == ['copy_narrow']
    assert diff['unpaired_b'] == ['copy_wide', 'dot']
    status, out, err = run(*words)
    assert status == 0 and not err and 'only in' not in out
    assert out.count('not compared: none of its name among those of') == 3
    assert out.count('that match "copy_wide|dot"') == 1
    assert out.count('that match "copy_narrow"') == 2
    # An expression for both sides hides no partner.
    diff = good(data('kernels.cubin'), '--kernel', 'copy_|tiny', '--diff',
                data('tiny.cubin'))
    assert len(diff['only_a']) == 2 and diff['only_b'] == ['_Z4tinyPi']
    assert not diff['unpaired_a'] and not diff['unpaired_b']
    # What the other side has all of is absent there.
    diff = good(*words[:1], *words[3:], '--other-kernel', 'copy_|dot')
    assert len(diff['unpaired_a']) == 2 and not diff['unpaired_b']
    diff = good(data('kernels.cubin'), '--diff', data('tiny.cubin'),
                '--other-kernel', '.')
    assert len(diff['unpaired_a']) == 5 and diff['only_b'] == ['_Z4tinyPi']


def other_images_may_hold_the_same_code(folder):
    """Two images that differ beside the instructions."""
    path = os.path.join(folder, 'other.cubin')
    tiny = bytearray(content('tiny.cubin'))
    at = tiny.find(b'NVIDIA Corp')
    assert at > 0
    tiny[at] ^= 1
    with open(path, 'wb') as file:
        file.write(tiny)
    diff = good(data('tiny.cubin'), '--diff', path)
    assert not diff['same_image'] and diff['kernels'][0]['same_code']
    assert 'neither nvdisasm' in diff['kernels'][0]['classes_absent']
    status, out, _ = run(data('tiny.cubin'), '--diff', path)
    assert status == 0 and 'different images' in out and 'same code' in out
    diff = good(data('kernels.cubin'), '--diff', data('tiny.cubin'))
    assert len(diff['only_a']) == 5 and diff['only_b'] == ['_Z4tinyPi']
    assert not diff['kernels']
    bad(1, 'No such file', data('tiny.cubin'), '--diff', path + '.absent')
    bad(2, 'neither a cubin', data('tiny.cubin'), '--diff', data('tiny.cu'))
    bad(1, 'needs --diff', data('tiny.cubin'), '--other-kernel', 'x')
    bad(1, '--list goes with', data('tiny.cubin'), '--list', '--json')


def row(name, image=None, file=None, **more):
    """A kernel as a result lists it."""
    kept = {'sha256': hashlib.sha256(image).hexdigest(),
            'file': file} if image else {'reason': 'it was loaded before'}
    return {'name': name, 'grid': [2, 1, 1], 'block': [64, 1, 1],
            'launches': 3, 'dynamic_shared_bytes': 4096, **kept, **more}


def result(folder, name, *rows, images=(), ending='json'):
    """NAME.json, and NAME.d with copies of these images."""
    path = os.path.join(folder, name + '.' + ending)
    one = {'axes': [], 'absent': {}, 'findings': [], 'samples_ns': [],
           'metadata': {}, 'metadata_absent': {}, 'code': list(rows),
           'code_omitted': 0, 'code_unseen': 0}
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'schema': 'kmb-result', 'version': 1, 'results': [one]},
                  file)
    os.makedirs(os.path.join(folder, name + '.d'), exist_ok=True)
    for image in images:
        with open(os.path.join(folder, name + '.d', image), 'wb') as file:
            file.write(content(image))
    return path


DRIVER = {'registers': 12, 'static_shared_bytes': 1056, 'local_bytes': 0,
          'max_threads': 96, 'blocks_per_unit': 8, 'scalar_registers': 7,
          'accumulator_registers': 0, 'spilled_registers': 2,
          'spilled_scalar_registers': 1}


def results_lead_to_their_images(folder):
    tiny, more = content('tiny.cubin'), content('kernels.cubin')
    path = result(folder, 'r',
                  row('_Z4tinyPi', tiny, 'tiny.cubin', **DRIVER),
                  row('_Z4tinyPi', tiny, 'tiny.cubin', grid=[5, 1, 1]),
                  row('_Z4tinyPi', tiny, 'tiny.cubin'),
                  row('copy_wide', more, 'kernels.cubin'), row('gone'),
                  images=('tiny.cubin', 'kernels.cubin'))
    status, out, err = run(path)
    assert status == 0 and not err, err
    for words in ('r.json: 2 images of what its results list',
                  '  no image of gone: it was loaded before',
                  'r.d/tiny.cubin: cubin for sm_90a', 'tiny(int*)',
                  '3 times, grid 2x1x1, block 64x1x1, dynamic shared 4096 B',
                  '8 blocks a multiprocessor',
                  'registers 12, static shared 1056 B, local 0 B, max threads'):
        assert words in out, (words, out)
    assert 'copy_wide' in out and 'copy_narrow' not in out
    assert out.count('launched') == 3
    shown = good(path)
    assert [k['name'] for i in shown['images'] for k in i['kernels']] == [
        '_Z4tinyPi', 'copy_wide']
    first, second = shown['images'][0]['kernels'][0]['launched']
    assert first == {'launches': 3, 'grid': [2, 1, 1], 'block': [64, 1, 1],
                     'dynamic_shared_bytes': 4096, **DRIVER}
    assert second['grid'] == [5, 1, 1] and 'registers' not in second
    assert shown['absent'] == [
        {'kernels': 'gone', 'reason': 'it was loaded before'}]
    shown = good(path, '--kernel', 'tiny.int')
    assert len(shown['images']) == 1 and not shown['absent']
    bad(1, 'list matches "nothing"; the first is _Z4tinyPi', path, '--kernel',
        'nothing')
    lines = os.path.join(folder, 'r.jsonl')
    os.rename(path, lines)
    assert len(good(lines)['images']) == 2
    status, out, err = run(lines, '--kernel', 'wide', *LISTED)
    assert status == 0 and not err and 'global load 16 B: 1' in out


def missing_and_changed_images_are_named(folder):
    tiny, older = content('tiny.cubin'), content('older.cubin')
    code = good(data('tiny.cubin'))['kernels'][0]
    at = tiny.find(b'NVIDIA Corp')
    place = {'code_sha256': 'ab' * 32, 'code_offset': at, 'code_bytes': 8}

    def shown(words, status, *rows, images=('tiny.cubin',)):
        path = result(folder, 'm', *rows, images=images)
        got, out, err = run(path)
        assert got == status and words in out, (got, out, err)
        assert 'not all of the code that its results list is there' in err
        assert err.count('\n') == 1
        absent = json.loads(run(path, '--json')[1])['absent']
        assert len(absent) == 1 and absent[0]['kernels'] in out
        return absent[0], out

    absent, out = shown('missing: ' + os.path.join(folder, 'm.d/x.cubin') +
                        ' of q, z: No such file', 1,
                        row('q', older, 'x.cubin'), row('z', older, 'x.cubin'),
                        row('q', older, 'x.cubin', grid=[7, 1, 1]),
                        row('_Z4tinyPi', tiny, 'tiny.cubin'))
    assert 'registers     12' in out
    assert absent['sha256'] == hashlib.sha256(older).hexdigest()
    assert absent['file'].endswith('m.d/x.cubin')
    shown('it is another image than the result lists: sha256 ' +
          hashlib.sha256(tiny).hexdigest()[:12], 2,
          row('_Z4tinyPi', older, 'tiny.cubin'))
    shown('no image of q: its image does not hold it', 2,
          row('q', tiny, 'tiny.cubin'), row('_Z4tinyPi', tiny, 'tiny.cubin'))
    shown('are not those whose hash the result lists', 2,
          row('_Z4tinyPi', tiny, 'tiny.cubin', **place))
    place['code_offset'] = 1 << 40
    shown('are not those whose hash the result lists', 2,
          row('_Z4tinyPi', tiny, 'tiny.cubin', **place))
    start = next(i for i in range(len(tiny)) if hashlib.sha256(
        tiny[i:i + code['code_bytes']]).hexdigest() == code['code_sha256'])
    place = {'code_sha256': code['code_sha256'], 'code_offset': start,
             'code_bytes': code['code_bytes']}
    status, _, err = run(result(
        folder, 'm', row('_Z4tinyPi', tiny, 'tiny.cubin', **place)))
    assert status == 0 and not err
    path = result(folder, 'none')
    bad(2, 'its results list no code: it was not captured', path)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{"schema": "other"}')
    bad(2, 'schema', path)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{')
    bad(2, 'none.json: ', path)


def results_are_compared_with_either(folder):
    tiny, older = content('tiny.cubin'), content('older.cubin')
    more = content('kernels.cubin')
    old = result(folder, 'old', row('_Z4tinyPi', older, 'older.cubin'),
                 row('lost'), images=('older.cubin',))
    new = result(folder, 'new', row('_Z4tinyPi', tiny, 'tiny.cubin'),
                 row('dot', more, 'kernels.cubin'),
                 row('x', content('matrix.cubin'), 'matrix.cubin'),
                 images=('tiny.cubin', 'kernels.cubin'))
    diff = good(old, '--diff', data('tiny.cubin'))
    assert diff['same_image'] is False and len(diff['kernels']) == 1
    assert diff['a']['absent'][0]['kernels'] == 'lost'
    diff = good(data('tiny.cubin'), '--diff', old)
    assert 'images' not in diff['a'] and len(diff['b']['images']) == 1
    status, out, err = run(old, '--diff', new, '--json')
    diff = json.loads(out)
    assert status == 1 and 'new.json: not all' in err
    assert 'same_image' not in diff and diff['only_b'] == ['dot']
    assert diff['kernels'][0]['file_a'].endswith('old.d/older.cubin')
    assert diff['kernels'][0]['file_b'].endswith('new.d/tiny.cubin')
    assert diff['kernels'][0]['same_code'] == (
        good(data('older.cubin'))['kernels'][0]['code_sha256'] ==
        good(data('tiny.cubin'))['kernels'][0]['code_sha256'])
    status, out, err = run(old, '--diff', new)
    assert status == 1
    for words in ('old.json: lost is not there: it was loaded before',
                  'new.json: x is not there: No such file', 'only in ' + new,
                  os.path.join(folder, 'new.d', 'tiny.cubin') + ': sm_90a'):
        assert words in out, (words, out)


def write(folder, name, image):
    path = os.path.join(folder, name)
    with open(path, 'wb') as file:
        file.write(image)
    return path


def code_objects_of_amd_are_read(folder):
    for dynamic in (False, True):
        path = write(folder, 'a.hsaco', amd_object.build(dynamic=dynamic))
        image = good(path)
        assert image['architecture'] == 'gfx90a:sramecc+:xnack-', image
        first, second = image['kernels']
        del second['classes_absent'], second['code_sha256']
        assert second == {
            'name': 'second', 'registers': 25, 'agprs': 4, 'sgprs': 14,
            'spilled_vgprs': 18, 'spilled_sgprs': 2, 'wavefront': 64,
            'max_threads': 256, 'shared_bytes': 2048, 'stack_bytes': 68,
            'code_bytes': 12}
        assert first['code_sha256'] == hashlib.sha256(
            amd_object.CODE).hexdigest()
        assert 'llvm-objdump' in first['classes_absent']
    status, out, err = run(path)
    assert status == 0 and not err
    for words in ('code object for gfx90a:sramecc+:xnack-, ', 'VGPRs         24',
                  'VGPR spills   18', 'LDS           1024 B',
                  'scratch       68 B'):
        assert words in out, (words, out)
    path = write(folder, 'b.hsaco', amd_object.build(
        machine=amd_object.GFX942, target='amdgcn-amd-amdhsa--gfx942'))
    assert good(path)['architecture'] == 'gfx942'
    diff = good(path, '--diff', os.path.join(folder, 'a.hsaco'))
    assert all(k['same_code'] for k in diff['kernels'])
    assert not diff['same_image'] and len(diff['kernels']) == 2
    # Without metadata what the descriptor has is all that is known.
    path = write(folder, 'c.hsaco', amd_object.build(notes=b''))
    image = good(path)
    assert image['architecture'] == 'gfx90a'
    assert 'registers' not in image['kernels'][0]
    assert image['kernels'][0]['shared_bytes'] == 1024
    assert 'VGPRs         not stated' in run(path)[1]


def bad_code_objects_of_amd_are_named(folder):
    build = amd_object.build
    whole = amd_object.metadata(('first',), '')
    inputs = {
        'cut short': build()[:-1],
        'unknown architecture, number 0xee': build(machine=0xee),
        'not of HSA': build(abi=0),
        'kernel first has a descriptor and no function': build(functions=False),
        'the descriptor of kernel first takes 63 bytes': build(descriptor=63),
        'does not fit its section': build(descriptor=1 << 20),
        'holds no kernels': build(names=()),
        'metadata is malformed or cut short': build(
            notes=amd_object.note(whole[:-9])),
        'metadata is malformed': build(notes=amd_object.note(b'\x01')),
        'metadata is malformed or': build(notes=amd_object.note(
            b'\xde\xff\xff' + whole[3:])),
        'a note is longer than its section': build(
            notes=amd_object.note(whole)[:-40]),
        'a bundle of code for several targets':
            b'__CLANG_OFFLOAD_BUNDLE__' + bytes(8),
    }
    for words, image in inputs.items():
        bad(2, words, write(folder, 'input', image))
    # An object that is no ELF file any more, wherever it is cut.
    image = build()
    for size in range(5, len(image), 97):
        bad(2, 'cut short', write(folder, 'input', image[:size]))
    path = write(folder, 'input', build())
    bad(1, 'none of its 2 kernels matches "third"', path, '--kernel', 'third')
    named = ('--disassembler', stand_in(folder, 'llvm-objdump',
                                        '[ "$1" = -d ] || exit 5\nexit 4\n'))
    status, out, err = run(path, *named)
    assert status == 3 and 'failed with status 4' in err and 'VGPRs' in out
    bad(1, 'llvm-objdump (of LLVM or ROCm) is neither', path, '--list')


def compiled(folder):
    """tests/data/code/amd.hsaco made anew; None without a compiler."""
    tools = [shutil.which(n) for n in ('clang-14', 'ld.lld-14')]
    if None in tools:
        return None
    path, part = os.path.join(folder, 'amd.hsaco'), os.path.join(folder, 'o')
    for command in (
            [tools[0], '-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx90a', '-O2',
             '-nogpulib', '-x', 'cl', '-cl-std=CL2.0', '-Xclang',
             '-finclude-default-header', '-c', '-o', part, data('amd.cl')],
            [tools[1], '-shared', '-o', path, part]):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
    return path


def code_of(path):
    return {k['name']: k['code_sha256'] for k in good(path)['kernels']}


def a_compilers_code_objects_are_read(folder):
    path, anew = data('amd.hsaco'), compiled(folder)
    if anew:
        assert code_of(anew) == code_of(path)
    else:
        print('no clang-14 or lld that compiles for AMD GPUs: amd.hsaco is not '
              'made anew')
    found = shutil.which('llvm-objdump-14')
    for words in [('--listing', data('amd.objdump'))] + (
            [('--disassembler', found)] if found else []):
        image = good(path, *words)
        kernels = {k['name']: k for k in image['kernels']}
        assert sorted(kernels) == ['_Z5scalePff', 'copy_narrow', 'copy_wide',
                                   'matrix', 'spills', 'turn']
        assert all(k['max_threads'] == 256 for k in image['kernels'])
        assert kernels['turn']['shared_bytes'] == 1024
        assert kernels['turn']['classes']['s_barrier'] == 1
        assert kernels['matrix']['classes']['mfma'] == 1
        assert flags_of(kernels['copy_narrow']) == ['NARROW_LOADS']
        assert not flags_of(kernels['copy_wide'])
        assert flags_of(kernels['spills']) == ['NARROW_LOADS', 'SPILLS']
        spills = kernels['spills']
        assert spills['spilled_vgprs'] > 0 and spills['stack_bytes'] > 0
        assert spills['classes']['buffer_store_4'] == spills['spilled_vgprs']
    image = good(path, '--expect', 'mfma', *words)
    flags = {k['name']: flags_of(k) for k in image['kernels']}
    assert 'MATRIX_UNIT_UNUSED' in flags['turn']
    assert 'MATRIX_UNIT_UNUSED' not in flags['matrix']
    status, out, err = run(path, '--kernel', 'copy_narrow', '--diff', path,
                           '--other-kernel', 'copy_wide', *words,
                           *(('--other-listing', words[1])
                             if words[0] == '--listing' else ()))
    assert status == 0 and not err and 'different code' in out
    assert any(line.split() == ['global', 'load', '16', 'B', '0', '1', '+1']
               for line in out.splitlines()), out
    # In the words that kmb code has for them.
    rows = [r['what'] for r in good(
        path, '--kernel', 'spills', '--diff', path, '--other-kernel', 'turn',
        '--listing', data('amd.objdump'), '--other-listing',
        data('amd.objdump'))['kernels'][0]['rows']]
    assert rows[:8] == ['code bytes', 'VGPRs', 'SGPRs', 'VGPR spills',
                        'LDS bytes', 'scratch bytes', 'wavefront',
                        'max threads'], rows


def a_build_without_libelf_says_so():
    status, out, err = run(data('tiny.cubin'))
    if 'libelf was absent' not in err:
        return False
    assert status == 1 and not out and 'libelf-dev' in err
    print('this build has no libelf (Debian package libelf-dev)')
    return True


def main():
    if a_build_without_libelf_says_so():
        return SKIPPED
    kernels_are_listed()
    code_of_a_kernel_has_a_hash_of_its_own()
    kernels_are_chosen_by_either_name()
    wrong_arguments_are_refused()
    with tempfile.TemporaryDirectory() as folder:
        what_is_no_cubin_is_named(folder)
    classes_come_from_a_listing()
    flags_say_what_to_look_at()
    an_expected_matrix_unit_is_missed()
    a_listing_of_other_code_is_refused()
    a_missing_disassembler_is_said()
    kernels_are_compared()
    kernels_that_nobody_chose_are_not_absent()
    for test in (results_lead_to_their_images,
                 missing_and_changed_images_are_named,
                 results_are_compared_with_either,
                 code_objects_of_amd_are_read,
                 bad_code_objects_of_amd_are_named,
                 a_compilers_code_objects_are_read,
                 disassemblers_are_found_and_run,
                 a_failing_disassembler_is_said,
                 other_images_may_hold_the_same_code):
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
