"""NVML is opened and CUPTI's switch is read in one place, whoever asks."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from backends.cuda import cupti
from backends.cuda.nvidia import driver_version
from harness import nvidia
from harness.cli import doctor
from harness.runner import environment


class FakeNvml(ModuleType):
    """As much of pynvml as a driver's version takes."""

    NVMLError = type("NVMLError", (Exception,), {})
    version, opened = "580.1", 0

    def nvmlInit(self) -> None:  # noqa: N802
        self.opened += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.opened -= 1

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        if not self.version:
            raise self.NVMLError("Unknown Error")
        return self.version


@pytest.mark.parametrize(("version", "told"), [("580.1", "580.1"), ("", "CUDA 13.0")])
def test_the_drivers_version(monkeypatch: pytest.MonkeyPatch, version: str, told: str) -> None:
    fake = FakeNvml("pynvml")
    fake.version = version
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    driver_version.cache_clear()
    assert driver_version(13000) == told
    assert fake.opened == 0
    driver_version.cache_clear()


def test_an_error_of_nvml_says_why_it_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeNvml("pynvml")
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    with pytest.raises(nvidia.NvmlUnavailable, match="gone"), nvidia.open_nvml() as pynvml:  # noqa: PT012
        assert fake.opened == 1
        raise pynvml.NVMLError("gone")
    assert fake.opened == 0


def test_a_gpu_that_is_lost_at_the_end_takes_nothing_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeNvml("pynvml")

    def shut_down() -> None:
        raise fake.NVMLError("GPU is lost")

    monkeypatch.setattr(fake, "nvmlShutdown", shut_down, raising=False)
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    with nvidia.open_nvml() as pynvml:
        answer = pynvml.nvmlSystemGetDriverVersion()
    assert answer == "580.1"


@pytest.mark.parametrize("off", ["off", "OFF", "0"])
def test_the_switch_of_cupti_means_the_same_everywhere(monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    monkeypatch.setitem(sys.modules, "cupti", ModuleType("cupti"))
    monkeypatch.setattr(environment, "find_spec", lambda _: object())
    monkeypatch.setenv("HARNESS_CUPTI", off)
    cupti._session.cache_clear()
    assert cupti.kernel_times(lambda _: None, lambda: None, (0, 1)) is None
    assert environment._kernel_clock() == "switched off by HARNESS_CUPTI"
    assert doctor._cupti().remedy == "unset HARNESS_CUPTI"
    cupti._session.cache_clear()
