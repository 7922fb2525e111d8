"""``harness run --cluster`` and ``--scheduler``: what is refused, and a run on a cluster of a file."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from harness.fleet import cluster as clusters
from harness.results.runfile import load_run
from tests.support.command import SUITE, Harness, harness, python

__all__ = ["harness"]

IN_THREADS = """
cluster: distributed.LocalCluster
arguments: {n_workers: 0, processes: false, threads_per_worker: 1, dashboard_address: null, memory_limit: 0}
scale: {n: 1}
"""
"""A cluster's file."""


def _file(text: str = IN_THREADS) -> Path:
    path = Path("my.yaml")
    path.write_text(text, encoding="utf-8")
    return path


def test_a_cluster_that_a_file_describes_measures(harness: Harness) -> None:
    arguments = ("--backend", "numpy", "--cluster", _file(), "--run", "my", "--report", "page")
    shown = harness("run", harness.suite(), *arguments)
    assert shown.code == 0, shown.err
    assert "2 ok" in shown.out
    (file,) = Path("my").glob("*.jsonl")
    run = load_run(file)
    assert [record.status for record in run.records] == ["ok", "ok"]
    assert run.is_whole
    assert run.seconds
    assert [device["backend"] for device in run.environment["devices"]].count("numpy") == 1
    assert run.environment["fleet"]["device"].endswith("/cpu")
    assert f"run file: {file}" in shown.out
    (page,) = Path("page").glob("my-*.html")
    assert f"report:   {page}" in shown.out
    told = json.loads((Path("my") / "fleet.json").read_text(encoding="utf-8"))
    assert [device["is_done"] for device in told["devices"]] == [True]
    again = harness("run", "--resume", "my", "--cluster", "my.yaml", "--report", "page", "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["counts"] == {"ok": 2}
    assert "no record" not in again.err
    lines = file.read_bytes().splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if b'"type": "record"' in line)
    file.write_bytes(b"".join(lines[:last]))
    cut = harness("run", "--resume", "my", "--cluster", "my.yaml", "--report", "page", "--json")
    assert f"note: {file}: the run was ended before its last case: 1 of 2 have no record" in cut.err
    assert harness("run", harness.suite(), *arguments).code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--cluster", "local", "--scheduler", "tcp://a:1"), "--scheduler and --cluster: give the address"),
        (("--workers", 2), "--workers: of a fleet only; give --scheduler or --cluster"),
        (("--cluster", "local", "--dry-run"), "--dry-run lists the cases of this machine"),
        (("--cluster", "local", "--run", "my.yaml"), "my.yaml cannot be a fleet's folder: File exists"),
        (("--cluster", "gone.yaml"), "gone.yaml cannot be read: No such file"),
        (("--cluster", "local", "--device", "none", "--wait", 9), "nothing is measured there"),
        (("--cluster", "local", "nosuite"), "suite 'nosuite' is unknown"),
        (("--scheduler", "tcp://127.0.0.1:9"), "no scheduler answers at tcp://127.0.0.1:9"),
        (("--scheduler", "nonsense://x"), "no scheduler answers at nonsense://x"),
        (("--scheduler", ""), "missing port number"),
    ],
)
def test_a_mistake_is_told(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], told: str
) -> None:
    monkeypatch.setattr(clusters, "CONNECT_S", 0.5)
    _file()
    if "none" in arguments:
        arguments = ("--cluster", _file(), *arguments[2:])
    suite = () if "nosuite" in arguments else (harness.suite(SUITE),)
    shown = harness("run", *suite, "--run", "my", *arguments)
    assert shown.code == 2, shown.err
    assert told in shown.err
    # Nothing is left in the way of the next try.
    assert not Path("my").exists()


def test_what_is_no_cluster_is_not_called(harness: Harness) -> None:
    file = _file("cluster: os.mkdir\narguments: {path: made}\n")
    shown = harness("run", harness.suite(SUITE), "--run", "my", "--cluster", file)
    assert shown.code == 2
    assert "cluster os.mkdir: it is no class of clusters of Dask's" in shown.err
    assert not Path("made").exists()


def test_a_wrong_argument_of_a_cluster_is_told_in_one_line(harness: Harness) -> None:
    file = _file("cluster: distributed.LocalCluster\narguments: {n_workers: 1, foo: 3}\n")
    done = python("-m", "harness", "run", str(harness.suite()), "--run", "my", "--cluster", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: my.yaml: cluster distributed.LocalCluster cannot be made: ")
    assert line.endswith("unexpected keyword argument 'foo'")


@pytest.mark.parametrize("address", ["nonsense://x", "tcp://127.0.0.1", "tcp://127.0.0.1:9"])
def test_after_an_address_that_is_none_the_command_ends(harness: Harness, address: str) -> None:
    arguments = ("-m", "harness", "run", str(harness.suite()), "--run", "my", "--scheduler", address)
    begun = time.monotonic()
    done = python(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: no scheduler answers at {address}: ")
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"", "whoever listens there gives no answer within 1 s"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "Dask's protocol"),
        # A message of one frame of five bytes, which are no MessagePack.
        (struct.pack("<QQQ", 21, 1, 5) + b"\xc1\xff\x00zz", "Dask's protocol"),
    ],
)
def test_who_is_no_scheduler_is_not_waited_for(
    harness: Harness, caplog: pytest.LogCaptureFixture, said: bytes, told: str
) -> None:
    def serve() -> None:
        with suppress(OSError):
            served.append(server.accept()[0])
            served[0].sendall(said)

    served: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        thread = threading.Thread(target=serve)
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        shown = harness("run", harness.suite(), "--run", "my", "--scheduler", address, "--wait", 1)
        thread.join()
        for each in served:
            each.close()
    assert shown.code == 2
    assert told in shown.err
    assert not caplog.records
    assert not Path("my").exists()


def test_the_clusters_file_of_the_documents_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "partition.yaml"
    file.write_text(block, encoding="utf-8")
    found = clusters.described(file)
    assert (found.cluster, found.workers) == ("dask_jobqueue.SLURMCluster", found.scale["jobs"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "my.yaml is not YAML: "),
        ("[]", "my.yaml: "),
        ("", "my.yaml: cluster: is missing"),
        ("cluster: LocalCluster", "my.yaml: cluster: "),
        ("cluster: distributed.LocalCluster\nworker: 2", "my.yaml: key 'worker' is unknown"),
        (
            "cluster: nowhere.Cluster",
            "cluster nowhere.Cluster: No module named 'nowhere'; install its package",
        ),
        ("cluster: distributed.Nothing", "has no attribute 'Nothing'"),
        ("cluster: distributed.LocalCluster\narguments: {n: 2}", "distributed.LocalCluster cannot be made: "),
    ],
)
def test_a_mistake_in_a_clusters_file_is_told(harness: Harness, text: str, told: str) -> None:
    shown = harness("run", harness.suite(), "--run", "my", "--cluster", _file(text))
    assert shown.code == 2, shown.err
    assert told in shown.err


def test_a_fleet_and_a_run_of_one_machine_are_resumed_by_their_own_options(harness: Harness) -> None:
    Path("my").mkdir()
    for options in ((), ("--cluster", "local")):
        shown = harness("run", "--resume", "my", *options)
        assert shown.code == 2
        assert "my is a folder without a fleet's run, which has fleet.json" in shown.err
    (Path("my") / "fleet.json").write_text('{"format": 2}', encoding="utf-8")
    shown = harness("run", "--resume", "my")
    assert shown.code == 2
    assert "my is the folder of a fleet: add --scheduler or --cluster" in shown.err
    Path("run.jsonl").touch()
    shown = harness("run", "--resume", "run.jsonl", "--cluster", "local")
    assert shown.code == 2
    assert "run.jsonl is the run of one machine" in shown.err
    shown = harness("run", "--resume", "my", "--cluster", "local")
    assert shown.code == 2
    assert "my/fleet.json is not a fleet's: format: " in shown.err


def test_without_dask_the_extra_is_named(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    shown = harness("run", harness.suite(), "--run", "my", "--scheduler", "tcp://a:1")
    assert shown.code == 2
    assert "pip install '.[fleet]'" in shown.err
