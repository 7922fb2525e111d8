"""The two kernel folders are mirror images: the same files, the same text but for the dialects' tokens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.mirror import CL, CU, ROOT, cut, names, twin

pytestmark = pytest.mark.smoke

SHARED = sorted(names(CL) & names(CU))


def test_the_same_files_on_both_sides() -> None:
    assert names(CL) == names(CU)
    assert len(SHARED) >= 20


@pytest.mark.parametrize("name", SHARED)
def test_twins(name: str) -> None:
    cl, cu = (CL / f"{name}.cl").read_text(), (CU / f"{name}.cu").read_text()
    assert twin(cl, cu) == cu, "edit the OpenCL file, which leads, and run `tox -e mirror`"


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
// differs: only OpenCL must ask for it.
// end differs
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


def test_the_twin_has_the_other_tokens_and_keeps_its_regions() -> None:
    assert twin(KERNEL, TWIN) == TWIN


def test_a_new_twin_has_empty_regions() -> None:
    assert twin(KERNEL, "") == TWIN.replace("  __ldg(source);\n", "")


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
    ],
)
def test_one_other_word_is_written_anew(word: str, other: str) -> None:
    drifted = TWIN.replace(word, other)
    assert drifted != TWIN
    assert twin(KERNEL, drifted) == TWIN


@pytest.mark.parametrize("reason", ["differs: loads.", "differs: only OpenCL must ask for it."])
def test_a_region_that_does_not_lead_is_refused(reason: str) -> None:
    region = "// differs: other.\n  __ldg(source);\n// end differs\n"
    with pytest.raises(ValueError, match=r"'other\.' is not at its place"):
        twin(KERNEL, TWIN.replace(f"// {reason}\n", f"{region}// {reason}\n"))


def test_alignment_and_width_follow() -> None:
    cl = "inline int sum(__global const int *first,\n               __global const int *second) {\n"
    assert twin(cl, "") == (
        "__device__ inline int sum(const int *first,\n                          const int *second) {\n"
    )
    long = f"inline int sum(int {'a' * 50}, int {'b' * 44}) {{\n"
    assert max(map(len, twin(long, "").splitlines())) <= 120
    macro = "#define F(x) \\\n  inline int f_##x(void) {   \\\n  }\n"
    assert "  __device__ inline int f_##x(void) { \\\n" in twin(macro, "")


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
