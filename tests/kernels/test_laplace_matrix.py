"""Sums by the tensor cores: who may have them, and, without such a GPU, what the kernel's text computes.

Its instruction multiplies matrices that the 32 work-items of a sub-group hold parts of. Here they are threads
of a C++ program, which does with their parts what NVIDIA's documentation of PTX says of ``mma.sync``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness.kernels.requirements import violations
from harness.kernels.targets import GPU
from harness.problems import MASKS, OUTPUTS, Laplace
from harness.problems.laplace import Channels
from harness.variants.axes import LaplaceVariant
from tests.support.compiling import NVIDIA
from tests.support.laplace import IMAGE
from tests.support.machines import CPU

VARIANT = LaplaceVariant(border_code="mapped", stencil="matrix", vector_width=16, group_width=32)
KERNEL = Path(__file__).parents[2] / "kernels_cu/laplace/stencil/matrix.cu"
COMPILER = shutil.which("c++")

PRELUDE = """
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
using std::min;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
#define HAS_PTX 1
#define COMPUTE_CAPABILITY 90
#define KEEPS_WORDS 1
#define ITEMS_TOGETHER 32
static thread_local struct { uint x; } threadIdx;
static std::barrier<> together(32);
static uchar first_matrix[16][32];
static signed char second_matrix[32][8];

static uint selected(uint first, uint second, uint digits) {
  const ulong words = (ulong)second << 32 | first;
  uint word = 0;
  for (int i = 0; i < 4; ++i) {
    const uint digit = digits >> 4 * i & 15;
    if (digit > 7) std::abort();
    word |= (uint)(words >> 8 * digit & 255) << 8 * i;
  }
  return word;
}

// rows: two registers of bytes for each 16 columns of the first matrix.
// columns: one for each 16 rows of the second.
static void product(int *sums, const uint *rows, const uint *columns, int depth, bool adds) {
  const int group = threadIdx.x / 4, place = threadIdx.x % 4;
  for (int k = 0; k < depth / 16; ++k) {
    for (int i = 0; i < 4; ++i) {
      first_matrix[group][16 * k + 4 * place + i] = rows[2 * k] >> 8 * i;
      first_matrix[group + 8][16 * k + 4 * place + i] = rows[2 * k + 1] >> 8 * i;
      second_matrix[16 * k + 4 * place + i][group] = columns[k] >> 8 * i;
    }
  }
  together.arrive_and_wait();
  for (int i = 0; i < 4; ++i) {
    int sum = adds ? sums[i] : 0;
    for (int k = 0; k < depth; ++k) {
      sum += first_matrix[group + 8 * (i / 2)][k] * second_matrix[k][2 * place + i % 2];
    }
    sums[i] = sum;
  }
  together.arrive_and_wait();
}
"""

CASE = """
#undef CHANNELS
#undef VECTOR_WIDTH
#undef OWN_WORDS
#undef CENTRE
#undef EDGE
#undef CORNER
#define CHANNELS {channels}
#define VECTOR_WIDTH {width}
#define OWN_WORDS (VECTOR_WIDTH / 4)
#define CENTRE ({centre})
#define EDGE ({edge})
#define CORNER ({corner})
namespace {name} {{
typedef struct {{ uint word[OWN_WORDS + 2]; }} window_t;
typedef struct {{ int vector[VECTOR_WIDTH]; int *at = vector; }} values_t;
typedef struct {{ int at[VECTOR_WIDTH]; }} results_t;
static results_t results_of(const int *values) {{
  results_t results;
  std::copy(values, values + VECTOR_WIDTH, results.at);
  return results;
}}
{text}
static void item(uint lane) {{
  threadIdx.x = lane;
  std::vector<uchar> bytes(3 * (VECTOR_WIDTH + 8));
  uint state = lane + 1;
  for (int seed = 0; seed < 20; ++seed) {{
    window_t rows[3];
    for (uchar &byte : bytes) {{
      state = state * 1664525u + 1013904223u;
      byte = state >> 30 ? state >> 20 : 255 * (state >> 29 & 1);
    }}
    const uchar *row[3] = {{&bytes[0], &bytes[VECTOR_WIDTH + 8], &bytes[2 * (VECTOR_WIDTH + 8)]}};
    for (int r = 0; r < 3; ++r) {{
      for (int i = 0; i < OWN_WORDS + 2; ++i) {{
        const uchar *b = row[r] + 4 * i;
        rows[r].word[i] = b[0] | b[1] << 8 | b[2] << 16 | (uint)b[3] << 24;
      }}
    }}
    const operands_t own = operands_of(rows[1]);
    const outer_t above = outer_terms(operands_of(rows[0])), below = outer_terms(operands_of(rows[2]));
    const results_t results = finished_results(begun_sums(above, own, outer_terms(own)), below, seed % 2);
    for (int i = 0; i < VECTOR_WIDTH; ++i) {{
      int sum = 0;
      for (int r = -1; r <= 1; ++r) {{
        for (int c = -1; c <= 1; ++c) {{
          const int weight = r == 0 && c == 0 ? CENTRE : r == 0 || c == 0 ? EDGE : CORNER;
          sum += weight * row[1 + r][4 + i + c * CHANNELS];
        }}
      }}
      if (sum != results.at[i]) {{
        std::printf("{name}: item %u, result %d: %d in place of %d\\n", lane, i, results.at[i], sum);
        std::exit(1);
      }}
    }}
  }}
}}
}}
"""

ASM = {"picked": "return selected(first, second, digits);", "multiply_rows": """
  const uint rows[4] = {first[0], first[1], second[0], second[1]}, columns[2] = {of_first, of_second};
  product(sums, rows, columns, 32, false);
""", "add_row": "product(sums, row, &weights, 16, true);"}  # fmt: skip
"""What stands in the program for each function that is PTX."""


def as_cpp(text: str) -> str:
    """The kernel's text with functions of the program in place of PTX."""
    for name, body in ASM.items():
        text, found = re.subn(
            rf"(?s)(__device__ inline \w+ {name}\([^{{]*\) {{\n).*?\n}}", rf"\1{body}\n}}", text
        )
        assert found == 1, name
    assert not re.search(r"\basm\b", text)
    return text.replace("__device__ inline", "static inline").replace("#pragma unroll", "")


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (c++) is on PATH")
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_each_item_of_a_sub_group_gets_its_own_results(channels: Channels, tmp_path: Path) -> None:
    text = as_cpp(KERNEL.read_text(encoding="utf-8"))
    problems = [
        Laplace(mask, "replicate", output, "uint8", 1, 1, channels)
        for mask, output in (("four", "laplacian"), ("eight_negated", "sharpened"), ("diagonal", "laplacian"))
    ]
    parts, names = [PRELUDE], []
    for problem in problems:
        centre, edge, corner = problem.coefficients
        for width in (4, 8, 16, 32):
            names.append(f"{problem.mask}_{width}")
            weights = {"centre": centre, "edge": edge, "corner": corner}
            parts.append(CASE.format(channels=channels, width=width, name=names[-1], text=text, **weights))
    calls = "".join(f"  {name}::item(lane);\n" for name in names)
    parts.append(
        f"static void items(uint lane) {{\n{calls}}}\n"
        "int main() {\n"
        "  std::vector<std::thread> threads;\n"
        "  for (uint lane = 0; lane < 32; ++lane) threads.emplace_back(items, lane);\n"
        "  for (std::thread &each : threads) each.join();\n"
        "}\n"
    )
    source, program = tmp_path / "items.cpp", tmp_path / "items"
    source.write_text("\n".join(parts))
    options = ("-std=c++20", "-O1", "-pthread", "-w", "-fsanitize=undefined", "-fno-sanitize-recover")
    made = subprocess.run(
        (str(COMPILER), *options, str(source), "-o", str(program)),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr[:2000]
    done = subprocess.run((str(program),), capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_weights_are_bytes(mask: str, output: str) -> None:
    assert all(-128 <= each <= 127 for each in replace(IMAGE, mask=mask, output=output).coefficients)


def test_only_gpus_of_nvidia_from_sm_80_on_have_them() -> None:
    assert violations(VARIANT, IMAGE, NVIDIA) == []
    for device in (CPU, replace(NVIDIA, compute_capability=75), NVIDIA.in_dialect("portable")):
        assert any("products of matrices" in reason for reason in violations(VARIANT, IMAGE, device))
    assert violations(VARIANT, IMAGE, GPU) == []


def test_whole_sub_groups_take_part() -> None:
    [reason] = violations(replace(VARIANT, group_width=16), IMAGE, NVIDIA)
    assert reason.endswith("16 work-items across are no whole sub-groups of 32")
