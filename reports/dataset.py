"""A run as a table: one row a record, every derived number computed here and in what this calls alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import pandas as pd

from harness.problems.dtypes import DTYPES
from harness.results.launch_correction import Launches
from harness.results.runfile import Run
from reports.format import plain
from reports.row import Row, row_of
from reports.shares import lasting, limited


def frame(run: Run) -> pd.DataFrame:
    """The run's records as a table with the columns of :class:`Row`, in the order of measurement."""
    found = device_table(run.environment)
    launches = Launches(run.records)
    rows = [row_of(number, record, found, launches) for number, record in enumerate(run.records)]
    opening = _opening_seconds(rows)
    rows = [replace(row, context_seconds=row.context_seconds + opening.get(row.device, 0.0)) for row in rows]
    limits = [
        row for row in rows if row.purpose == "limit" and row.status == "ok" and row.bytes_per_second > 0
    ]
    given_up = _given_up(rows)
    rows = [replace(row, given_up=row.number in given_up) for row in rows]
    return table_of(Row, (limited(row, limits) for row in rows))


def table_of(kind: type[Any], rows: Iterable[Any]) -> pd.DataFrame:
    """Rows of a dataclass as a table; :func:`dataclasses.asdict` would copy all that they hold."""
    names = [field.name for field in fields(kind)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


def _given_up(rows: Sequence[Row]) -> set[int]:
    """The numbers of the rows that are not :func:`reports.shares.lasting` beside others of their side."""
    sides: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        if row.status == "ok" and row.queue_blocks:
            sides.setdefault((row.device, row.role, row.problem, row.cache), []).append(row)
    numbers = {row.number for side in sides.values() for row in side}
    return numbers - {row.number for side in sides.values() for row in lasting(side)}


def _opening_seconds(rows: Sequence[Row]) -> dict[str, float]:
    """What a context takes beside its cases, by device: the empty kernel is the first in each, and alone in
    those that correct for launching.
    """
    rounds: dict[str, int] = {}
    spent: dict[str, float] = {}
    for row in rows:
        contexts = len(row.queue_blocks)
        if row.kind == "empty" and contexts and math.isfinite(row.context_seconds):
            spent[row.device] = spent.get(row.device, 0.0) + row.context_seconds * contexts
        elif row.kind != "empty":
            rounds[row.device] = max(rounds.get(row.device, 1), contexts)
    return {device: seconds / rounds.get(device, 1) for device, seconds in spent.items()}


def device_table(environment: Mapping[str, Any]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """The devices of a run's environment by backend and index."""
    return {(str(d.get("backend")), int(d.get("index", 0))): d for d in environment.get("devices") or ()}


def memory_rates(environment: Mapping[str, Any]) -> dict[str, float]:
    """Bytes a second that the memory of each GPU can give at most, by its PCI address, where NVML told:
    the bus transfers twice a clock cycle.
    """
    found = {}
    gpus = environment.get("nvml")
    for gpu in gpus if isinstance(gpus, list) else ():
        mhz, bits = gpu.get("memory_clock_max_mhz"), gpu.get("memory_bus_bits")
        if isinstance(mhz, int | float) and isinstance(bits, int | float) and mhz > 0 and bits > 0:
            found[plain(gpu.get("physical"))] = mhz * 1e6 * bits * 2 / 8
    return found


def ordered_types(types: Iterable[str]) -> list[str]:
    """The distinct types, in the order of :data:`harness.problems.dtypes.DTYPES`, images by channels."""
    places = {name: place for place, name in enumerate(DTYPES)}

    def key(name: str) -> tuple[int, str]:
        return places.get(name.partition("C")[0], len(places)), name

    return sorted(set(types), key=key)


def ordered_sizes(table: pd.DataFrame) -> list[str]:
    """The distinct sizes of the rows, smallest first."""
    return [str(size) for size in table.sort_values(["elements", "size"])["size"].drop_duplicates()]


def measured(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that can be compared: cases of the comparison, verified, with a queue time."""
    return table[(table["purpose"] == "compare") & (table["status"] == "ok") & table["queue"].notna()]


def by_speed(table: pd.DataFrame) -> pd.DataFrame:
    """Fastest first, by queue time, which is all that a call takes only where nothing is left to the host:
    what is in parts comes after all that is whole. Last comes what a run gave up, which had at most half as
    many contexts as another variant: the machine may have been faster in these few.
    """
    return table.sort_values(["given_up", "in_parts", "queue"], kind="stable")


def bandwidths(table: pd.DataFrame) -> pd.DataFrame:
    """The measured rows of a study of the limits themselves."""
    rows = measured(table)
    return rows[rows["kind"] == "bandwidth"]
