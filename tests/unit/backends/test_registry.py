"""The registry of backends: what one of them does, the others are not to suffer from."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from configparser import ConfigParser
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

import pytest

from backends import REGISTRY, available, backend_class, open_backend, registry
from backends.common.library_backend import LibraryBackend
from backends.errors import BackendUnavailable
from backends.libraries.numpy import NumpyBackend
from harness.runner.environment import PACKAGES

pytestmark = pytest.mark.smoke


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

    monkeypatch.setattr(registry, "import_module", import_module)
    found = available()
    why = f"opencv: it cannot be imported: {type(error).__name__}: {error}; what to do: in a checkout"
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
    assert found.keys() == REGISTRY.keys()


ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_every_backend_has_an_extra_and_an_environment_of_tox_of_its_name() -> None:
    tree = ast.parse((ROOT / "toxfile.py").read_text(encoding="utf-8"))
    (others,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert list(REGISTRY) == [name for name in EXTRAS if name not in others]
    assert others <= set(EXTRAS)
    assert all(entry.name == name for name, entry in REGISTRY.items())


def test_an_environment_of_tox_runs_the_backend_of_its_name() -> None:
    settings = ConfigParser(interpolation=None)
    settings.read(ROOT / "tox.ini", encoding="utf-8")
    common = settings["testenv"]
    assert (common["extras"], "--backend {env_name}" in common["commands"]) == ("{env_name}", True)
    alone = {"extras", "skip_install"}
    for name in settings.sections():
        assert not name.startswith("testenv:") or (
            "commands" in settings[name] and alone & set(settings[name])
        )


def test_the_extras_that_an_extra_takes_exist() -> None:
    taken = re.findall(r"opencl-cuda-harness\[([\w,]+)\]", str(EXTRAS))
    assert taken
    assert {name for names in taken for name in names.split(",")} <= set(EXTRAS)


@pytest.mark.parametrize("name", REGISTRY)
def test_a_remedy_installs_the_extra_or_says_what_else_to_do(name: str) -> None:
    entry = REGISTRY[name]
    assert entry.remedy == entry.by_hand or f"pip install '.[{name}]'" in entry.remedy
    assert entry.by_hand or EXTRAS[name]


@pytest.mark.parametrize("name", REGISTRY)
def test_a_run_records_the_packages_of_every_backend(name: str) -> None:
    assert REGISTRY[name].packages
    assert set(REGISTRY[name].packages) <= set(PACKAGES)


OWN = [name for name in REGISTRY if EXTRAS[name] and PROJECT["name"] not in EXTRAS[name][0]]
"""The extras that name packages, not other extras."""


@pytest.mark.parametrize("name", OWN)
def test_the_package_that_an_extra_is_for_is_recorded(name: str) -> None:
    package = re.match(r"[\w-]+", EXTRAS[name][0])
    assert package
    assert any(fnmatchcase(package[0], pattern) for pattern in REGISTRY[name].packages)


@pytest.mark.parametrize("name", [name for name, row in REGISTRY.items() if row.role == "library"])
def test_the_row_knows_of_narrow_sums_what_the_backend_does(name: str) -> None:
    try:
        backend = backend_class(name)
    except BackendUnavailable as missing:
        pytest.skip(str(missing))
    assert issubclass(backend, LibraryBackend)
    assert backend.narrow_sums == REGISTRY[name].narrow_sums
