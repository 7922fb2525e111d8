"""The comparison of two texts of the kernels (:mod:`tests.checkers.texts`), on PoCL."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backends import open_backend
from tests.checkers import texts

ROOT = Path(__file__).parents[3]
SUITE = """
title = "two texts"
description = "a filter and a sum"
[measure]
samples = 3
[limits]
measure = false
[[reduction]]
ops = ["sum"]
dtypes = ["int32"]
shapes = [[64, 65]]
[[laplace]]
masks = ["four"]
borders = ["replicate"]
outputs = ["laplacian"]
dtypes = ["uint16"]
channels = [1]
sizes = [[64, 65]]
"""
TERMS = "kernels_cl/laplace/terms.cl"
BELOW = "EACH_SUM COMPONENT(sums) += COMPONENT(below);"


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """The path of a suite of two cases."""
    path = tmp_path / "two.toml"
    path.write_text(SUITE)
    return str(path)


@pytest.fixture
def other(tmp_path: Path) -> Callable[[str, str], str]:
    """Makes a folder of kernels whose filter has another text."""

    def make(old: str, new: str) -> str:
        for dialect in ("cl", "cu"):
            shutil.copytree(ROOT / f"kernels_{dialect}", tmp_path / f"other/kernels_{dialect}")
        changed = tmp_path / "other" / TERMS
        text = changed.read_text()
        assert text.count(old) == 1
        changed.write_text(text.replace(old, new))
        return str(tmp_path / "other")

    return make


def run(folder: str, suite: str, *more: str) -> int:
    return texts.main([folder, suite, "--backend", "opencl", "--device", "cpu", *more])


def test_only_what_differs_is_compared(
    other: Callable[[str, str], str], suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = other(BELOW, f"{BELOW} // the same")
    assert run(folder, suite, "--contexts", "2") == 0
    first, case, mean = capsys.readouterr().out.splitlines()
    assert first.endswith(": 1 of 2 sources differ; contexts: 2")
    found = re.search(r"uint16C1 64x65, .*: ([\d.]+) us, other ([\d.]+): ([\d.]+), .* to .*: \w+$", case)
    assert found is not None
    here, there, told = map(float, found.groups())
    assert told == pytest.approx(there / here, abs=0.02)
    assert mean == f"{told:.3f} in the mean of 1; above 1 the text here is faster"


def test_no_context_begins_after_the_time_is_up(
    other: Callable[[str, str], str], suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = other(BELOW, f"{BELOW} // the same")
    assert run(folder, suite, "--contexts", "5", "--seconds", "0") == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("contexts: 2")


@pytest.mark.parametrize(("whole", "told"), [(1, "no ratio can be told"), (2, ", other ")])
def test_what_was_measured_before_an_interrupt_is_told(
    whole: int,
    told: str,
    other: Callable[[str, str], str],
    suite: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []

    def interrupted(*named: Any) -> Any:
        if len(opened) == whole:
            raise KeyboardInterrupt
        opened.append(str(named))
        return open_backend(*named)

    monkeypatch.setattr(texts, "open_backend", interrupted)
    assert run(other(BELOW, f"{BELOW} // the same"), suite, "--contexts", "5") == 130
    first, case, *_ = capsys.readouterr().out.splitlines()
    assert first.endswith(f"contexts: {whole}")
    assert told in case


def test_a_text_that_computes_something_else_is_not_timed(
    other: Callable[[str, str], str], suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = other(BELOW, "EACH_SUM COMPONENT(sums) -= COMPONENT(below);")
    assert run(folder, suite, "--contexts", "2") == 1
    _, case = capsys.readouterr().out.splitlines()
    assert "with the other text" in case
    assert " us" not in case


def test_a_text_that_does_not_compile_says_so(
    other: Callable[[str, str], str], suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(other(BELOW, "no C at all"), suite, "--contexts", "2") == 1
    assert "does not compile" in capsys.readouterr().out


def test_a_text_that_lacks_a_file_says_which(
    other: Callable[[str, str], str], suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = other(BELOW, f"{BELOW} // the same")
    (Path(folder) / TERMS).unlink()
    assert run(folder, suite, "--contexts", "2") == 1
    assert f"the other text has no {Path(folder) / TERMS}" in capsys.readouterr().out


def test_mistakes(suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        ((str(tmp_path), suite), "holds no kernels_cl: name a checkout"),
        ((str(ROOT), suite, "--contexts", "1"), "--contexts 1: from fewer than 2"),
        ((str(ROOT), "no-such-suite"), "suite 'no-such-suite' is unknown"),
        ((str(ROOT), suite, "--contexts", "2"), "no case of the suite that runs here has another source"),
    ):
        assert run(*arguments) == 2
        assert said in capsys.readouterr().err
