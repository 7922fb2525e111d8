"""The CV-CUDA backend, a library baseline: ``cvcuda.laplacian_into`` on our stream, into an image of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import cvcuda
import numpy as np

from backends.base import Prepared
from backends.common.library_backend import BoundCall, Calls, PreparedCalls
from backends.cuda.driver import DeviceView, DriverBackend
from backends.errors import BackendError
from harness.devices import DeviceArray, DeviceInfo
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_MASKS = {"four": (1, 1.0), "four_negated": (1, -1.0), "diagonal": (3, 1.0)}
"""``ksize`` and ``scale``, by which CV-CUDA multiplies the mask."""
_DTYPES = frozenset({"uint8", "uint16", "float32"})
_BORDERS = {
    "constant": "CONSTANT",
    "replicate": "REPLICATE",
    "reflect": "REFLECT",
    "reflect_101": "REFLECT101",
    "wrap": "WRAP",
}
_MAX_BYTES = 2**31 - 1
"""Of an image with the gaps between its rows."""


@dataclass(frozen=True, slots=True)
class _Image:
    """Memory as an image that CV-CUDA can take: height, width, channels. Nothing is copied.

    ``stream``: the one on which the memory was written, so that CV-CUDA waits for no other.
    """

    view: DeviceView
    problem: Laplace
    stream: int

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        problem, item = self.problem, self.view.dtype.itemsize
        row = self.view.nbytes // problem.height
        return {
            "shape": (problem.height, problem.width, problem.channels),
            "typestr": self.view.dtype.str,
            "data": (self.view.pointer, False),
            "strides": (row, problem.channels * item, item),
            "version": 3,
            "stream": self.stream,
        }


class CvCudaBackend(DriverBackend):
    """One CUDA device; CV-CUDA on our stream."""

    name: ClassVar[str] = "cvcuda"

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._cv_stream = cvcuda.as_stream(int(self._stream))

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Laplace)
        ksize, scale = _MASKS[problem.mask]
        target = self._new(problem.shape, np.dtype(problem.dtype))
        with self._typed_errors(f"preparing {problem.label}"):
            self._activate()
            filtering = partial(
                cvcuda.laplacian_into,
                self._tensor(target, problem),
                ksize=ksize,
                scale=scale,
                border=getattr(cvcuda.Border, _BORDERS[problem.border]),
                stream=self._cv_stream,
            )
            images = [self._tensor(source.handle, problem) for source in sources]
        note = f"cvcuda.laplacian_into, ksize {ksize}, scale {scale:g}"
        # CV-CUDA does not say whether a tensor keeps the memory that it is made of.
        calls = [
            BoundCall(partial(self._call, partial(filtering, image)), (target,), (source.handle, target))
            for image, source in zip(images, sources, strict=True)
        ]
        return PreparedCalls(self, problem, Calls(calls, "float32", note))

    def _tensor(self, view: DeviceView, problem: Laplace) -> Any:
        return cvcuda.as_tensor(_Image(view, problem, int(self._stream)), "HWC")

    def _call(self, run: Callable[[], Any]) -> None:
        with self._typed_errors("enqueueing the filter"):
            run()

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        return "CV-CUDA's functions are not used for reductions here"

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        if problem.mask not in _MASKS or problem.output != "laplacian":
            return f"CV-CUDA's Laplace filter has the masks {', '.join(_MASKS)}, unsharpened, only"
        if problem.dtype not in _DTYPES:
            return f"CV-CUDA's Laplace filter has no {problem.dtype}"
        if problem.border == "constant" and problem.border_value != 0:
            return "CV-CUDA's Laplace filter knows no other constant border than 0"
        if problem.height * problem.pitch * problem.element.itemsize > _MAX_BYTES:
            return f"CV-CUDA's images have at most {_MAX_BYTES} bytes"
        return None

    @staticmethod
    @contextmanager
    def _typed_errors(doing: str) -> Iterator[None]:
        """Turns CV-CUDA's errors into ours."""
        try:
            yield
        except (RuntimeError, ValueError) as error:
            raise BackendError(f"CV-CUDA, {doing}: {error}") from error
