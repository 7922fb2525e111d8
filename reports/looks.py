"""How each backend is drawn: a colour and a marker of its own, the same in every chart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import seaborn as sns

from backends import REGISTRY

_MARKERS: tuple[Any, ...] = (*"sodP^vX*<>phD", *((points, 1, 0) for points in range(4, 11)))
"""All filled, as seaborn mixes no others with these: matplotlib's own, then stars of more and more points."""


def looks(backends: Iterable[str]) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """The backends in the registry's order, those that it lacks last; their ``palette`` and ``markers``."""
    known = {name: place for place, name in enumerate(REGISTRY)}
    ordered = sorted(set(backends), key=lambda name: (known.get(name, len(known)), name))
    colours = [*sns.color_palette("colorblind", 10), *sns.color_palette("dark", 10)]
    places = {name: known.get(name, len(known) + place) for place, name in enumerate(ordered)}
    return ordered, {
        "palette": {name: colours[place % len(colours)] for name, place in places.items()},
        "markers": {name: _MARKERS[place % len(_MARKERS)] for name, place in places.items()},
    }
