"""Textures of CUDA's driver: the image over memory that a kernel reads texels from."""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver

from backends.cuda.driver import call
from harness.devices import DeviceArray
from harness.kernels.plan import SourceImage2d
from harness.kernels.values import TEXEL

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
_ADDRESSES = {
    "": driver.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP,
    "edge": driver.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP,
    "zero": driver.CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER,
}


class Texture:
    """A texture object over a source in linear memory, which must outlive it: integers read as they are.
    ``int()`` of it is what a kernel takes.
    """

    def __init__(self, source: DeviceArray, image: SourceImage2d | None = None) -> None:
        """Texels of four elements in a row, or an image of two dimensions.

        The context of the source must be the current one.

        Raises:
            BackendError: if the driver refuses.
        """
        resource, texture = driver.CUDA_RESOURCE_DESC(), driver.CUDA_TEXTURE_DESC()
        if image is None:
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
            texels: Any = resource.res.linear
            texels.numChannels, texels.sizeInBytes = TEXEL, source.nbytes
        else:
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
            texels = resource.res.pitch2D
            texels.numChannels, texels.width, texels.height = image.texel, image.width, image.height
            texels.pitchInBytes = image.pitch_bytes
            texture.addressMode = [_ADDRESSES[image.outside]] * 3
        texels.devPtr = driver.CUdeviceptr(int(source.handle))
        texels.format = _FORMATS[source.dtype.name]
        texture.flags = driver.CU_TRSF_READ_AS_INTEGER
        self._object = call(driver.cuTexObjectCreate, resource, texture, None)

    def __int__(self) -> int:
        return int(self._object)

    def free(self) -> None:
        """Ends it; the memory stays."""
        call(driver.cuTexObjectDestroy, self._object)
