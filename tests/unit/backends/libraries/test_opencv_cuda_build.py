"""The script that builds OpenCV with CUDA, up to where it would begin."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from backends import REGISTRY

ROOT = Path(__file__).parents[4]
SCRIPT = ROOT / "backends" / "libraries" / "opencv_cuda_build.sh"


def test_the_remedy_names_the_script() -> None:
    assert str(SCRIPT.relative_to(ROOT)) in REGISTRY["opencv_cuda"].remedy


@pytest.mark.parametrize("missing", ["python3", "nvcc"])
def test_a_missing_tool_is_named_before_anything_is_fetched(tmp_path: Path, missing: str) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in {"python3", "c++", "cmake", "ninja", "nvcc"} - {missing}:
        (tools / tool).write_text("#!/bin/sh\nexit 9\n")
        (tools / tool).chmod(0o755)
    for tool in ("bash", "realpath"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    done = subprocess.run(
        ["/bin/bash", str(SCRIPT), str(tmp_path / "opencv")],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"{missing} is missing: install it, and put it on PATH\n"
    assert not (tmp_path / "opencv").exists()
