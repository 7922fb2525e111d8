"""The registry of backends: what one of them does, the others are not to suffer from."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

import backends
from backends import available, backend_class, open_backend
from backends.errors import BackendUnavailable
from backends.libraries.numpy import NumpyBackend


@pytest.mark.parametrize(
    "error",
    [OSError("libcudart.so.13: wrong ELF class"), ValueError("numpy.dtype size changed"), KeyError("X")],
)
def test_a_library_whose_import_fails_costs_its_backend_only(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    before = available()

    def import_module(name: str) -> ModuleType:
        if name == "backends.libraries.opencv":
            raise error
        return importlib.import_module(name)

    monkeypatch.setattr(backends, "import_module", import_module)
    found = available()
    why = f"opencv: it cannot be imported: {type(error).__name__}: {error}; what to do: pip install "
    assert str(found.pop("opencv")).startswith(why)
    before.pop("opencv")
    assert found.keys() == before.keys()
    assert [device.key for device in found["numpy"] if not isinstance(device, str)] == ["numpy:0"]
    with pytest.raises(BackendUnavailable, match="opencv: it cannot be imported"):
        backend_class("opencv")
    with pytest.raises(BackendUnavailable, match="opencv: it cannot be imported"):
        open_backend("opencv")


def test_a_driver_that_fails_to_tell_its_devices_costs_its_backend_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def devices() -> None:
        raise RuntimeError("the driver is of another version")

    monkeypatch.setattr(NumpyBackend, "devices", devices)
    found = available()
    assert str(found["numpy"]).startswith("numpy: it does not tell its devices: RuntimeError: the driver is")
    assert found.keys() == backends.REGISTRY.keys()
