"""Frozen values that are checked when they are made, from Python or from a file's plain data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, fields
from functools import wraps
from typing import Annotated, Any, TypeVar, dataclass_transform

from pydantic import BeforeValidator, ConfigDict, Strict, ValidationError
from pydantic.dataclasses import dataclass

from harness.explain import mistakes, unknown

T = TypeVar("T")

Text = Annotated[str, Strict()]
Whole = Annotated[int, Strict()]
"""An integer: neither 4.0 nor True is one."""


def one_of(what: str, known: Collection[object]) -> BeforeValidator:
    """Refuses what is not among ``known`` when it is checked: a row may be added to a table."""

    def check(value: Any) -> Any:
        # A list, for what has no hash can be sought in no dict.
        if value not in list(known):
            raise ValueError(unknown(what, value, known))
        return value

    return BeforeValidator(check)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def checked(cls: type[T]) -> type[T]:
    """A frozen dataclass whose constructor and whose plain data pydantic checks alike.

    Raises:
        ValueError: by the constructor, in one line; it names every mistake.
    """
    made: Any = dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))(cls)
    names = [each.name for each in fields(made) if each.init and not each.kw_only]
    init = made.__init__

    @wraps(init)
    def __init__(self: T, *args: Any, **values: Any) -> None:  # noqa: N807
        try:
            init(self, *args, **values)
        except ValidationError as error:
            raise ValueError("; ".join(mistakes(error, arguments=names))) from None

    made.__init__ = __init__
    return made  # type: ignore[no-any-return]
