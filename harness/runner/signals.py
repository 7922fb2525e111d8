"""Signals that end a command in order: what it has begun is ended, and it says how to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(SystemExit):
    """The end by a signal. The exit code is the shell's: 128 and the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Has SIGINT, SIGTERM and SIGHUP raise :class:`Ended`, the first of them: a second one must not disturb
    what the first has begun to end, nor change the exit code while Python itself ends. All three are ignored
    from then on; without one, the former handlers come back. One that was ignored before, as by nohup, stays
    ignored.

    To be used in the main thread.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}
    heeded = [number for number in _ENDING if before[number] is not signal.SIG_IGN]

    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            raise Ended(number)

    try:
        for number in heeded:
            signal.signal(number, end)
        yield
    except BaseException as error:
        if received and not isinstance(error, Ended):
            # A last word to a terminal that is gone, say, fails on the way to the end and is not its cause.
            raise Ended(received[0]) from error
        raise
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_IGN if received else before[number])
