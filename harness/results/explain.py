"""What is wrong with a value or a file of the user's, said so that it can be mended."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel

_Loc = Sequence[int | str]

_SHORT = reprlib.Repr()
"""Writes what somebody else's file holds, however deep or long it is."""
_SHORT.maxstring = _SHORT.maxother = 200


def unknown(what: str, value: object, known: Iterable[object]) -> str:
    """The message for a ``value`` that is none of ``known``, with the nearest of them where one is near."""
    names = [str(name) for name in known]
    near = difflib.get_close_matches(value, names, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{what} {value!r} is unknown; allowed are {', '.join(names)}{hint}"


def validation(mistake: Mapping[str, Any], model: type[BaseModel]) -> str:
    """One of pydantic's errors about data for ``model``: the key's path, what is wrong, what is allowed."""
    loc: _Loc = mistake["loc"]
    key = _path(loc)
    match mistake["type"]:
        case "extra_forbidden":
            key, message = _path(loc[:-1]), unknown("key", loc[-1], _keys_at(model, loc[:-1]))
        case "missing":
            message = "is missing"
        case "too_short":
            message = "is empty; at least one value is needed"
        case "value_error":
            message = str(mistake["ctx"]["error"])
        case "model_type" | "dict_type":
            message = f"should be a table of keys and values, not {_SHORT.repr(mistake['input'])}"
        case _:
            message = (
                f"{mistake['msg'].replace('Input should', 'should')}, not {_SHORT.repr(mistake['input'])}"
            )
    return f"{key}: {message}" if key else message


def _path(loc: _Loc) -> str:
    """As in ``reduction[0].ops``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in loc).lstrip(".")


def _key(name: str) -> str:
    return name if name.isprintable() and len(name) < _SHORT.maxstring else _SHORT.repr(name)


def _keys_at(model: type[BaseModel], loc: _Loc) -> list[str]:
    """The keys that the table at ``loc`` of a ``model`` may have."""
    table: Any = model
    for part in loc:
        if isinstance(part, str):
            annotation = table.model_fields[part].annotation
            table = next(iter(get_args(annotation)), annotation)
    return list(table.model_fields)
