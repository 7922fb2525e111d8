"""A benchmark for each case of the suite, one open backend for each device, the machine in the JSON file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from backends import DeviceInfo, open_backend
from harness.measure.budget import Share, every_clock
from harness.measure.measurer import Measurer
from harness.results.record import Case
from harness.runner.environment import describe
from harness.runner.plan import Request, RunPlan
from harness.runner.planning import discover, plan_run
from harness.runner.screening import Screening
from harness.runner.session import alone
from harness.variants.axes import label
from tests.conftest import BENCHMARKS, benchmarks_only

MeasurerOf = Callable[[Case], Measurer]


def _asked(config: pytest.Config) -> bool:
    """Whether the benchmarks are asked for: by ``--benchmark-only``, or by their path."""
    named = (Path(argument.partition("::")[0]).resolve() for argument in config.args)
    return benchmarks_only(config) or any(BENCHMARKS in (path, *path.parents) for path in named)


@cache
def _plan(suite: str, backends: tuple[str, ...], devices: tuple[str, ...]) -> RunPlan:
    try:
        return plan_run(Request(suite=suite, backends=backends, devices=devices))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def plan_of(config: pytest.Config) -> RunPlan:
    """What the command line asks for, on the devices found here."""
    names, texts = config.getoption("--backend") or (), config.getoption("--device") or ()
    return _plan(config.getoption("--suite"), tuple(names), tuple(texts))


def require_possible(config: pytest.Config) -> None:
    """Refuses a suite, backend or device that there is not, and a file that cannot be written in the end.

    Raises:
        pytest.UsageError: naming it, and what there is.
    """
    if _why_not(config):
        return
    plan_of(config)
    written = config.getoption("benchmark_json", default=None)
    if written and not written.parent.is_dir():
        raise pytest.UsageError(
            f"--benchmark-json {written}: there is no folder {written.parent}; make it, or name another file"
        )


def _why_not(config: pytest.Config) -> str:
    """Why no benchmark runs; empty where they do."""
    if not _asked(config):
        return "benchmarks run with --benchmark-only, or when their path is given"
    missing, names = discover()[1], config.getoption("--backend") or ()
    return "; ".join(missing[name] for name in names) if names and set(names) <= set(missing) else ""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One benchmark a case; one skipped in place of all where none is asked for or possible."""
    if "case" not in metafunc.fixturenames:
        return
    reason = _why_not(metafunc.config)
    if reason:
        metafunc.parametrize("case", [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))])
    else:
        plan = plan_of(metafunc.config)
        screening = Screening(plan.cases, plan.devices)
        cases = [case for case in plan.cases if not screening.is_out(case)]
        metafunc.parametrize("case", [_parameter(case, plan.skipped.get(case)) for case in cases])


def _parameter(case: Case, skipped: str | None) -> Any:
    text = f"{case.device_key} {case.problem.label} {label(case.variant)} {case.cache}"
    marks = [pytest.mark.skip(reason=skipped)] if skipped else []
    return pytest.param(case, id=text.replace(" ", "-"), marks=marks)


@pytest.fixture(scope="session")
def measurer_of(pytestconfig: pytest.Config) -> Iterator[MeasurerOf]:
    """The measurer of a case's backend and device, opened when it is first needed."""
    plan = plan_of(pytestconfig)
    with ExitStack() as opened:
        opened.enter_context(alone(plan, shlex.join(["pytest", *pytestconfig.invocation_params.args])))

        @cache
        def measurer(backend: str, device: int) -> Measurer:
            return Measurer(opened.enter_context(open_backend(backend, device)), seed=plan.request.seed)

        yield lambda case: measurer(case.backend, case.device)


@pytest.fixture(scope="session")
def share(pytestconfig: pytest.Config) -> Share:
    """The work on each case: all of it, in this one process."""
    measure = plan_of(pytestconfig).suite.measure
    return every_clock(measure.samples, measure.case_seconds)


@pytest.fixture(scope="session")
def devices(pytestconfig: pytest.Config) -> Sequence[DeviceInfo]:
    """Every device found here, whether measured or not."""
    return plan_of(pytestconfig).devices


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    """The environment as a run file has it, so that ``harness report`` reads the benchmarks' JSON file."""
    if not _asked(config) or _why_not(config):
        return
    plan = plan_of(config)
    command = shlex.join(["pytest", *config.invocation_params.args])
    machine_info["harness"] = describe(plan.request.suite, command, plan.devices, plan.missing)
