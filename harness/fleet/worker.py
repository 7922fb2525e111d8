"""What runs on a Dask worker: it tells its devices, and measures one of them as ``harness run`` does, each
line of the run file sent to the client as it is made.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.fleet.unit import Ended, Lease, Told, of_unit, request_from, unpacked
from harness.fleet.versions import versions
from harness.results.record import Record
from harness.results.run_lines import strict_json
from harness.results.runfile import Run, run_of
from harness.runner import planning, session
from harness.runner.device_lock import DeviceBusy, LockUnusable
from harness.runner.environment import nvml
from harness.runner.plan import Request, RunPlan
from harness.runner.run import Progress


class LeaseLost(Exception):
    """The lease of a task is no longer its own: nobody counts what it measures."""


def host_name() -> str:
    """What this host is called."""
    return socket.gethostname()


def tell() -> Told:
    """What this worker has. Runs as a task of its own: libraries take seconds to be asked."""
    from distributed import get_worker

    devices, missing = planning.discover()
    return {
        "worker": get_worker().id,
        "host": host_name(),
        "devices": [asdict(device) for device in devices],
        "missing": missing,
        "uuids": _uuids(),
        "versions": versions(),
    }


def _uuids() -> dict[str, str]:
    gpus = nvml()
    found = gpus if isinstance(gpus, list) else []
    return {str(gpu["physical"]): str(gpu["uuid"]) for gpu in found if str(gpu["uuid"]).startswith("GPU-")}


def measure(lease: Lease) -> None:
    """Measures the unit of a lease: what the run that was begun lacks of it.

    Ends between two measurements once the lease is lost: the task was cancelled, by the client or because
    that is gone.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def is_held() -> bool:
        # A task that is cancelled while it runs is not stopped: its state says so.
        task = worker.state.tasks.get(key)
        return worker.id == lease["worker"] and task is not None and task.state == "executing"

    stream = Stream(lease["token"], lambda message: worker.log_event(lease["topic"], message), is_held)
    stream.end(measured(lease, stream))


def measured(lease: Lease, stream: Stream) -> Ended:
    """Measures the unit of a lease into a stream; how that ended."""
    try:
        stream.check()
        _measure(lease, stream)
    except LeaseLost as error:
        return {"reason": str(error), "busy": False, "lost": True}
    except DeviceBusy as error:
        return {"reason": str(error), "busy": True, "lost": False}
    except (ValueError, LockUnusable) as error:
        return {"reason": str(error), "busy": False, "lost": False}
    return {"reason": "", "busy": False, "lost": False}


def _measure(lease: Lease, stream: Stream) -> None:
    begun = run_of(Path(lease["identity"]), unpacked(lease["begun"])) if lease["begun"] else None
    plan = _plan(lease, begun)
    with session.alone(plan, lease["command"]) as (locked_plan, watch):
        if begun is None:
            told = {"device": lease["identity"], "host": lease["host"]}
            stream.begin({**planning.environment_of(plan, lease["command"]), "fleet": told})
        session.fill(locked_plan, stream, stream.tell, watch, begun)


def _plan(lease: Lease, begun: Run | None) -> RunPlan:
    """The plan of the unit as its host is now.

    Raises:
        ValueError: if the unit cannot be measured here, or its run cannot go on here.
    """

    def planned(request: Request) -> RunPlan:
        return of_unit(planning.plan_run(request), lease["physical"])

    if begun is not None:
        return planning.plan_further(begun, Path(lease["identity"]), planned)
    return planned(request_from(lease["request"]))


class Stream:
    """Sends the lines of a run as numbered messages. Takes the place of a run file's writer.

    Args:
        token: of the lease, in every message.
        send: sends one, without waiting.
        is_held: whether the lease is still the task's own.
    """

    def __init__(
        self, token: str, send: Callable[[Mapping[str, Any]], None], is_held: Callable[[], bool]
    ) -> None:
        self._token, self._send, self._is_held = token, send, is_held
        self._sent = 0

    def begin(self, environment: Mapping[str, Any]) -> None:
        """Sends the first line of a run file."""
        self._say(environment=strict_json(environment))

    def write(self, record: Record) -> None:
        """Sends a record."""
        self.check()
        self._say(record=strict_json(record.to_json()))

    def write_image(self, image: Mapping[str, Any]) -> None:
        """Sends a picture."""
        self._say(image=strict_json(image))

    def write_resumed(self, resumed: Mapping[str, Any]) -> None:
        """Sends when and with what the run goes on."""
        self._say(resumed=strict_json(resumed))

    def write_end(self, seconds: float | None) -> None:
        """Sends that the run has come to its end."""
        self.check()
        self._say(seconds=seconds)

    def tell(self, progress: Progress) -> None:
        """Sends where the run is; called between measurements.

        Raises:
            LeaseLost: if it is to end here.
        """
        self.check()
        if progress.compiled:
            return
        case = progress.next
        self._say(
            done=progress.done,
            total=progress.total,
            next=f"{case.device_key} {case.problem.label}" if case else "",
        )

    def end(self, ended: Ended) -> None:
        """Sends the last message."""
        self._say(ended=dict(ended))

    def check(self) -> None:
        """Raises LeaseLost unless the lease is the task's own."""
        if not self._is_held():
            raise LeaseLost("the task was given up")

    def _say(self, **content: Any) -> None:
        self._send({"token": self._token, "number": self._sent, **content})
        self._sent += 1
