#!/usr/bin/env python3
"""Traces that are files: SQLite of nsys and nvprof, gzip, reports of nsys, and
what the command makes of them and of its arguments.

usage: formats.py KMB
"""
import gzip
import json
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

KMB = sys.argv[1]
PID, TID = 77 << 24, 77 << 24 | 78
HEADER = 'Start (ns),Duration (ns),Name\n'
COMMON = ('start,end,deviceId,contextId,streamId,correlationId,globalPid,'
          'demangledName,shortName,mangledName,launchType,cacheConfig,'
          'registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,'
          'staticSharedMemory,dynamicSharedMemory,localMemoryPerThread,'
          'localMemoryTotal,gridId,sharedMemoryExecuted,graphNodeId,'
          'sharedMemoryLimitConfig')
S2 = COMMON.replace('contextId,', 'contextId,greenContextId,')
S3 = S2 + (',qmdBulkReleaseDone,qmdPreexitDone,qmdLastCtaDone,graphId,clusterX,'
           'clusterY,clusterZ,clusterSchedulingPolicy,maxPotentialClusterSize,'
           'maxActiveClusters,sharedMemoryRequestedPercentage')
NVPROF = ('_id_,cacheConfig,sharedMemoryConfig,registersPerThread,'
          'partitionedGlobalCacheRequested,partitionedGlobalCacheExecuted,'
          'start,end,completed,deviceId,contextId,streamId,gridX,gridY,gridZ,'
          'blockX,blockY,blockZ,staticSharedMemory,dynamicSharedMemory,'
          'localMemoryPerThread,localMemoryTotal,correlationId,gridId,name')
KERNEL = 'CUPTI_ACTIVITY_KIND_KERNEL'


def run(*words, env=None, status=0):
    done = subprocess.run([KMB, *words], capture_output=True, encoding='utf-8',
                          check=False, env=dict(os.environ, **(env or {})))
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def gaps(path, *words, env=None):
    return json.loads(run('gaps', path, '--json', *words, env=env))


def refused(path, part, *words, env=None, status=2):
    text = run('gaps', path, *words, env=env, status=status)
    assert part in text, (part, text)
    assert not subprocess.run([KMB, 'gaps', path, *words], check=False,
                              capture_output=True,
                              env=dict(os.environ, **(env or {}))).stdout


def table(db, name, columns, rows):
    """Rows are dicts; what a row lacks is NULL."""
    names = columns.split(',')
    db.execute('CREATE TABLE %s (%s)' % (name, ','.join(
        '"%s" %s' % (n, 'TEXT' if n in ('value', 'text') else 'INTEGER')
        for n in names)))
    for row in rows:
        assert set(row) <= set(names), row
        db.execute('INSERT INTO %s VALUES (%s)' % (
            name, ','.join('?' * len(names))), [row.get(n) for n in names])


def strings(db, *texts):
    db.execute('CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, '
               'value TEXT NOT NULL)')
    db.executemany('INSERT INTO StringIds VALUES (?, ?)',
                   list(enumerate(texts)))


def kernel(start, end, name=0, **more):
    row = {'start': start, 'end': end, 'deviceId': 0, 'contextId': 1,
           'streamId': 7, 'correlationId': 0, 'globalPid': PID,
           'demangledName': name, 'shortName': name}
    row.update(more)
    return row


def file_of(folder, name):
    path = os.path.join(folder, name)
    return path, sqlite3.connect(path)


def nsys_schemas(folder):
    for name, columns in (('s1', COMMON), ('s2', S2), ('s3', S3)):
        path, db = file_of(folder, name + '?%.sqlite')
        strings(db, 'target', 'other')
        table(db, KERNEL, columns, [kernel(100, 150), kernel(160, 170, 1),
                                    kernel(200, 250)])
        table(db, 'CUPTI_ACTIVITY_KIND_MEMCPY', 'start,end,deviceId,contextId,'
              'streamId,correlationId,globalPid,bytes,copyKind',
              [dict(start=180, end=190, deviceId=0, contextId=1, streamId=7,
                    bytes=4096, copyKind=2)])
        table(db, 'CUPTI_ACTIVITY_KIND_MEMSET',
              'start,end,deviceId,contextId,streamId,correlationId,globalPid,'
              'value,bytes,graphNodeId,memKind',
              [dict(start=260, end=265, deviceId=0, streamId=7, bytes=8)])
        db.commit()
        db.close()
        got = gaps(path, '--kernel', 'target')
        device = got['devices'][0]
        assert got['format'] == 'nsys-sqlite' and got['rows'] == 5, got
        assert device['span_ns'] == 165 and device['busy_ns'] == 125
        assert device['target']['intervals'] == [
            {'interval_ns': 50, 'work_ns': 20, 'kernel_work_ns': 10,
             'idle_ns': 30}]
        names = {n['name']: n['kind'] for n in device['names']}
        assert names == {'target': 'kernel', 'other': 'kernel',
                         '[CUDA memcpy Device-to-Host]': 'memcpy',
                         '[CUDA memset]': 'memset'}, names
        assert 'launch_ns' not in device
        assert got['findings'][0]['code'] == 'CAUSE_UNKNOWN'


def shapes_of(path, name, *words):
    """Grid and block of the launches of a name, as the command lists them."""
    text = run('payoff', path, '--ratio', '0.5', '--kernel', '^%s$' % name,
               '--json', *words)
    return sorted([s.get('grid'), s.get('block'), s['launches']]
                  for s in json.loads(text)['shapes'] if 'grid' in s) + [
        s['launches'] for s in json.loads(text)['shapes'] if 'grid' not in s]


def launched(x=1, y=1, z=1, *block):
    names = ('gridX', 'gridY', 'gridZ', 'blockX', 'blockY', 'blockZ')
    return dict(zip(names, (x, y, z) + (block or (128, 1, 1))))


# What SQLite would read as 1, 4, 4, 4, 1, 2^63 - 1.
NO_SIZES = [(1.5,), (1, '4x'), (1, 1, b'4'), (1, 1, 1, '4 4', 1, 1),
            (1, 1, 1, 1, 1.25, 1), (1, 1, 1, 1, 1, 1e30)]


def sqlite_makes_no_numbers(folder):
    """Of what is no integer, in any column."""
    for what in (1.5, '4x', b'4', 1e30):
        path, db = file_of(folder, 'numbers.sqlite')
        strings(db, 'k', 'c')
        table(db, KERNEL, COMMON, [
            kernel(100, 150, deviceId=what, streamId=what, correlationId=what,
                   globalPid=what),
            kernel(what, 350), kernel(400, what), kernel(-5, 350),
            kernel(1, (1 << 63) - 1)])
        table(db, 'CUPTI_ACTIVITY_KIND_MEMCPY', 'start,end,deviceId,streamId,'
              'bytes,copyKind', [dict(start=180, end=190, deviceId=0,
                                      streamId=7, bytes=what, copyKind=what)])
        table(db, 'CUPTI_ACTIVITY_KIND_RUNTIME', 'start,end,globalTid,'
              'correlationId,nameId', [
                  dict(start=what, end=950, globalTid=TID, nameId=1),
                  dict(start=90, end=95, globalTid=TID, correlationId=4,
                       nameId=1)])
        db.commit()
        got = gaps(path)
        assert got['rows'] == 6 and got['invalid'] == 3, got
        assert [d['device'] for d in got['devices']] == [0, None], got
        assert 'launch_latency' not in got['devices'][1], got
        assert got['devices'][0]['span_ns'] == str((1 << 63) - 2), got
        assert '[CUDA memcpy]' in [
            n['name'] for n in got['devices'][0]['names']], got
        db.execute('UPDATE %s SET demangledName = ?, shortName = ?' % KERNEL,
                   (what, what))
        db.commit()
        db.close()
        refused(path, 'a row without a name')
        os.remove(path)


def shapes_of_sqlite(folder):
    for name, columns in (('s1', COMMON), ('s2', S2), ('s3', S3)):
        path, db = file_of(folder, name + '.sqlite')
        strings(db, 'k', 'plain')
        table(db, KERNEL, columns, [
            kernel(100, 150, **launched(64, 2, 3, 4, 5, 6)),
            kernel(200, 250, **launched(2147483647)),
            kernel(300, 350, **launched(64, 2, 3, 4, 5, 6)),
            kernel(400, 450), kernel(500, 550, **launched(0)),
            kernel(600, 650, **launched(-1)),
            kernel(700, 750, **launched(1 << 32)),
            kernel(800, 850, **launched('x')),
            kernel(900, 950, 1, **launched())] + [
                kernel(1000 + 10 * i, 1005 + 10 * i, **launched(*sizes))
                for i, sizes in enumerate(NO_SIZES)])
        db.commit()
        db.close()
        assert shapes_of(path, 'k') == [
            [[64, 2, 3], [4, 5, 6], 2], [[2147483647, 1, 1], [128, 1, 1], 1],
            5 + len(NO_SIZES)], shapes_of(path, 'k')
        assert gaps(path)['devices'][0]['ops'] == 9 + len(NO_SIZES)
    path, db = file_of(folder, 'none.sqlite')  # without those columns
    strings(db, 'k')
    table(db, KERNEL, 'start,end,deviceId,contextId,streamId,correlationId,'
          'globalPid,demangledName,shortName', [kernel(100, 150)])
    db.commit()
    db.close()
    assert shapes_of(path, 'k') == [1]
    path, db = file_of(folder, 'nvprof.db')
    table(db, 'StringTable', '_id_,value', [{'_id_': 3, 'value': '_Z1kv'}])
    table(db, 'CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL', NVPROF, [
        dict({'_id_': 1, 'start': 100, 'end': 150, 'deviceId': 2,
              'contextId': 1, 'streamId': 7, 'name': 3},
             **launched(7, 8, 9, 32, 2, 1))])
    db.commit()
    db.close()
    assert shapes_of(path, '_Z1kv') == [[[7, 8, 9], [32, 2, 1], 1]]


def causes_and_ranges(folder):
    path, db = file_of(folder, 'causes.sqlite')
    strings(db, 'k', 'cudaLaunchKernel_v7000', 'cudaStreamSynchronize_v3020',
            'step')
    # The same correlation in another process is another launch.
    table(db, KERNEL, COMMON, [
        kernel(1000, 2000, correlationId=5),
        kernel(5000, 6000, correlationId=6),
        kernel(7000, 7500, correlationId=6, globalPid=88 << 24, deviceId=1)])
    call = 'start,end,eventClass,globalTid,correlationId,nameId,returnValue'
    table(db, 'CUPTI_ACTIVITY_KIND_RUNTIME', call, [
        dict(start=900, end=950, globalTid=TID, correlationId=5, nameId=1),
        dict(start=1500, end=2500, globalTid=TID, correlationId=7, nameId=2),
        dict(start=4000, end=4100, globalTid=TID, correlationId=6, nameId=1)])
    table(db, 'NVTX_EVENTS', 'start,end,eventType,rangeId,category,color,text,'
          'globalTid,endGlobalTid,textId,domainId', [
              dict(start=3500, end=4500, eventType=59, globalTid=TID,
                   text='step'),
              dict(start=890, end=960, eventType=59, globalTid=TID, textId=3),
              dict(start=890, eventType=59, globalTid=TID, text='open'),
              dict(start=1, end=9999, eventType=33, globalTid=TID,
                   text='step')])
    db.commit()
    db.close()
    device = gaps(path)['devices'][0]
    assert device['idle_ns'] == 3000, device
    assert device['sync_ns'] == 500 and device['host_ns'] == 1500, device
    assert device['launch_ns'] == 1000 and device['unknown_ns'] == 0, device
    assert device['launch_latency']['count'] == 2
    assert device['launch_latency']['shortest_ns'] == 100
    got = gaps(path, '--range', 'step')
    assert len(got['devices']) == 1 and got['devices'][0]['ops'] == 2, got
    assert got['devices'][0]['gaps'] == 0
    assert got['devices'][0]['span_ns'] == 2000
    refused(path, 'no range "open"', '--range', 'open', status=1)


def graphs(folder):
    path, db = file_of(folder, 'graphs.sqlite')
    strings(db, 'k', 'cudaGraphLaunch_v10000')
    table(db, 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE',
          'start,end,deviceId,contextId,streamId,correlationId,globalPid,'
          'graphId,graphExecId',
          [dict(start=100, end=300, deviceId=0, streamId=7, correlationId=1,
                globalPid=PID, graphId=4),
           dict(start=500, end=400, deviceId=0, streamId=7, correlationId=1,
                globalPid=PID, graphId=4)])
    call = 'start,end,eventClass,globalTid,correlationId,nameId'
    table(db, 'CUPTI_ACTIVITY_KIND_RUNTIME', call, [
        dict(start=50, end=60, globalTid=TID, correlationId=1, nameId=1)])
    db.commit()
    got = gaps(path)
    assert got['invalid'] == 1 and got['devices'][0]['utilization'] == 1
    assert got['devices'][0]['names'][0]['name'] == '[CUDA graph 4]'
    assert 'GRAPHS_AS_SPANS' in [f['code'] for f in got['findings']]
    # A column alone is no evidence; a launch without a row is.
    db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES '
               '(350, 360, 0, %d, 2, 1)' % TID)
    db.commit()
    db.close()
    got = gaps(path)
    assert 'utilization' not in got['devices'][0]
    assert 'utilization_absent' in got['devices'][0]
    assert got['findings'][0]['code'] == 'GRAPHS_NOT_TRACED'


def nvprof(folder):
    path, db = file_of(folder, 'nvprof.db')
    table(db, 'StringTable', '_id_,value', [{'_id_': 3, 'value': '_Z1kv'}])
    table(db, 'CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL', NVPROF, [
        {'_id_': 1, 'start': 100, 'end': 150, 'deviceId': 2, 'contextId': 1,
         'streamId': 7, 'name': 3}])
    db.commit()
    db.close()
    for words in ([], ['--format', 'nvprof']):
        got = gaps(path, *words)
        assert got['format'] == 'nvprof' and got['devices'][0]['device'] == 2
        assert got['devices'][0]['names'][0]['name'] == '_Z1kv'


def bad_sqlite(folder):
    path, db = file_of(folder, 'none.sqlite')
    table(db, 'other', 'a', [{'a': 1}])
    db.commit()
    db.close()
    refused(path, 'without the tables of a trace')
    # A report without work of a GPU is a report.
    path, db = file_of(folder, 'empty.sqlite')
    strings(db)
    table(db, 'META_DATA_EXPORT', 'name,value', [])
    db.commit()
    db.close()
    assert gaps(path)['rows'] == 0
    path, db = file_of(folder, 'column.sqlite')
    strings(db, 'k')
    table(db, KERNEL, 'start,deviceId', [])
    db.commit()
    db.close()
    refused(path, 'table %s: the column end is missing' % KERNEL)
    path, db = file_of(folder, 'string.sqlite')
    strings(db, 'k')
    table(db, KERNEL, COMMON, [kernel(1, 2, 9)])
    db.commit()
    db.close()
    refused(path, 'names the string 9, which the file lacks')
    path, db = file_of(folder, 'half.sqlite')
    strings(db, *('k%d' % i * 50 for i in range(2000)))
    table(db, KERNEL, COMMON, [kernel(10 * i + 1, 10 * i + 2, i % 2000)
                               for i in range(5000)])
    db.commit()
    db.close()
    with open(path, 'rb') as file:
        data = file.read()
    for part in (17, 100, 4096, len(data) // 2, len(data) - 4096):
        with open(path, 'wb') as file:
            file.write(data[:part])
        refused(path, 'half.sqlite: ')
    with open(path, 'wb') as file:
        file.write(data[:8192] + b'\xa5' * 8192 + data[16384:])
    run('gaps', path, status=2)


def packed(folder):
    text = HEADER + ''.join('%d,5,k\n' % (10 * i + 1) for i in range(50000))
    path = os.path.join(folder, 't.csv.gz')

    def write(data):
        with open(path, 'wb') as file:
            file.write(data)

    whole = gzip.compress(text.encode())
    write(whole)
    assert gaps(path)['rows'] == 50000
    write(gzip.compress(text[:1000].encode()) +
          gzip.compress(text[1000:].encode()) + b'\0' * 100)
    assert gaps(path)['rows'] == 50000
    write(whole[:len(whole) // 2])
    refused(path, 'ends within packed data')
    write(whole[:20] + b'\xff' * 20 + whole[40:])
    refused(path, 'gzip, byte')
    write(whole + b'x')
    refused(path, 'follows the packed data')
    write(gzip.compress(whole))
    refused(path, 'packed with gzip twice')
    write(gzip.compress((HEADER + '1,x,k\n').encode()))
    refused(path, 't.csv.gz: line 2, column 3: Duration is no number')
    write(gzip.compress(json.dumps({'traceEvents': []}).encode()))
    assert gaps(path)['format'] == 'chrome-json'
    inner, db = file_of(folder, 'packed.sqlite')
    strings(db, 'k')
    table(db, KERNEL, COMMON, [kernel(1, 2)])
    db.commit()
    db.close()
    with open(inner, 'rb') as file:
        write(gzip.compress(file.read()))
    before = set(os.listdir(folder))
    assert gaps(path, env={'TMPDIR': folder})['rows'] == 1
    assert set(os.listdir(folder)) == before
    refused(path, 'set TMPDIR', env={'TMPDIR': folder + '/none'}, status=3)


STAND_IN = '''#!/bin/sh
# Stands in for nsys: the export is the report itself.
[ "$1" = export ] || exit 9
for word in "$@"; do
  case $word in --output=*) out=${word#--output=} ;; esac
  file=$word
done
echo "noise on the output"
[ -z "$NSYS_FAILS" ] || exit 5
[ -n "$NSYS_SILENT" ] || cp "$file" "$out"
'''


def reports(folder):
    tools, work = os.path.join(folder, 'bin'), os.path.join(folder, 'tmp')
    os.mkdir(tools)
    os.mkdir(work)
    report, db = file_of(folder, 'r.nsys-rep')
    strings(db, 'k')
    table(db, KERNEL, COMMON, [kernel(1, 2)])
    db.commit()
    db.close()
    none = {'PATH': tools, 'TMPDIR': work}
    refused(report, 'the program nsys is needed', env=none, status=1)
    nsys = os.path.join(tools, 'nsys')
    with open(nsys, 'w', encoding='utf-8') as file:
        file.write(STAND_IN)
    os.chmod(nsys, os.stat(nsys).st_mode | stat.S_IXUSR)
    there = {'PATH': tools + ':' + os.environ['PATH'], 'TMPDIR': work}
    got = gaps(report, env=there)
    assert got['format'] == 'nsys-rep' and got['rows'] == 1
    refused(report, 'nsys export failed with status 5',
            env=dict(there, NSYS_FAILS='1'))
    refused(report, 'nsys export wrote no file',
            env=dict(there, NSYS_SILENT='1'))
    assert not os.listdir(work), 'something was left behind'


def the_command(folder):
    path = os.path.join(folder, 'c.csv')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(HEADER + '10,5,a\n20,5,b\n1000000,5,c\n')
    assert [n['name'] for n in gaps(path, '--from', '20ns', '--to',
                                    '0.001s')['devices'][0]['names']] == ['b']
    assert len(gaps(path, '--from', '1ms')['devices'][0]['names']) == 1
    assert 'a -> b' in run('gaps', path)
    assert 'and 2 more' in run('gaps', path, '--top', '1')
    assert run('--version').startswith('kmb 0.')
    assert 'gaps' in run('--help')
    assert '--kernel' in run('gaps', '--help')
    for name in ('nsys-csv', 'nsys-sqlite', 'nvprof', 'nsys-rep', 'rocprof-csv',
                 'chrome-json', 'kmb'):
        assert name in run('gaps', '--help').split('--format F ')[1].split()
        done = subprocess.run([KMB, 'gaps', path, '--format', name],
                              capture_output=True, check=False)
        assert b'--format' not in done.stderr, (name, done)
    for words, part in (
            ([], 'usage'), (['nothing'], 'no command "nothing"'),
            (['gaps'], 'a file is needed'),
            (['gaps', path, path], 'more than one file'),
            (['gaps', path, '--nothing'], 'no option "--nothing"'),
            (['gaps', path, '--top'], '--top needs a value'),
            (['gaps', path, '--top', '0'], '--top cannot be "0"'),
            (['gaps', path, '--from', '5'], '--from cannot be "5"'),
            (['gaps', path, '--from', '1.0000000001s'], '--from cannot be'),
            (['gaps', path, '--device', '-1'], '--device cannot be "-1"'),
            (['gaps', path, '--format', 'x'], '--format cannot be "x"'),
            (['gaps', path, '--kernel', '('], 'no regular expression')):
        assert part in run(*words, status=1), words
    # What is absent has the same status in each command.
    ratio = ['--ratio', '0.5', '--kernel', 'a']
    for words in (['gaps'], ['payoff', *ratio],
                  ['plot', 'timeline', '-o', path + '.svg']):
        assert 'no such file' in run(*words, path + 'x', status=1), words
        assert 'it is a folder' in run(*words, folder, status=1), words
        assert 'is empty' in run(*words, path, '--kernel', '', status=1), words
    for words in (['plot', 'samples', '-o', path + '.svg'], ['code'],
                  ['plot', 'roofline', '-o', path + '.svg'],
                  ['report', '-o', path + '.md'], ['peaks', '--file']):
        assert 'No such file' in run(*words, path + 'x', status=1), words
        assert folder in run(*words, folder, status=1), words
    with open('/dev/full', 'w', encoding='utf-8') as file:
        done = subprocess.run([KMB, 'gaps', path], stdout=file, check=False,
                              stderr=subprocess.PIPE, encoding='utf-8')
    assert done.returncode == 3 and 'cannot write' in done.stderr


def pictures(folder):
    path = os.path.join(folder, 'c.csv')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('Start (ns),Duration (ns),Device,Strm,Name\n'
                   '10,5,G (0),7,<a&b>\n12,5,G (1),8,b\n90,5,G (0),7,c\n')
    out = os.path.join(folder, 'out.')
    begins = {'svg': b'<?xml', 'png': b'\x89PNG', 'pdf': b'%PDF'}
    done = subprocess.run([KMB, 'plot', 'timeline', path, '-o', out + 'svg'],
                          capture_output=True, encoding='utf-8', check=False)
    if 'built without cairo' in done.stderr:
        assert done.returncode == 1
        return
    for end, begin in begins.items():
        run('plot', 'timeline', path, '-o', out + end, '--kernel', 'c')
        with open(out + end, 'rb') as file:
            first = file.read()
        assert first.startswith(begin), (end, first[:20])
        run('plot', 'timeline', path, '-o', out + end, '--from', '80ns')
        with open(out + end, 'rb') as file:
            assert file.read() != first
    xml.etree.ElementTree.parse(out + 'svg')
    for words, part in (([path], '-o and a file'), ([path, '-o', 'x.gif'],
                        'ends neither in'), (['-o', out + 'svg'], 'a file is '
                        'needed'), ([path, '-o', out + 'svg', '--from', '1s'],
                        'c.csv: there are no operations to draw'), (
                        [path, '-o', out + 'svg', '--kernel', 'zzz'],
                        'c.csv: no kernel matches "zzz"')):
        assert part in run('plot', 'timeline', *words, status=1), words
    assert 'none/x.svg: cannot be created: No such file' in run(
        'plot', 'timeline', path, '-o', folder + '/none/x.svg', status=3)
    a_full_disk_leaves_the_old_picture(folder, path)


def a_full_disk_leaves_the_old_picture(folder, path):
    own = os.path.join(folder, 'own')
    os.mkdir(own)

    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    for end in ('svg', 'png', 'pdf'):
        out = os.path.join(own, 'a.' + end)
        with open(out, 'w', encoding='utf-8') as file:
            file.write('old')
        done = subprocess.run([KMB, 'plot', 'timeline', path, '-o', out],
                              capture_output=True, encoding='utf-8',
                              check=False, preexec_fn=full)
        assert done.returncode == 3 and out + ': not written' in done.stderr, done
        with open(out, encoding='utf-8') as file:
            assert file.read() == 'old'
        assert os.listdir(own) == ['a.' + end]
        os.remove(out)


def main():
    tests = [nsys_schemas, sqlite_makes_no_numbers, shapes_of_sqlite,
             causes_and_ranges, graphs, nvprof, bad_sqlite,
             packed, reports, the_command, pictures]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
        print('ok ' + test.__name__)


if __name__ == '__main__':
    main()
