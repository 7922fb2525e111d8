"""What all tests share: the command line's options, the devices found here, and one open backend for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from backends import REGISTRY, Backend, BackendUnavailable, DeviceInfo, available, open_backend
from harness.pytest_plugin import add_options
from harness.suites.expand import select_devices

OWN_KERNELS = ("opencl", "cuda")
"""The roles of backends that run kernels of our own."""

BENCHMARKS = Path(__file__).parent / "benchmarks"

try:
    from hypothesis import settings
except ImportError:  # The benchmarks do without it.
    pass
else:
    # A first call compiles a kernel: no deadline for one example can be right.
    settings.register_profile("default", deadline=None, max_examples=25)
    settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True, print_blob=True)
    settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(autouse=True, scope="session")
def _own_limits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests remember no limits among the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_LIMITS_DIR", str(tmp_path_factory.mktemp("limits")))
        yield


@pytest.fixture(autouse=True, scope="session")
def _kept_bytecode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where Python is told to write no bytecode, as in many containers, each of the many processes that
    tests start would compile the harness anew: they keep it in a folder that all of this run share.
    """
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):
            base = tmp_path_factory.getbasetemp()
            folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            patch.setenv("PYTHONPYCACHEPREFIX", str(folder / "bytecode"))
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, where pytest was called from elsewhere, or nothing is installed that adds them."""
    add_options(parser)


def benchmarks_only(config: pytest.Config) -> bool:
    """Whether ``--benchmark-only`` was given."""
    return bool(config.getoption("benchmark_only", default=False))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``--benchmark-only`` the functional tests are not imported: they need packages of their own."""
    if not benchmarks_only(config) or collection_path.is_dir() or BENCHMARKS in collection_path.parents:
        return None
    return True


def pytest_collection(session: pytest.Session) -> None:
    """A mistake in what the benchmarks are asked for is told before they are looked for, in one line: later
    it would be an error in a test file.
    """
    if benchmarks_only(session.config):
        from tests.benchmarks.conftest import require_possible

        require_possible(session.config)


@cache
def found() -> dict[str, list[DeviceInfo] | str]:
    """Every backend with its devices here, or with what is missing for it."""
    return available()


def selected_devices(config: pytest.Config, roles: tuple[str, ...] = ()) -> list[DeviceInfo]:
    """The devices that ``--backend`` and ``--device`` leave, of backends with one of ``roles`` (or any)."""
    devices = [device for entry in found().values() if not isinstance(entry, str) for device in entry]
    names, texts = config.getoption("--backend") or (), config.getoption("--device") or ()
    try:
        chosen = select_devices(devices, names, texts)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    return [device for device in chosen if not roles or REGISTRY[device.backend].role in roles]


def _parameters(devices: list[DeviceInfo], wanted: str) -> list[object]:
    if devices:
        return [pytest.param(device, id=device.key) for device in devices]
    missing = "; ".join(reason for reason in found().values() if isinstance(reason, str)) or "deselected"
    return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=f"no {wanted} here: {missing}"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a device, for tests that ask for ``any_backend``, ``own_backend`` or ``any_device``."""
    devices = selected_devices(metafunc.config)
    own = selected_devices(metafunc.config, OWN_KERNELS)
    if "any_backend" in metafunc.fixturenames:
        metafunc.parametrize("any_backend", _parameters(devices, "device"), indirect=True, scope="module")
    if "own_backend" in metafunc.fixturenames:
        parameters = _parameters(own, "backend with kernels of our own")
        metafunc.parametrize("own_backend", parameters, indirect=True, scope="module")
    if "any_device" in metafunc.fixturenames:
        metafunc.parametrize("any_device", _parameters(devices, "device"))


@contextmanager
def opened(device: DeviceInfo) -> Iterator[Backend]:
    """The backend of that device, open; skips the test where its library holds another in this process."""
    try:
        found = open_backend(device.backend, device.index)
    except BackendUnavailable as error:
        # A library that takes one device a process, and has taken another.
        if REGISTRY[device.backend].role != "library":
            raise
        pytest.skip(str(error))
    with found as backend:
        yield backend


@pytest.fixture(scope="module")
def any_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Every backend of the registry on every device it drives here, opened once a module."""
    with opened(request.param) as backend:
        yield backend


@pytest.fixture(scope="module")
def own_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """The same, but only backends that run kernels of our own."""
    with opened(request.param) as backend:
        yield backend
