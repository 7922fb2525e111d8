"""The window over a source: what the driver is told around a launch, by a driver that only listens."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

driver = pytest.importorskip("cuda.bindings.driver")

from backends.cuda.kept_sources import KeptSources  # noqa: E402
from backends.errors import BackendError, Unsupported  # noqa: E402
from harness.devices import DeviceArray  # noqa: E402

MIB = 2**20
STREAM, ADDRESS, FORMER = 5, 0x7F0000001000, 3 * MIB
SET_ASIDE = driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE


class Listener:
    """The functions of a driver whose device sets ``most`` bytes aside, for windows of at most ``widest``."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, most: int = 40 * MIB, widest: int = 128 * MIB, status: int = 0
    ) -> None:
        self.status, self.told = driver.CUresult(status), list[Any]()
        self.can = {
            driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: most,
            driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: widest,
        }
        for name in dir(self):
            if name.startswith("cu"):
                monkeypatch.setattr(driver, name, getattr(self, name))

    def cuDeviceGet(self, index: int) -> tuple[Any, Any]:  # noqa: N802
        return driver.CUresult(0), driver.CUdevice(index)

    def cuDeviceGetAttribute(self, what: Any, device: Any) -> tuple[Any, Any]:  # noqa: N802
        assert int(device) == 0
        return driver.CUresult(0), self.can[what]

    def cuCtxGetLimit(self, what: Any) -> tuple[Any, Any]:  # noqa: N802
        return driver.CUresult(0), {SET_ASIDE: FORMER}[what]

    def cuCtxSetLimit(self, what: Any, nbytes: int) -> tuple[Any]:  # noqa: N802
        self.told.append(("aside", {SET_ASIDE: nbytes}[what]))
        return (self.status,)

    def cuCtxResetPersistingL2Cache(self) -> tuple[Any]:  # noqa: N802
        self.told.append(("reset",))
        return (self.status,)

    def cuStreamSetAttribute(self, stream: Any, what: Any, value: Any) -> tuple[Any]:  # noqa: N802
        assert int(stream) == STREAM
        assert what == driver.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        window = value.accessPolicyWindow
        if window.num_bytes:
            assert window.hitProp == driver.CUaccessProperty.CU_ACCESS_PROPERTY_PERSISTING
            assert window.missProp == driver.CUaccessProperty.CU_ACCESS_PROPERTY_STREAMING
        self.told.append(("window", int(window.base_ptr), window.num_bytes, round(window.hitRatio, 4)))
        return (self.status,)


def source(nbytes: int, address: int = ADDRESS) -> DeviceArray:
    return DeviceArray(address, np.dtype(np.uint8), (nbytes,))


def test_a_launch_alone_has_the_window_of_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener(monkeypatch)
    kept = KeptSources(
        0,
        STREAM,
        [source(64 * MIB), source(64 * MIB, 2 * ADDRESS)],
        0.5,
        partial(listener.told.append, "active"),
    )
    for i in (1, 0):
        kept.around(i, partial(listener.told.append, ("launch", i)))()
    kept.free()
    assert listener.told == [
        "active",
        ("aside", 32 * MIB),
        ("window", 2 * ADDRESS, 64 * MIB, 0.5),
        ("launch", 1),
        ("window", 0, 0, 0.0),
        ("window", ADDRESS, 64 * MIB, 0.5),
        ("launch", 0),
        ("window", 0, 0, 0.0),
        "active",
        ("reset",),
        ("aside", FORMER),
    ]


@pytest.mark.parametrize(
    ("nbytes", "share", "aside", "window", "ratio"),
    [(100 * MIB, 0.5, 40 * MIB, 100 * MIB, 0.5), (256 * MIB, 0.125, 32 * MIB, 128 * MIB, 0.25)],
    ids=["no more than can be set aside", "no wider than a window can be"],
)
def test_a_device_has_its_limits(
    nbytes: int, share: float, aside: int, window: int, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener(monkeypatch)
    KeptSources(0, STREAM, [source(nbytes)], share, lambda: None).around(0, lambda: None)()
    assert listener.told[:2] == [("aside", aside), ("window", ADDRESS, window, ratio)]


def test_a_device_that_sets_nothing_aside_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener(monkeypatch, most=0)
    with pytest.raises(Unsupported, match="cuda:0: the device sets no part of its L2 cache aside"):
        KeptSources(0, STREAM, [source(MIB)], 0.5, lambda: None)
    assert listener.told == []


def test_what_the_driver_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Listener(monkeypatch, status=int(driver.CUresult.CUDA_ERROR_NOT_SUPPORTED))
    with pytest.raises(BackendError, match="cuCtxSetLimit: CUDA_ERROR_NOT_SUPPORTED"):
        KeptSources(0, STREAM, [source(MIB)], 0.5, lambda: None)
