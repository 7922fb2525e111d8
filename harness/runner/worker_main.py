"""One backend on one device in one process: ``python -m harness.runner.worker_main BACKEND DEVICE OPTIONS``.

A line of JSON in, a line of JSON out. First the worker says whether it is there: ``{"ready": true}`` or
``{"unavailable": reason}``. Then it answers each ``{"case": ..., "share": ...}`` with
``{"record": ..., "last": bool}``; ``{"prepare": true, "primary_only": bool, "case": ...}``, which has it
do what that case needs done once, with the same, but nothing measured; ``{"compile": true, "case": ...}``,
which has it only compile, too; and ``{"renew": true}``, which has it open the device anew in a fresh
context, as it answered first. After an answer with ``last`` the worker ends, because the device is lost or
in an unknown state; after ``unavailable`` too. At the end of its input it ends as well.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from backends import open_backend
from backends.base import Backend
from backends.errors import BackendError
from harness.measure.budget import Budget
from harness.measure.measurer import Measurer, reason_of
from harness.results.record import Case, Record
from harness.results.run_lines import strict_json


def serve(
    opened: Callable[[], Backend],
    measuring: Callable[[Backend], Measurer],
    requests: IO[str],
    answers: IO[str],
) -> None:
    """Opens a backend and answers requests (``measuring``) until their end, until an answer was the last
    or until there is no backend.
    """
    wants_more = True
    while wants_more:
        try:
            backend = opened()
        except BackendError as error:
            _send(answers, {"unavailable": reason_of(error)})
            return
        with backend:
            _send(answers, {"ready": True})
            wants_more = _served(measuring(backend), requests, answers)
        kind = type(backend)
        del backend
        if wants_more:
            # Objects of the old context that are still referenced would keep it open. What is left after that
            # stays: it need not be looked through again at the end of each of hundreds of contexts.
            gc.collect()
            gc.freeze()
            try:
                kind.forget()
            except BackendError as error:
                _send(answers, {"unavailable": reason_of(error)})
                return


def _served(measurer: Measurer, requests: IO[str], answers: IO[str]) -> bool:
    """Answers requests for cases; whether it ended because a fresh context was asked for."""
    for line in requests:
        request = json.loads(line)
        if "renew" in request:
            return True
        answer = respond(measurer, request)
        _send(answers, answer)
        if answer["last"]:
            return False
    return False


def respond(measurer: Measurer, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one request; whatever goes wrong in it is in its record."""
    case = Case.from_json(request["case"])
    try:
        if "prepare" in request:
            measurer.prepare(case, request["primary_only"])
            record = Record(case, "ok", "prepared")
        elif "compile" in request:
            measurer.compile(case)
            record = Record(case, "ok", "compiled")
        else:
            share = {name: Budget(**budget) for name, budget in request["share"].items()}
            record = measurer.measure(case, share)
    except Exception as error:
        # The boundary of the process: a lost device, or an error that no backend gave a type.
        return {"record": Record(case, "failed", reason_of(error)).to_json(), "last": True}
    return {"record": record.to_json(), "last": False}


def _open(name: str, device: int) -> Backend:
    """The backend of the registry, or of a ``module:Class`` path."""
    module, colon, attribute = name.partition(":")
    if not colon:
        return open_backend(name, device)
    backend: Backend = getattr(import_module(module), attribute).open(device)
    return backend


def _send(answers: IO[str], message: Mapping[str, Any]) -> None:
    answers.write(strict_json(message) + "\n")
    answers.flush()


def _private_streams() -> tuple[IO[str], IO[str]]:
    """The original stdin and stdout, for the worker alone: libraries print, and children may read stdin."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return requests, answers


def main(arguments: list[str]) -> None:
    """Runs the worker: arguments are the backend, the device's number and the options as JSON."""
    requests, answers = _private_streams()
    name, device, text = arguments
    settings = json.loads(text)
    settings |= {name: Path(settings[name]) for name in ("image", "shared") if settings.get(name)}
    serve(lambda: _open(name, int(device)), lambda backend: Measurer(backend, **settings), requests, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
