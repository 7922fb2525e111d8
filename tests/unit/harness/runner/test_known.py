"""What is known of the verdicts of a run, and what that leaves out of its rounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from harness.problems import Bandwidth
from harness.results.launch_correction import FEWEST_CONTEXTS
from harness.results.record import Case, Record, Samples
from harness.runner.known import LEAST_ROUNDS, Known
from harness.runner.schedule import Trial, rounds_a_process, trials
from harness.variants.axes import BandwidthVariant, Finish, ReductionVariant
from tests.support.cases import case, empty, of_variant

SIDES = [case(backend, op) for op in ("min", "sum") for backend in "ab"]
CONTEXTS = {"a:0": LEAST_ROUNDS + 2, "b:0": LEAST_ROUNDS + 2}


def test_the_empty_kernel_is_measured_on_where_others_are_levelled_by_it() -> None:
    cases = [empty("a"), empty("b")]
    rounds = rounds_a_process(CONTEXTS, 1)
    for launches, left_out in ((0, set(cases)), (1, set())):
        known = Known(rounds, launches)
        for each in cases:
            for number in range(40):
                record = Record(each, "ok", clocks={"queue": Samples((1.0 + number % 2 * 1e-5,))})
                known.add(record.in_block(0, number))
        assert known.enough([Trial(each, 0, rounds - 1) for each in cases]) == left_out


def test_what_is_settled_once_launching_is_levelled_is_left_out() -> None:
    """Times that follow the launches of their contexts are known as soon as those are."""
    cases, rounds = SIDES[:2], 40

    def is_told(launches_are_known: bool) -> bool:
        known = Known(rounds)
        for place, each in enumerate(cases):
            for number in range(20 * LEAST_ROUNDS):
                # As by a coin of each device's own.
                cost = 1.0 + 0.1 * (number >> place & 1)
                if launches_are_known:
                    empties = Record(empty(each.backend), "ok", clocks={"queue": Samples((cost,))})
                    known.add(empties.in_block(0, number))
                if number < FEWEST_CONTEXTS + 2:
                    taken = Samples((1.0 + cost + 1e-4 * (number % 3),))
                    known.add(Record(each, "ok", clocks={"queue": taken}).in_block(0, number))
        return known.enough([Trial(each, 0, rounds - 1) for each in cases]) == set(cases)

    assert is_told(launches_are_known=True)
    assert not is_told(launches_are_known=False)


def enough(seconds: dict[str, list[float]], number: int) -> set[Case]:
    """What need not be measured in a round after min took so many seconds on each backend."""
    known = Known(LEAST_ROUNDS + 2)
    for backend, of_rounds in seconds.items():
        for taken_in, each in enumerate(of_rounds):
            record = Record(case(backend, "min"), "ok", clocks={"queue": Samples((9.0, each, 0.1))})
            known.add(record.in_block(0, taken_in))
    of_round = [trial for trial in trials(SIDES, 3, CONTEXTS) if trial.round == number]
    assert of_round
    return known.enough(of_round)


def test_how_many_verdicts_are_not_settled_is_told() -> None:
    """Of problems that a device measured, whatever else the run does."""
    cases = [case(backend, op) for op in ("min", "max", "sum") for backend in ("a", "b")]
    known = Known(LEAST_ROUNDS + 2)
    assert known.undecided([*cases, empty("a")]) == (3, 3)
    for number in range(8):
        for each in cases[:4]:
            # Those of max are far from each other by chance alone.
            far = 1 + 0.1 * (number % 2) if each.problem == cases[2].problem else 1 + 1e-4 * (number % 2)
            known.add(Record(each, "ok", clocks={"queue": Samples((far,))}).in_block(0, number))
    assert known.undecided([*cases, empty("a")]) == (2, 3)
    for each in cases[4:]:
        known.add(Record(each, "skipped", "no such operation"))
    assert known.undecided([*cases, empty("a")]) == (1, 2)


@pytest.mark.parametrize(("band", "undecided"), [(0.02, 1), (0.05, 0), (0.015, 0)])
def test_verdicts_are_settled_by_the_band_that_is_asked_for(band: float, undecided: int) -> None:
    cases = [case("a", "min"), case("b", "min")]
    known = Known(LEAST_ROUNDS + 2, band=band)
    for number in range(8):
        for each, seconds in zip(cases, (1.0, 1.02), strict=True):
            clock = Samples((seconds * (1 + 4e-3 * (number % 2)),))
            known.add(Record(each, "ok", clocks={"queue": clock}).in_block(0, number))
    assert known.undecided(cases) == (undecided, 1)


STEADY, NOISY = [1.0, 1.001] * 4, [1.0, 1.1] * 4
FAR_OFF = [seconds * 1.5 for seconds in NOISY]
AT_EDGE = [seconds * 1.02 for seconds in STEADY[:4]]
AT_EDGE_KNOWN = AT_EDGE + [1.02, 1.0203] * 30


@pytest.mark.parametrize("other", [STEADY, FAR_OFF, AT_EDGE_KNOWN], ids=["same", "far off", "at the edge"])
def test_a_problem_whose_verdict_is_settled_is_left_out_of_a_processs_last_rounds(
    other: list[float],
) -> None:
    """The first process has a few of them in any case, each later one its first."""
    left_out = {case("a", "min"), case("b", "min")}
    most = LEAST_ROUNDS + 2
    found = [enough({"a": STEADY * 8, "b": other}, number) for number in range(3 * most)]
    later = [set[Case]()] + [left_out] * (most - 1)
    assert found == [set()] * LEAST_ROUNDS + [left_out] * 2 + 2 * later


def test_a_later_process_that_contradicts_opens_a_verdict_again() -> None:
    cases = [case("a", "min"), case("b", "min")]
    known = Known(LEAST_ROUNDS + 2)
    for number in range(LEAST_ROUNDS):
        for each, times in zip(cases, (STEADY, STEADY), strict=True):
            known.add(Record(each, "ok", clocks={"queue": Samples((times[number],))}).in_block(0, number))
    second = LEAST_ROUNDS + 3
    assert known.enough([Trial(each, 1, second) for each in cases]) == set(cases)
    for each, seconds in zip(cases, (1.0, 1.1), strict=True):
        known.add(Record(each, "ok", clocks={"queue": Samples((seconds,))}).in_block(1, second - 1))
    assert known.enough([Trial(each, 1, second) for each in cases]) == set()


SLOW, FAST, ALSO_FAST = (ReductionVariant(groups=groups) for groups in (2, 4, 8))


def left_out_after(rounds: int, times: Mapping[Case, list[float]], parts: Collection[Case] = ()) -> set[Case]:
    """What is left out of the next round after so many with these times, of two devices' variants."""
    known = Known(LEAST_ROUNDS + 2)
    for number in range(rounds):
        for each, seconds in times.items():
            place = {"result_location": "parts"} if each in parts else {}
            clocks = {"queue": Samples((seconds[number],))}
            known.add(Record(each, "ok", clocks=clocks, provenance=place).in_block(0, number))
    return known.enough([Trial(each, 0, rounds) for each in times])


def test_a_variant_that_is_clearly_slower_than_its_sides_fastest_is_given_up() -> None:
    slow, control = of_variant("a", SLOW), replace(of_variant("a", SLOW), role="control")
    times = {
        slow: [1.2, 1.21] * 4,
        control: STEADY,
        of_variant("a", FAST): NOISY,
        of_variant("a", ALSO_FAST): [1.01 * each for each in NOISY],
        of_variant("b", FAST): NOISY[1:],
        of_variant("b", SLOW): NOISY[1:],
    }
    assert left_out_after(LEAST_ROUNDS - 1, times) == set()
    # As far away, but by chance for all that four contexts say.
    assert left_out_after(LEAST_ROUNDS, times) == set()
    steady = times | {of_variant("a", FAST): STEADY, of_variant("a", ALSO_FAST): STEADY}
    assert left_out_after(LEAST_ROUNDS, steady) == {slow, control}


def test_within_the_band_nothing_is_given_up() -> None:
    times = {of_variant("a", SLOW): [each * 1.015 for each in STEADY], of_variant("a", FAST): STEADY}
    assert left_out_after(LEAST_ROUNDS, times | {of_variant("b", FAST): NOISY}) == set()


def test_what_leaves_work_to_the_host_is_no_rival_of_what_is_whole() -> None:
    parts, whole = of_variant("a", SLOW), of_variant("a", FAST)
    times = {parts: STEADY, whole: [each * 1.06 for each in STEADY], of_variant("b", FAST): NOISY}
    assert left_out_after(LEAST_ROUNDS, times) == {whole}
    assert left_out_after(LEAST_ROUNDS, times, parts=[parts]) == {parts}


def test_portable_kernels_are_a_side_of_their_own() -> None:
    portable = of_variant("a", replace(SLOW, dialect="portable"))
    times = {portable: [each * 2 for each in STEADY], of_variant("a", FAST): STEADY}
    assert left_out_after(LEAST_ROUNDS - 1, times | {of_variant("b", FAST): NOISY}) == set()
    assert left_out_after(LEAST_ROUNDS, times | {of_variant("b", FAST): STEADY}) == {
        *times,
        of_variant("b", FAST),
    }


@pytest.mark.parametrize(
    ("portable", "other", "is_compared"),
    [
        ("opencl", "cuda", True),
        ("cuda", "opencl", False),
        ("opencl", "cub", False),
        ("opencl", "numpy", False),
    ],
)
def test_only_a_portable_ratio_that_is_published_is_waited_for(
    portable: str, other: str, is_compared: bool
) -> None:
    """The portable kernels scatter so much that no ratio of theirs is told."""
    times = {of_variant(portable, replace(FAST, dialect="portable")): NOISY, of_variant(other, FAST): STEADY}
    assert left_out_after(LEAST_ROUNDS, times) == (set() if is_compared else set(times))


def test_a_side_whose_verdicts_are_settled_leaves_the_time_to_the_others() -> None:
    portable = of_variant("opencl", replace(FAST, dialect="portable"))
    own, cuda, cub = (of_variant(backend, FAST) for backend in ("opencl", "cuda", "cub"))
    control = replace(cuda, role="control")
    far = [each * 2 for each in STEADY]
    times = {own: NOISY, control: NOISY, cuda: NOISY, portable: far, cub: far}
    assert left_out_after(LEAST_ROUNDS, times) == {portable, cub}
    at_edge = [each * 1.02 for each in NOISY]
    assert left_out_after(LEAST_ROUNDS, times | {portable: at_edge}) == {cub}
    assert left_out_after(LEAST_ROUNDS, times | {own: far}) == set(times)


def test_what_is_undecided_is_found_out_once_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes milliseconds a problem, and is asked for before every round."""
    asked: list[object] = []
    find_out = Known._not_told

    def counted(known: Known, cases: list[Case]) -> frozenset[Case]:
        asked.append(cases)
        return find_out(known, cases)

    monkeypatch.setattr(Known, "_not_told", counted)
    known = Known(LEAST_ROUNDS + 2)
    cases = [case("a", "min"), case("b", "min")]
    for number in range(2):
        for each in cases:
            known.add(Record(each, "ok", clocks={"queue": Samples((1.0 + number,))}).in_block(0, number))
        assert [known.undecided(cases) for _ in range(3)] == [(1, 1)] * 3
        assert len(asked) == number + 1


def test_a_process_beyond_those_of_all_measures_what_a_verdict_hangs_on() -> None:
    known = Known(1)
    near = [case("opencl", "min"), case("numpy", "min")]
    far = [case("opencl", "sum"), case("numpy", "sum")]
    alone = case("opencl", "max")
    control, limit = replace(near[0], role="control"), replace(case("opencl", "mean"), role="limit")
    gone = case("cub", "min")
    known.add(Record(gone, "skipped", "no such device"))
    for number in range(3):
        for each in (*near, *far, alone, control, limit, empty("opencl"), empty("numpy")):
            # What no verdict hangs on scatters, too.
            times = 2.0 if each == far[1] else 1.0 + 0.015 * (number % 2) * (each not in (near[0], far[0]))
            clocks = {"queue": Samples((times * (1 + 1e-4 * number),))}
            known.add(Record(each, "ok", clocks=clocks).in_block(number, number))
    cases = [empty("opencl"), empty("numpy"), *near, control, gone, *far, alone, limit]
    of_round = [Trial(each, 3, 3) for each in cases]
    assert known.settled(of_round) == {empty("opencl"), empty("numpy"), *far, alone}, "the limit is measured"
    rest = [trial for trial in of_round if trial.case not in (*near, control)]
    assert known.settled(rest) >= {trial.case for trial in rest} - {gone}, "nothing is left but the limit"


def test_what_lies_on_two_devices_is_not_compared() -> None:
    """Both sides are the same on each, and one device lies on the edge of the band from the other."""
    cases = [replace(case(backend, "min"), device=n) for n in range(2) for backend in ("opencl", "cuda")]
    of_round = [Trial(each, 0, LEAST_ROUNDS) for each in cases]
    for physical, left_out in (
        ({each.device_key: str(each.device) for each in cases}, set(cases)),
        ({each.device_key: "both" for each in cases}, set()),
    ):
        known = Known(LEAST_ROUNDS + 2, physical=physical)
        for number in range(LEAST_ROUNDS):
            for each in cases:
                second = (1.0 + 0.02 * each.device) * (1 + 0.0035 * (number % 2))
                known.add(Record(each, "ok", clocks={"queue": Samples((second,))}).in_block(0, number))
        assert known.enough(of_round) == left_out
        assert known.undecided(cases) == ((0, 2) if left_out else (1, 1))
        assert known.settled(of_round) == left_out


FINISHES: tuple[Finish, Finish] = ("relaunch", "host")


@pytest.mark.parametrize(("physical", "is_given_up"), [("cpu", False), ("0000:01:00.0", True)])
def test_what_the_host_finishes_is_given_up_on_a_gpu_alone(physical: str, is_given_up: bool) -> None:
    whole, parts = (of_variant("opencl", ReductionVariant(finish=f)) for f in FINISHES)
    known = Known(LEAST_ROUNDS + 2, physical={"opencl:0": physical})
    for number in range(LEAST_ROUNDS):
        for each, second, location in ((whole, 2.0, "device"), (parts, 1.0, "parts")):
            clocks = {"queue": Samples((second * (1 + 0.1 * (number % 2)),))}
            provenance = {"result_location": location}
            known.add(Record(each, "ok", clocks=clocks, provenance=provenance).in_block(0, number))
    left_out = known.enough([Trial(each, 0, LEAST_ROUNDS) for each in (whole, parts)])
    assert left_out == {parts if is_given_up else whole}


STEADY_LIMIT, FAST_LIMIT, SLOW_LIMIT, NOISY_LIMIT = (
    Case("opencl", 0, Bandwidth("read", "uint32", 1000), BandwidthVariant(groups=groups), role="limit")
    for groups in (1, 2, 4, 8)
)


def limits_after(rounds: int, times: Mapping[Case, list[float]]) -> Known:
    known = Known(LEAST_ROUNDS)
    for each, seconds in times.items():
        for number, second in enumerate(seconds[:rounds]):
            known.add(Record(each, "ok", clocks={"queue": Samples((second,))}).in_block(0, number))
    return known


def test_a_limit_is_measured_in_a_later_processs_further_rounds_until_its_time_is_known() -> None:
    """However far it is from the same limit by another API: no verdict rests on it, but shares of it do."""
    other = replace(STEADY_LIMIT, backend="cuda")
    cases = {NOISY_LIMIT, other, FAST_LIMIT}
    for mine, still_open in ((STEADY, set()), (NOISY, cases)):
        # The fastest was given up after one round.
        times = {NOISY_LIMIT: mine, other: [9 * each for each in STEADY], FAST_LIMIT: [0.9]}
        of_round = [Trial(each, 1, LEAST_ROUNDS + 1) for each in cases]
        assert cases - limits_after(4, times).enough(of_round) == still_open


def test_a_process_beyond_those_of_all_measures_of_a_limit_the_fastest_candidate() -> None:
    near = [case("opencl", "min"), case("numpy", "min")]
    times = dict.fromkeys(near, NOISY)
    times |= {SLOW_LIMIT: [1.01 * each for each in NOISY], NOISY_LIMIT: NOISY, FAST_LIMIT: [0.5]}
    of_round = [Trial(each, 3, 3) for each in times]
    # The fastest of all was measured in one round alone: it was given up.
    assert limits_after(3, times).settled(of_round) == {SLOW_LIMIT, FAST_LIMIT}
    known_well = {**times, SLOW_LIMIT: [1.01 * each for each in STEADY], NOISY_LIMIT: STEADY}
    assert limits_after(3, known_well).settled(of_round) == {SLOW_LIMIT, FAST_LIMIT, NOISY_LIMIT}


def test_what_was_given_up_stays_so() -> None:
    known = Known(LEAST_ROUNDS + 2)
    cases = [of_variant("a", SLOW), of_variant("a", FAST), of_variant("b", FAST)]
    later = [Trial(each, 1, 20) for each in cases]
    for number in range(LEAST_ROUNDS + 1):
        first = 1.5 if number < LEAST_ROUNDS else 0.1
        assert number < LEAST_ROUNDS or known.enough(later) == {cases[0]}
        for each, seconds in zip(cases, (first, 1.0, NOISY[number]), strict=True):
            known.add(Record(each, "ok", clocks={"queue": Samples((seconds,))}).in_block(0, number))
    assert known.enough(later) == {cases[0]}


def test_the_fastest_decide_and_what_both_have() -> None:
    """Two variants of a side within the band of each other: the second's verdict hangs in the balance."""
    times = {
        of_variant("a", SLOW): [each * 1.015 for each in STEADY],
        of_variant("a", FAST): STEADY,
        of_variant("b", FAST): STEADY,
    }
    assert left_out_after(LEAST_ROUNDS, times) == set(times)
    assert left_out_after(LEAST_ROUNDS, times | {of_variant("b", SLOW): NOISY}) == set()


def test_what_failed_keeps_no_problem_undecided() -> None:
    known = Known(LEAST_ROUNDS + 2)
    cases = [of_variant(backend, variant) for backend in "ab" for variant in (FAST, SLOW)]
    for number in range(LEAST_ROUNDS):
        for each in cases[:3]:
            known.add(Record(each, "ok", clocks={"queue": Samples((1.0,))}).in_block(0, number))
    of_round = [Trial(each, 0, LEAST_ROUNDS) for each in cases]
    assert known.enough(of_round) == set()
    known.add(Record(cases[3], "skipped", "cannot"))
    assert known.enough(of_round) == set(cases[:3])


@pytest.mark.parametrize(("twin", "is_told"), [(STEADY, True), (FAR_OFF, False)])
def test_on_one_device_alone_every_time_is_to_be_known_well(twin: list[float], is_told: bool) -> None:
    cases = [case("a", "min"), replace(case("a", "min"), role="control")]
    known = Known(LEAST_ROUNDS + 2)
    for each, times in zip(cases, (STEADY, twin), strict=True):
        for taken_in, seconds in enumerate(times):
            known.add(Record(each, "ok", clocks={"queue": Samples((seconds,))}).in_block(0, taken_in))
    of_round = [trial for trial in trials(cases, 1, CONTEXTS) if trial.round == LEAST_ROUNDS]
    assert known.enough(of_round) == (set(cases) if is_told else set())


@pytest.mark.parametrize(
    "seconds",
    [
        {"a": STEADY, "b": NOISY},
        {"a": NOISY, "b": AT_EDGE},
        {"a": STEADY},
        {"a": STEADY, "b": [1.0]},
        {},
    ],
)
def test_a_problem_is_measured_on_while_its_verdict_may_change(seconds: dict[str, list[float]]) -> None:
    assert enough(seconds, LEAST_ROUNDS) == set()
