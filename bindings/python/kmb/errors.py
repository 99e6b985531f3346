"""What a call of the library that failed becomes."""
from typing import Any, Dict, Type

from . import _abi


class Error(Exception):
    """A failed call. ``status`` is negative where the library failed;
    ``vendor`` is the vendor library's own code, 0 if there is none."""

    def __init__(self, status: int, message: str, vendor: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.vendor = vendor

    def __reduce__(self) -> Any:
        return (_remade, (self.status, str(self), self.vendor))


class InvalidError(Error, ValueError):
    """An argument that cannot be."""


class UnsupportedError(Error):
    """Not in this build, backend or version."""


class OutOfMemoryError(Error, MemoryError):
    """No memory, on the host or on the device."""


class UnavailableError(Error):
    """A library, a device or a value is absent."""


class AbsentError(UnavailableError, KeyError):
    """A value of a result is not known; the message says why."""

    def __str__(self) -> str:
        return str(self.args[0])


class BusyError(Error):
    """In use by somebody else."""


class NotPermittedError(Error):
    """The system forbids it."""


class DeadlineError(Error):
    """A deadline passed."""


class LostError(Error):
    """The device is lost."""


class IncorrectError(Error):
    """The operation gave a wrong result."""


class CaptureError(Error):
    """A graph could not be captured."""


class StaleError(Error):
    """An outdated pointer or graph."""


class ForkedError(Error):
    """The handle belongs to the parent process."""


class CancelledError(Error):
    """Cancelled before there was a result."""


class RankError(Error):
    """Another rank failed: its callable raised, or what it measures could not
    be set up."""


class StreamError(Error, OSError):
    """Reading or writing failed."""

    def __init__(self, status: int, message: str, vendor: int = 0) -> None:
        Error.__init__(self, status, message, vendor)

    def __str__(self) -> str:
        return str(self.args[0])


class FormatError(Error, ValueError):
    """Malformed input."""


class VendorError(Error):
    """An error from a vendor's library."""


_OF_STATUS: Dict[int, Type[Error]] = {
    _abi.KMB_ERR_INVALID: InvalidError,
    _abi.KMB_ERR_UNSUPPORTED: UnsupportedError,
    _abi.KMB_ERR_NOMEM: OutOfMemoryError,
    _abi.KMB_ERR_UNAVAILABLE: UnavailableError,
    _abi.KMB_ERR_BUSY: BusyError,
    _abi.KMB_ERR_PERM: NotPermittedError,
    _abi.KMB_ERR_TIMEOUT: DeadlineError,
    _abi.KMB_ERR_LOST: LostError,
    _abi.KMB_ERR_INCORRECT: IncorrectError,
    _abi.KMB_ERR_CAPTURE: CaptureError,
    _abi.KMB_ERR_STALE: StaleError,
    _abi.KMB_ERR_FORKED: ForkedError,
    _abi.KMB_ERR_CANCELLED: CancelledError,
    _abi.KMB_ERR_IO: StreamError,
    _abi.KMB_ERR_FORMAT: FormatError,
    _abi.KMB_ERR_VENDOR: VendorError,
}


def of_status(status: int, message: str, vendor: int = 0) -> Error:
    """The exception for a status; of an unknown one, Error itself."""
    return _OF_STATUS.get(status, Error)(status, message, vendor)


_remade = of_status
