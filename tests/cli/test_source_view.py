"""``harness source``: what a compiler sees of a problem, without a device."""

from __future__ import annotations

import pytest

from tests.support.command import Harness, harness

__all__ = ["harness"]


def test_the_source_with_the_file_of_each_part(harness: Harness) -> None:
    done = harness("source", "minmax", "int32", "2560x2560")
    assert done.code == 0, done.err
    assert done.out.startswith("#define ELEMENT int\n")
    assert '#line 1 "kernels_cl/reduction/ops/minmax.cl"' in done.out
    assert done.out.rstrip().endswith("}")
    quoted = harness("source", "2560x2560 minmax int32")
    assert quoted.out == done.out


def test_dialects_devices_axes_and_rungs(harness: Harness) -> None:
    cuda = harness("source", "laplace four uint8C3 640x480 wrap", "--dialect", "cu").out
    assert "#define CHANNELS 3\n" in cuda
    assert '#line 1 "kernels_cu/laplace/border/wrap.cu"' in cuda
    assert "#define SUB_GROUP_WIDTH 1\n" in harness("source", "sum", "--for", "cpu").out
    assert "#define GROUP_SIZE 64\n" in harness("source", "sum", "--variant", "group_size=64").out
    portable = harness("source", "sum float32", "--variant", "dialect=portable").out
    assert '#line 1 "kernels_cl/dialect/portable.cl"' in portable
    assert "reduction/tree/sub_group" not in portable
    assert (
        "tree/sub_group.cu"
        in harness("source", "sum", "--dialect", "cu", "--variant", "dialect=portable").out
    )
    assert "reduction/tree/naive.cl" in harness("source", "sum int32", "--rung", "pcl:0").out


def test_a_diff_shows_one_step_of_a_ladder(harness: Harness) -> None:
    step = harness("source", "min int32", "--rung", "yan2011:1", "--diff", "yan2011:0")
    assert step.code == 0, step.err
    assert step.out.startswith("--- yan2011:0\n+++ yan2011:1\n")
    assert "+#define VECTOR_WIDTH 4\n" in step.out
    same = harness("source", "min int32", "--rung", "pcl:1", "--diff", "pcl:1")
    assert not same.out
    assert "the two are the same" in same.err
    dialects = harness("source", "min int32", "--diff", "cu").out
    assert "-  const uint local_id = threadIdx.x;" in dialects
    assert "+  const uint local_id = get_local_id(0);" in dialects


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("minmix",), "word 'minmix' is unknown; known are laplace, min,"),
        (("int32",), "must name one problem"),
        (("min", "max"), "names two: min and max"),
        (("min", "laplace"), "must name one problem"),
        (("laplace", "int64"), "dtype of an image 'int64' is unknown"),
        (("minmax", "5x00"), "'5x00' is no shape; give numbers above 0"),
        (("minmax", "0x0"), "'0x0' is no shape; give numbers above 0, as in 2560x2560"),
        (("laplace", "9x9x9"), "an image has a width and a height"),
        (("min", "--variant", "group_size"), "give an axis and its value"),
        (("min", *("--variant", "groups=1") * 2), "groups is given twice; give it once"),
        (("min", "--variant", "groups=8,group_size=64"), "give each by a --variant of its own"),
        (("min", "--variant", "group_size=3"), "group_size = 3: allowed are"),
        (("min", "--variant", f"groups={'9' * 5000}"), "allowed are per_problem, 1 to 64"),
        (("min", "--variant", "dialect=ptx"), "dialect = 'ptx': allowed are vendor, portable"),
        (("min", "--rung", "pcl:99"), "rung 'pcl:99': pcl has the rungs pcl:0 to"),
        (("min", "--rung", "none:1"), "ladder of a reduction 'none' is unknown; known are"),
        (("min", "--ptx", "--sass"), "give one of them"),
        (("min", "--ptx", "--for", "cpu"), "are of CUDA on a GPU"),
    ],
)
def test_mistakes_name_the_value(harness: Harness, arguments: tuple[str, ...], said: str) -> None:
    done = harness("source", *arguments)
    assert done.code == 2
    assert said in done.err
    assert not done.out


def test_ptx(harness: Harness) -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is missing: pip install cuda-bindings[all]")
    done = harness("source", "min int32", "--ptx")
    if "NVRTC is missing" in done.err:
        pytest.skip(done.err)
    assert done.code == 0, done.err
    assert ".target sm_90" in done.out
    assert ".entry reduce" in done.out


def test_without_a_disassembler_the_remedy_is_named(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    done = harness("source", "min int32", "--sass")
    assert done.code == 1
    assert "nvdisasm and cuobjdump are not on PATH" in done.err
    assert "install the CUDA toolkit" in done.err
