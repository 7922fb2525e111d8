"""The texture over a source: what the driver is asked for, by a driver that only listens."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

driver = pytest.importorskip("cuda.bindings.driver")

from backends.cuda.texture import Texture  # noqa: E402
from backends.errors import BackendError  # noqa: E402
from harness.devices import DeviceArray  # noqa: E402
from harness.kernels.plan import SourceImage2d  # noqa: E402
from harness.kernels.values import CHANNEL_BYTES, TEXEL  # noqa: E402
from harness.problems.dtypes import DTYPES  # noqa: E402

ADDRESS, OBJECT = 0x7F0000001000, 77


class Listener:
    """cuTexObjectCreate and cuTexObjectDestroy of a driver that answers ``status``."""

    def __init__(self, status: int = 0) -> None:
        self.status = driver.CUresult(status)
        self.created: list[tuple[Any, Any]] = []
        self.destroyed: list[int] = []

    def cuTexObjectCreate(self, resource: Any, texture: Any, view: Any) -> tuple[Any, Any]:  # noqa: N802
        self.created.append((resource, texture))
        assert view is None
        return self.status, driver.CUtexObject(OBJECT)

    def cuTexObjectDestroy(self, handle: Any) -> tuple[Any]:  # noqa: N802
        self.destroyed.append(int(handle))
        return (self.status,)

    def listen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("cuTexObjectCreate", "cuTexObjectDestroy"):
            monkeypatch.setattr(driver, name, getattr(self, name))


@pytest.mark.parametrize("name", [name for name, dtype in DTYPES.items() if dtype.itemsize <= CHANNEL_BYTES])
def test_texels_are_four_elements_of_the_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    listener.listen(monkeypatch)
    dtype = np.dtype(name)
    texture = Texture(DeviceArray(ADDRESS, dtype, (10, TEXEL)))
    ((resource, how),) = listener.created
    linear = resource.res.linear
    assert resource.resType == driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
    assert (int(linear.devPtr), linear.numChannels, linear.sizeInBytes) == (
        ADDRESS,
        TEXEL,
        40 * dtype.itemsize,
    )
    kind = {"u": "UNSIGNED_INT", "i": "SIGNED_INT", "f": {2: "HALF", 4: "FLOAT"}.get(dtype.itemsize)}[
        dtype.kind
    ]
    bits = "" if dtype.kind == "f" else 8 * dtype.itemsize
    assert linear.format.name == f"CU_AD_FORMAT_{kind}{bits}"
    assert how.flags == driver.CU_TRSF_READ_AS_INTEGER
    assert int(texture) == OBJECT
    texture.free()
    assert listener.destroyed == [OBJECT]


@pytest.mark.parametrize(
    ("outside", "mode"),
    [("", "CLAMP"), ("edge", "CLAMP"), ("zero", "BORDER")],
)
def test_an_image_has_the_source_s_rows(
    outside: Literal["", "edge", "zero"], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    listener.listen(monkeypatch)
    source = DeviceArray(ADDRESS, np.dtype("uint16"), (7, 64))
    texture = Texture(source, SourceImage2d(4, 15, 7, 128, outside))
    ((resource, how),) = listener.created
    rows = resource.res.pitch2D
    assert resource.resType == driver.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
    assert int(rows.devPtr) == ADDRESS
    assert (rows.numChannels, rows.width, rows.height, rows.pitchInBytes) == (4, 15, 7, 128)
    assert rows.format.name == "CU_AD_FORMAT_UNSIGNED_INT16"
    assert {each.name for each in how.addressMode} == {f"CU_TR_ADDRESS_MODE_{mode}"}
    assert how.flags == driver.CU_TRSF_READ_AS_INTEGER
    assert int(texture) == OBJECT


def test_what_the_driver_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Listener(1).listen(monkeypatch)
    with pytest.raises(BackendError, match="CUDA_ERROR_INVALID_VALUE"):
        Texture(DeviceArray(ADDRESS, np.dtype("int8"), (TEXEL,)))
