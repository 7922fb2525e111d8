"""What is said of the distance from the limit: by size, by width, of minmaxloc, and the goals."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tests.support.figures import BILLIONS, MAIN, RESULTS, Figure
from tests.support.recorded import FOLDER, OWN, contexts, ends, over_limit, ratios, shares, table, where


def shares_of_own(kind: str) -> tuple[float, float]:
    """What our kernels reach of the limit at 8192x8192."""
    rows = where(table(MAIN), kind=kind, size="8192x8192", backend=list(OWN), purpose="compare")
    return ends(rows["share"])


def net(run: str, **wanted: Any) -> list[float]:
    """The net ratios of these cases, where there is one."""
    return list(where(ratios(run), **wanted)["net"].dropna())


def of_quick() -> list[float]:
    """The net ratios of the main run's reductions from 16 MiB on that are off by more than 3 %: a sum and a
    count of float64 at 2560x2560.
    """
    sizes = table(MAIN).drop_duplicates("problem").set_index("problem")["source_bytes"]
    rows = where(ratios(MAIN), first_backend="opencl", kind="reduction")
    rows = rows[rows["problem"].map(sizes) >= 16 * 2**20]
    off = rows[~rows["net"].between(1 / 1.03, 1.03)]
    assert list(off["problem"]) == ["sum float64 2560x2560", "count_nonzero float64 2560x2560"]
    return list(off["net"])


def in_few_contexts() -> list[float]:
    """Those off by as much in other runs: of minmaxloc that of float64 at 2560x2560, none at 8192x8192, and
    none of `libraries` up to 4096x4096.
    """
    names = ("h200-8192x8192", "h200-minmaxloc", "h200-libraries")
    found = []
    for name in names:
        rows = where(ratios(name), kind="reduction", first_backend="opencl")
        sizes = table(name).drop_duplicates("problem").set_index("problem")["source_bytes"]
        rows = rows[rows["problem"].map(sizes).between(16 * 2**20, 2**29 - 1)]
        found.append(rows[(rows["net"] < 1 / 1.03) | (rows["net"] > 1.03)])
    assert found[0].empty
    assert found[2].empty
    assert list(found[1]["problem"]) == ["minmaxloc float64 2560x2560"]
    assert [contexts(name)[1] for name in names] == [9, 3, 14]
    return [float(found[1]["net"].iloc[0])]


def same_or_ambiguous(*names: str) -> tuple[float, ...]:
    """Of these runs the number of ratios, how many are the same and how many ambiguous, and their ends."""
    found = pd.concat([ratios(name) for name in names])
    assert set(found["verdict"]) == {"same", "ambiguous"}
    counts = found["verdict"].value_counts()
    return len(found), counts["same"], counts["ambiguous"], *ends(found["gross"])


def large_sources() -> tuple[float, ...]:
    """The same of a gibibyte, in one context; then of 268 million elements, in four, and of a billion, in
    one.
    """
    assert contexts("h200-huge")[:2] == (1, 1)
    assert [contexts(name)[1] for name in BILLIONS] == [4, 1]
    return *same_or_ambiguous("h200-huge"), *same_or_ambiguous(*BILLIONS)


def gibibyte_shares() -> tuple[float, ...]:
    """What is reached of the limit at 1 GiB, and by minmaxloc."""
    wanted = {"source_bytes": 2**30}
    return (
        *ends(shares("h200-huge", **wanted)),
        *ends(shares("h200-minmaxloc", not_op="", **wanted)),
    )


def widths() -> tuple[float, ...]:
    """By how many per cent vectors of 8 and 16 bytes miss the best, all without a hint; what others reach."""
    rows = where(table("h200-bandwidth"), kind="bandwidth").copy()
    assert not rows["variant"].str.contains("resident|streaming").any()
    elements = rows["variant"].str.extract(r"w(\d+)")[0].astype(int)
    of = {"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "int32": 4, "float32": 4, "float64": 8}
    best = rows.groupby(["backend", "op", "cache", "source_bytes"])["bytes_per_second"].transform("max")
    rows["vector"], rows["reached"] = elements * rows["type"].map(of), rows["bytes_per_second"] / best
    worst = where(rows, vector=[8, 16])["reached"].min()
    wide = ends(where(rows, vector=[64, 128])["reached"])
    return 100 * (1 - worst), *ends(where(rows, vector=1)["reached"]), *wide


def of_the_main_run() -> list[float]:
    """What the main run's limits of reading and copying 25 MiB in the cache are, in TB/s."""
    rows = where(table(MAIN), purpose="limit", cache="hot", source_bytes=25 * 2**20)
    return [where(rows, op=op)["bytes_per_second"].max() / 1e12 for op in ("read", "copy")]


def above() -> list[float]:
    """At 8192x8192 our cases above their limit, maxima of floats that CUDA finds, and by how many per cent at
    most; the report marks none.
    """
    rows = where(table("h200-8192x8192"), purpose="compare", backend=OWN)
    found = rows[rows["share"] > 1]
    assert set(found["problem"]) == {"max float32 8192x8192", "max float64 8192x8192"}
    assert set(found["backend"]) == {"cuda"}
    assert not found["above_limit"].any()
    return [len(found), 100 * (float(found["share"].max()) - 1)]


def with_places() -> list[float]:
    """How many verdicts on minmaxloc are undecided in three contexts, of how many, the others the same; and
    the ends of all ratios.
    """
    assert contexts("h200-minmaxloc")[:2] == (3, 3)
    found = ratios("h200-minmaxloc")
    assert set(found["verdict"]) == {"same", "ambiguous"}
    return [len(where(found, verdict="ambiguous")), len(found), *ends(found["gross"])]


def in_one_context() -> list[str]:
    """The runs of the H200 whose cases were measured in one context, the sweeps apart."""
    names = sorted(path.name.partition(".")[0] for path in FOLDER.glob("h200-*.jsonl.*"))
    single = [name for name in names if contexts(name)[1] == 1]
    runs, sweeps = (
        [name for name in single if ("-sweep-" in name) == is_sweep] for is_sweep in (False, True)
    )
    return [f"{', '.join(each[:-1])} and {each[-1]}" for each in (runs, sweeps)]


BY_BITS = (["int32", "float32", "float64"], ["int16", "uint16"], ["int8", "uint8"])


def of_places(types: list[str]) -> tuple[float, float]:
    """What minmaxloc of these types reaches of the limit at 8192x8192."""
    return ends(shares("h200-minmaxloc", not_op="", size="8192x8192", type=types))


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "There {} cases lie above their limit, CUDA's maxima of float32 and float64 from a hot cache, by at "
        "most {:.2f} %",
        above,
    ),
    (
        RESULTS,
        "In minmaxloc neither is: {} of its {} verdicts are *ambiguous*, at {:.3f} to {:.3f}, the others "
        "*same*",
        with_places,
    ),
    (
        RESULTS,
        "{:.2f} to {:.2f} times the read limit's time at 1280x1280 and {:.2f} to {:.2f} times at 2560x2560",
        lambda: (*over_limit(MAIN, size="1280x1280"), *over_limit(MAIN, size="2560x2560")),
    ),
    (
        RESULTS,
        "They reach {:.2f} to {:.2f} of the limit at 8192x8192, which",
        lambda: ends(shares(MAIN, size="8192x8192")),
    ),
    (RESULTS, "Filters reach {:.2f} of the copy limit there.", lambda: shares_of_own("laplace")[:1]),
    (
        RESULTS,
        "All seven types and five operations reach {:.2f} to {:.2f} of it, hot and cold",
        lambda: ends(shares("h200-8192x8192")),
    ),
    (
        RESULTS,
        "{:.2f} to {:.2f} times the limit's time at 1024x1024, {:.2f} to {:.2f} at 1280x1280, {:.2f} to "
        "{:.2f} at 2560x2560, and reaches {:.2f} to {:.2f} of the limit at 8192x8192",
        lambda: (
            *(
                value
                for size in ("1024x1024", "1280x1280", "2560x2560")
                for value in over_limit("h200-minmaxloc", not_op="", size=size)
            ),
            *ends(shares("h200-minmaxloc", not_op="", size="8192x8192")),
        ),
    ),
    (
        RESULTS,
        "{:.3f} to {:.3f} of the read limit in both APIs** (minmaxloc {:.3f} to {:.3f};",
        gibibyte_shares,
    ),
    (
        RESULTS,
        "Of {} ratios of OpenCL to CUDA {} are *same* and {} *ambiguous* in one context, at {:.3f} to "
        "{:.3f}; of {} of 268 million elements, in four contexts, and of a billion, in one, {} and "
        "{}, at {:.3f} to {:.3f}",
        large_sources,
    ),
    (
        RESULTS,
        "within {:.0f} % of the best of that run. Single bytes reach {:.2f} to {:.2f} of it, vectors of 64 "
        "and 128 bytes {:.2f} to {:.2f}.",
        widths,
    ),
    ("docs/recorded-runs.md", "In one are {}, and of the sweeps {}.", in_one_context),
    (
        RESULTS,
        "in the main run {:.2f} TB/s for reading 25 MiB and {:.2f} for copying it",
        of_the_main_run,
    ),
    (
        RESULTS,
        "our kernels reach {:.2f} to {:.3f} of the read limit",
        lambda: ends(s for name in BILLIONS for s in shares(name)),
    ),
]

ROWS: list[Figure] = [
    (RESULTS, "| {:.3f} to {:.3f} (minmaxloc {:.3f} to {:.3f}) | met |", gibibyte_shares),
    (
        RESULTS,
        "| {:.3f} to {:.3f}; minmaxloc hot {:.3f} to {:.3f}, {:.2f} to {:.2f} with 16 bits, {:.2f} to "
        "{:.2f} with 8 | met |",
        lambda: (*ends(shares("h200-8192x8192")), *(v for types in BY_BITS for v in of_places(types))),
    ),
    (
        RESULTS,
        "| at most {:.2f} and {:.2f} in all 70 cells, either API; minmaxloc at most {:.2f} and {:.2f} | met "
        "|",
        lambda: [
            over_limit(*runs, **wanted, size=size)[1]
            for runs, wanted in (((MAIN,), {}), (("h200-minmaxloc",), {"not_op": ""}))
            for size in ("1280x1280", "2560x2560")
        ],
    ),
    (
        RESULTS,
        "| 8192x8192 net {:.3f} to {:.3f}; 1 GiB gross {:.3f} to {:.3f}; 2^28 and 2^30 elements {:.3f} to "
        "{:.3f}; minmaxloc net {:.2f} to {:.2f} at 8192x8192 | missed in `quick` by a sum and a count of "
        "float64 at 2560x2560, net {:.3f} and {:.3f}; else met but in few contexts: minmaxloc of float64 at "
        "2560x2560, {:.3f} (three) |",
        lambda: (
            *ends(net("h200-8192x8192", not_op="minmaxloc")),
            *ends(ratios("h200-huge")["gross"]),
            *same_or_ambiguous(*BILLIONS)[3:],
            *ends(
                value
                for run in ("h200-minmaxloc", "h200-8192x8192")
                for value in net(run, op="minmaxloc", size="8192x8192")
            ),
            *of_quick(),
            *in_few_contexts(),
        ),
    ),
]
