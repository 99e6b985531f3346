"""Several ranks that measure together from Python: threads, processes, a
process group of torch, mpi4py, and transports of one's own."""
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref
from unittest import mock

import kmb

SOURCE = ''
BENCH = kmb.bench
QUICK = {'min_samples': 20, 'max_samples': 20, 'min_wall_ms': 1e-6,
         'max_wall_ms': 6e5, 'warmup_ms': 0, 'confirm': False, 'batch': 1,
         'ceilings': False}


def device():
    return kmb.Device('host', llc_bytes=1 << 12, threads=1)


def quick(fn, *args, **kwargs):
    return BENCH(fn, *args, **{**QUICK, 'device': device(), **kwargs})


class Board:
    """Where the ranks of a test lay what they give."""

    def __init__(self, size):
        self.size, self.lock, self.given = size, threading.Lock(), []

    def give(self, rank, number, data):
        with self.lock:
            while len(self.given) <= number:
                self.given.append({})
            self.given[number][rank] = data

    def taken(self, number):
        with self.lock:
            here = self.given[number]
            return b''.join(here[r] for r in range(self.size)) \
                if len(here) == self.size else None


class OnBoard(kmb.Transport):
    name = 'board'
    collective = 'none'

    def __init__(self, board, rank):
        self.board, self.rank, self.size = board, rank, board.size
        self.number, self.aborted = -1, []

    def start(self, data):
        self.number += 1
        self.board.give(self.rank, self.number, data)
        return self.number

    def test(self, request):
        return self.board.taken(request)

    def abort(self, status, message):
        self.aborted.append((status, message))


def together(ranks, function):
    """What `function(rank, communicator)` gave or raised, each in a thread."""
    got = [None] * len(ranks)

    def one(rank):
        try:
            got[rank] = function(rank, ranks[rank])
        except BaseException as error:
            got[rank] = error

    threads = [threading.Thread(target=one, args=(r,))
               for r in range(len(ranks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def both(function, **how):
    board = Board(2)
    return together([kmb.Comm(OnBoard(board, r), **how) for r in range(2)],
                    function)


class Transports(unittest.TestCase):
    def test_a_transport_of_one_s_own(self):
        got = both(lambda rank, comm: quick(
            lambda: None, comm=comm, boundary='all of it'), topology='a board',
            multicast='off')
        for rank, result in enumerate(got):
            self.assertEqual((result['world_size'], result['rank']), (2, rank))
            self.assertEqual((result['comm'], result['collective'],
                              result['topology'], result['boundary']),
                             ('board', 'none', 'a board', 'all of it'))
            self.assertEqual(result['multicast'], 'declared off')
            self.assertEqual(len(result.ranks), 2)
            self.assertEqual(result.samples_ns, got[0].samples_ns)
            self.assertIn('MULTICAST_OFF', [f.code for f in result.findings])
        self.assertEqual(quick(lambda: None).ranks, [])

    def test_it_carries_data(self):
        def gather(rank, comm):
            self.assertEqual((comm.rank, comm.size), (rank, 2))
            self.assertIn('%d of 2' % rank, repr(comm))
            self.assertEqual(comm.agree(7 - rank), 6)
            with comm:
                heard = comm.gather(b'%d' % rank * 700)
            self.assertIn('closed', repr(comm))
            return heard

        self.assertEqual(both(gather), [[b'0' * 700, b'1' * 700]] * 2)

    def test_bad_ones_are_named(self):
        with self.assertRaisesRegex(TypeError, 'comm is a str: neither'):
            quick(lambda: None, comm='WORLD')
        with self.assertRaisesRegex(TypeError, 'initialise the process group'):
            quick(lambda: None, comm=None)
        with self.assertRaisesRegex(ValueError, 'barrier is \'soon\''):
            kmb.Comm(OnBoard(Board(1), 0), barrier='soon')
        with self.assertRaises(kmb.InvalidError):
            kmb.Comm(OnBoard(Board(1), 1))
        alone = quick(lambda: None, comm=kmb.Comm(OnBoard(Board(1), 0)))
        self.assertEqual(alone['world_size'], 1)

    def test_what_a_transport_raises_is_the_cause(self):
        why = OSError('the line is cut')

        def fails(rank, comm):
            if rank:
                comm._calls.transport.test = mock.Mock(side_effect=why)
            return comm.gather(b'x')

        got = both(fails, deadline_s=600)
        self.assertEqual(got[0], [b'x', b'x'])
        self.assertIsInstance(got[1], kmb.VendorError)
        self.assertIs(got[1].__cause__, why)

    def test_too_few_bytes_are_refused(self):
        def short(_, comm):
            comm._calls.transport.test = lambda request: b'?'
            return comm.gather(b'x')

        for error in both(short):
            self.assertRegex(str(error.__cause__), 'gave 1 bytes in place of')

    def test_a_rank_that_is_missed(self):
        told, board = [], Board(2)
        comm = kmb.Comm(OnBoard(board, 0), first_deadline_s=0.02,
                        abort=lambda *why: told.append(why))
        with self.assertRaisesRegex(kmb.DeadlineError, 'within 0.02 s'):
            comm.gather(b'x')
        self.assertEqual(told[0][0], -7)  # TIMEOUT
        self.assertIn('within 0.02 s', told[0][1])
        self.assertEqual(comm._calls.transport.aborted, told)
        with self.assertRaisesRegex(kmb.DeadlineError, 'within 0.02 s'):
            quick(lambda: None, comm=comm)
        self.assertEqual(comm._calls.requests, {})

    def test_ctrl_c_while_it_waits(self):
        comm = kmb.Comm(OnBoard(Board(2), 0))
        comm._calls.transport.test = \
            lambda _: os.kill(os.getpid(), signal.SIGINT)
        with self.assertRaises(KeyboardInterrupt):
            comm.gather(b'x')

    def test_ctrl_c_where_a_callback_begins(self):
        # Before its first instruction, where nothing catches it.
        printed = []
        for name in ['start', 'test', 'release']:
            comm, left = kmb.Comm(OnBoard(Board(1), 0)), [name]

            def trace(frame, _event, _arg):
                if left and frame.f_code.co_name == left[0] and \
                        isinstance(frame.f_locals.get('self'),
                                   kmb.comm._Calls):
                    left.clear()
                    signal.raise_signal(signal.SIGINT)

            old = sys.gettrace()
            with self.subTest(name), mock.patch.object(
                    sys, 'unraisablehook', printed.append):
                try:
                    with self.assertRaises(KeyboardInterrupt):
                        sys.settrace(trace)
                        comm.gather(b'x')
                finally:
                    sys.settrace(old)
                self.assertEqual(left, [])
                self.assertEqual(signal.getsignal(signal.SIGINT),
                                 signal.default_int_handler)
        self.assertEqual(printed, [])

    def test_a_device_barrier(self):
        seen = []
        OnBoard.device_barrier = lambda self, stream: seen.append(stream)
        try:
            got = both(lambda _, comm: quick(lambda: None, comm=comm),
                       barrier='caller')
        finally:
            del OnBoard.device_barrier
        # The host has no device to align; it says so, and what it did.
        self.assertIn('HOST', got[0]['barrier'])
        comm = kmb.Comm(OnBoard(Board(1), 0))
        comm._calls.transport.device_barrier = seen.append
        self.assertEqual(comm._calls.barrier(None, 5), 0)
        self.assertEqual(seen[-1], 5)

    def test_they_are_freed(self):
        one = OnBoard(Board(1), 0)
        freed, comm = weakref.ref(one), kmb.Comm(one)
        del one
        comm.close()
        comm.close()
        del comm
        gc.collect()
        self.assertIsNone(freed())


class Failures(unittest.TestCase):
    def test_a_callable_that_raises_on_one_rank(self):
        def run(rank, comm):
            return quick(lambda: 1 // (1 - rank), comm=comm)

        got = both(run)
        self.assertIsInstance(got[1], ZeroDivisionError)
        self.assertIsInstance(got[0], kmb.RankError)
        self.assertIn('rank 1 failed at step', str(got[0]))
        self.assertEqual(got[0].status, 1)

    def test_a_rank_that_cannot_be_set_up(self):
        def run(rank, comm):
            one = quick(lambda: None, comm=comm)
            try:
                quick(lambda: None, comm=comm, mutates=['y'] if rank else ())
            except Exception as error:
                return one, error, quick(lambda: None, comm=comm)

        got = both(run)
        self.assertRegex(str(got[0][1]), 'rank 1 failed before it measured: '
                         'ValueError: mutates names \'y\'')
        self.assertIsInstance(got[0][1], kmb.RankError)
        self.assertIsInstance(got[1][1], ValueError)
        for one in got:  # it is of use before and afterwards
            self.assertEqual(one[0]['world_size'], one[2]['world_size'])

    def test_a_rank_whose_argument_is_refused(self):
        for wrong, words in (({'batch': 'x'}, "batch is 'x', not a whole"),
                             ({'batsch': 1}, "argument 'batsch'")):
            def run(rank, comm, wrong=wrong):
                try:
                    quick(lambda: None, comm=comm, **(wrong if rank else {}))
                except Exception as error:
                    return error, quick(lambda: None, comm=comm)

            got = both(run)
            self.assertIsInstance(got[0][0], kmb.RankError)
            self.assertRegex(str(got[0][0]), 'rank 1 failed .*' + words)
            self.assertIs(type(got[1][0]), TypeError)
            self.assertRegex(str(got[1][0]), words)

    def test_ranks_that_measure_different_things(self):
        got = both(lambda rank, comm: quick(lambda: None, comm=comm,
                                            name='n%d' % rank))
        for error in got:
            self.assertIsInstance(error, kmb.InvalidError)
            self.assertIn('name, axes', str(error))

    def test_a_check_that_fails_on_one_rank(self):
        got = both(lambda rank, comm: quick(
            lambda: rank, comm=comm, check=lambda returned: returned == 0))
        self.assertIsInstance(got[1], kmb.IncorrectError)
        self.assertIn('rank 1 failed', str(got[0]))


class Ready(unittest.TestCase):
    def test_threads(self):
        got = together(kmb.Comm.threads(3, topology='one process'),
                       lambda _, comm: quick(lambda: None, comm=comm))
        self.assertEqual([r['rank'] for r in got], [0, 1, 2])
        self.assertEqual([r['world_size'] for r in got], [3] * 3)
        self.assertEqual(got[0]['topology'], 'one process')

    def test_processes(self):
        name = '/kmb_python_%d' % os.getpid()
        child = os.fork()
        rank = 1 if child == 0 else 0
        code = 1
        try:
            comm = kmb.Comm.shm(name, rank, 2)
            result = quick(lambda: None, comm=comm)
            code = 0 if result['world_size'] == 2 and \
                result['rank'] == rank else 2
        finally:
            if child == 0:
                os._exit(code)
        self.assertEqual(code, 0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]),
                         0)


TORCH = '''
import runpy
import sys
from unittest import mock
import torch, torch.distributed as dist
sys.path.insert(0, sys.argv[4])
import kmb
from kmb import comm, testing
from tests_of_ranks import device, quick
rank = int(sys.argv[1])
dist.init_process_group('gloo', init_method='file://' + sys.argv[3],
                        rank=rank, world_size=int(sys.argv[2]))
world, x = dist.group.WORLD, torch.ones(1024) * (rank + 1)

def reduced(x):
    dist.all_reduce(x)

result = quick(reduced, (x,), mutates=['x'], comm=world,
               reset=lambda x: x.fill_(rank + 1), tolerance=0.0,
               check=lambda _, x: float((x - 3).abs().max()))
assert result['world_size'] == 2 and result['rank'] == rank, result
assert result['check'] == 'passed before and after timing', result
assert result['comm'] == 'torch %s, gloo' % torch.__version__, result
assert float(x[0]) == rank + 1
# Slots are as many on each rank as on the one that has least memory.
few = quick(lambda x: None, (x,), comm=world, memory_limit=3 * 4096 - rank)
assert few['slots'] == 2, few
# A group of NCCL's is joined by its ranks on the host.
with mock.patch.object(dist, 'get_backend', lambda group: 'nccl' if group is
                       world else 'gloo'), \\
        mock.patch.object(torch.cuda.nccl, 'version', lambda: (2, 27, 3)):
    joined = quick(reduced, (x,), mutates=['x'], comm=world)
    again = comm._host_group(dist, world)
assert joined['collective'] == 'NCCL 2.27.3' and again is not world, joined
assert comm._host_group(dist, world) is world
# The drop-ins reduce over ranks as the originals do.
both = []
def kept(*args, **kwargs):
    both.append(quick(*args, **{**kwargs, 'timer': None, 'device': device()}))
    return both[-1]
with mock.patch.object(testing, 'bench', kept):
    times = testing.bench_gpu_time(reduced, repeat_iters=20, input_args=(x,))
    assert both[0]['world_size'] == 2, both
    assert times == [ns / 1e6 for ns in both[0].samples_ns]
    try:
        testing.bench_gpu_time(reduced, aggregate_op=min)
        sys.exit('min was taken')
    except kmb.UnsupportedError as error:
        assert 'max' in str(error)
with mock.patch.object(kmb, 'bench', quick):
    example, sys.argv[1:] = sys.argv[5], ['1024']
    runpy.run_path(example, run_name='__main__')
print('ok', rank)
'''

MPI = '''
import sys
from mpi4py import MPI
sys.path.insert(0, sys.argv[1])
from tests_of_ranks import quick
result = quick(lambda: None, comm=MPI.COMM_WORLD)
assert result['world_size'] == 2, result
assert result['rank'] == MPI.COMM_WORLD.Get_rank()
assert result['comm'].startswith('mpi4py, MPI '), result
print('ok')
'''


def python_with(module):
    """A Python that has it: that of the tests or the system's."""
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and subprocess.run(
                [python, '-c', 'import importlib.util as u, sys; '
                 'sys.exit(not u.find_spec(%r))' % module],
                check=False).returncode == 0:
            return python
    raise unittest.SkipTest('no %s (Debian package python3-%s)'
                            % (module, module))


def importable(folder):
    """This file, under a name of its own."""
    shutil.copy(__file__, folder + '/tests_of_ranks.py')
    return folder


class Groups(unittest.TestCase):
    def ended(self, processes):
        for one in processes:
            words, _ = one.communicate()
            self.assertEqual(one.returncode, 0, words)
            self.assertIn('ok', words)

    def test_a_group_of_torch(self):
        python = python_with('torch')
        with tempfile.TemporaryDirectory() as folder:
            importable(folder)
            self.ended([subprocess.Popen(
                [python, '-c', TORCH, str(rank), '2',
                 folder + '/store', folder,
                 SOURCE + '/examples/torch_comm.py'],
                env={**os.environ, 'GLOO_SOCKET_IFNAME': 'lo',
                     'OMP_NUM_THREADS': '1', 'KMB_RESULTS': ''},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                for rank in range(2)])

    def test_a_communicator_of_mpi4py(self):
        launcher, python = shutil.which('mpirun'), python_with('mpi4py')
        if not launcher:
            self.skipTest('no mpirun (Debian package openmpi-bin)')
        with tempfile.TemporaryDirectory() as folder:
            self.ended([subprocess.Popen(
                [launcher, '-n', '2', python, '-c', MPI,
                 importable(folder)],
                env={**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1',
                     'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
                     'OMPI_MCA_rmaps_base_oversubscribe': '1'},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)])


if __name__ == '__main__':
    unittest.main()
