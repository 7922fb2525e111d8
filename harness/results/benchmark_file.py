"""Runs in the JSON files of pytest-benchmark, in which tests/benchmarks put their records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.results.file_content import MAX_BYTES, PIECE, most_at_once, parsed
from harness.results.record import FORMAT, Record
from harness.results.run_lines import environment_of, located, part_of
from harness.results.schema import check_benchmarks


def document_of(path: Path, data: bytes) -> dict[str, Any] | None:
    """The file of pytest-benchmark, one JSON document, if it is one."""
    if not data[:PIECE].lstrip().startswith(b"{") or b'"benchmarks"' not in data or _is_lines(data):
        return None
    if len(data) > (most := most_at_once()):
        raise ValueError(
            f"{path} holds a document of more than {most} bytes; set {MAX_BYTES} to four times what it has"
        )
    try:
        document = parsed(data)
    except ValueError:
        return None
    return document if isinstance(document, dict) and "benchmarks" in document else None


def _is_lines(data: bytes) -> bool:
    """Whether the first line is a whole one of several."""
    first, newline, _ = data.partition(b"\n")
    try:
        return bool(newline) and "type" in parsed(first)
    except (ValueError, TypeError):
        return False


def contents_of(path: Path, document: dict[str, Any]) -> tuple[dict[str, Any], list[Record]]:
    """The environment and the records that our benchmarks put into such a document.

    Raises:
        ValueError: if it is of other benchmarks, or not valid.
    """
    with located(str(path)):
        check_benchmarks(document)
    machine = document.get("machine_info", {}).get("harness")
    found = [
        (f"{path}, benchmarks[{place}].extra_info.record", benchmark["extra_info"]["record"])
        for place, benchmark in enumerate(document["benchmarks"])
        if benchmark.get("extra_info", {}).get("record") is not None
    ]
    if machine is None or not found:
        raise ValueError(
            f"{path}: a pytest-benchmark file of other benchmarks; give one that tests/benchmarks wrote"
        )
    where = f"{path}, machine_info.harness"
    environment = environment_of(where, {"format": FORMAT, **machine, "type": "environment"})
    records = [part_of(where, {**line, "type": "record"}) for where, line in found]
    return environment, records
