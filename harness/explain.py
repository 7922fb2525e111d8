"""What is wrong with a value or a file of the user's, said so that it can be mended."""

from __future__ import annotations

import difflib
import os
import reprlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

_Loc = Sequence[int | str]

_SHORT = reprlib.Repr()
"""Writes what somebody else's file holds, however deep or long it is."""
_SHORT.maxstring = _SHORT.maxother = 200
_COMPARING = ("compare", "compare-cuda")
"""The environments of tox that run `harness run`."""
_BLOCKS = ("reduction", "laplace", "bandwidth", "launch")
"""The keys of a suite that may have several tables."""
_MOST_MISTAKES = 100
"""That are told one by one."""


def unknown(what: str, value: object, known: Iterable[object]) -> str:
    """The message for a ``value`` that is none of ``known``, with the nearest of them where one is near."""
    names = [str(name) for name in known]
    near = difflib.get_close_matches(value, names, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{what} {_SHORT.repr(value)} is unknown; allowed are {', '.join(names)}{hint}"


def extra(name: str) -> str:
    """How to install what an extra brings. The project is on no package index: its checkout is installed."""
    return f"in a checkout of the harness, pip install '.[{name}]'"


def going_on(path: object) -> str:
    """How to go on with a run file. In an environment of tox the command is not on the user's PATH."""
    name = os.environ.get("TOX_ENV_NAME", "")
    command = f"python -m tox -e {name} --" if name in _COMPARING else "harness run"
    return f"`{command} --resume {shlex.quote(str(path))}` goes on"


def mistakes(
    error: ValidationError, model: type[BaseModel] | None = None, arguments: Sequence[str] = ()
) -> list[str]:
    """All that pydantic found wrong with data for ``model``; of very many mistakes their number alone.

    ``arguments`` are the names of a constructor's positional ones.
    """
    if (count := error.error_count()) > _MOST_MISTAKES:
        return [f"{count} values are of another kind than expected"]
    names: dict[Any, str] = dict(enumerate(arguments))
    found: list[dict[str, Any]] = [dict(mistake) for mistake in error.errors(include_url=False)]
    for mistake in found:
        mistake["loc"] = (*(names.get(key, key) for key in mistake["loc"][:1]), *mistake["loc"][1:])
    return [validation(mistake, model) for mistake in found]


def validation(mistake: Mapping[str, Any], model: type[BaseModel] | None = None) -> str:
    """One of pydantic's errors about data for ``model``: the key's path, what is wrong, what is allowed."""
    loc: _Loc = mistake["loc"]
    key = _path(loc)
    match mistake["type"]:
        case "extra_forbidden" if model is not None:
            key, message = _path(loc[:-1]), unknown("key", loc[-1], _keys_at(model, loc[:-1]))
        case "unexpected_keyword_argument":
            message = "is unknown; leave it out"
        case "missing":
            message = "is missing"
        case "too_short":
            message = "is empty; at least one value is needed"
        case "value_error":
            message = str(mistake["ctx"]["error"])
        case "union_tag_invalid":
            known = mistake["ctx"]["expected_tags"].replace("'", "").split(", ")
            message = unknown(mistake["ctx"]["discriminator"].strip("'"), mistake["ctx"]["tag"], known)
        case "union_tag_not_found":
            key, message = _path((*loc, mistake["ctx"]["discriminator"].strip("'"))), "is missing"
        case "list_type" if len(loc) == 1 and loc[0] in _BLOCKS and isinstance(mistake["input"], Mapping):
            message = f"is one table; write [[{key}]], as there may be several"
        case "model_type" | "dict_type" | "dataclass_type" | "model_attributes_type":
            message = f"should be a table of keys and values, not {_SHORT.repr(mistake['input'])}"
        case _:
            message = (
                f"{mistake['msg'].replace('Input should', 'should')}, not {_SHORT.repr(mistake['input'])}"
            )
    return f"{key}: {message}" if key and not message.startswith(f"{key} ") else message


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
