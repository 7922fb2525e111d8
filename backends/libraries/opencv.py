"""The OpenCV backend, a library baseline on the host's processor: what cv2 does with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import cv2
import numpy as np

from backends.base import Prepared
from backends.common.library_backend import Calls, PreparedCalls, joined, nan_in_extremes
from backends.libraries import opencv_calls
from backends.libraries.host import HostBackend
from harness.devices import DeviceArray, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant


class OpenCvBackend(HostBackend):
    """The host's processor by OpenCV's functions, with the threads that OpenCV takes by itself."""

    name: ClassVar[str] = "opencv"
    title: ClassVar[str] = "OpenCV"
    version: ClassVar[str] = cv2.__version__

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        return nan_in_extremes(problem) | opencv_calls.known_deviations(problem)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        arrays = [source.handle for source in sources]
        if isinstance(problem, Reduction):
            calls = [opencv_calls.reduction(problem, array.reshape(1, -1)) for array in arrays]
        else:
            assert isinstance(problem, Laplace)
            target = np.empty(problem.shape, problem.dtype)
            images = [array[:, : problem.row_elements].reshape(problem.shape) for array in arrays]
            between = opencv_calls.between(problem)
            calls = [opencv_calls.laplace(problem, image, target, between=between) for image in images]
        note = joined(opencv_calls.note(problem), f"{cv2.getNumThreads()} threads at most")
        accumulator = opencv_calls.accumulator(problem)
        return PreparedCalls(self, problem, Calls(calls, accumulator, note, result_location="host"))

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        return opencv_calls.lacks_reduction(problem)

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return opencv_calls.lacks_laplace(problem)
