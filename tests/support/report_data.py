"""Synthetic runs for the tests of the report: records with known times, never shown as measurements."""

from __future__ import annotations

import base64
import io
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from harness.problems import OPS, Bandwidth, Laplace, Problem, Reduction
from harness.problems.dtypes import STUDY_DTYPES
from harness.results.record import FORMAT, Case, Record, Role, Samples, Status
from harness.results.run_writer import RunWriter
from harness.results.runfile import Run
from harness.variants.axes import BandwidthVariant, LaplaceVariant, LibraryVariant, ReductionVariant, Variant
from reports.dataset import frame
from reports.ratios import Comparison, comparisons

GPU = "0000:3b:00.0"
REDUCTION = ReductionVariant(vector_width=4, loads_in_flight=4, groups=8)
LAPLACE = LaplaceVariant(border_code="mapped", vector_width=16, rows_per_item=8)


def device(backend: str, index: int = 0, name: str = "NVIDIA H200", physical: str = GPU) -> dict[str, Any]:
    """A device as a run's environment holds it."""
    return {
        "backend": backend, "index": index, "name": name, "platform": "a platform", "vendor": "a vendor",
        "driver": "580.0", "kind": "gpu", "compute_units": 132, "memory_bytes": 150 * 2**30,
        "max_allocation_bytes": 2**35, "local_memory_bytes": 233472, "max_group_size": 1024,
        "cache_bytes": 60 * 2**20, "sub_group_width": 32, "float64": True, "physical": physical,
        "details": {"version": "3.0"},
    }  # fmt: skip


def environment(*devices: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The first line of a run file."""
    return {
        "type": "environment",
        "format": FORMAT,
        "suite": "synthetic",
        "command": "harness run synthetic",
        "started": "2026-01-02T03:04:05+00:00",
        "host": {
            "cpu": "a processor",
            "cores": 16,
            "memory_bytes": 2**37,
            "os": "Linux",
            "python": "CPython 3.11",
        },
        "packages": {"numpy": "2.0", "pyopencl": "2026.1"},
        "commit": "0123456789abcdef",
        "dirty": False,
        "devices": list(devices),
        "missing": {},
        "nvml": "not available",
    } | changes


def variant_of(problem: Problem, backend: str) -> Variant:
    """The variant that the synthetic backends run."""
    if backend in ("cupy", "numpy"):
        return LibraryVariant()
    if isinstance(problem, Bandwidth):
        return BandwidthVariant(vector_width=4)
    return LAPLACE if isinstance(problem, Laplace) else REDUCTION


def record(
    backend: str,
    problem: Problem,
    queue: float = math.nan,
    *,
    launch: float | None = None,
    variant: Variant | None = None,
    cache: Literal["hot", "cold"] = "hot",
    role: Role = "compare",
    status: Status = "ok",
    reason: str = "",
    note: str = "",
    index: int = 0,
    location: str = "device",
) -> Record:
    """A record whose queue clock has the median ``queue`` seconds."""
    case = Case(backend, index, problem, variant or variant_of(problem, backend), cache, role)
    clocks = {}
    if status == "ok":
        clocks["queue"] = Samples((queue * 0.99, queue, queue * 1.01), 100, note)
        clocks["round_trip"] = Samples((queue + 18e-6,))
        if launch is not None:
            clocks["launch"] = Samples((launch,) * 3, 100)
            clocks["event"] = Samples((queue + 1e-6,))
    return Record(
        case, status, reason, 0.0 if status == "ok" else None, 0.0, clocks, {"result_location": location}
    )


def reduction(op: str = "minmax", dtype: str = "int32", side: int = 2560) -> Reduction:
    """A square reduction."""
    return Reduction(op, dtype, (side, side))


def laplace(side: int = 2560, dtype: str = "uint8", channels: int = 1, output: str = "laplacian") -> Laplace:
    """A square image."""
    return Laplace("four", "reflect_101", output, dtype, side, side, channels)


def limit(
    direction: str, size_bytes: int, bytes_per_second: float, cache: Literal["hot", "cold"] = "hot"
) -> Record:
    """A record of the measured limit, by OpenCL."""
    problem = Bandwidth(direction, "uint32", -(-size_bytes // 4))
    return record("opencl", problem, problem.bytes_moved / bytes_per_second, role="limit", cache=cache)


def problems(sides: Sequence[int] = (1280, 2560, 8192)) -> Iterator[Problem]:
    """All operations of the seven types, and four kinds of image, at each size."""
    for side in sides:
        yield from (reduction(op, dtype, side) for op in OPS for dtype in STUDY_DTYPES)
        yield from (
            laplace(side, dtype, channels, output)
            for dtype, channels in (("uint8", 1), ("uint8", 4), ("float32", 1))
            for output in ("laplacian", "sharpened")
        )


BOTH = (device("opencl"), device("cuda"))
"""One GPU as OpenCL and CUDA see it."""


def run_of(*records: Record, devices: tuple[dict[str, Any], ...] = BOTH, **changes: Any) -> Run:
    """A run of the given records on the given devices; ``changes`` are those of its environment."""
    return Run(environment(*devices, **changes), list(records), [])


def gpu_run() -> Run:
    """As an H200 might give: three backends on it, NumPy beside it, limits, skips, a failure, an error."""
    random.seed(1)
    # Name: launch cost in seconds, share of the limit's rate.
    traits = {"opencl": (4.1e-6, 0.95), "cuda": (1.4e-6, 0.94), "cupy": (None, 0.6)}
    records: list[Record] = []
    for problem in problems():
        rate = 4.2e12 if problem.source_bytes > 2**27 else 6e12
        direction = "copy" if isinstance(problem, Laplace) else "read"
        bound = Bandwidth(direction, "uint32", problem.source_bytes // 4)
        if not any(r.case.problem == bound for r in records):
            seconds = 1.2e-6 + bound.bytes_moved / rate
            records.append(record("cuda", bound, seconds, launch=1.4e-6, role="limit"))
        for backend, (launch, share) in traits.items():
            work = problem.bytes_moved / rate / share * random.uniform(1, 1.2)
            records.append(record(backend, problem, work + (launch or 9e-6), launch=launch))
        if problem.source_bytes < 60e6:
            seconds = problem.source_bytes / 8e9 * random.uniform(1, 4)
            records.append(
                record("numpy", problem, seconds, note="host-bound: the backend has no gate", location="host")
            )
    refused = "the library has no minimum and maximum in one call"
    records += [
        record("cupy", reduction("minmax", d), status="skipped", reason=refused) for d in STUDY_DTYPES
    ]
    records.append(
        record("cuda", reduction("sum", "float16"), status="failed", reason="BuildError: no such type")
    )
    records.append(
        record("opencl", laplace(333), status="wrong", reason="12 of 110889 values differ; first at (0, 0)")
    )
    devices = [device(name) for name in traits] + [device("numpy", 0, "AMD EPYC", "cpu")]
    pictures = [
        {"type": "image", "title": title, "backend": "opencl", "device": "NVIDIA H200", "png": png(title)}
        | {"caption": "256x256 of 2560x2560"}
        for title in ("original", "laplacian", "sharpened")
    ]
    return Run(environment(*devices), records, pictures)


def cpu_run() -> Run:
    """As a machine without a GPU gives: OpenCL on PoCL and NumPy, both on the processor, hot and cold."""
    random.seed(2)
    records = []
    caches: tuple[Literal["hot", "cold"], ...] = ("hot", "cold")
    for cache in caches:
        for size in (1280, 2560):
            records += [limit("read", size * size * bytes_, 2.1e10, cache) for bytes_ in (1, 2, 4, 8)]
        for problem in problems((1280, 2560)):
            if isinstance(problem, Laplace) and cache == "cold":
                continue
            seconds = problem.bytes_moved / 1.9e10 * random.uniform(1, 2)
            records.append(record("opencl", problem, seconds, launch=9e-6, cache=cache))
            slower = seconds * random.uniform(0.9, 6)
            records.append(
                record("numpy", problem, slower, note="host-bound: no gate", location="host", cache=cache)
            )
    missing = {
        "cuda": (
            "cuda: No module named 'pycuda'; what to do: in a checkout of the harness, pip install '.[cuda]'"
        ),
        "cupy": "cupy: No module named 'cupy'",
    }
    devices = [device(name, 0, "cpu-haswell-AMD EPYC", "cpu") for name in ("opencl", "numpy")]
    return Run(environment(*devices, missing=missing), records, [])


def png(title: str) -> str:
    """A small real PNG in base64: a photograph, its Laplacian or the sharpened photograph."""
    from matplotlib.image import imsave
    from skimage.data import camera

    image = camera()[64:320, 96:352].astype(np.uint8)
    problem = Laplace(
        "four", "reflect_101", "sharpened" if title == "sharpened" else "laplacian", "uint8", *image.shape
    )
    file = io.BytesIO()
    imsave(
        file,
        image if title == "original" else problem.reference(image),
        cmap="gray",
        vmin=0,
        vmax=255,
        format="png",
    )
    return base64.b64encode(file.getvalue()).decode()


def only(run: Run) -> Comparison:
    """The one comparison of a run."""
    (comparison,) = comparisons(frame(run))
    return comparison


def row_of(table: pd.DataFrame, number: int = 0) -> Any:
    """One row of a table."""
    return table.iloc[number]


def with_blocks(original: Record, *medians: float) -> Record:
    """The record with eight samples in each of several contexts."""
    seconds = [median * (1 + 1e-4 * step) for median in medians for step in range(8)]
    clock = Samples(tuple(seconds), 100, "", tuple(block for block in range(len(medians)) for _ in range(8)))
    return replace(original, clocks={"queue": clock})


def measured(seconds: float, backend: str = "opencl", **changes: Any) -> Record:
    """A record of nine samples, a thousandth apart."""
    made = record(backend, changes.pop("problem", reduction()), seconds, **changes)
    samples = tuple(seconds * (1 + step / 1000) for step in range(-4, 5))
    return replace(made, clocks={"queue": Samples(samples, 100, made.clocks["queue"].note)})


def write(path: Path, *records: Record, **changes: Any) -> Path:
    """A run file of the records."""
    run = run_of(*records, **changes)
    with RunWriter(path, run.environment) as writer:
        for each in run.records:
            writer.write(each)
        writer.write_end(60.0)
    return path
