"""When PoCL is told another name of the processor, and which."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.opencl.pocl import known_name, misnamed, repair, x86_flags

_V2 = frozenset({"sse4_1", "sse4_2", "ssse3", "popcnt", "cx16"})
_V3 = _V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_TARGET = "OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-{}"
_FOR_MANY = "OpenCL 3.0 PoCL 3.0-rc2  Linux, Release, RELOC, LLVM 14.0.6, SLEEF, DISTRO, POCL_DEBUG"
_FOR_ONE = "OpenCL 3.0 PoCL 3.0  Linux, Release, RELOC, LLVM 14.0.6, SLEEF, POCL_DEBUG"


@pytest.mark.parametrize(
    ("name", "flags", "wrong"),
    [
        ("generic", _V3, True),
        ("generic", frozenset(), True),
        # LLVM 14 takes a Zen 4 for a Zen 3.
        ("znver3", _V4, True),
        # Functions that were compiled for haswell are not inlined.
        ("znver3", _V3, True),
        ("alderlake", _V3, True),
        ("znver3", frozenset(), False),
        # A virtual machine may hide what the model has.
        ("icelake-server", _V3, True),
        ("icelake-server", _V4, False),
        ("skylake-avx512", _V4, False),
        ("haswell", _V3, False),
        ("skylake", _V3, False),
        ("goldmont", _V2, False),
    ],
)
def test_a_name_is_wrong_under_which_kernels_fail_or_call_what_others_inline(
    name: str, flags: frozenset[str], wrong: bool
) -> None:
    assert misnamed(_TARGET.format(name), _FOR_MANY, flags) == (name if wrong else None)


@pytest.mark.parametrize(("name", "wrong"), [("generic", True), ("znver3", False), ("znver1", False)])
def test_built_for_one_processor_its_name_is_right(name: str, wrong: bool) -> None:
    for flags in (_V3, _V4):
        assert misnamed(_TARGET.format(name), _FOR_ONE, flags) == (name if wrong else None)


@pytest.mark.parametrize(
    "version",
    ["OpenCL 3.0 CUDA", "OpenCL 3.0 PoCL HSTR: pthread-aarch64-unknown-linux-gnu-generic", "OpenCL 1.2", ""],
)
def test_other_devices_are_left_alone(version: str) -> None:
    assert misnamed(version, _FOR_MANY, _V4) is None
    assert repair(0, version, _FOR_MANY) is None


def test_the_name_is_the_highest_that_the_flags_cover() -> None:
    assert [known_name(flags) for flags in (_V4, _V3, _V2, frozenset({"sse2"}))] == [
        "skylake-avx512",
        "haswell",
        "penryn",
        "x86-64",
    ]
    assert known_name(_V4 - {"avx512vl"}) == "haswell"


def test_flags_are_those_of_the_first_processor(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("model name : x\nflags\t\t: fpu avx2\n\nflags\t\t: other\n")
    assert x86_flags(cpuinfo) == {"fpu", "avx2"}
    assert x86_flags(tmp_path / "none") == frozenset()
