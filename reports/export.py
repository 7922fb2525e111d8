"""A run in the formats of other programs: CSV, Parquet, the JSON of pytest-benchmark."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final

import pandas as pd
from pytest_benchmark.stats import Stats

from harness.explain import extra
from harness.results.record import Record
from harness.results.run_lines import strict_json
from harness.results.runfile import Run
from harness.results.statistics import usable
from harness.variants.axes import label
from reports.dataset import frame

RECORD_COLUMNS: Final = (
    "device", "device_name", "physical", "backend", "role", "kind", "op", "type", "size", "elements",
    "problem", "source_bytes", "bytes_moved", "variant", "cache", "purpose", "status", "reason",
    "verification", "queue", "queue_p25", "queue_p75", "launch", "net", "round_trip", "event", "kernel",
    "bytes_per_second", "limit", "share", "share_low", "share_high", "note",
)  # fmt: skip
"""Of :class:`reports.dataset.Row`, what somebody needs who computes with a run: times in seconds, bandwidths
in bytes a second."""


class LacksPackageError(ValueError):
    """A format whose package is not installed; the message says how to get it."""


def records_table(run: Run) -> pd.DataFrame:
    """A row a record, in the order of measurement, with the columns ``run`` (its path) and RECORD_COLUMNS."""
    table = frame(run)[list(RECORD_COLUMNS)]
    # A name that is no UTF-8 is shown as far as it is.
    table.insert(0, "run", str(run.path or "").encode("utf-8", "replace").decode())
    return table


def to_csv(run: Run) -> bytes:
    """:func:`records_table` as CSV, with a line of headings; empty where there is no value."""
    return records_table(run).to_csv(index=False).encode()


def to_parquet(run: Run) -> bytes:
    """:func:`records_table` as Parquet.

    Raises:
        LacksPackageError: without pyarrow.
    """
    file = io.BytesIO()
    try:
        records_table(run).to_parquet(file, engine="pyarrow", index=False)
    except ImportError as error:
        raise LacksPackageError(
            f"Parquet needs pyarrow: {extra('parquet')}; or export to csv, which needs nothing"
        ) from error
    return file.getvalue()


def to_pytest_benchmark(run: Run) -> bytes:
    """The measured cases as a file of pytest-benchmark: its rounds are the samples of the queue clock.

    The harness reads such a file as a run, with the records that are in it.
    """
    timed = [record for record in run.records if record.status == "ok" and _samples(record)]
    document = {
        "machine_info": {"harness": run.environment},
        "commit_info": {"id": run.environment.get("commit"), "dirty": run.environment.get("dirty")},
        "benchmarks": [_benchmark(record) for record in timed],
        "datetime": run.environment.get("started"),
        "version": version("pytest-benchmark"),
    }
    return json.dumps(json.loads(strict_json(document)), indent=4).encode() + b"\n"


FORMATS: Final[dict[str, tuple[str, Callable[[Run], bytes]]]] = {
    "csv": (".csv", to_csv),
    "parquet": (".parquet", to_parquet),
    "pytest-benchmark": (".json", to_pytest_benchmark),
}
"""Every format with the ending of its files and what writes it."""


def _samples(record: Record) -> list[float]:
    clock = record.clocks.get("queue")
    return usable(clock.seconds) if clock else []


def _benchmark(record: Record) -> dict[str, Any]:
    case = record.case
    name = f"{case.device_key} {case.problem.label} {label(case.variant)} {case.cache} {case.role}"
    stats = Stats()
    for seconds in _samples(record):
        stats.update(seconds)
    return {
        "group": f"{case.problem.label}, {case.cache}",
        "name": name,
        "fullname": f"harness::{name}",
        "params": None,
        "param": None,
        "extra_info": {"record": record.to_json()},
        "options": {},
        "stats": {**stats.as_dict(), "data": stats.data, "iterations": record.clocks["queue"].calls},
    }
