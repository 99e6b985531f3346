"""What the Python programs of this folder share that measure on a GPU: kernels
of a file launched through the driver, recordings by libkmb, captures of code,
figures beside their bars."""
import ctypes
import datetime
import json
import os
import statistics
import subprocess

from kmb import _abi
from kmb._library import check, lib, text, written

RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


def must(code, what):
    if code:
        raise RuntimeError('%s failed: %d' % (what, code))


class Kernels:
    """Kernels of a PTX, cubin or fatbin file; the context that is current when
    the first one is asked for is theirs."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.image = file.read() + b'\0'
        self.cuda = self.module = None
        self.functions = {}

    def function(self, name):
        if self.module is None:
            self.cuda = ctypes.CDLL('libcuda.so.1')
            self.module = ctypes.c_void_p()
            must(self.cuda.cuModuleLoadData(ctypes.byref(self.module),
                                            self.image), 'loading the kernels')
        if name not in self.functions:
            found = ctypes.c_void_p()
            must(self.cuda.cuModuleGetFunction(ctypes.byref(found), self.module,
                                               name.encode()), name)
            self.functions[name] = found
        return self.functions[name]

    def launch(self, name, stream, grid, block, arguments):
        """Each argument takes eight bytes; the driver copies them."""
        function = self.function(name)
        values = (ctypes.c_uint64 * len(arguments))(*arguments)
        pointers = (ctypes.c_void_p * len(arguments))(*[
            ctypes.addressof(values) + 8 * i for i in range(len(arguments))])
        must(self.cuda.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0,
                                      ctypes.c_void_p(stream), pointers, None),
             name)


class Recording:
    """What this process does on its devices, until finish()."""

    def __init__(self, device):
        self.handle = ctypes.c_void_p()
        check(lib.kmb_trace_begin(device.handle, None,
                                  ctypes.byref(self.handle)))

    def begin(self, name):
        check(lib.kmb_trace_range_begin(self.handle, name.encode()))

    def end(self):
        check(lib.kmb_trace_range_end(self.handle))

    def finish(self, path):
        """Writes libkmb's own JSON. Wait for the work first."""
        trace = ctypes.c_void_p()
        check(lib.kmb_trace_end(self.handle, ctypes.byref(trace)))
        try:
            whole = written(lib.kmb_trace_write_json, trace)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(whole)
        finally:
            lib.kmb_trace_destroy(trace)


def capture_code(device, call, folder):
    """The code objects that ran in call(), saved as FOLDER/KERNEL.cubin. The
    kernels that ran: name, file, sha256 and, without an image, why."""
    raised = []

    def run(_user):
        try:
            call()
            return 0
        except Exception as error:  # comes out below
            raised.append(error)
            return 1

    code = ctypes.c_void_p()
    status = lib.kmb_code_capture(device.handle, RUN(run), None,
                                  ctypes.byref(code))
    if raised:
        raise raised[0]
    check(status)
    try:
        os.makedirs(folder, exist_ok=True)
        check(lib.kmb_code_save(code, folder.encode()))
        return kernels_of(code)
    finally:
        lib.kmb_code_destroy(code)


def kernels_of(code):
    """What a capture says of each kernel."""
    info = _abi.kmb_code_info()
    info.struct_size = ctypes.sizeof(info)
    check(lib.kmb_code_get_info(code, ctypes.byref(info)))
    found = []
    for i in range(info.kernels):
        one = _abi.kmb_code_kernel()
        one.struct_size = ctypes.sizeof(one)
        check(lib.kmb_code_get_kernel(code, i, ctypes.byref(one)))
        found.append({key: text(value) for key, value in [
            ('name', one.name), ('file', one.file), ('sha256', one.hash),
            ('reason', one.reason)] if value})
    return found


def declare():
    """Handles are pointers: without this they would be cut to 32 bits."""
    handle, out = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    for name, arguments in {
            'kmb_trace_begin': [handle, handle, out],
            'kmb_trace_range_begin': [handle, ctypes.c_char_p],
            'kmb_trace_range_end': [handle],
            'kmb_trace_end': [handle, out],
            'kmb_code_capture': [handle, RUN, handle, out],
            'kmb_code_save': [handle, ctypes.c_char_p]}.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, ctypes.c_int32
    lib.kmb_code_destroy.argtypes = [handle]
    lib.kmb_code_destroy.restype = None


declare()


def about(**more):
    """The head of a report."""
    try:
        said = subprocess.run(
            ['nvidia-smi', '--query-gpu=name,driver_version',
             '--format=csv,noheader'], capture_output=True, text=True,
            check=True).stdout.split('\n')[0].split(', ')
    except (OSError, subprocess.CalledProcessError):
        said = ['none', 'none']
    head = {'device': said[0], 'driver': said[-1],
            'date': datetime.datetime.now(datetime.timezone.utc).strftime(
                '%Y-%m-%dT%H:%M:%SZ'),
            'version': text(lib.kmb_version())}
    head.update(more)
    return head


def save(path, value):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(value, file, indent=1)
        file.write('\n')


def middle(values):
    """Median, and the order statistics that bound it with 99%."""
    x = sorted(values)
    half = 1.288 * len(x) ** 0.5
    low = max(0, int(len(x) / 2 - half))
    high = min(len(x) - 1, int(len(x) / 2 + half))
    return statistics.median(x), x[low], x[high]
