"""Exit codes, and what makes an error one of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from harness.explain import unknown

FAILURE, USAGE, NOT_COMPARABLE, INTERRUPTED = 1, 2, 3, 130
"""Exit codes beside 0; a signal's is 128 and its number."""


class MistakeError(Exception):
    """Something asked for that there is not, or that is not valid: the user's to mend. Exit code 2."""


@contextmanager
def user_input() -> Iterator[None]:
    """Around code that checks what the user typed and the files named: its errors are the user's mistakes."""
    try:
        yield
    except ValueError as error:
        raise MistakeError(str(error)) from error
    except OSError as error:
        named = error.filename is not None and error.strerror
        raise MistakeError(f"{error.filename}: {error.strerror}" if named else str(error)) from error


def one_of(what: str, known: Iterable[str]) -> Callable[[Any], Any]:
    """A callback of an option or argument whose value, or values, must be among ``known``: a mistake names
    the one that was meant.
    """
    names = list(known)

    def check(value: Any) -> Any:
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is not None and each not in names:
                raise typer.BadParameter(unknown(what, each, names))
        return value

    return check
