"""What may import what, beside the contracts of import-linter: nothing of a GPU on load, no cycles."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from backends import REGISTRY

ROOT = Path(__file__).parents[3]
PACKAGES = ("harness", "backends", "reports")
GPU_LIBRARIES = {"pyopencl", "pycuda", "cupy", "cupyx", "cuda", "cupti", "pynvml", "torch", "cv2"}

SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}
"""Every module of the project with its file."""


def imports(tree: ast.AST, package: str = "") -> Iterator[str]:
    """The modules that a piece of code imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or package
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imports_on_load(path: Path) -> Iterator[str]:
    """The modules imported when a file's module is: not in functions, not for type checking."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        is_typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not is_definition and not is_typing:
            yield from imports(node)


def owner(name: str) -> str | None:
    """The module of the project that ``name`` is, or lies in."""
    while name and name not in SOURCES:
        name = name.rpartition(".")[0]
    return name or None


def test_every_module_is_looked_at() -> None:
    assert {"harness.variants.axes", "harness.problems.reduction", "backends.base"} <= set(SOURCES)


def test_importing_the_packages_imports_no_gpu_library() -> None:
    modules = (
        "harness.cli.app, harness.cli.progress, harness.suites.expand, harness.runner.worker_main, "
        "harness.runner.run"
    )
    code = (
        f"import json, sys, {modules}\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    loaded = set(json.loads(output.stdout))
    assert {"harness", "backends"} <= loaded
    assert not loaded & GPU_LIBRARIES
    assert not loaded & {"dask", "distributed"}


@pytest.mark.parametrize("module", [name for name in SOURCES if name.startswith("backends.")])
def test_backends_do_not_import_each_other(module: str) -> None:
    backends = {entry.path.partition(":")[0] for entry in REGISTRY.values()}
    tree = ast.parse(SOURCES[module].read_text(encoding="utf-8"))
    assert not {owner(name) for name in imports(tree)} & backends


def test_no_import_cycles() -> None:
    graph = {
        module: {found for name in imports_on_load(path) if (found := owner(name)) and found != module}
        for module, path in SOURCES.items()
    }
    assert graph["harness.kernels.requirements"] >= {"harness.problems", "harness.devices"}
    assert list(TopologicalSorter(graph).static_order())


TESTS = sorted((ROOT / "tests").rglob("*.py"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_test_file_imports_another(path: Path) -> None:
    # What several need lies in tests/support.
    found = imports(ast.parse(path.read_text(encoding="utf-8")), "tests")
    assert not [name for name in found if name.startswith("tests.") and ".test_" in name]


def test_the_registry_names_one_file_a_backend() -> None:
    for entry in REGISTRY.values():
        module, _, attribute = entry.path.partition(":")
        assert module.startswith("backends.")
        tree = ast.parse(SOURCES[module].read_text(encoding="utf-8"))
        assert attribute in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        assert entry.role in ("reference", "opencl", "cuda", "library")
        assert entry.about
        assert entry.remedy


def test_help_of_the_command() -> None:
    command = [sys.executable, "-m", "harness", "--help"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for verb in ("devices", "list", "run", "report", "compare", "doctor"):
        assert verb in output.stdout
