"""The element types of the comparison and what each needs in a kernel.

A row here is all that a new type costs: the problems, both kernel dialects and the report read it from
this table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Dtype:
    """One element type.

    ``kernel`` is the type's name in OpenCL C (the CUDA sources define the same names). ``stored`` differs
    from it only for float16, which is read as 16 raw bits and computed in float32, so that no device needs
    half arithmetic. ``lowest`` and ``highest`` are literals of the extreme values in both dialects. ``total``
    is the type of a sum: int64, uint64 or float64.
    """

    name: str
    kernel: str
    stored: str
    lowest: str
    highest: str
    total: str

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The NumPy dtype."""
        return np.dtype(self.name)

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self.numpy.itemsize

    @property
    def is_float(self) -> bool:
        """Whether NaN and infinities exist."""
        return self.numpy.kind == "f"

    @property
    def kernel_numpy(self) -> np.dtype[np.generic]:
        """The NumPy dtype of a value inside a kernel (float32 for float16)."""
        return np.dtype(np.float32) if self.name == "float16" else self.numpy

    @property
    def kept(self) -> str:
        """The kernels' type of an element in a partial result: an integer has 32 bits at least.

        What has fewer is masked again and again, and stored byte by byte.
        """
        return ("int" if self.numpy.kind == "i" else "uint") if self._is_narrow else self.kernel

    @property
    def kept_numpy(self) -> np.dtype[np.generic]:
        """The NumPy dtype of that."""
        return np.dtype(f"{self.numpy.kind}4") if self._is_narrow else self.kernel_numpy

    @property
    def _is_narrow(self) -> bool:
        return not self.is_float and self.itemsize < _KEPT_BYTES


_KEPT_BYTES = 4
"""The least that an integer has in a partial result: a register of a GPU."""


def integer_range(name: str) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    info = np.iinfo(name)
    return int(info.min), int(info.max)


def _integer(name: str, kernel: str) -> Dtype:
    least, greatest = integer_range(name)
    suffix = {"uint32": "u", "uint64": "ul", "int64": "l"}.get(name, "")
    # The lowest signed value has no literal of its own type in C: it is written as a difference.
    lowest = f"(-{greatest}{suffix} - 1)" if least < 0 else f"0{suffix}"
    return Dtype(name, kernel, kernel, lowest, f"{greatest}{suffix}", "int64" if least < 0 else "uint64")


def _floating(name: str, kernel: str, stored: str) -> Dtype:
    return Dtype(name, kernel, stored, "(-INFINITY)", "INFINITY", "float64")


DTYPES: dict[str, Dtype] = {
    dtype.name: dtype
    for dtype in (
        _integer("uint8", "uchar"),
        _integer("int8", "char"),
        _integer("uint16", "ushort"),
        _integer("int16", "short"),
        _integer("int32", "int"),
        _floating("float32", "float", "float"),
        _floating("float64", "double", "double"),
        _integer("uint32", "uint"),
        _integer("int64", "long"),
        _integer("uint64", "ulong"),
        _floating("float16", "float", "ushort"),
    )
}
"""Every type, the seven of the studies first."""

STUDY_DTYPES = tuple(DTYPES)[:7]
"""The types that yan2011 prints."""


def dtype_of(array: npt.NDArray[np.generic]) -> Dtype:
    """The row of an array's element type, whatever its byte order.

    Raises:
        TypeError: if the type is none of :data:`DTYPES`.
    """
    name = array.dtype.name
    if name not in DTYPES:
        raise TypeError(f"dtype {array.dtype!r} is not supported; supported are {', '.join(DTYPES)}")
    return DTYPES[name]
