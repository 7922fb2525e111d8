"""The recorded runs: each can be read, the table beside them says where it comes from, and the figures of the
documents are theirs.
"""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.results.ratio import VERDICTS
from harness.results.runfile import load_run
from harness.results.statistics import geometric_mean
from harness.suites.files import load_suite
from reports.clock_comparison import agreements, mean_table
from reports.ratios import comparisons, library_pairs
from tests.support.recorded import FOLDER, ROOT, outdated, table

ROW = re.compile(
    r"^\| \[\S+\]\((?P<file>\S+)\) \| (?P<question>[^|]+\?) "
    r"\| `(?P<command>[^`]+)` \| (?P<commit>[0-9a-f]{7}) \|$",
    re.MULTILINE,
)
ROWS = {row["file"]: row for row in ROW.finditer((FOLDER / "README.md").read_text(encoding="utf-8"))}
RESULTS, H100 = (
    (ROOT / "docs" / f"results-{device}.md").read_text(encoding="utf-8") for device in ("h200", "h100")
)


def test_the_table_names_every_run_and_no_other() -> None:
    assert set(ROWS) == {path.name for path in FOLDER.glob("*.jsonl.*")}


def command(line: str) -> tuple[list[str], str]:
    """The words of a recorded command, without where its files went, and the suite."""
    words = iter(shlex.split(line))
    kept = []
    for word in words:
        if word in ("--output", "--run", "--report"):
            next(words)
        else:
            kept.append(word)
    return [*kept[:2], *kept[3:]], kept[2]


@pytest.mark.parametrize("name", ROWS)
def test_a_recorded_run_is_what_the_table_says(name: str) -> None:
    run = load_run(FOLDER / name)
    assert run.environment["commit"].startswith(ROWS[name]["commit"])
    assert run.records
    assert {record.status for record in run.records} <= {"ok", "skipped"}
    told, told_suite = command(ROWS[name]["command"])
    made, made_suite = command(run.environment["command"])
    assert told == made
    # A suite that is given by a path lay elsewhere then.
    assert told_suite == made_suite or (made_suite.endswith(".toml") and (ROOT / told_suite).is_file())


def defaults_since() -> list[tuple[str, list[str]]]:
    """The runs of docs/recorded-runs.md with the problems whose default is said to be another today."""
    document = (ROOT / "docs" / "recorded-runs.md").read_text(encoding="utf-8")
    _, rest = document.split("| runs | problems whose default is another today |\n|---|---|\n")
    rows = [line.strip("| ").split(" | ") for line in rest.split("\n\n")[0].splitlines()]
    return [
        (name, [] if lacks == "none" else lacks.split(", "))
        for names, lacks in rows
        for name in names.split(", ")
    ]


@pytest.mark.parametrize(("name", "problems"), defaults_since())
def test_a_recorded_run_has_todays_defaults_but_of_what_is_named(name: str, problems: list[str]) -> None:
    assert outdated(name) == problems


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.name)
def test_what_was_run_can_be_run_again(path: Path) -> None:
    assert load_suite(str(path)).title


# --- the documents' figures ---


@cache
def opencl_against_cuda(name: str) -> Any:
    """The comparison of a run."""
    return comparisons(table(name))[0]


CASE = re.compile(
    r"^\| (?P<op>minmax|Laplace) (?P<type>\w+) (?P<size>\d+x\d+) \| (?P<opencl>[\d.]+) \| (?P<cuda>[\d.]+) "
    r"\| (?P<limit>[\d.]+) \| (?P<ratio>[\d., to]+): (?P<verdict>\w+) \|$",
    re.MULTILINE,
)
LAPLACE = ("laplacian four reflect_101", "C1")
"""What the documents mean by Laplace, and the channels."""


def cases() -> list[Any]:
    """The rows of the tables of single cases."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [list(CASE.finditer(text)) for text in (readme, RESULTS, H100)]
    assert all(len(rows) == 6 for rows in found)
    names = {"README": "h200-quick", "results": "h200-quick", "H100": "h100-quick"}
    return [
        pytest.param(name, row, id=f"{document} {row['op']} {row['type']} {row['size']}")
        for (document, name), rows in zip(names.items(), found, strict=True)
        for row in rows
    ]


@pytest.mark.parametrize(("name", "row"), cases())
def test_the_figures_of_a_case_are_the_recorded_ones(name: str, row: re.Match[str]) -> None:
    op, channels = LAPLACE if row["op"] == "Laplace" else (row["op"], "")
    pairs, rows = opencl_against_cuda(name).fastest, table(name)
    wanted = {"op": op, "type": row["type"] + channels, "size": row["size"]}
    (pair,) = pairs[(pairs[list(wanted)] == pd.Series(wanted)).all(axis=1)].itertuples()
    case = rows[(rows["problem"] == pair.problem) & (rows["backend"] == "opencl")].iloc[0]
    assert case["limit_exact"]
    times = (pair.first_queue, pair.second_queue, case["bytes_moved"] / case["limit"])
    assert [row["opencl"], row["cuda"], row["limit"]] == [f"{seconds * 1e6:.2f}" for seconds in times]
    assert row["ratio"] == f"{pair.gross:.3f}, {pair.low:.3f} to {pair.high:.3f}"
    assert row["verdict"] == pair.verdict


@pytest.mark.parametrize(
    ("run", "document"), [("h200-quick", RESULTS), ("h100-quick", H100)], ids=["h200", "h100"]
)
@pytest.mark.parametrize(("place", "name"), [(0, "reductions"), (1, "Laplace filters")])
def test_the_ratios_in_the_mean_are_the_recorded_ones(place: int, name: str, run: str, document: str) -> None:
    summary = opencl_against_cuda(run).summaries()[place]
    counts = {word: dict(summary.verdicts).get(word, 0) for word in VERDICTS}
    cells = [
        *(f"{mean:.2f}" for _, mean in summary.by_size),
        str(summary.count),
        *(f"{value:.3f}" for value in (summary.lowest, summary.highest)),
        *(str(counts[word]) for word in ("same", "ambiguous", "faster", "slower")),
    ]
    assert f"\n| {name} | {' | '.join(cells)} |\n" in document


BY_CLOCK = [
    *(
        (document, run, heading, column)
        for document, run in ((RESULTS, "h200-quick"), (H100, "h100-quick"))
        for heading, column in (
            ("queue,", 5),
            ("event, each API", 7),
            ("event, each less", 8),
            ("OpenCL's event", 9),
        )
    ),
    (H100, "h100-quick-before", "event, OpenCL's without", 7),
]


@pytest.mark.parametrize(
    ("document", "run", "heading", "column"),
    BY_CLOCK,
    ids=[f"{run} {heading}" for _, run, heading, _ in BY_CLOCK],
)
def test_the_ratios_by_clock_are_the_recorded_ones(
    document: str, run: str, heading: str, column: int
) -> None:
    lines = [
        [cell.text for cell in line.cells]
        for line in mean_table(agreements(table(run))).lines
        if line.cells[1].text == "reductions"
    ]
    cells = " | ".join(line[column] for line in lines)
    assert re.search(rf"^\| {heading}[^|]* \| {re.escape(cells)} \|$", document, re.MULTILINE)


LIBRARIES_OF = {
    RESULTS: ["cub", "npp", "cupy", "torch", "opencv_cuda"],
    H100: ["cub", "npp", "cupy", "torch"],
}
BESIDE_LIBRARIES = [
    (RESULTS, "65536 to 16 million, hot", "h200-libraries", "hot", 2),
    (RESULTS, "a million and 16 million, cold", "h200-libraries", "cold", 2),
    (RESULTS, "268 million", "h200-libraries-268", "hot", 3),
    (RESULTS, "a billion", "h200-libraries-billion", "hot", 3),
    (H100, "65536 to 16 million, hot", "h100-libraries", "hot", 2),
    (H100, "a million and 16 million, cold", "h100-libraries", "cold", 2),
]


@pytest.mark.parametrize(
    ("document", "elements", "name", "cache", "digits"),
    BESIDE_LIBRARIES,
    ids=[f"{name}-{cache}" for _, _, name, cache, _ in BESIDE_LIBRARIES],
)
def test_the_figures_beside_the_libraries_are_the_recorded_ones(
    document: str, elements: str, name: str, cache: str, digits: int
) -> None:
    rows = table(name)
    pairs = library_pairs(rows[(rows["op"] != "minmaxloc") & (rows["cache"] == cache)])
    cells = []
    for library in LIBRARIES_OF[document]:
        chosen = pairs[(pairs["first_backend"] == "cuda") & (pairs["second_backend"] == library)]
        if chosen.empty:
            cells.append("–")
            continue
        mean, least = geometric_mean(chosen["gross"]), chosen["gross"].min()
        places = 2 if round(least, 2) >= 1.05 else digits
        cells.append(f"{mean:.2f} ({len(chosen)}, {least:.{places}f})")
    assert f"\n| {elements} | {' | '.join(cells)} |\n" in document


@pytest.mark.parametrize(
    ("label", "direction", "cache", "size"),
    [
        ("reading 128 MiB from memory", "read", "cold", 128 * 2**20),
        ("copying 128 MiB from memory", "copy", "cold", 128 * 2**20),
        ("reading 25 MiB in the cache", "read", "hot", 25 * 2**20),
        ("copying 25 MiB in the cache", "copy", "hot", 25 * 2**20),
    ],
)
def test_the_limits_are_the_recorded_ones(label: str, direction: str, cache: str, size: int) -> None:
    rows = table("h200-bandwidth")
    rows = rows[(rows["op"] == direction) & (rows["cache"] == cache) & (rows["source_bytes"] == size)]
    best = (rows[rows["backend"] == name]["bytes_per_second"].max() / 1e12 for name in ("cuda", "opencl"))
    assert f"\n| {label} | {' | '.join(f'{each:.2f}' for each in best)} |\n" in RESULTS
