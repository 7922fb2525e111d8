"""The folder that the workers of a run share."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from harness.measure import source_cache as module
from harness.measure.inputs import Inputs
from harness.measure.photograph import source_image
from harness.measure.source_cache import Shared, shared_folder
from harness.problems import Array, Laplace
from tests.support.fake_backend import FakeBackend, FakeClock
from tests.support.fake_runs import CASES


class Maker:
    """Makes a source, and counts how often."""

    def __init__(self, value: int) -> None:
        self.value, self.times = value, 0

    def __call__(self) -> Array:
        self.times += 1
        return np.full((3, 5), self.value, np.int16)


@pytest.fixture
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_ARRAY_BYTES", 0)


@pytest.mark.usefixtures("every_size")
def test_a_source_is_made_once_and_is_the_same_for_all(tmp_path: Path) -> None:
    make = Maker(7)
    first = Shared(tmp_path).array(("a", 1), make)
    second = Shared(tmp_path).array(("a", 1), make)
    assert make.times == 1
    assert type(second) is np.ndarray
    assert second.dtype == first.dtype
    assert np.array_equal(first, second)


@pytest.mark.usefixtures("every_size")
def test_what_one_writes_to_a_source_no_other_sees(tmp_path: Path) -> None:
    make = Maker(7)
    Shared(tmp_path).array("a", make)
    Shared(tmp_path).array("a", make)[:] = 0
    assert (Shared(tmp_path).array("a", make) == 7).all()


@pytest.mark.usefixtures("every_size")
def test_sources_are_kept_side_by_side(tmp_path: Path) -> None:
    makers = [Maker(value) for value in range(5)]
    for _ in range(2):
        for make in makers:
            assert (Shared(tmp_path).array(make.value, make) == make.value).all()
    assert [make.times for make in makers] == [1] * 5


@pytest.mark.usefixtures("every_size")
def test_where_room_is_short_most_sources_stay_for_the_next_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, makers = Shared(tmp_path), [Maker(value) for value in range(6)]
    mapped = shared.array(0, makers[0])
    (path,) = tmp_path.iterdir()
    monkeypatch.setattr(module, "MOST_ARRAY_BYTES", 4 * path.stat().st_size)
    for _ in range(3):
        for make in makers:
            for _ in range(2):
                assert (shared.array(make.value, make) == make.value).all()
            assert len(list(tmp_path.iterdir())) <= 4
            time.sleep(0.01)
    assert (mapped == 0).all()
    # Nobody makes what another worker has just made, and all but two of those that fit are made once.
    assert [make.times for make in makers] == [1, 1, 3, 3, 3, 3]


@pytest.mark.usefixtures("every_size")
def test_a_source_larger_than_all_may_be_is_kept_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ARRAY_BYTES", 1)
    shared, first, second = Shared(tmp_path), Maker(1), Maker(2)
    shared.array("a", first)
    shared.array("b", second)
    assert len(list(tmp_path.iterdir())) == 1
    shared.array("b", second)
    assert (first.times, second.times) == (1, 1)


@pytest.mark.usefixtures("every_size")
def test_what_a_killed_worker_has_left_half_written_goes(tmp_path: Path) -> None:
    (tmp_path / "abc.4711").write_bytes(b"half")
    (tmp_path / "abc.answer").write_bytes(b"whole")
    Shared(tmp_path).array("a", Maker(1))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".answer", ".npy"]


@pytest.mark.usefixtures("every_size")
def test_no_source_is_kept_where_the_disk_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FREE_SHARE", 0.0)
    make = Maker(1)
    Shared(tmp_path).array("a", make)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("every_size")
def test_who_comes_while_another_makes_a_source_waits_for_it(tmp_path: Path) -> None:
    """As the workers do that prepare for the same problem: each has a folder open of its own."""
    make = Maker(7)

    def slowly() -> Array:
        time.sleep(0.2)
        return make()

    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(Shared(tmp_path).array, "a", slowly) for _ in range(4)]
        told = [pool.submit(Shared(tmp_path).answer, CASES[0].problem, make) for _ in range(4)]
        assert all((each.result() == 7).all() for each in (*found, *told))
    assert make.times == 2, "a source and an answer"


@pytest.mark.usefixtures("every_size")
def test_a_folder_that_something_removed_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    shared, make = Shared(folder), Maker(7)
    for _ in range(2):
        shared.array("a", make)
        assert (shared.array("a", make) == 7).all()
        assert shared.answer(CASES[0].problem, lambda: 42) == 42
        assert folder.stat().st_mode & 0o077 == 0
        shutil.rmtree(folder)
    assert make.times == 2


@pytest.mark.usefixtures("every_size")
def test_a_folder_that_goes_while_a_source_is_made_costs_time_only(tmp_path: Path) -> None:
    folder = tmp_path / "shared"

    def make() -> Array:
        shutil.rmtree(folder)
        return np.zeros(3)

    assert (Shared(folder).array("a", make) == 0).all()


@pytest.mark.parametrize("is_link", [True, False])
def test_a_folder_that_others_could_have_made_is_not_used(tmp_path: Path, is_link: bool) -> None:
    folder = tmp_path / "shared"
    elsewhere = tmp_path / "elsewhere" if is_link else folder
    elsewhere.mkdir()
    elsewhere.chmod(0o700 if is_link else 0o777)
    if is_link:
        folder.symlink_to(elsewhere)
    with pytest.raises(OSError, match="shared"):
        Shared(folder).answer(CASES[0].problem, lambda: 42)


def test_a_small_source_is_not_kept(tmp_path: Path) -> None:
    make = Maker(3)
    for _ in range(2):
        Shared(tmp_path).array("a", make)
    assert make.times == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("every_size")
def test_a_full_disk_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    make = Maker(3)
    assert (Shared(tmp_path).array("a", make) == 3).all()
    assert not list(tmp_path.iterdir())


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("every_size")
def test_a_runs_folder_is_its_own_and_goes_with_it(temporary: Path) -> None:
    with shared_folder() as one, shared_folder() as other:
        assert one != other
        assert Path(one).stat().st_mode & 0o077 == 0
        Shared(Path(one)).array("a", Maker(1))
        assert Path(one, "run.lock").exists(), "what makes room keeps the lock"
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("was_held", [True, False])
def test_what_a_killed_run_has_left_goes_with_the_next(temporary: Path, was_held: bool) -> None:
    left = temporary / f"{module.PREFIX}left"
    left.mkdir()
    (left / "abc.npy").write_bytes(b"a gigabyte")
    if was_held:
        (left / "run.lock").touch()
    os.utime(left, (0, 0))
    with shared_folder():
        assert not left.exists()


def test_what_is_not_left_stays(temporary: Path) -> None:
    """A run that lives, one that begins, another's files, a link to what is elsewhere."""
    begins, elsewhere = temporary / f"{module.PREFIX}begins", temporary / "elsewhere"
    for folder in (begins, elsewhere):
        folder.mkdir()
    link, lock = temporary / f"{module.PREFIX}link", temporary / f"{module.PREFIX}cpu.lock"
    link.symlink_to(elsewhere)
    lock.touch()
    os.utime(lock, (0, 0))
    os.utime(elsewhere, (0, 0))
    with shared_folder() as lives:
        os.utime(lives, (0, 0))
        with shared_folder():
            assert all(path.exists() for path in (Path(lives), begins, elsewhere, link, lock))


def test_an_image_that_is_an_answer_is_computed_once_and_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of a gibibyte took each worker of each process seconds."""
    monkeypatch.setattr(module, "LEAST_ARRAY_BYTES", 0)
    problem = Laplace("four", "reflect_101", "laplacian", "float32", 30, 20)
    computed: list[Laplace] = []
    reference = Laplace.reference

    def counted(each: Laplace, array: Array) -> Array:
        computed.append(each)
        return reference(each, array)

    monkeypatch.setattr(Laplace, "reference", counted)
    found = [Inputs(FakeBackend(FakeClock()), 1, None, tmp_path).data(problem) for _ in range(2)]
    assert computed == [problem]
    source = source_image(problem)
    for data in found:
        assert np.array_equal(data.expected, reference(problem, source))
        assert data.tolerance == problem.tolerance(source) > 0
    assert {path.suffix for path in tmp_path.iterdir()} == {".npy", ".answer"}
