"""Assembles a kernel source from the files a plan names, macros and ``#line`` marks in front.

The macros by which a plan parametrises the kernels are declared here, and checked when a source is assembled.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files as resource_files
from typing import Final, Literal

Dialect = Literal["cl", "cu"]

MACROS: Final[Mapping[str, str]] = {
    "ELEMENT": "the type that is computed on",
    "KEPT": "the type of an element in a partial result",
    "STORED": "the type of an element in memory",
    "CHANNEL": "the type of a texel's channel",
    "STORED_IS_HALF": "1 where memory holds float16, else 0",
    "ELEMENT_IS_FLOAT": "1 for floats, 0 for integers",
    "ELEMENT_BITS": "bits of ELEMENT",
    "COMPUTE_CAPABILITY": "90 where PTX for sm_90 may be used, 0 where none may",
    "LOWEST": "the least value of ELEMENT",
    "HIGHEST": "the greatest value of ELEMENT",
    "TOTAL": "the type of a sum",
    "KEPT_SIXTEENTHS": "sixteenths of the source's lines that the L2 cache is to keep",
    "RELEASE_SIZE": "work-items of a group that has lines given up",
    "LINE_BYTES": "bytes of a line of the L2 cache",
    "GIVES_UP_OTHERS": "1 where the L2 cache is to give the other lines up first, else 0",
    "VECTOR_WIDTH": "components of a vector",
    "VECTOR_BYTES": "bytes of a vector in memory",
    "LOADS_IN_FLIGHT": "vectors that a work-item loads before it uses the first",
    "FINDS_POSITIONS": "1 where a group looks for an element's position in its vector, else 0",
    "POSITION": "the type of a position",
    "IS_KEYED": "1 where value and position are packed into one key, else 0",
    "SEGMENTS_AN_END": "short segments at either end of what a work-item reads",
    "ONE_PART_A_GROUP": "1 where each group has one part of the source, 0 where it has several in turn",
    "GROUP_SIZE": "work-items of a one-dimensional group",
    "SUB_GROUP_WIDTH": "work-items of a sub-group; 1 where that is not known",
    "SCRATCH_PARTIALS": "partial results that a group keeps in local memory",
    "USES_REDUX": "1 where instructions combine a sub-group's words, else 0",
    "USES_LOCAL_WORDS": "1 where atomics combine a group's partial results in local memory, else 0",
    "ATOMIC_BITS": "32 or 64: of the widest field that atomics combine; 0 where none does",
    "VALUE": "the type in which a filter's sums are computed",
    "SATURATES": "1 where results are saturated, else 0",
    "CENTRE": "the mask's weight of the pixel itself",
    "EDGE": "the mask's weight of the four nearest neighbours",
    "CORNER": "the mask's weight of the four diagonal neighbours",
    "OUTER_HALVES": "the weight of the neighbours above and below, twice as a half in a word",
    "OWN_HALVES": "what is left of a pixel's own weight where its row is added, likewise",
    "CHANNELS": "elements of a pixel",
    "BORDER_VALUE": "the value of pixels outside",
    "KEEPS_WORDS": "1 where what an item sees of a row stays in words as stored, else 0",
    "ITEMS_TOGETHER": "work-items along a row that go the same way to the end, also those beyond the row",
    "HALO_LOAD": "the type of one load of a neighbour",
    "TEXEL_ELEMENTS": "elements of a texel",
    "IMAGE_BORDER": "what an image reads outside: 0 nothing is read, 1 the nearest texel, 2 zero",
    "PADDING": "elements in front of a row of a padded image, and behind it",
    "ROWS_PER_ITEM": "rows of results of a work-item",
    "GROUP_WIDTH": "columns of a two-dimensional group",
    "GROUP_HEIGHT": "rows of a two-dimensional group",
    "MOST_REGISTERS": "the most registers of a work-item; 0 where the compiler decides",
}
"""Every macro that a plan may define, and its meaning. A kernel file that uses one needs it defined, unless
it only asks by ``#ifdef`` whether it is.
"""

_WORD = re.compile(r"[A-Za-z_]\w*")
_NOT_USED = re.compile(r"//.*|^\s*#\s*ifdef .*", re.MULTILINE)


@cache
def _text(dialect: Dialect, name: str) -> str:
    folder = resource_files(f"kernels_{dialect}")
    return folder.joinpath(f"{name}.{dialect}").read_text(encoding="utf-8")


@cache
def needed_macros(dialect: Dialect, name: str) -> frozenset[str]:
    """The macros of :data:`MACROS` that a kernel file uses."""
    return frozenset(_WORD.findall(_NOT_USED.sub("", _text(dialect, name)))) & MACROS.keys()


def _check(dialect: Dialect, files: Sequence[str], macros: Mapping[str, str | int]) -> None:
    undeclared = [name for name in macros if name not in MACROS]
    if undeclared:
        raise ValueError(
            f"macro {undeclared[0]} is not declared: describe it in harness.kernels.source.MACROS"
        )
    for name in files:
        for macro in sorted(needed_macros(dialect, name) - macros.keys()):
            raise ValueError(
                f"kernels_{dialect}/{name}.{dialect} needs the macro {macro} ({MACROS[macro]}), "
                f"which the plan does not define"
            )


def assemble(dialect: Dialect, files: Sequence[str], macros: Mapping[str, str | int]) -> str:
    """The source of one program: a ``#define`` a macro, then each file behind a ``#line`` mark that names it.

    Raises:
        FileNotFoundError: if a file of the plan does not exist in this dialect.
        ValueError: if a file needs a macro that is missing, or a macro is not declared in :data:`MACROS`.
    """
    _check(dialect, files, macros)
    return joined(dialect, files, macros, _text)


def joined(
    dialect: Dialect,
    files: Sequence[str],
    macros: Mapping[str, str | int],
    text_of: Callable[[Dialect, str], str],
) -> str:
    """As :func:`assemble`, unchecked, of files whose text ``text_of`` tells."""
    parts = [f"#define {name} {value}" for name, value in macros.items()]
    for name in files:
        parts += [f'#line 1 "kernels_{dialect}/{name}.{dialect}"', text_of(dialect, name).rstrip()]
    return "\n".join(parts) + "\n"


def source_hash(source: str) -> str:
    """SHA-256 of an assembled source, in hexadecimal."""
    return hashlib.sha256(source.encode()).hexdigest()
