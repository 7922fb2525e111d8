"""What a backend can fail with."""

from __future__ import annotations

from typing import Any, Final, Self


class BackendError(Exception):
    """Something a backend could not do; the message names the value, the place and the remedy."""


_REMEDY_FOLLOWS: Final = "; what to do: "


class BackendUnavailable(BackendError):
    """The backend or its device does not exist on this machine.

    ``what`` is missing, ``remedy`` is what to do about it, empty where nobody knows; the message is both.
    """

    @classmethod
    def of_message(cls, message: str) -> Self:
        """The error that has this message."""
        what, _, remedy = message.partition(_REMEDY_FOLLOWS)
        return cls(what, remedy)

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}{_REMEDY_FOLLOWS}{self.remedy}" if self.remedy else self.what


def no_such_device(index: int, count: int) -> BackendUnavailable:
    """The error for device number ``index`` where there are ``count``, at least one."""
    return BackendUnavailable(
        f"there is no device {index}; there are 0 to {count - 1}", "choose one that `harness devices` lists"
    )


class Unsupported(BackendError):
    """The backend cannot run this problem or variant; the message is the skip reason."""


class BuildError(BackendError):
    """A kernel did not compile. Carries the assembled source and the compiler's log."""

    def __init__(self, message: str, source: str, log: str) -> None:
        super().__init__(message)
        self.source = source
        self.log = log

    def __str__(self) -> str:
        numbered = "\n".join(f"{i:4} {line}" for i, line in enumerate(self.source.splitlines(), 1))
        return f"{self.args[0]}\n--- compiler ---\n{self.log.strip()}\n--- source ---\n{numbered}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.source, self.log)


class DeviceLost(BackendError):
    """The device or its context is dead (an illegal address, a hang that the driver ended): only a new
    process helps.
    """


class GateExpired(BackendError):
    """A gate may have opened before all was enqueued behind it: what was timed behind it is void."""


class OutOfDeviceMemory(BackendError):
    """An allocation did not fit on the device."""
