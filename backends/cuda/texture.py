"""Textures of CUDA's driver: the image over memory that a kernel reads texels from."""

from __future__ import annotations

from cuda.bindings import driver

from backends.cuda.driver import call
from harness.devices import DeviceArray

_FORMATS = {
    "uint8": driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8,
    "uint16": driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT16,
    "uint32": driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32,
    "int8": driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT8,
    "int16": driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT16,
    "int32": driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT32,
    "float16": driver.CUarray_format.CU_AD_FORMAT_HALF,
    "float32": driver.CUarray_format.CU_AD_FORMAT_FLOAT,
}
_CHANNELS = 4


class Texture:
    """A texture object over a source in linear memory, which must outlive it: texels of four elements,
    integers read as they are. ``int()`` of it is what a kernel takes.
    """

    def __init__(self, source: DeviceArray) -> None:
        """The context of the source must be the current one.

        Raises:
            BackendError: if the driver refuses.
        """
        resource, texture = driver.CUDA_RESOURCE_DESC(), driver.CUDA_TEXTURE_DESC()
        resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
        linear = resource.res.linear
        linear.devPtr = driver.CUdeviceptr(int(source.handle))
        linear.format = _FORMATS[source.dtype.name]
        linear.numChannels = _CHANNELS
        linear.sizeInBytes = source.nbytes
        texture.flags = driver.CU_TRSF_READ_AS_INTEGER
        self._object = call(driver.cuTexObjectCreate, resource, texture, None)

    def __int__(self) -> int:
        return int(self._object)

    def free(self) -> None:
        """Ends it; the memory stays."""
        call(driver.cuTexObjectDestroy, self._object)
