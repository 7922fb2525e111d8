"""Our OpenCL kernels on every implementation of OpenCL for processors here: ``tox -e platforms``.

The contract tests and those of the variants run once more on each, in a process in which it is the only one.
PoCL of pyopencl's wheels is not among them: ``tox -e test`` runs on it. It takes minutes for each, so this
file is named not to be among the functional tests. What differs is told in docs/platforms.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.recorded import ROOT

TESTS = (
    *("backend_contract", "backend_laplace", "backend_prepared", "backend_properties", "backend_reductions"),
    "backend_refusals",
)
EVERYWHERE = (*(f"tests/contract/test_{name}.py" for name in TESTS), "tests/kernels/test_backend_variants.py")
"""What is run on an implementation that compiles."""
SIMULATED = tuple(f"tests/contract/test_backend_{name}.py" for name in ("laplace", "refusals"))
"""What is run on one that simulates: a reduction takes it seconds, and ``tox -e oclgrind`` has small ones."""
VENDORS = Path(os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors")
"""Where other implementations are registered: one, or a folder of ``.icd`` files."""
_TIMEOUT_S = 3600


def intel() -> Path | None:
    """Intel's runtime for processors, of its wheels."""
    library = Path(sys.prefix, "lib", "libintelocl.so")
    return library if library.is_file() else None


def oclgrind() -> Path | None:
    """Oclgrind as a device."""
    return next(iter(sorted(Path("/usr/lib").glob("**/liboclgrind-rt-icd.so"))), None)


def registered(vendors: Path = VENDORS) -> list[Path]:
    """The libraries that ``vendors`` names: the file itself, or what its files name."""
    if not vendors.is_dir():
        return [vendors] if vendors.exists() else []
    named = [Path(path.read_text(encoding="utf-8").strip()) for path in sorted(vendors.glob("*.icd"))]
    return [path for path in named if path.name]


def newer_pocl() -> Path | None:
    """The PoCL that is registered here."""
    return next((path for path in registered() if path.name.startswith("libpocl")), None)


IMPLEMENTATIONS = {
    "Intel": (intel, EVERYWHERE, "pip install '.[intel]', on Linux with an x86-64 processor"),
    "PoCL": (newer_pocl, EVERYWHERE, "apt-get install pocl-opencl-icd, or set OCL_ICD_VENDORS to its folder"),
    "Oclgrind": (oclgrind, SIMULATED, "apt-get install oclgrind"),
}
"""By name: what finds its library, what is run on it, and how to get it."""


class Outcomes(NamedTuple):
    """Of tests: how many passed, which failed with what was said, and why others were skipped, how often."""

    passed: int
    failed: list[str]
    skipped: Counter[str]


def environment(library: Path) -> dict[str, str]:
    """In which the library is the only implementation of OpenCL."""
    # Oclgrind does not know all that its optimiser makes.
    return {**os.environ, "OCL_ICD_VENDORS": str(library), "OCLGRIND_BUILD_OPTIONS": "-O0"}


def description(library: Path) -> str:
    """What it says of itself, and of its device."""
    code = (
        "from backends.opencl.device import all_devices\n"
        "for device in all_devices():\n"
        "    print(device.platform.name, '|', device.driver_version, '|', device.opencl_c_version)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment(library),
        timeout=120,
    )
    assert done.returncode == 0, f"{library} cannot be loaded: {done.stderr}"
    return done.stdout.strip()


def outcomes(library: Path, tests: tuple[str, ...], folder: Path) -> Outcomes:
    """What the tests come to there."""
    path = folder / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "--backend", "opencl", f"--junit-xml={path}", *tests]
    # Without a cache: another implementation's kernels are not this one's.
    settings = {**environment(library), "POCL_CACHE_DIR": str(folder / "pocl")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=settings, timeout=_TIMEOUT_S
    )
    assert path.exists(), done.stdout + done.stderr
    return read(path)


def read(path: Path) -> Outcomes:
    """What pytest's report tells."""
    failed: list[str] = []
    skipped: Counter[str] = Counter()
    cases = list(ET.parse(path).getroot().iter("testcase"))
    assert cases, f"{path} tells of no test"
    for case in cases:
        for said in case:
            message = said.get("message", "")
            if said.tag in ("failure", "error"):
                failed.append(f"{case.get('name')}: {message}")
            elif said.tag == "skipped":
                skipped[re.sub(r"^opencl:\d+: ", "", message)] += 1
    return Outcomes(len(cases) - len(failed) - skipped.total(), failed, skipped)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_the_kernels_are_right_everywhere(name: str, tmp_path: Path) -> None:
    find, tests, remedy = IMPLEMENTATIONS[name]
    library = find()
    if library is None:
        pytest.skip(f"{name} is not installed: {remedy}")
    print(f"{name}: {description(library)}")
    found = outcomes(library, tests, tmp_path)
    print(f"{found.passed:5} passed")
    for reason, count in found.skipped.most_common():
        print(f"{count:5} skipped: {reason}")
    assert not found.failed, "\n".join(found.failed)
    assert found.passed > found.skipped.total()


def test_what_failed_is_found(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(
        "<testsuites><testsuite><testcase name='a'/><testcase name='b'><failure message='wrong'/></testcase>"
        "<testcase name='c'><skipped message='opencl:0: no images'/></testcase></testsuite></testsuites>"
    )
    assert read(path) == Outcomes(1, ["b: wrong"], Counter({"no images": 1}))


def test_what_is_registered_is_found(tmp_path: Path) -> None:
    (tmp_path / "pocl.icd").write_text("/usr/lib/libpocl.so.2\n")
    assert registered(tmp_path) == [Path("/usr/lib/libpocl.so.2")]
    assert registered(tmp_path / "pocl.icd") == [tmp_path / "pocl.icd"]
    assert registered(tmp_path / "none") == []
