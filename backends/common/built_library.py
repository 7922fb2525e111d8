"""Shared libraries that are built once and kept on disk."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from pathlib import Path

from backends.errors import BackendError
from harness.files import replacing

_log = logging.getLogger(__name__)


def built_library(path: Path, build: Callable[[Path], None]) -> ctypes.CDLL:
    """The library that is kept at a path: built where there is none, and anew where what is there cannot be
    loaded, as after a loss of power. Another process may build or load the same one.

    Args:
        path: of the library; its folders are made.
        build: writes the library to the path that it is given.

    Raises:
        BackendError: if what was built cannot be loaded, either; what ``build`` raises, too.
    """
    if path.exists():
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            _log.warning("%s cannot be loaded (%s) and is built anew", path, error)
    with replacing(path) as built:
        build(built)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise BackendError(f"{path} was built, but cannot be loaded: {error}") from error
