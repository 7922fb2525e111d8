"""The two kernel folders are mirror images: the same files, the same text but for the dialects' tokens."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CL, CU = ROOT / "kernels_cl", ROOT / "kernels_cu"

TOKENS = (
    # OpenCL C, as a pattern; CUDA C++
    (r"__kernel ", r'extern "C" __global__ '),
    (r"__attribute__\(\(reqd_work_group_size\((\w+), 1, 1\)\)\)", r"__launch_bounds__(\1)"),
    (r"__attribute__\(\(reqd_work_group_size\((\w+), (\w+), 1\)\)\)", r"__launch_bounds__(\1 * \2)"),
    (r"\brestrict\b", r"__restrict__"),
    (r"(?<!__device__ )\binline\b", r"__device__ inline"),
    (r"__local (?=\w+ \*)", r""),  # A pointer to local memory is any pointer in CUDA.
    (r"__local ", r"__shared__ "),
    (r"__constant ", r"__constant__ "),
    (r"__global ", r""),
    (r"get_local_id\(0\)", r"threadIdx.x"),
    (r"get_local_id\(1\)", r"threadIdx.y"),
    (r"get_group_id\(0\)", r"blockIdx.x"),
    (r"get_group_id\(1\)", r"blockIdx.y"),
    (r"get_num_groups\(0\)", r"gridDim.x"),
    (r"get_num_groups\(1\)", r"gridDim.y"),
    (r"barrier\(CLK_LOCAL_MEM_FENCE\)", r"__syncthreads()"),
)  # fmt: skip
"""What is written differently everywhere; anything else that differs stands in a region with its reason."""

_BEGIN = re.compile(r"\s*// differs:(.*)")
_END = "// end differs"


def names(folder: Path) -> set[str]:
    """The kernel files below a folder, without suffix."""
    return {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.c[lu]")}


SHARED = sorted(names(CL) & names(CU))


def cut(text: str) -> tuple[str, list[str]]:
    """The text with a placeholder in place of each region that differs, and the regions' reasons.

    Raises:
        ValueError: on a region without a reason, or without its other end.
    """
    shared, reasons, inside = [], [], False
    for number, line in enumerate(text.splitlines(), 1):
        begins = _BEGIN.fullmatch(line)
        if bool(begins) == inside and (begins or line.strip() == _END):
            raise ValueError(f"line {number}: a region that differs has no other end")
        if begins:
            if not begins[1].strip():
                raise ValueError(f"line {number}: a region that differs gives no reason")
            reasons.append(begins[1].strip())
            shared.append(f"<differs: {reasons[-1]}>")
            inside = True
        elif line.strip() == _END:
            inside = False
        elif not inside:
            shared.append(line)
    if inside:
        raise ValueError("the last region that differs has no end")
    return "\n".join(shared), reasons


def to_cuda(text: str) -> str:
    """OpenCL C with its own tokens replaced by CUDA's."""
    for pattern, replacement in TOKENS:
        text = re.sub(pattern, replacement, text)
    return text


def drift(cl: str, cu: str) -> list[str]:
    """The diff, word by word, of two twins that should be one text; empty when they are.

    A region with a twin, of the same reason, keeps its place. One dialect may have regions that the other has
    no use for; if both had such, they would be twins that give different reasons.
    """
    (left, left_reasons), (right, right_reasons) = cut(cl), cut(cu)
    only_left, only_right = set(left_reasons) - set(right_reasons), set(right_reasons) - set(left_reasons)
    additions = set() if only_left and only_right else only_left | only_right
    twins = _words(to_cuda(left), additions), _words(right, additions)
    return list(difflib.unified_diff(*twins, "OpenCL", "CUDA", lineterm="", n=4))


def _words(text: str, additions: set[str]) -> list[str]:
    for reason in additions:
        text = text.replace(f"<differs: {reason}>", "")
    # A comment may be wrapped elsewhere where the code beside it is longer.
    text = re.sub(r"\n\s*// ?", " ", text)
    return text.split()


def test_the_same_files_on_both_sides() -> None:
    assert names(CL) == names(CU)
    assert len(SHARED) >= 20


@pytest.mark.parametrize("name", SHARED)
def test_twins(name: str) -> None:
    cl, cu = (CL / f"{name}.cl").read_text(), (CU / f"{name}.cu").read_text()
    assert not drift(cl, cu), "\n".join(drift(cl, cu))


KERNEL = """// Adds.
// differs: only OpenCL must ask for it.
#pragma OPENCL EXTENSION some : enable
// end differs
__kernel __attribute__((reqd_work_group_size(WIDTH, HEIGHT, 1)))
void add(__global const uint *restrict source) {
  __local uint scratch[WIDTH];
  const uint local_id = get_local_id(0);
// differs: loads.
  as_uint4(source);
// end differs
  barrier(CLK_LOCAL_MEM_FENCE);
}
inline uint first(__local uint *scratch) { return scratch[get_group_id(1)]; }
"""
TWIN = """// Adds.
extern "C" __global__ __launch_bounds__(WIDTH * HEIGHT)
void add(const uint *__restrict__ source) {
  __shared__ uint scratch[WIDTH];
  const uint local_id = threadIdx.x;
// differs: loads.
  __ldg(source);
// end differs
  __syncthreads();
}
__device__ inline uint first(uint *scratch) { return scratch[blockIdx.y]; }
"""


def test_the_check_knows_the_tokens() -> None:
    assert drift(KERNEL, TWIN) == []


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("Adds.", "Subtracts."),
        ("threadIdx.x", "threadIdx.y"),
        ("__syncthreads();", ""),
        ("WIDTH * HEIGHT", "WIDTH"),
        ("const uint local_id", "const int local_id"),
        ("__restrict__ ", ""),
        ("scratch[blockIdx.y]", "scratch[blockIdx.y + 1]"),
        ("differs: loads.", "differs: other loads."),
    ],
)
def test_the_check_finds_one_word(word: str, other: str) -> None:
    drifted = TWIN.replace(word, other)
    assert drifted != TWIN
    assert drift(KERNEL, drifted)


def test_the_check_finds_a_region_elsewhere() -> None:
    region = "// differs: loads.\n  __ldg(source);\n// end differs\n"
    assert region in TWIN
    assert drift(KERNEL, TWIN.replace(region, "") + region)


def test_the_check_finds_drift_in_every_real_file() -> None:
    for name in SHARED:
        cl, cu = (CL / f"{name}.cl").read_text(), (CU / f"{name}.cu").read_text()
        first = next(line for line in cu.splitlines() if line.startswith("// ") and not _BEGIN.match(line))
        assert drift(cl, cu.replace(first, first + " drifted")), name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("// differs:\nx\n// end differs\n", "gives no reason"),
        ("// differs: a\nx\n", "no end"),
        ("x\n// end differs\n", "no other end"),
        ("// differs: a\n// differs: b\n// end differs\n", "no other end"),
    ],
)
def test_a_region_without_reason_or_end_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cut(text)


ALL_FILES = [path for folder in (CL, CU) for path in sorted(folder.rglob("*.c[lu]"))]


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_style(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("// "), "a file starts with what it is for"
    assert not re.search(r"(?<!%)\b[gt]id\b", text), "global_id, local_id, never gid, tid but of PTX"
    assert text.endswith("\n")
    assert "\t" not in text
    assert max(map(len, text.splitlines())) <= 120
    assert "#ifndef" not in text, "what a file needs is checked when it is assembled; there are no defaults"
