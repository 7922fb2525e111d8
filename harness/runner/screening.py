"""Which candidates for a limit are worth measuring in every round.

Each is measured briefly in a run's first round, and those that were hardly slower than the fastest in the
next one, too. The fastest few of these go on, in as many contexts as tell their time. They are remembered for
the device: the next run measures no others.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from platformdirs import user_cache_path
from pydantic import BaseModel, TypeAdapter, ValidationError

from harness.devices import DeviceInfo
from harness.files import replacing
from harness.kernels.planner import plan
from harness.kernels.requirements import violations
from harness.problems import Problem
from harness.results.record import Case, Record
from harness.results.sweep import SWEEP, of_this_run, remembered
from harness.runner.environment import kernels_hash
from harness.variants.axes import label

WORTH: Final = 1.05
"""Times as long as the fastest candidate's that one's shortest sample may be for it to be measured again."""
MOST_REMEMBERED: Final = 3
CHOSEN_AFTER: Final = 2
"""Rounds after which only the fastest MOST_REMEMBERED are measured further."""
FOLDER_VARIABLE: Final = "HARNESS_LIMITS_DIR"
"""Names the folder of what is remembered, in place of one in the user's cache folder."""

_log = logging.getLogger(__name__)


class Limit(NamedTuple):
    """What the fastest of the candidates is the limit of: a size in one direction and cache state."""

    device: str
    problem: Problem
    cache: str

    @property
    def text(self) -> str:
        """Its name among those of its device."""
        return f"{self.problem.label} {self.cache}"


class Found(BaseModel):
    """The fastest of ``candidates``, fastest first, by their labels; ``sweep`` tells what these were."""

    sweep: str
    candidates: int
    fastest: list[str]
    on: str


class Screening:
    """The candidates for the limits of a run.

    Args:
        cases: of the run; those that are no candidates are left alone.
        devices: what is remembered is of these; nothing of another.
        anew: measures all candidates, whatever is remembered, and remembers nothing else.
    """

    def __init__(self, cases: Iterable[Case], devices: Iterable[DeviceInfo] = (), anew: bool = False) -> None:
        self._candidates: dict[Limit, list[Case]] = {}
        for case in cases:
            if case.role == "limit":
                self._candidates.setdefault(_limit(case), []).append(case)
        self._anew = anew
        known = {device.key: device for device in devices} if self._candidates else {}
        self._paths = {key: _path(device) for key, device in known.items()}
        kernels = kernels_hash() if self._candidates else ""
        self._sweeps = {
            limit: _sweep(cases, kernels, known.get(limit.device))
            for limit, cases in self._candidates.items()
        }
        former = {} if anew else {key: _read(path) for key, path in self._paths.items()}
        self._remembered = {
            limit: found
            for limit, sweep in self._sweeps.items()
            if (found := former.get(limit.device, {}).get(limit.text)) and found.sweep == sweep
        }
        # The candidates of each limit that have no record yet.
        self._open = {limit: set(c) for limit, c in self._candidates.items() if limit not in self._remembered}
        self._out = {
            case
            for limit, found in self._remembered.items()
            for case in self._candidates[limit]
            if label(case.variant) not in found.fastest
        }
        self._tried: set[Case] = set()
        self._failed: set[Case] = set()
        self._times: dict[Case, list[float]] = {}
        self._shortest: dict[Case, float] = {}

    def add(self, record: Record) -> None:
        """Takes note of a record of one round. The last candidate's of the first round settles which of them
        are out, that of round CHOSEN_AFTER which go on.
        """
        case, clock = record.case, record.clocks.get("queue")
        if case.role != "limit":
            return
        self._tried.add(case)
        if record.status == "ok" and clock and clock.seconds:
            self._times.setdefault(case, []).append(median(clock.seconds))
            self._shortest.setdefault(case, min(clock.seconds))
        else:
            self._failed.add(case)
        limit = _limit(case)
        waiting = self._open.get(limit, set())
        waiting.discard(case)
        if limit in self._open and not waiting:
            del self._open[limit]
            measured = [each for each in self._candidates[limit] if each in self._shortest]
            best = min((self._times[each][0] for each in measured), default=0.0)
            self._out |= {each for each in measured if self._shortest[each] > WORTH * best}
        left = [each for each in self._candidates[limit] if each not in self._out | self._failed]
        if all(len(self._times.get(each, ())) >= CHOSEN_AFTER for each in left):
            self._out |= set(sorted(left, key=self._time)[MOST_REMEMBERED:])

    def is_brief(self, case: Case) -> bool:
        """Whether a trial of the case only tells whether it is worth another one."""
        return case.role == "limit" and _limit(case) in self._open

    def is_out(self, case: Case) -> bool:
        """Whether the case is a candidate that others are known to beat."""
        return case in self._out

    def told(self, case: Case) -> dict[str, str]:
        """What provenance says of a candidate: of which sweep it is."""
        if case.role != "limit":
            return {}
        limit = _limit(case)
        if found := self._remembered.get(limit):
            return {SWEEP: remembered(len(found.fastest), found.candidates, found.on)}
        return {SWEEP: of_this_run(len(self._candidates[limit]))}

    def remember(self) -> None:
        """Stores the fastest candidates of each limit that this run found: all that may be the fastest, where
        it was too short to choose among them. What an interrupted run had not come to stays as it was.
        """
        over = [limit for limit in self._candidates if self._is_over(limit)]
        is_all_anew = self._anew and len(over) == len(self._candidates)
        for key, path in self._paths.items():
            own = {limit.text: self._found(limit) for limit in over if limit.device == key}
            if any(own.values()):
                former = {} if is_all_anew else _read(path)
                _write(path, {name: found for name, found in {**former, **own}.items() if found})

    def _is_over(self, limit: Limit) -> bool:
        """Whether each candidate was tried, but those that others are known to beat."""
        return self._tried | self._out >= set(self._candidates[limit])

    def _time(self, case: Case) -> float:
        """What a candidate took in the median of its rounds."""
        return median(self._times[case])

    def _found(self, limit: Limit) -> Found | None:
        """What there is to remember of a limit that is over; None where nothing could be measured."""
        left = [case for case in self._candidates[limit] if case in self._times and case not in self._out]
        if not left:
            return None
        is_chosen = all(len(self._times[case]) >= CHOSEN_AFTER for case in left)
        before = self._remembered.get(limit)
        if before and not (is_chosen and len(before.fastest) > MOST_REMEMBERED):
            return before
        return Found(
            sweep=self._sweeps[limit],
            candidates=before.candidates if before else len(self._candidates[limit]),
            fastest=[label(case.variant) for case in sorted(left, key=self._time)],
            on=before.on if before else f"{datetime.now(UTC):%Y-%m-%d}",
        )


def _limit(case: Case) -> Limit:
    return Limit(case.device_key, case.problem, case.cache)


def _sweep(cases: Iterable[Case], kernels: str, device: DeviceInfo | None) -> str:
    """What the candidates were: the kernels' text, and what is made of it for each, by which rules."""
    made = sorted((label(case.variant), _planned(case, device)) for case in cases)
    return hashlib.sha256(repr((kernels, made)).encode()).hexdigest()


def _planned(case: Case, device: DeviceInfo | None) -> str:
    if device is None or violations(case.variant, case.problem, device):
        return ""
    return repr(plan(case.problem, case.variant, device))


def _path(device: DeviceInfo) -> Path:
    """The file of a device: another driver, or number of compute units, makes it another one."""
    folder = os.environ.get(FOLDER_VARIABLE)
    identity = (device.backend, device.platform, device.name, device.driver, device.compute_units)
    name = hashlib.sha256(repr(identity).encode()).hexdigest()
    return (Path(folder) if folder else user_cache_path("opencl-cuda-harness") / "limits") / f"{name}.json"


_FILE: TypeAdapter[dict[str, Found]] = TypeAdapter(dict[str, Found])


def _read(path: Path) -> dict[str, Found]:
    """What is remembered of a device; nothing where that cannot be read."""
    try:
        return _FILE.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        _log.warning("%s cannot be read (%s): the limits are looked for once more", path, error)
        return {}


def _write(path: Path, found: dict[str, Found]) -> None:
    """Stores a file at once or not at all: another run may read it."""
    try:
        with replacing(path) as whole:
            whole.write_bytes(_FILE.dump_json(found, indent=1))
    except OSError as error:
        _log.warning("%s cannot be written (%s): the next run looks for the limits once more", path, error)
