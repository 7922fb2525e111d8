"""One backend on one device in one process: ``python -m harness.worker BACKEND DEVICE OPTIONS``.

A line of JSON in, a line of JSON out. First the worker says whether it is there: ``{"ready": true}`` or
``{"unavailable": reason}``. Then it answers each ``{"case": ..., "crop": bool, "lean": bool}`` with
``{"record": ..., "crops": ..., "last": bool}``; ``case_seconds`` in the request is for that case in place of
the options'. After an answer with ``last`` the worker ends, because the device is lost or in an unknown
state. At the end of its input it ends too.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from backends import open_backend
from backends.base import Backend
from backends.errors import BackendError
from harness import crops
from harness.measure import Measurer, Options, reason_of
from harness.problems import Laplace
from harness.records import Case, Record
from harness.runs import strict_json


def serve(measurer: Measurer, requests: IO[str], answers: IO[str]) -> None:
    """Answers requests until their end or until an answer was the last."""
    for line in requests:
        answer = respond(measurer, json.loads(line))
        _send(answers, answer)
        if answer["last"]:
            return


def respond(measurer: Measurer, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one request; whatever goes wrong in it is in its record."""
    case = Case.from_json(request["case"])
    if "case_seconds" in request:
        measurer.options = replace(measurer.options, case_seconds=float(request["case_seconds"]))
    try:
        record = measurer.measure(case, lean=request["lean"])
        pictures = _crops(measurer, case) if request["crop"] and record.status == "ok" else {}
    except Exception as error:
        # The boundary of the process: a lost device, or an error that no backend gave a type.
        return {"record": Record(case, "failed", reason_of(error)).to_json(), "crops": {}, "last": True}
    return {"record": record.to_json(), "crops": pictures, "last": False}


def _crops(measurer: Measurer, case: Case) -> dict[str, str]:
    if not isinstance(case.problem, Laplace):
        return {}
    return {
        "original": crops.png(measurer.inputs.data(case.problem).source),
        case.problem.output: crops.png(measurer.answer(case)),
    }


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
    """The original stdin and stdout, for the worker alone: libraries print, and children would read."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return requests, answers


def main(arguments: list[str]) -> None:
    """Runs the worker: arguments are the backend, the device's number and the options as JSON."""
    requests, answers = _private_streams()
    name, device, text = arguments
    raw = json.loads(text)
    paths = {name: Path(raw[name]) for name in ("image", "shared") if raw.get(name)}
    options = Options(**{**raw, **paths})
    try:
        backend = _open(name, int(device))
    except BackendError as error:
        _send(answers, {"unavailable": reason_of(error)})
        return
    with backend:
        _send(answers, {"ready": True})
        serve(Measurer(backend, options), requests, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
