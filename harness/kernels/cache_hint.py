"""What is known of the values of the axis ``cache_hint`` beside their kernel files: one class each.

A hint is part of each load and store of words, and says what the caches are to keep of them. On NVIDIA's GPUs
a source that is larger than the L2 cache and read again and again pushes itself out; with ``resident`` the
cache keeps the same part of it in each call (reports/examples, sweep-hints). With ``window`` the stream is
told that, and loads carry nothing.

What is kept stays after the calls, and loads without a hint find it there: on an H200 a copy of 64 MiB takes
6 % less time after one with ``resident`` (reports/examples, h200-kept-lines.txt). So a plan that has lines
kept has them given up, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from harness.devices import DeviceInfo
from harness.kernels.geometry import api
from harness.kernels.plan import Argument, Buffer, KernelPlan, PlannedLaunch, Scalar
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.variants import axes
from harness.variants.axes import BY_SIZE, SIXTEENTHS

LEAST_BYTES: Final = 8
"""The shortest load that carries a hint; the kernels do not write shorter ones in PTX."""
RESIDENT_CAPABILITY: Final = 80
"""The first of NVIDIA's GPUs on which a load can say which part of its lines the L2 cache is to keep."""
RESIDENT_SHARE: Final = 0.57
"""The part of the L2 cache that a resident source takes: the best on an H200 for sources of one to nine times
the cache (reports/examples, sweep-hints). A larger part is pushed out by the cache's other lines.
"""
RESIDENT_BESIDE_SHARE: Final = 1 / 5
"""The same where as much is written as is read, of sources that the cache cannot keep as a whole
(reports/examples, sweep-kept)."""
_COPIED_SHARE: Final = 1 / 6
"""The same of a copy, times how often its source would fit into the cache: up to a sixth less time than with
all that fits (reports/examples, sweep-kept-shares and sweep-cache-edge)."""
STORED_SHARE: Final = 1 / 4
"""The part of the L2 cache from which on a filter's stores are streaming: its result then takes no more of
the cache than its source leaves (reports/examples, sweep-filter-hints)."""
STREAMED_SHARE: Final = 7 / 16
"""The part of the L2 cache from which on a filter's loads are streaming, too: then enough of the source stays
for the next call (reports/examples, sweep-turns-hints). From there on it gains by going back and forth
(sweep-traversal-edge)."""
_UNHINTED_SHARE: Final = 1 / 3
"""The part from which on it does so where the device takes no hint (sweep-traversal-edge-types)."""
_SUMMED_SHARE, _UNHINTED_SUMMED_SHARE = 5 / 4, 3 / 4
"""The part from which on sums of floats gain by segments: beside a hint, and where the device takes none
(sweep-segments). A little beyond the cache they take up to a thirtieth more time from memory beside the hint,
and gain about as much else (h200-libraries beside h200-libraries-before-segments)."""
_SUMMED_BYTES: Final = 4
"""Of the narrowest elements that do."""
_STORED_CACHES: Final = 2
"""A filter's source up to this many times the L2 cache is better kept by streaming stores alone
(sweep-traversal-masks, sweep-traversal-types)."""
Hinted = axes.ReductionVariant | axes.LaplaceVariant | axes.BandwidthVariant
"""The variants with an axis ``cache_hint``."""
_LINE_BYTES: Final = 128
"""Of the L2 cache of NVIDIA's GPUs."""
_RELEASE_SIZE: Final = 256
"""Work-items of a group that has lines given up, one line each."""


class Hint:
    """The caches treat what is read and written as they do without being told.

    ``file``: the kernel file of its loads and stores, below cache_hint. ``is_loaded_with``: loads carry it.
    ``keeps``: a part of the source is kept.
    """

    keeps = False

    def __init__(self, file: str, is_loaded_with: bool = False) -> None:
        self.file, self.is_loaded_with = file, is_loaded_with

    def violations(self, vector_bytes: int, dtype: str, device: DeviceInfo) -> Iterator[str]:
        """Why ``device`` cannot give this hint with loads of so many bytes; nothing where it can."""
        return iter(())

    def macros(self, problem: Problem, variant: Hinted, device: DeviceInfo) -> dict[str, str | int]:
        """The macros that its kernel file takes."""
        return {}

    def told(self, plan: KernelPlan, problem: Problem, variant: Hinted, device: DeviceInfo) -> KernelPlan:
        """The plan with what the hint asks for beside the kernel."""
        return plan


class _Streaming(Hint):
    def violations(self, vector_bytes: int, dtype: str, device: DeviceInfo) -> Iterator[str]:
        if not (device.ptx or device.nontemporal):
            yield "no way is known to tell this device's compiler"
        if vector_bytes < LEAST_BYTES:
            yield f"only loads of {LEAST_BYTES} bytes or more carry it, not of {vector_bytes}"
        if dtype == "float16":
            yield "float16 is loaded by an instruction that also widens it"


class _Resident(_Streaming):
    keeps = True

    def violations(self, vector_bytes: int, dtype: str, device: DeviceInfo) -> Iterator[str]:
        if device.ptx < RESIDENT_CAPABILITY:
            yield "only PTX for NVIDIA's GPUs of compute capability 8.0 or more keeps a part of a source"
        elif not device.cache_bytes:
            yield "the device does not tell how large its L2 cache is"
        else:
            yield from super().violations(vector_bytes, dtype, device)

    def macros(self, problem: Problem, variant: Hinted, device: DeviceInfo) -> dict[str, str | int]:
        # Reductions and copies are faster where the other lines go first, filters where these are left alone
        # (reports/examples, h200-kept-lines.txt).
        return {
            "KEPT_SIXTEENTHS": _kept(problem, variant, device),
            "GIVES_UP_OTHERS": int(not isinstance(problem, Laplace)),
        }

    def told(self, plan: KernelPlan, problem: Problem, variant: Hinted, device: DeviceInfo) -> KernelPlan:
        if not _kept(problem, variant, device):
            return plan
        # What a launch reads comes first: the source, or what an earlier launch made of it.
        read = dict.fromkeys(launch.arguments[0] for launch in plan.launches)
        release = tuple(_release(each, _nbytes(each, plan, problem)) for each in read)
        macros = {**plan.macros, "RELEASE_SIZE": _RELEASE_SIZE, "LINE_BYTES": _LINE_BYTES}
        return replace(plan, files=(*plan.files, "release"), macros=macros, release=release)


class _Window(Hint):
    keeps = True

    def violations(self, vector_bytes: int, dtype: str, device: DeviceInfo) -> Iterator[str]:
        if api(device) != "CUDA":
            yield "only CUDA's streams have a window, OpenCL's queues have none (see resident)"
        elif device.compute_capability < RESIDENT_CAPABILITY:
            yield "only NVIDIA's GPUs of compute capability 8.0 or more keep a part of a source"
        elif not device.cache_bytes:
            yield "the device does not tell how large its L2 cache is"

    def told(self, plan: KernelPlan, problem: Problem, variant: Hinted, device: DeviceInfo) -> KernelPlan:
        return replace(plan, kept=_kept(problem, variant, device) / SIXTEENTHS)


HINTS: Final[dict[axes.CacheHint, Hint]] = {
    "none": Hint("none"),
    "streaming": _Streaming("streaming", is_loaded_with=True),
    "streaming_stores": _Streaming("streaming_stores"),
    "resident": _Resident("resident", is_loaded_with=True),
    "window": _Window("none"),
}


def default_hint(problem: Reduction | Laplace, vector_bytes: int, device: DeviceInfo) -> axes.CacheHint:
    """The hint that a GPU gives by default.

    Of a reduction's source ``resident``, where the L2 cache can keep a part of it but not the whole: on an
    H200 it takes up to a third less time where the source is read again and again, and no more where it is
    not (reports/examples, sweep-hints). Of a filter ``streaming_stores``, where the cache can keep the source
    but hardly the result beside it: up to a sixth less time, and no more (sweep-resident-far); ``streaming``
    where the source alone takes much of it. Larger sources are gone through back and forth, with
    ``streaming_stores``, and from twice the cache on with ``resident`` where that keeps something: each up to
    a fiftieth less time than the other there, and no more from memory (sweep-traversal-masks,
    sweep-traversal-types, sweep-traversal-edge-types).
    """
    kept = kept_sixteenths(problem.source_bytes, device.cache_bytes)
    hint: axes.CacheHint = "none"
    if isinstance(problem, Reduction) and 0 < kept < SIXTEENTHS:
        hint = "resident"
    elif isinstance(problem, Laplace) and kept == SIXTEENTHS:
        if problem.source_bytes > STREAMED_SHARE * device.cache_bytes:
            hint = "streaming"
        elif problem.source_bytes >= STORED_SHARE * device.cache_bytes:
            hint = "streaming_stores"
    elif isinstance(problem, Laplace) and gains_back_and_forth(problem, device):
        if problem.source_bytes < _STORED_CACHES * device.cache_bytes:
            hint = "streaming_stores"
        elif _kept_by_size(problem, device):
            hint = "resident"
    return possible_hint(hint, problem, vector_bytes, device)


def gains_back_and_forth(problem: Reduction | Laplace, device: DeviceInfo) -> bool:
    """Whether a GPU goes through a source back and forth by default.

    Where the L2 cache can keep a part of the source, but not the whole; beside ``resident`` only where the
    source is larger than the cache. On an H200 that takes up to a half less time where the source is read
    again and again, up to a tenth less beside the hint, and about as much where it is not (reports/examples,
    sweep-traversal). Of a filter where the cache can hardly keep the source beside its result: up to a
    quarter less time, and about as much where the source comes from memory (sweep-traversal-masks,
    sweep-traversal-types, sweep-traversal-edge and sweep-traversal-edge-types). Sums of floats are not to
    differ from call to call: see :func:`gains_by_segments`. Other GPUs go forward, which nobody has measured.
    """
    if device.compute_capability < RESIDENT_CAPABILITY:
        return False
    kept = kept_sixteenths(problem.source_bytes, device.cache_bytes)
    if isinstance(problem, Laplace):
        is_hinted = possible_hint("streaming", problem, LEAST_BYTES, device) != "none"
        share = STREAMED_SHARE if is_hinted else _UNHINTED_SHARE
        return kept > 0 and problem.source_bytes > share * device.cache_bytes
    is_hinted = possible_hint("resident", problem, LEAST_BYTES, device) != "none"
    passes = problem.source_bytes > device.cache_bytes if is_hinted else kept < SIXTEENTHS
    return kept > 0 and passes and not problem.adds_floats


def gains_by_segments(problem: Reduction, device: DeviceInfo) -> bool:
    """Whether a GPU takes a source's segments back and forth by default: of a sum of floats, where the L2
    cache can keep a part of the source; beside ``resident`` only where the source is larger than the cache.

    On an H200 that takes up to a twelfth less time beside the hint where the source is read again and again,
    and up to a third less without one; where it is not, up to a fiftieth and a twentieth more
    (reports/examples, sweep-segments and h200-libraries). Elements of two bytes have too many sums in
    registers for that.
    """
    is_summed = problem.adds_floats and problem.element.itemsize >= _SUMMED_BYTES
    if device.compute_capability < RESIDENT_CAPABILITY or not is_summed:
        return False
    is_hinted = possible_hint("resident", problem, LEAST_BYTES, device) != "none"
    share = _SUMMED_SHARE if is_hinted else _UNHINTED_SUMMED_SHARE
    kept = kept_sixteenths(problem.source_bytes, device.cache_bytes)
    return kept > 0 and problem.source_bytes > share * device.cache_bytes


def possible_hint(
    hint: axes.CacheHint, problem: Reduction | Laplace, vector_bytes: int, device: DeviceInfo
) -> axes.CacheHint:
    """The hint where ``device`` can give it with loads of so many bytes, else none."""
    return "none" if any(HINTS[hint].violations(vector_bytes, problem.dtype, device)) else hint


def kept_sixteenths(source_bytes: int, cache_bytes: int) -> int:
    """How many sixteenths of a source's lines stay in a cache: as many as fit into RESIDENT_SHARE of it."""
    return min(SIXTEENTHS, int(SIXTEENTHS * RESIDENT_SHARE * cache_bytes / max(1, source_bytes)))


def kept_sixteenths_beside(source_bytes: int, cache_bytes: int) -> int:
    """The same of a filter: all where that fits, else as many as come nearest to RESIDENT_BESIDE_SHARE."""
    if kept_sixteenths(source_bytes, cache_bytes) == SIXTEENTHS:
        return SIXTEENTHS
    return _nearest(RESIDENT_BESIDE_SHARE, cache_bytes / max(1, source_bytes))


def kept_sixteenths_of_copy(source_bytes: int, cache_bytes: int) -> int:
    """The same of a copy: of a source smaller than most of the cache a larger share, the smaller it is."""
    fits = cache_bytes / max(1, source_bytes)
    return _nearest(max(RESIDENT_BESIDE_SHARE, _COPIED_SHARE * fits), fits)


def _nearest(share: float, fits: float) -> int:
    """Sixteenths nearest to this share of a cache, into which the source would fit so many times."""
    return min(SIXTEENTHS, int(SIXTEENTHS * share * fits + 0.5))


def _release(read: Argument, nbytes: int) -> PlannedLaunch:
    """The launch that has the lines of so many bytes given up."""
    groups = -(-nbytes // (_LINE_BYTES * _RELEASE_SIZE))
    return PlannedLaunch("release", (groups,), (_RELEASE_SIZE,), (read, Scalar(nbytes)))


def _nbytes(read: Argument, plan: KernelPlan, problem: Problem) -> int:
    """The size of what a launch reads."""
    if isinstance(read, Buffer):
        return plan.buffers[read.name]
    if isinstance(problem, Laplace):
        return problem.height * problem.pitch * problem.element.itemsize
    return problem.source_bytes


def _kept(problem: Problem, variant: Hinted, device: DeviceInfo) -> int:
    """Sixteenths of a problem's source that a device's cache is to keep."""
    asked = variant.kept_sixteenths
    return _kept_by_size(problem, device) if asked == BY_SIZE else int(asked)


def _kept_by_size(problem: Problem, device: DeviceInfo) -> int:
    """The same by the rule."""
    kept = kept_sixteenths
    if isinstance(problem, Laplace):
        kept = kept_sixteenths_beside
    elif isinstance(problem, Bandwidth) and problem.direction == "copy":
        kept = kept_sixteenths_of_copy
    return kept(problem.source_bytes, device.cache_bytes)
