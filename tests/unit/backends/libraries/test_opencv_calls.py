"""Which of OpenCV's functions filters where, and what a record says of it."""

from __future__ import annotations

from typing import Any

import pytest

from backends import BackendUnavailable, open_backend
from harness.problems import Laplace
from harness.variants.axes import LibraryVariant

cv2 = pytest.importorskip("cv2", reason="pip install opencv-python-headless")


@pytest.mark.parametrize(
    ("name", "height", "function", "told"),
    [
        ("opencv", 30, "Laplacian", "cv2.Laplacian; "),
        # cv2.Laplacian filters a UMat on the processor.
        ("opencv_opencl", 30, "filter2D", "cv2.filter2D; its OpenCL kernel"),
        ("opencv_opencl", 2, "filter2D", "cv2.filter2D; falls back to the processor: a side is shorter than"),
    ],
)
def test_the_function_for_a_mask_that_both_have(
    monkeypatch: pytest.MonkeyPatch, name: str, height: int, function: str, told: str
) -> None:
    called = []

    def seen(which: str) -> Any:
        original = getattr(cv2, which)

        def function(*arguments: Any, **named: Any) -> Any:
            called.append(which)
            return original(*arguments, **named)

        return function

    for which in ("Laplacian", "filter2D"):
        monkeypatch.setattr(cv2, which, seen(which))
    problem = Laplace("four", "reflect_101", "laplacian", "uint8", height, 40)
    try:
        backend = open_backend(name)
    except BackendUnavailable as missing:
        pytest.skip(str(missing))
    with backend:
        source = problem.make_source(0)
        uploaded = [backend.upload(problem.pack(source))]
        with backend.prepare(problem, LibraryVariant(), uploaded) as prepared:
            prepared.enqueue(0)
            assert problem.verify(prepared.result(), source).ok
            assert prepared.note.startswith(told)
    assert called == [function]
