"""A call of the library that runs Python: exceptions, and Ctrl-C."""
import os
import signal
import threading
from types import FrameType
from typing import Any, Callable, Optional

from .device import Device

#: What a callback returns when it raised.
RAISED = 1


class Call:
    """One call on a device. Callbacks run through ``guard``; ``run`` makes the
    call and raises what they raised."""

    __slots__ = ('device', 'error', 'inside', 'interrupted', 'ended')

    def __init__(self, device: Device) -> None:
        self.device = device
        self.error: Optional[BaseException] = None
        self.inside = False  # the user's code is running
        self.interrupted: Any = None
        self.ended = False  # the cancel flag is set by this call

    def guard(self, function: Callable[..., Any]) -> Callable[..., int]:
        """A callback that keeps what ``function`` raises. It gives None,
        which is success, or a status."""
        def called(*arguments: Any) -> int:
            try:
                self.inside = True
                status = function(*arguments)
                self.inside = False
                return 0 if status is None else int(status)
            except BaseException as error:  # pylint: disable=broad-except
                self.inside = False
                if self.error is None:
                    self.error = error
                    self._end()
                return RAISED
        return called

    def _end(self) -> None:
        """A callback's failure alone does not end a comparison that tunes."""
        if not self.device.cancel_flag.value:
            self.device.cancel_flag.value = 1
            self.ended = True

    def run(self, function: Callable[[], int]) -> int:
        """The call's status; what a callback raised comes out as it is."""
        try:
            with _Interrupts(self):
                status = function()
        finally:
            if self.ended:
                self.ended = False
                self.device.cancel_flag.value = 0
        error, self.error = self.error, None
        if error is not None:
            raise error
        return status


class _Interrupts:
    """While the library runs, Ctrl-C sets the device's cancel flag; the old
    handler is called when the library has returned. While the user's own code
    runs within it, the old handler is called at once.

    Python's own handlers only run between two of its instructions, of which
    there may be none for long: a thread waits on the wakeup descriptor, which
    Python writes to from within the real signal handler."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.old: Any = None
        self.pipe = (-1, -1)
        self.old_wakeup = -1
        self.watcher: Optional[threading.Thread] = None
        self.was = 0
        self.over = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        old = signal.getsignal(signal.SIGINT)
        if not callable(old):  # ignored, or not Python's
            return
        self.was = self.call.device.cancel_flag.value
        self.old = old
        # From here on until it is taken back nothing is raised by a signal
        # between two steps of this object.
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            self.pipe = os.pipe()
            os.set_blocking(self.pipe[1], False)
            watcher = threading.Thread(target=self._watch, daemon=True)
            watcher.start()
            self.watcher = watcher
            self.old_wakeup = signal.set_wakeup_fd(self.pipe[1],
                                                   warn_on_full_buffer=False)
        except BaseException:  # no descriptors, no threads
            self._wind_down()
            raise

    def _interrupt(self, number: int, frame: Optional[FrameType]) -> None:
        if self.call.inside:
            self.old(number, frame)
            return
        self.call.interrupted = (number, frame)
        if not self.over:
            self._cancel()

    def _cancel(self) -> None:
        self.call.ended = True
        self.call.device.cancel_flag.value = 1

    def _watch(self) -> None:
        while True:
            numbers = os.read(self.pipe[0], 64)
            if self.old_wakeup >= 0:
                os.write(self.old_wakeup, numbers.strip(b'\0'))
            if signal.SIGINT in numbers:
                self._cancel()
            if 0 in numbers:
                return

    def __exit__(self, *_: Any) -> None:
        if self.old is None:
            return
        self._wind_down()
        if self.call.interrupted is not None:
            self.old(*self.call.interrupted)

    def _wind_down(self) -> None:
        """The handler of this object stands until all else is done: a second
        Ctrl-C must not find the device cancelled for ever."""
        if self.watcher is not None:
            signal.set_wakeup_fd(self.old_wakeup)
            os.write(self.pipe[1], b'\0')
            self.watcher.join()
        self.over = True
        for end in self.pipe:
            if end >= 0:
                os.close(end)
        if self.call.ended:
            self.call.ended = False
            self.call.device.cancel_flag.value = self.was
        signal.signal(signal.SIGINT, self.old)
