"""What of our OpenCL kernels is written for one vendor's compiler, by Clang for that vendor's GPUs: ``tox -e
clang``.

Without such a GPU nothing else sees that text: NVIDIA's PTX, AMD's built-in functions. Clang knows neither
vendor's own OpenCL C, but the language is the same; that it compiles here is no proof that it does there, and
nothing is run. What is PTX goes through ptxas too. Clang comes with Linux distributions (Debian: ``apt-get
install clang``), ptxas with this environment.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from harness.devices import PORTABLE_OPENCL, DeviceInfo
from harness.kernels.defaults import default_variant
from harness.kernels.planner import plan
from harness.kernels.source import assemble
from harness.kernels.targets import AMD, KERNELS
from harness.problems import Laplace, Problem, Reduction
from harness.problems.dtypes import DTYPES
from harness.problems.laplace import Channels, ImageDtypeName
from harness.variants.axes import LaplaceVariant, Variant
from tests.support.compiling import BANDWIDTHS, BESIDE, LAPLACES, NVIDIA, REDUCTIONS, cases

CLANG = shutil.which("clang")

pytestmark = pytest.mark.skipif(CLANG is None, reason="clang is not on PATH (apt-get install clang)")


def _to_clang(*options: str) -> Iterator[str]:
    """Options of the compiler that its driver only hands on."""
    for option in options:
        yield from ("-Xclang", option)


OPTIONS = (
    *("-x", "cl", "-cl-std=CL1.2", "-O1", "-S", "-o", "-", "-", "-nogpulib", "-fgnu-keywords"),
    *_to_clang("-finclude-default-header", "-fdeclare-opencl-builtins", "-cl-ext=+all"),
    *("-Werror", "-Wall", "-Wno-unused-function", "-Wno-unused-variable"),
    # A border's tests are made without a branch.
    *("-Wno-unknown-warning-option", "-Wno-bitwise-instead-of-logical"),
)

TARGETS: dict[str, tuple[DeviceInfo, tuple[str, ...]]] = {
    "NVIDIA": (
        replace(NVIDIA, backend="opencl", nontemporal=False, portable=PORTABLE_OPENCL),
        # The newest that Clang 14 knows.
        ("--target=nvptx64-nvidia-cuda", *_to_clang("-target-cpu", "sm_86"), "-D__NV_CL_C_VERSION=120"),
    ),
    "AMD, sub-groups of 64": (
        AMD,
        ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a"),
    ),
    "AMD, sub-groups of 32": (
        replace(AMD, sub_group_width=32),
        ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx1030"),
    ),
}
"""By vendor: a device of its, and what makes Clang compile for it."""


def of(target: str) -> list[Any]:
    """What is compiled for a target: samples of all axes, and every default."""
    device, _ = TARGETS[target]
    kinds = {"reduction": REDUCTIONS, "laplace": LAPLACES, "bandwidth": BANDWIDTHS}
    sampled = [case for kind, parameters in kinds.items() for case in cases(kind, device, **parameters)]
    sampled += cases("laplace", device, **BESIDE)
    problems = [Reduction(op, dtype, (2**20,)) for op in KERNELS for dtype in DTYPES]
    found = [(f"{target}: {case.id}", *case.values) for case in sampled]
    found += [
        (f"{target}: {dialect} default {each.label}", each, default_variant(each, device, dialect))
        for each in problems
        for dialect in ("vendor", "portable")
    ]
    return [pytest.param(target, *values, id=name) for name, *values in found]


CASES = [case for target in TARGETS for case in of(target)]


@cache
def ptxas() -> str | None:
    """NVIDIA's assembler: that of its wheel, or on PATH."""
    found = find_spec("nvidia")
    for folder in found.submodule_search_locations or () if found else ():
        for path in Path(folder).glob("cu*/bin/ptxas"):
            return str(path)
    return shutil.which("ptxas")


def run(command: Sequence[str], text: str = "") -> str:
    """What a compiler makes of a text."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assembled(ptx: str, folder: Path) -> None:
    """Has ptxas assemble it, for the GPU that the inline PTX is written for, which Clang does not know."""
    for word, value in (("version", "8.0"), ("target", "sm_90")):
        ptx = re.sub(rf"(?m)^\.{word} .*", f".{word} {value}", ptx)
    path = folder / "kernel.ptx"
    path.write_text(ptx)
    # Not linked: built-in functions are in a library that Clang has not got.
    run((ptxas() or "", "-c", "-arch=sm_90", "-o", str(folder / "kernel.cubin"), str(path)))


@pytest.mark.parametrize(("target", "problem", "variant"), CASES)
def test_opencl_kernels_compile(target: str, problem: Problem, variant: Variant, tmp_path: Path) -> None:
    device, options = TARGETS[target]
    made = plan(problem, variant, device)
    assembly = run((CLANG or "", *options, *OPTIONS), assemble("cl", made.files, made.macros))
    for launch in (*made.launches, *made.readback, *made.release):
        assert re.search(rf"\b{launch.kernel}\b", assembly)
    if target == "NVIDIA":
        if not ptxas():
            pytest.skip("compiled, not assembled: ptxas is neither installed (nvidia-cuda-nvcc) nor on PATH")
        assembled(assembly, tmp_path)


def moved_by_default(problem: Problem) -> list[tuple[str, str]]:
    """What the portable kernel loads from global memory, and what it stores: "ld" or "st", and the type.

    Of the stencil `floats` Clang splits the stores, which NVIDIA's own compiler does not
    (reports/examples, h200-portable-ptx.txt): `paired` stands for it.
    """
    device, options = TARGETS["NVIDIA"]
    variant = default_variant(problem, device, "portable")
    if isinstance(variant, LaplaceVariant) and variant.stencil == "floats":
        variant = replace(variant, stencil="paired")
    made = plan(problem, variant, device)
    # All is inlined, as by NVIDIA's compiler.
    inlined = _to_clang("-mllvm", "-inline-threshold=100000")
    ptx = run((CLANG or "", *options, *OPTIONS, *inlined), assemble("cl", made.files, made.macros))
    return re.findall(r"\b(ld|st)\.(?:volatile\.)?global(?:\.nc)?\.(\S+)", ptx)


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16"])
def test_portable_filters_of_narrow_elements_move_vectors_whole(
    dtype: ImageDtypeName, channels: Channels
) -> None:
    problem = Laplace("four", "reflect_101", "laplacian", dtype, 2560, 2560, channels)
    neighbours = r"[us](?:8|16|32)" if channels == 1 else r"u32|v2\.u32"
    moved = moved_by_default(problem)
    others = [(to, what) for to, what in moved if not re.fullmatch(r"v4\.[ub]32", what)]
    assert {to for to, _ in moved} == {"ld", "st"}
    assert all(to == "ld" and re.fullmatch(neighbours, what) for to, what in others), sorted(set(others))


@pytest.mark.parametrize("op", ["minmax", "sum", "sum_squares", "norm_l1"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_portable_reductions_of_narrow_elements_load_vectors_whole(op: str, dtype: str) -> None:
    moved = moved_by_default(Reduction(op, dtype, (2560, 2560)))
    vectors = {what for to, what in moved if to == "ld" and what.startswith("v")}
    assert vectors == {"v4.u32"}


@pytest.mark.parametrize(
    ("call", "register"),
    [
        ("get_local_id(0)", "%tid.x"),
        ("get_group_id(0)", "%ctaid.x"),
        ("get_group_id(1)", "%ctaid.y"),
        ("get_num_groups(0)", "%nctaid.x"),
        ("get_num_groups(1)", "%nctaid.y"),
        ("get_local_id(1)", ""),
        ("get_group_id(2)", ""),
        ("get_num_groups(2)", ""),
    ],
)
def test_on_nvidia_a_dimension_has_its_register_or_does_not_compile(call: str, register: str) -> None:
    _, options = TARGETS["NVIDIA"]
    source = (
        assemble("cl", ("language", "dialect/vendor"), {"GROUP_SIZE": 32})
        + f"__kernel void f(__global uint *to) {{ *to = {call}; }}"
    )
    command = (CLANG or "", *options, *OPTIONS)
    if register:
        assert f"{register};" in run(command, source)
        return
    with pytest.raises(AssertionError, match="implicit declaration of function"):
        run(command, source)


def test_a_kernel_that_does_not_compile_is_found(tmp_path: Path) -> None:
    _, options = TARGETS["NVIDIA"]
    with pytest.raises(AssertionError, match="undeclared_name"):
        run((CLANG or "", *options, *OPTIONS), "__kernel void f(__global int *to) { *to = undeclared_name; }")
    if not ptxas():
        pytest.skip("ptxas is neither installed (nvidia-cuda-nvcc) nor on PATH")
    with pytest.raises(AssertionError, match=r"kernel\.ptx, line 3"):
        assembled(".version 8.0\n.target sm_90\n.address_size sixty\n", tmp_path)
