#!/usr/bin/env python3
"""Makes the seed corpora of the importers' fuzzers.

usage: make_traces.py FOLDER     (tests/fuzz/corpus)

What stands in the folders of the formats already is replaced.
"""
import gzip
import json
import pathlib
import sqlite3
import sys

N1 = ('Start(sec),Duration(nsec),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,'
      'StcSMem,DymSMem,Bytes,Thru(MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,'
      'Name\n')
N3 = ('Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,'
      'StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,'
      'DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n')
ROWS = ('1000,500,1,64,1,1,128,1,1,32,0.000,0.049,,,,,NVIDIA H200 (0),1,,7,'
        '"void f<int, ""x"">(int)"\n'
        '1600,100,2,,,,,,,,,,2.097,24137.9,Pinned,Device,NVIDIA H200 (0),1,,7,'
        '[CUDA memcpy Host-to-Device]\n'
        '1650,300,3,64,1,1,128,1,1,32,0.000,0.049,,,,,NVIDIA H200 (1),1,,8,'
        'k\n2000,0,4,1,1,1,1,1,1,8,0,0,,,,,NVIDIA H200 (0),1,,7,k\n'
        '3000,10,5,,,,,,,,,,0.001,,,,NVIDIA H200 (0),1,,7,[CUDA memset]\n')
V1 = ('"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid",'
      '"grd","wgr","lds","scr","arch_vgpr","accum_vgpr","sgpr","wave_size",'
      '"sig","obj","DispatchNs","BeginNs","EndNs","CompleteNs","DurationNs"\n')
V1_ROWS = ('0,"k(int, float) [clone .kd]",0,1,0,77,78,1,1,0,0,8,0,16,64,0x0,'
           '0x1,90,100,150,160,50\n'
           '1,"g",0,1,0,77,78,1,1,0,0,8,0,16,64,0x0,0x1,90,170,190,160,50\n')
V2 = ('Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,Kernel_Name'
      ',Start_Timestamp,End_Timestamp,Correlation_ID\n')
V3 = ('"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id",'
      '"Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp",'
      '"End_Timestamp","Workgroup_Size_X","Workgroup_Size_Y",'
      '"Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n')
COPIES = ('"Kind","Direction","Stream_Id","Source_Agent_Id",'
          '"Destination_Agent_Id","Correlation_Id","Start_Timestamp",'
          '"End_Timestamp"\n')


SHAPE = 'gridX, gridY, gridZ, blockX, blockY, blockZ'


def own():
    return """{"kmb_trace": 1,
 "tick_ns": 1,
 "invalid": 1,
 "dropped": 2,
 "one_process": false,
 "base_ns": "1700000000000000000",
 "names": [
  "k",
  "cuLaunchKernel",
  "step",
  "NVIDIA H200"],
 "devices": [[0,3], [null,3]],
 "streams": [
  [0,50,1,7],
  [1,50,null,null]],
 "threads": [[50,51]],
 "shapes": [
  [64,1,1,128,1,1]],
 "ops": [
  ["kernel",0,0,5,10,9,null,0],
  ["memcpy",1,0,20,10,0,4096],
  ["memset",0,0,25,10,11,64],
  ["graph",0,0,50,5,0,null],
  ["kernel",0,0,60,0,0,null]],
 "calls": [
  ["launch",0,1,0,3,9],
  ["graph launch",0,1,30,3,10],
  ["synchronisation",0,1,40,3,0],
  ["other",0,1,45,3,0]],
 "ranges": [
  [0,2,0,30]]}
"""


def event(cat, name, ts, dur, tid=7, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 9, 'tid': tid,
            'ts': ts, 'dur': dur, 'args': args}


def kineto():
    return {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'G'}],
            'displayTimeUnit': 'ms', 'baseTimeNanoseconds': 17 * 10 ** 17,
            'traceEvents': [
                event('cuda_runtime', 'cudaLaunchKernel', 1.5, 2.25, 8,
                      correlation=1),
                event('cuda_driver', 'cuLaunchKernel', 1.75, 1, 8,
                      correlation=1),
                event('kernel', 'f<int>', 5.125, 3.5, device=0, context=1,
                      stream=7, correlation=1, grid=[1, 2, 3], block=[4, 5, 6]),
                event('cuda_runtime', 'cudaStreamSynchronize', 4, 6, 8,
                      correlation=2),
                event('cuda_runtime', 'cudaGraphLaunch', 12, 1, 8,
                      correlation=3),
                event('kernel', 'k \u00e4 "q" \\', 15, 1, device=0, context=1,
                      stream=7, correlation=3),
                event('gpu_memcpy', 'Memcpy HtoD', 20, 1.001, device=0,
                      stream=7, correlation=4, bytes=4096,
                      **{'memory bandwidth (GB/s)': 'N/A'}),
                event('user_annotation', 'step', 1, 30, 8),
                event('gpu_user_annotation', 'step', 5, 11),
                {'ph': 's', 'cat': 'ac2g', 'id': 1, 'name': 'ac2g'}]}


def database(path, nvprof=False, **changes):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute('PRAGMA page_size = 512')
    common = 'start, end, deviceId, contextId, streamId, correlationId'
    if nvprof:
        db.execute('CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, '
                   'value TEXT)')
        db.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL '
                   '(_id_ INTEGER PRIMARY KEY, %s, name INTEGER, %s)' % (
                       common, SHAPE))
        db.execute("INSERT INTO StringTable VALUES (3, '_Z1kv')")
        db.executemany('INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL '
                       'VALUES (?, ?, ?, 0, 1, 7, ?, 3, ?, 1, 1, 128, 1, 1)',
                       [(i, 100 * i, 100 * i + 50, i, i % 2)
                        for i in range(1, 9)])
    else:
        db.execute('CREATE TABLE StringIds (id INTEGER PRIMARY KEY, '
                   'value TEXT)')
        db.executemany('INSERT INTO StringIds VALUES (?, ?)', enumerate(
            ('k', 'cudaLaunchKernel_v7000', 'cudaGraphLaunch_v10000')))
        db.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (%s, globalPid, '
                   'demangledName, graphNodeId, %s)' % (common, SHAPE))
        db.executemany('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES '
                       '(?, ?, 0, 1, 7, ?, 16777216, 0, NULL, ?, 1, 1, 128, '
                       '1, 1)', [(100 * i, 100 * i + 50, i, i % 3)
                                 for i in range(1, 9)])
        db.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, '
                   'globalTid, correlationId, nameId)')
        db.executemany('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES '
                       '(?, ?, 16777217, ?, ?)',
                       [(100 * i - 20, 100 * i - 10, i, 1)
                        for i in range(1, 9)] + [(950, 960, 20, 2)])
        db.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (%s, '
                   'globalPid, graphId)' % common)
        db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES '
                   '(970, 990, 0, 1, 7, 20, 16777216, 4)')
        db.execute('CREATE TABLE NVTX_EVENTS (start, end, eventType, text, '
                   'textId, globalTid)')
        db.execute("INSERT INTO NVTX_EVENTS VALUES (70, 400, 59, 'step', NULL,"
                   " 16777217)")
    for sql in changes.get('sql', ()):
        db.execute(sql)
    db.commit()
    db.close()


def texts(folder):
    rounds = ''.join('%d,%d,,,,,,,,,,,,,,,G (0),,,7,k%d\n'
                     % (1000 * i, 1 + 37 * i % 999, i % 3)
                     for i in range(1, 40))
    put = {
        'nsys-csv/ok-n3': N3 + ROWS,
        'nsys-csv/ok-n1': N1 + '1.000001,500,1,1,1,1,1,1,1,8,0,0,,,,,G (0),1,7,'
                               'k\n1.000009,5,2,,,,,,,,,,4096,1,,,G (0),1,7,'
                               '[CUDA memset]\n',
        'nsys-csv/ok-preamble': 'Processing [x] with [y]...\r\n\r\n' +
                                (N3 + ROWS).replace('\n', '\r\n'),
        'nsys-csv/ok-header': N3,
        'nsys-csv/ok-rounds': N3 + rounds,
        'nsys-csv/ok-short': 'Name,Duration (us),Start (ms)\na,1.5,2\nb,2,3.1',
        'nsys-csv/bad-quote': N3 + ROWS + '1,1,"',
        'nsys-csv/bad-number': N3 + ROWS.replace('1600', '16x0'),
        'nsys-csv/bad-cells': N3 + ROWS + '1,2,3\n',
        'nsys-csv/bad-none': '1,2,3\n',
        'rocprof-csv/ok-v1': V1 + V1_ROWS,
        'rocprof-csv/ok-v2': V2 + '1,4,1,7,7,1,1,"k",100,150,1\n',
        'rocprof-csv/ok-v3': V3 + '"KERNEL_DISPATCH","Agent 7",3,9,8,1,12,"k",'
                                  '5,100,150,128,1,1,8192,1,1\n',
        'rocprof-csv/ok-copies': COPIES + '"MEMORY_COPY","HOST_TO_DEVICE",1,0,'
                                          '5,1,100,150\n',
        'rocprof-csv/bad-end': V1 + V1_ROWS.replace('190', ''),
        'chrome-json/ok-kineto': json.dumps(kineto(), indent=1),
        'chrome-json/ok-compact': json.dumps(kineto(), separators=(',', ':')),
        'chrome-json/ok-list': json.dumps(kineto()['traceEvents']),
        'chrome-json/ok-none': '{"traceEvents": []}',
        'chrome-json/bad-cut': json.dumps(kineto())[:400],
        'chrome-json/bad-deep': '[' * 100,
        'chrome-json/bad-tail': json.dumps(kineto()) + 'x',
        'kmb/ok-all': own(),
        'kmb/ok-compact': own().replace('\n', ''),
        'kmb/ok-none': '{"kmb_trace": 1, "ops": []}',
        'kmb/bad-cut': own()[:300],
        'kmb/bad-order': '{"kmb_trace": 1, "ops": '
                         '[["kernel",0,0,5,10,9,null]]}',
        'kmb/bad-version': '{"kmb_trace": 2, "ops": []}',
    }
    for name, text in put.items():
        (folder / name).write_bytes(text.encode())
    packed = {
        'ok-csv': gzip.compress((N3 + ROWS).encode(), mtime=0),
        'ok-members': gzip.compress(N3.encode(), mtime=0) +
                      gzip.compress(ROWS.encode(), mtime=0) + b'\0\0',
        'ok-json': gzip.compress(json.dumps(kineto()).encode(), mtime=0),
        'bad-cut': gzip.compress((N3 + ROWS).encode(), mtime=0)[:-9],
        'bad-bomb': gzip.compress(b'\0' * (5 << 20), mtime=0),
    }
    for name, data in packed.items():
        (folder / 'gzip' / name).write_bytes(data)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in ('nsys-csv', 'rocprof-csv', 'chrome-json', 'nsys-sqlite',
                 'nvprof', 'gzip', 'kmb'):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for old in (folder / name).iterdir():
            old.unlink()
    texts(folder)
    database(folder / 'nsys-sqlite' / 'ok-tables')
    database(folder / 'nsys-sqlite' / 'bad-string', sql=[
        'DELETE FROM StringIds'])
    database(folder / 'nvprof' / 'ok-tables', nvprof=True)
    whole = (folder / 'nsys-sqlite' / 'ok-tables').read_bytes()
    (folder / 'nsys-sqlite' / 'bad-cut').write_bytes(whole[:len(whole) // 2])


if __name__ == '__main__':
    main()
