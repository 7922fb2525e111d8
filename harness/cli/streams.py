"""Standard output and error where they are closed or full: told on the other one, and never a success.

A reader that has gone, as `head` does, wants no more: nothing is told, and nothing else changes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

_NAMES = {"stdout": "standard output", "stderr": "standard error"}


class Remembered:
    """A stream that remembers the errors of writing to it; whoever wrote is told, too."""

    def __init__(self, stream: IO[Any], of: Remembered | None = None) -> None:
        self.stream = stream
        self.errors: list[OSError] = []
        self._of = of or self

    def write(self, text: Any) -> int:
        """As the stream's."""
        with self._remembering():
            return self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As the stream's."""
        with self._remembering():
            self.stream.flush()

    @property
    def buffer(self) -> Remembered:
        """The stream's own, for bytes: what it cannot write is this stream's error, too."""
        return Remembered(self.stream.buffer, self)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._of.give_up()
        except OSError as error:
            # Where a write fails, so does the flush after it, with an error of its own.
            self._of.errors.append(error)
            raise

    def give_up(self) -> None:
        """What is left goes nowhere: Python would try once more at its end, and complain."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.stream.fileno())
        os.close(nowhere)
        self.stream.flush()


def tell_closed() -> bool:
    """Whether the command was begun without one of the two; says so on the other.

    Whatever file it opened next would take the number of the stream that is not there, and hold what is
    printed.
    """
    closed = [name for name in _NAMES if getattr(sys, name) is None]
    for name in closed:
        _tell(name, "it is closed")
    return bool(closed)


@contextmanager
def remembered() -> Iterator[Mapping[str, Remembered]]:
    """Has both streams remember their errors meanwhile."""
    streams = {name: Remembered(getattr(sys, name)) for name in _NAMES}
    try:
        for name, stream in streams.items():
            setattr(sys, name, stream)
        yield streams
    finally:
        for name, stream in streams.items():
            setattr(sys, name, stream.stream)


def tell_broken(streams: Mapping[str, Remembered]) -> bool:
    """Whether what was printed could not all be written; says so where that can be."""
    for stream in streams.values():
        # Remembered.
        with suppress(OSError):
            stream.flush()
    broken = {name: stream.errors[0] for name, stream in streams.items() if stream.errors}
    for name, error in broken.items():
        _tell(name, error.strerror or str(error))
    for stream in streams.values():
        if stream.errors:
            stream.give_up()
    return bool(broken)


def _tell(name: str, why: str) -> None:
    other = sys.stdout if name == "stderr" else sys.stderr
    # Both may be gone: then the exit code says it alone.
    with suppress(OSError, AttributeError):
        other.write(f"error: {_NAMES[name]} cannot be written: {why}\n")
        other.flush()
