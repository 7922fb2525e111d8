"""Suites: which problems, variants and cache states are compared, as TOML checked on load."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    model_validator,
)

from harness.checked import one_of
from harness.explain import unknown
from harness.problems.bandwidth import Direction
from harness.problems.base import MAX_ELEMENTS, DtypeName, fitting
from harness.problems.laplace import (
    BorderName,
    Channels,
    ImageDtypeName,
    MaskName,
    OutputName,
    fitting_border_value,
)
from harness.problems.reduction import OpName
from harness.variants.axes import (
    AXES,
    BY_SIZE,
    CacheHint,
    Events,
    Groups,
    GroupSize,
    Kept,
    Loads,
    Order,
    Stride,
    Traversal,
    Variant,
    Width,
    variant_from_json,
)
from harness.variants.ladders import LADDERS

DEFAULT: Final = "default"
PORTABLE: Final = "portable"
"""In a suite's ``variants``: the one that each device gets by
:func:`harness.kernels.defaults.default_variant`, and that of the dialect ``portable``.
"""

MOST_SAMPLES: Final = 1_000_000
"""Of a clock: more tell nothing more."""
MOST_SECONDS: Final = 7 * 24 * 3600
"""That anything may take that has a limit of time: a week."""

Base = Literal["default", "portable"]


@dataclass(frozen=True, slots=True)
class Changed:
    """A default of the device with other values of some axes."""

    base: Base
    axes: Mapping[str, Any]


Choice = Base | Changed | tuple[Variant, ...]
"""One entry of ``variants`` as loaded: a default of the device, or one changed, or one variant, or all rungs
of a ladder.
"""


class SuiteError(ValueError):
    """A suite that does not exist or is not valid; the message names file, key and what is allowed."""


_AXIS = "give an axis and its value, as in vector_width=4"


def _choices(kind: str) -> PlainValidator:
    """Reads an entry of ``variants`` of a block of this ``kind``."""

    def read(value: Any) -> Choice:
        if value in (DEFAULT, PORTABLE):
            return cast(Choice, value)
        if isinstance(value, dict):
            if value.get("kind", kind) != kind:
                raise ValueError(unknown("kind", value["kind"], [kind]))
            if (base := value.get("base", DEFAULT)) not in (DEFAULT, PORTABLE):
                raise ValueError(unknown("base", base, [DEFAULT, PORTABLE]))
            axes = {name: each for name, each in value.items() if name not in ("kind", "base")}
            if not axes:
                raise ValueError(f"it names no axis; {_AXIS}, or {DEFAULT!r}")
            variant = variant_from_json({**axes, "kind": kind})
            return Changed(base, axes) if "base" in value else (variant,)
        ladders = [name for name, ladder in LADDERS.items() if ladder.kind == kind]
        if value not in ladders:
            raise ValueError(f"{unknown('variant', value, [DEFAULT, PORTABLE, *ladders])}; or {_AXIS}")
        return LADDERS[value].rungs

    return PlainValidator(read)


def _pair(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"a size is a pair [width, height], not {value!r}")
    return value


_Positive = Annotated[int, Field(gt=0)]
_Caches = list[Annotated[str, one_of("cache state", ("hot", "cold"))]]
_SOME = Field(min_length=1)


class _Table(BaseModel):
    """A table of a suite: no unknown keys, no converted types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Measure(_Table):
    """How long to measure.

    samples: of a case, at most, but one a block, and five of a block whose first do not agree.
    case_seconds: that its timing may take. processes: fresh ones that measure each case, sharing both;
    gpu_contexts: fresh contexts of a GPU that each of these has in turn, for OpenCL and CUDA, the further
    ones only while verdicts are not settled and within gpu_contexts_s seconds of the run (0: whenever);
    gpu_launch_contexts: after each of them so many more, in which only the
    empty kernel is measured (:mod:`harness.results.launch_correction`). gpu_processes: where a device has
    several contexts, no more of the processes than these (0: all). further_processes: where no device has
    several contexts, so many fresh processes more for what is not settled; they begin within
    further_processes_s seconds of the run (0: whenever). limit_s: seconds until a case counts as hung.
    controls: whether to measure them too (:mod:`harness.suites.control_cases`). reference_limit_bytes: the
    reference backend, slow by design, skips larger sources (0: it skips none). all_libraries: also those
    baselines that are else measured only when named. devices_at_once: of a host, in a fleet
    (:mod:`harness.fleet`): small kernels feel their neighbour.
    """

    samples: int = Field(default=9, ge=3, le=MOST_SAMPLES)
    case_seconds: float = Field(default=1.0, gt=0, le=MOST_SECONDS)
    processes: int = Field(default=1, ge=1, le=99)
    gpu_contexts: int = Field(default=1, ge=1, le=99)
    gpu_contexts_s: float = Field(default=0.0, ge=0, le=MOST_SECONDS)
    gpu_processes: int = Field(default=0, ge=0, le=99)
    gpu_launch_contexts: int = Field(default=0, ge=0, le=99)
    further_processes: int = Field(default=0, ge=0, le=99)
    further_processes_s: float = Field(default=0.0, ge=0, le=MOST_SECONDS)
    limit_s: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    controls: bool = True
    reference_limit_bytes: int = Field(default=0, ge=0, le=MAX_ELEMENTS)
    all_libraries: bool = False
    devices_at_once: int = Field(default=1, ge=1, le=99)


class _Block(_Table):
    """What both kinds of block have: cache states, and ``only`` to keep a block to one kind of device."""

    caches: _Caches = Field(default=["hot"], min_length=1)
    only: Literal["cpu", "gpu"] | None = None

    def runs_on(self, kind: str) -> bool:
        """Whether the block is meant for devices of this kind; accelerators count as GPUs."""
        return self.only is None or (kind == "cpu") == (self.only == "cpu")


class ReductionBlock(_Block):
    """Every op on every dtype in every shape, in every variant and cache state."""

    ops: list[OpName] = _SOME
    dtypes: list[DtypeName] = _SOME
    shapes: list[Annotated[list[_Positive], _SOME, AfterValidator(fitting)]] = _SOME
    variants: list[Annotated[Choice, _choices("reduction")]] = Field(default=[DEFAULT], min_length=1)


class LaplaceBlock(_Block):
    """Every mask with every border, output, dtype, number of channels and size (width, height)."""

    masks: list[MaskName] = _SOME
    borders: list[BorderName] = _SOME
    outputs: list[OutputName] = _SOME
    dtypes: list[ImageDtypeName] = _SOME
    channels: list[Channels] = _SOME
    sizes: list[Annotated[list[_Positive], BeforeValidator(_pair), AfterValidator(fitting)]] = _SOME
    border_value: float = 0.0
    variants: list[Annotated[Choice, _choices("laplace")]] = Field(default=[DEFAULT], min_length=1)

    @model_validator(mode="after")
    def _has_fitting_border_value(self) -> Self:
        if "constant" in self.borders:
            for dtype in self.dtypes:
                try:
                    fitting_border_value(self.border_value, dtype)
                except ValueError as error:
                    raise ValueError(
                        f"{error}; give one that all dtypes hold, or that dtype in a block of its own"
                    ) from None
        return self


class Sweep(_Table):
    """The bandwidth variants of one kind of device whose fastest is its limit: the product of these axes."""

    vector_width: list[Width] = _SOME
    loads_in_flight: list[Loads] = _SOME
    stride: list[Stride] = _SOME
    groups: list[Groups] = _SOME
    group_size: list[GroupSize] = _SOME
    traversal: list[Traversal] = Field(default=["forward"], min_length=1)
    cache_hint: list[CacheHint] = Field(default=["none"], min_length=1)
    kept_sixteenths: list[Kept] = Field(default=[BY_SIZE], min_length=1)


_GPU_SWEEP = Sweep(
    vector_width=[4],
    loads_in_flight=[1, 2, 4],
    stride=["global"],
    groups=[6, 8, "per_problem"],
    group_size=[256],
    traversal=["forward", "back_and_forth"],
    cache_hint=["none", "streaming", "resident"],
)
"""Chosen by sweeps of more (reports/examples, h100-sweep-copies, h100-sweep-reads, h200-sweep-copies,
h200-sweep-traversal-limits).
"""
_CPU_SWEEP = Sweep(
    vector_width=[16],
    loads_in_flight=[1, 4, 8],
    stride=["local"],
    groups=[4, 16],
    group_size=[1],
    cache_hint=["none", "streaming"],
)
"""Chosen by a sweep of more (reports/examples, cpu-zen4-sweep-limits)."""


def _completed_by(sweep: Sweep) -> BeforeValidator:
    """Axes that a suite leaves out are those of ``sweep``."""
    return BeforeValidator(
        lambda value: {**sweep.model_dump(), **value} if isinstance(value, dict) else value
    )


_WIDTHS = list(AXES["bandwidth"]["vector_width"])
_GPU_STUDY = Sweep(
    vector_width=_WIDTHS, loads_in_flight=[4], stride=["global"], groups=[16], group_size=[512]
)
_CPU_STUDY = Sweep(vector_width=_WIDTHS, loads_in_flight=[4], stride=["local"], groups=[4], group_size=[1])


class LimitBlock(_Block):
    """Reading and copying sources of every number of bytes."""

    directions: list[Direction] = _SOME
    source_bytes: list[Annotated[int, Field(ge=8, le=MAX_ELEMENTS)]] = _SOME


class BandwidthBlock(LimitBlock):
    """Reading and copying as every dtype, too, in every variant of a sweep.

    The kernels move raw words, so that dtypes of one size run the same code: their spread is the noise.
    """

    dtypes: list[DtypeName] = _SOME
    gpu: Annotated[Sweep, _completed_by(_GPU_STUDY)] = _GPU_STUDY
    cpu: Annotated[Sweep, _completed_by(_CPU_STUDY)] = _CPU_STUDY


class LaunchBlock(_Block):
    """Empty kernels in every geometry, queue order and use of events: what launching itself costs.

    groups: work-groups as a multiple of the compute units. launches: kernels of one call.
    """

    groups: list[Annotated[int, Field(gt=0, le=1024)]] = _SOME
    group_sizes: list[GroupSize] = _SOME
    launches: list[Annotated[int, Field(gt=0, le=64)]] = Field(default=[1], min_length=1)
    queues: list[Order] = _SOME
    events: list[Events] = _SOME


class Limits(_Table):
    """How the limits are found: for each source size and cache state, the fastest of a sweep over uint32.

    of: of more sizes than those that are compared. anew: whatever is remembered of a device is measured once
    more (:mod:`harness.runner.screening`).
    """

    measure: bool = True
    anew: bool = False
    of: list[LimitBlock] = []
    gpu: Annotated[Sweep, _completed_by(_GPU_SWEEP)] = _GPU_SWEEP
    cpu: Annotated[Sweep, _completed_by(_CPU_SWEEP)] = _CPU_SWEEP


_LONGEST_NAME = 100


def _fit_for_files(name: str) -> str:
    """The name: run files and pages are called so."""
    is_plain = name.isprintable() and not {"/", "\\"} & set(name)
    if not is_plain or not 0 < len(name) <= _LONGEST_NAME or name[0] == ".":
        raise ValueError(
            f"should be a name for files, not {reprlib.repr(name)}: 1 to {_LONGEST_NAME} printable "
            "characters without a slash, the first of them no dot"
        )
    return name


class Suite(_Table):
    """A checked suite. Blocks are expanded by kind: reductions, filters, bandwidths, launches."""

    name: Annotated[str, AfterValidator(_fit_for_files)]
    title: str
    description: str = ""
    measure: Measure = Measure()
    reduction: list[ReductionBlock] = []
    laplace: list[LaplaceBlock] = []
    bandwidth: list[BandwidthBlock] = []
    launch: list[LaunchBlock] = []
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _has_blocks(self) -> Self:
        if not (self.reduction or self.laplace or self.bandwidth or self.launch or self.limits.of):
            raise ValueError(
                "there is nothing to run; add a [[reduction]], [[laplace]], [[bandwidth]] or [[launch]] block"
            )
        return self
