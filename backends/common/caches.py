"""The folders where compilers keep what they built. PoCL has no device where it cannot write to its own, and
pyopencl no kernel: then a temporary folder takes their place.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CACHES = {
    "XDG_CACHE_HOME": ("~/.cache", ("opencl-cuda-harness", "pocl", "pocl/kcache", "pyopencl", "pytools")),
    "POCL_CACHE_DIR": ("", ()),
    "CUPY_CACHE_DIR": ("~/.cupy", ()),
}
"""The variables of the environment that name them, with the folder where it is not set, empty where another
variable's is taken, and what is kept below it."""


@cache
def use_writable_caches() -> None:
    """Has the environment name only folders that can be written, for this process and what it starts."""
    for variable in unusable():
        os.environ[variable] = str(temporary_caches())


def unusable() -> dict[str, str]:
    """Why a folder cannot be written to, by the variable that names it."""
    return {variable: why for variable in CACHES for why in _faults(variable)}


def folder_of(variable: str) -> Path | None:
    """The folder that a variable names, or names by default; None where it has none of its own."""
    named = os.environ.get(variable) or CACHES[variable][0]
    return Path(os.path.expanduser(named)) if named else None  # noqa: PTH111 - no error without a home


def _faults(variable: str) -> Iterator[str]:
    """The first fault of a variable's folder, if it has one."""
    top = folder_of(variable)
    if top is None:
        return
    if not top.is_absolute():
        yield f"{top} is not an absolute path"
        return
    try:
        below = [top / name for name in CACHES[variable][1] if (top / name).exists()]
        for folder in (next(path for path in (top, *top.parents) if path.exists()), *below):
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as error:
        yield f"{top} cannot be written: {error}"


@cache
def temporary_caches() -> Path:
    """A folder of this user's alone among the temporary files, the same each time where it can be."""
    folder = Path(tempfile.gettempdir()) / f"harness-caches-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return Path(tempfile.mkdtemp(prefix=folder.name))
    is_ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o022
    # What is in there is executed: nobody else may have put it there.
    return folder if is_ours else Path(tempfile.mkdtemp(prefix=folder.name))
