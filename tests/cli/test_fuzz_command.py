"""Command lines that Hypothesis makes up: exit code 0 or 2, no traceback, no file of what was refused."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.command import Harness, harness

__all__ = ["harness"]

VERBS = ["run", "report", "compare", "repeat", "list", "devices"]
OPTIONS = [
    "--backend", "--device", "--run", "--report", "--image", "--samples", "--seed", "--resume", "--json",
    "--op", "--laplace", "--dtype", "--shape", "--variant", "--band", "--version",
    "--help", "--dry-run", "--", "-x", "--no-such-option",
]  # fmt: skip
VALUES = [
    "quick", "smoke", "tiny.toml", "junk", "nowhere/junk.jsonl", ".", "/", "", "numpy", "numpy:0", "cpu", "0",
    "-1", "1e9", "99999999999999999999", "nan", "variants", "../..", "/dev/null", "/proc/self/mem",
    "\N{SNOWMAN}",
    "[red]", "a" * 5000,
]  # fmt: skip
TEXT = st.text(max_size=9).filter(lambda text: "\0" not in text)
ARGUMENTS = st.lists(
    st.one_of(
        st.sampled_from(OPTIONS), st.sampled_from(VALUES), st.text(max_size=9).filter(lambda t: "\0" not in t)
    ),
    max_size=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verb=st.sampled_from(VERBS), arguments=ARGUMENTS)
def test_command_lines(harness: Harness, verb: str, arguments: list[str]) -> None:
    harness.suite()
    (harness.folder / "junk").write_bytes(b"\x00\xff{junk")
    before = sorted(harness.folder.rglob("*"))
    # A run is only planned, whatever else is asked of it.
    shown = harness(verb, *(["--dry-run"] if verb == "run" else []), *arguments)
    assert shown.code in (0, 2), shown.err
    assert "Traceback" not in shown.err + shown.out
    assert shown.err if shown.code else shown.out
    assert sorted(harness.folder.rglob("*")) == before
