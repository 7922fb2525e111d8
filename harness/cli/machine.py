"""The verbs that tell what there is: devices, list, doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.cli.listing import CONTENTS, text
from harness.cli.mistakes import FAILURE
from harness.cli.options import Json, among


def devices(as_json: Json = False) -> None:
    """Show the devices found here, and what is missing for which backend and how to get it."""
    from dataclasses import asdict
    from operator import attrgetter

    from harness.cli.terminal import say, show_json, show_table
    from harness.runner.planning import discover

    found, missing = discover()
    if as_json:
        show_json({"devices": [{"key": d.key, **asdict(d)} for d in found], "missing": missing})
        return
    columns = ("key", "device", "platform", "driver", "kind", "compute units", "memory GB", "physical")
    first = attrgetter("key", "name", "platform", "driver", "kind", "compute_units")
    rows = ((*first(d), f"{d.memory_bytes / 1e9:.1f}", d.physical) for d in found)
    show_table("Devices", columns, rows)
    for reason in missing.values():
        say(f"not available: {reason}")


def list_things(
    what: Annotated[
        str | None, typer.Argument(**among("listing", CONTENTS, "WHAT", ": everything when left out"))
    ] = None,
    as_json: Json = False,
) -> None:
    """List the problems, variants (axes and ladders), suites and backends there are."""
    from harness.cli.terminal import show_json, show_table

    contents = {name: CONTENTS[name]() for name in ([what] if what else CONTENTS)}
    if as_json:
        show_json(contents)
        return
    for title, rows in contents.items():
        show_table(title.capitalize(), list(rows[0]), ([text(v) for v in row.values()] for row in rows))


def doctor(as_json: Json = False) -> None:
    """Find what is broken here, and say what to do about it; exit code 1 if something is."""
    from dataclasses import asdict

    from harness.cli.doctor import examine
    from harness.cli.terminal import show_json, show_table

    findings = list(examine())
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        rows = ((f.status, f.subject, f.detail, f.remedy) for f in findings)
        show_table("Findings", ("status", "subject", "what", "what to do"), rows)
    if any(finding.status == "broken" for finding in findings):
        raise typer.Exit(FAILURE)
