"""Assembles a kernel source from the files a plan names, macros and ``#line`` marks in front."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files as resource_files
from typing import Literal

Dialect = Literal["cl", "cu"]


@cache
def _text(dialect: Dialect, name: str) -> str:
    folder = resource_files(f"kernels_{dialect}")
    return folder.joinpath(f"{name}.{dialect}").read_text(encoding="utf-8")


def assemble(dialect: Dialect, files: Sequence[str], macros: Mapping[str, str | int]) -> str:
    """The source of one program: a ``#define`` a macro, then each file behind a ``#line`` mark that names it.

    Raises:
        FileNotFoundError: if a file of the plan does not exist in this dialect.
    """
    parts = [f"#define {name} {value}" for name, value in macros.items()]
    for name in files:
        parts += [f'#line 1 "kernels_{dialect}/{name}.{dialect}"', _text(dialect, name).rstrip()]
    return "\n".join(parts) + "\n"


def source_hash(source: str) -> str:
    """SHA-256 of an assembled source, in hexadecimal."""
    return hashlib.sha256(source.encode()).hexdigest()
