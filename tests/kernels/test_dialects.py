"""The dialect ``portable``: a text without PTX and without functions of one vendor's compiler."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.devices import PORTABLE_OPENCL, DeviceInfo
from harness.kernels.defaults import default_variant
from harness.kernels.planner import plan
from harness.kernels.source import Dialect, assemble
from harness.kernels.targets import KERNELS
from harness.problems import Laplace, Problem, Reduction
from harness.problems.dtypes import DTYPES
from harness.variants.axes import Variant
from tests.support.compiling import BANDWIDTHS, LAPLACES, NVIDIA, REDUCTIONS, cases
from tests.support.machines import CPU

CPP = shutil.which("cpp")
OPENCL = replace(NVIDIA, backend="opencl", nontemporal=False, portable=PORTABLE_OPENCL)
POCL = replace(CPU, vector_elements=64, nontemporal=True, portable={**PORTABLE_OPENCL, "orders_groups": True})
VENDORS_OWN = re.compile(r"\b(?:__)?asm\w*|\w*(?:_nv|__NV|nvvm|amd|AMD|intel)\w*|\b__builtin_\w+")
"""What no portable OpenCL C has; of it CUDA C++ has no assembler."""
OF_COMPILERS = ("-D__NV_CL_C_VERSION=120", "-D__AMDGCN__=1", "-Dcl_khr_fp64=1")


def seen_by_a_compiler(language: Dialect, problem: Problem, variant: Variant, device: DeviceInfo) -> str:
    """The text behind the preprocessor of a compiler that calls itself NVIDIA's, and AMD's."""
    made = plan(problem, variant, device)
    text = assemble(language, made.files, made.macros)
    command = (CPP or "", "-P", "-undef", "-w", "-x", "c", *OF_COMPILERS, "-")
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def of(device: DeviceInfo) -> Iterator[tuple[Problem, Variant]]:
    """A sample of the axes in which each pair of values is, and the defaults."""
    kinds = {"reduction": REDUCTIONS, "laplace": LAPLACES, "bandwidth": BANDWIDTHS}
    for kind, parameters in kinds.items():
        sample = [case.values for case in cases(kind, device, **parameters)]
        yield from (values for values in sample if values[1].dialect == "portable")
    defaults: list[Problem] = [Reduction(op, dtype, (2**20,)) for op in KERNELS for dtype in DTYPES]
    for problem in (*defaults, Laplace("four", "wrap", "laplacian", "int16", 70, 333)):
        yield problem, default_variant(problem, device, "portable")


@pytest.mark.skipif(CPP is None, reason="cpp, a C preprocessor, is not on PATH")
@pytest.mark.parametrize(
    ("language", "device"), [("cl", OPENCL), ("cl", POCL), ("cu", NVIDIA)], ids=["opencl", "pocl", "cuda"]
)
def test_portable_text_has_nothing_of_a_vendors_own(language: Dialect, device: DeviceInfo) -> None:
    found = 0
    for problem, variant in of(device):
        text = seen_by_a_compiler(language, problem, variant, device)
        others = VENDORS_OWN.findall(text) if language == "cl" else re.findall(r"\basm\b", text)
        assert not others, (problem, variant)
        found += 1
    assert found > 100


@pytest.mark.skipif(CPP is None, reason="cpp, a C preprocessor, is not on PATH")
@pytest.mark.parametrize(("language", "device"), [("cl", OPENCL), ("cu", NVIDIA)], ids=["opencl", "cuda"])
def test_vendors_text_has(language: Dialect, device: DeviceInfo) -> None:
    problem = Reduction("minmax", "uint8", (2**20,))
    assert "asm" in seen_by_a_compiler(language, problem, default_variant(problem, device), device)
