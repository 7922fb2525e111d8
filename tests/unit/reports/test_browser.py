"""The page in a browser: what is sorted, filtered and linked, both colour schemes, a telephone's width."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import reports
from harness.results.runfile import Run
from reports.page import page
from tests.support.browser import BROWSER, DESK, MISSING, TELEPHONE, Browser, without_policy
from tests.support.html import HOSTILE, tables
from tests.support.recorded import run_of as recorded
from tests.support.report_data import cpu_run, gpu_run, record, reduction, run_of

pytestmark = pytest.mark.skipif(BROWSER is None, reason=MISSING)

ROWS = '[...document.getElementById("{table}").querySelectorAll("tbody tr")].map((row) => row.textContent)'


RUNS: dict[str, Callable[[], Run]] = {
    "gpu": gpu_run,
    "cpu": cpu_run,
    "ladders": lambda: recorded("h200-yan2011"),
    "processor": lambda: recorded("cpu-zen4-jia2012"),
    "many types": lambda: recorded("cpu-filters"),
}


@cache
def text_of(name: str) -> str:
    """The page of one of these runs, which several tests show."""
    return reports.render(RUNS[name](), "harness run quick")


@cache
def text_of_several() -> str:
    """A page of two runs and two studies."""
    return page([recorded("h200-pcl"), recorded("cpu-quick")], ["", ""], studies=["pcl", "jia2012"])


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """With the page of a full synthetic run."""
    return Browser(tmp_path, text_of("gpu"))


def test_a_table_is_drawn_by_the_page_as_it_is(browser: Browser) -> None:
    """With its own policy, in which no script of the test runs."""
    (browser.folder / "page.html").write_text(browser.text, encoding="utf-8")
    dom = browser.show("page.html", "#r0-all")
    assert dom.count('aria-label="link to this case"') == len(gpu_run().records)


def test_what_is_undecided_is_hollow_and_dashed_and_no_size_breaks(browser: Browser) -> None:
    told = browser.find(
        'const of = (verdict) => `<use class="m v-${verdict}"/><line class="i v-${verdict}"/>`;'
        'const added = document.createElement("div");'
        'added.innerHTML = `<svg class="panel">${of("ambiguous")}${of("same")}</svg><div class="picks">'
        '<table class="heat"><thead><tr><th>16384x16384</th></tr></thead></table></div>`;'
        'document.querySelector(".headline").append(added);'
        "const look = (what) => getComputedStyle(added.querySelector(what));"
        'return [getComputedStyle(added.parentElement).backgroundColor, look("use.v-ambiguous").fill,'
        'look("use.v-same").fill, look("line.v-ambiguous").strokeDasharray,'
        'look("line.v-same").strokeDasharray, look("th").whiteSpace]'
    )
    card, undecided, same, *rest = told
    assert card == undecided != same
    assert rest == ["2px, 1.5px", "none", "nowrap"]


def test_a_link_opens_its_case(browser: Browser) -> None:
    case = "minmax int32 2560x2560 hot"
    told = browser.find(
        'const rows = [...document.querySelectorAll("tr.found")];'
        'return [document.getElementById("r0-pairs0").open, rows.length, rows[0].textContent]',
        f"#r0-pairs0?case={case.replace(' ', '%20')}",
    )
    assert told[:2] == [True, 1]
    assert re.match(r"#minmaxint322560x2560hot", told[2])


def test_what_is_in_the_address_is_filtered_and_sorted(browser: Browser) -> None:
    code = f"return {ROWS.format(table='r0-all')}"
    rows = browser.find(code, "#r0-all?words=8192&dtype=float32&backend=opencl&sort=7-")
    times = [float(re.findall(r"hot([\d,]+\.\d+)", row)[0].replace(",", "")) for row in rows]
    assert len(rows) > 5
    assert all("float32" in row and "8192x8192" in row and "opencl" in row for row in rows)
    assert times == sorted(times, reverse=True)
    assert browser.find(code, "#r0-all?words=no+such+thing") == []


def test_what_is_sorted_and_filtered_is_put_into_the_address(browser: Browser) -> None:
    told = browser.find("""
        const block = document.getElementById("r0-all");
        location.hash = "r0-all";
        block.open = true;
        tableOf(block).heads[7].querySelector("button").click();
        block.querySelector("select[name=dtype]").value = "uint8";
        block.querySelector("input").value = "sum";
        block.querySelector("input").dispatchEvent(new Event("input", { bubbles: true }));
        const rows = [...block.querySelectorAll("tbody tr")].map((row) => Number(row.cells[8].textContent));
        return [location.hash, rows, block.querySelector("[aria-sort]").getAttribute("aria-sort")]
    """)
    at, times, direction = told
    assert at == "#r0-all?words=sum&sort=7&dtype=uint8"
    known = [time for time in times if time is not None]
    assert (direction, known) == ("ascending", sorted(known))
    assert len(known) > 3


def test_the_page_is_dark_where_the_reader_wants_it(browser: Browser) -> None:
    code = """
        const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b);
        const of = (what, property) => light(getComputedStyle(document.querySelector(what))[property]);
        return [of("body", "backgroundColor"), of("body", "color"), of("svg.panel text.k", "fill"),
                of("svg.panel .m", "fill")]
    """
    page, ink, text, mark = browser.find(code)
    assert page > 700
    assert max(ink, text) < 200
    page, ink, text, mark = browser.find(code, dark=True)
    assert page < 100
    assert min(ink, text) > 500
    assert mark > 250


def test_a_studys_charts_are_brighter_in_the_dark(tmp_path: Path) -> None:
    """Their first series too, which is drawn in a dark blue by day."""
    browser = Browser(tmp_path, page([recorded("h200-bandwidth")], [""], studies=["jia2012"]))
    code = """
        const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b);
        const of = (what, property) => light(getComputedStyle(document.querySelector(what))[property]);
        return [of('.redone svg.chart path[style*="stroke: var(--s0)"]', "stroke"), of(".keys path", "fill")]
    """
    by_day, at_night = browser.find(code), browser.find(code, dark=True)
    assert all(night > day + 50 for day, night in zip(by_day, at_night, strict=True))


LONG_NAME = "NVIDIA RTX PRO 6000 Blackwell MAX-Q WORKSTATION EDITION"


def renamed(run: Run, name: str) -> Run:
    """A run whose devices have another name."""
    devices = [{**device, "name": name} for device in run.environment["devices"]]
    return replace(run, environment={**run.environment, "devices": devices})


@cache
def text_of_study(name: str, study: str) -> str:
    """The page of a recorded run and one study, of a device with a long name."""
    return page([renamed(recorded(name), LONG_NAME)], [""], studies=[study])


@pytest.mark.parametrize(
    ("name", "study", "width"),
    [
        ("h200-yan2011", "yan2011", DESK),
        ("h200-yan2011", "yan2011", TELEPHONE),
        ("cpu-zen4-jia2012", "jia2012", DESK),
    ],
)
def test_no_text_of_a_studys_charts_is_cut_or_hidden(
    tmp_path: Path, name: str, study: str, width: int
) -> None:
    """Titles too, of a device with a long name; and no two numbers of an axis stand on each other."""
    over, hidden, shown = Browser(tmp_path, text_of_study(name, study)).find(
        """
        const shown = [...document.querySelectorAll("svg.chart text, .redone .title")];
        const box = (each) => each.getBoundingClientRect();
        const cut = (each) => {
            const [inner, outer] = [box(each), box(each.closest("svg") || each.parentElement)];
            return inner.left < outer.left - 1 || inner.right > outer.right + 1
                || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
        };
        const hidden = shown.filter((each, at) => at && each.closest("svg")
            && each.closest("svg") === shown[at - 1].closest("svg")
            && Math.abs(box(each).top - box(shown[at - 1]).top) < 1
            && box(each).left < box(shown[at - 1]).right && box(each).right > box(shown[at - 1]).left
            && !/rotate\\(-?[1-9]/.test(each.outerHTML));
        return [shown.filter(cut), hidden, shown].map((some) => some.map((each) => each.textContent));
        """,
        width=width,
    )
    assert over == []
    assert hidden == []
    assert any(title.startswith(LONG_NAME) for title in shown)


@pytest.mark.parametrize("name", RUNS)
def test_nothing_reaches_over_the_edge_of_a_window(tmp_path: Path, name: str) -> None:
    browser = Browser(tmp_path, text_of(name))
    code = """
        document.querySelectorAll("details").forEach((each) => { each.open = true; });
        document.querySelectorAll("details.data").forEach(tableOf);
        const texts = [...document.querySelectorAll("svg.panel text")].filter((each) => each.textContent);
        const right = (each) => each.getBoundingClientRect().right;
        const over = (each) => right(each) - right(each.closest("svg"));
        const most = texts.reduce((a, b) => (over(b) > over(a) ? b : a));
        return [document.documentElement.scrollWidth, [over(most), most.textContent],
                Math.min(...texts.map((each) => each.getBoundingClientRect().height))]
        """
    for width in (TELEPHONE, DESK):
        wide, over, high = browser.find(code, width=width)
        assert wide <= width
        assert over[0] <= 2, "pixels by which the text of a chart leaves it"
        assert high >= 9, "pixels that the smallest text of a chart is high"


def few_cases() -> Run:
    """The first cases of the synthetic run."""
    run = gpu_run()
    return replace(run, records=run.records[:120], images=[])


SHEET = 1031
"""A4 on its side between its margins, in pixels."""
OPEN = """
    document.querySelectorAll("details").forEach((each) => { each.open = true; });
    document.querySelectorAll("details.data").forEach(tableOf);
    const all = (what) => [...document.querySelectorAll(what)];
"""
SEVERAL: dict[str, Callable[[], str]] = {
    "gpu": lambda: text_of("gpu"),
    "cpu": lambda: text_of("cpu"),
    "several": text_of_several,
}


@pytest.mark.parametrize("name", SEVERAL)
def test_a_screen_reader_has_a_name_for_everything(tmp_path: Path, name: str) -> None:
    """Charts and tables by themselves, columns for each cell, headings without a gap."""
    told = Browser(tmp_path, SEVERAL[name]()).find(
        OPEN
        + """
        const label = (each) => each.getAttribute("aria-label");
        const charts = all("svg").filter((each) => each.getAttribute("aria-hidden") !== "true");
        const levels = all("h1, h2, h3, h4").map((each) => Number(each.tagName[1]));
        const names = [...charts, ...all("nav")].map(label);
        return {
            charts: charts.length,
            tables: all("table").length,
            unnamed_charts: charts.filter((each) => each.role !== "img" || !label(each)).length,
            not_told_apart: names.filter((each, at) => names.indexOf(each) !== at),
            unnamed_tables: all("table").filter((each) => !each.caption || !each.caption.textContent).length,
            columns_without_scope: all("th:not([scope])").map((each) => each.textContent),
            pictures_without_text: all("img:not([alt])").length,
            unnamed_controls: all("a, button, input, select, summary")
                .filter((each) => !label(each) && !each.textContent.trim() && !each.labels?.length)
                .map((each) => each.outerHTML),
            gaps: levels.filter((level, at) => at && level > levels[at - 1] + 1).length,
            twice: all("[id]").filter((each) => all(`[id="${CSS.escape(each.id)}"]`).length > 1).length,
        };
        """
    )
    assert told.pop("charts") > 3
    assert told.pop("tables") > 5
    assert told == dict.fromkeys(told, 0) | {
        "not_told_apart": [],
        "columns_without_scope": [],
        "unnamed_controls": [],
    }


@pytest.mark.parametrize("name", SEVERAL)
def test_all_can_be_reached_by_keys_in_the_order_of_the_page(tmp_path: Path, name: str) -> None:
    """What scrolls, too; and nothing that is reached is out of sight."""
    told = Browser(tmp_path, SEVERAL[name]()).find(
        OPEN
        + """
        const reached = all("a[href], button, input, select, summary, [tabindex]")
            .filter((each) => each.tabIndex >= 0 && each.getClientRects().length);
        const scrolls = (each) => each.scrollWidth > each.clientWidth + 1
            && getComputedStyle(each).overflowX !== "visible";
        // One of each kind: there are thousands.
        const kinds = new Map(reached.map((each) => [each.tagName + each.className, each]));
        const unseen = [...kinds.values()].filter((each) => {
            each.focus();
            const style = getComputedStyle(each);
            return document.activeElement !== each || (style.outlineStyle === "none" && !style.boxShadow);
        });
        return {
            reached: reached.length,
            first: reached[0].closest("nav") !== null,
            jumps: all("[tabindex]").filter((each) => each.tabIndex > 0).length,
            out_of_reach: all(".scroll, pre").filter((each) => scrolls(each) && each.tabIndex < 0).length,
            unseen: unseen.map((each) => each.outerHTML.slice(0, 200)).slice(0, 3),
            // A link of a chart is in the table below it, too: keys need not pass each mark.
            only_in_charts: all("svg a").filter((each) => each.tabIndex >= 0).length,
        };
        """
    )
    assert told.pop("reached") > 20
    assert told == {"first": True, "jumps": 0, "out_of_reach": 0, "unseen": [], "only_in_charts": 0}


def test_what_is_printed_has_every_table(tmp_path: Path) -> None:
    """Drawn when printing begins, were none of them open; on paper that is never dark."""
    text = text_of("gpu")
    browser = Browser(tmp_path, text)
    code = """
        dispatchEvent(new Event("beforeprint"));
        return [...document.querySelectorAll("details.data")].map((each) =>
            [each.id, each.open, each.querySelectorAll("tbody tr").length]);
    """
    drawn = {name: count for name, is_open, count in browser.find(code) if is_open}
    assert drawn == {name: len(rows) for name, rows in tables(text).items()}
    wide = browser.find(
        """
        dispatchEvent(new Event("beforeprint"));
        for (const rule of document.styleSheets[0].cssRules)
            if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
        return document.documentElement.scrollWidth;
        """,
        width=SHEET,
    )
    assert wide <= SHEET, "columns would be cut off"
    assert "@media (prefers-color-scheme: dark)" not in text


def test_a_printer_draws_the_tables(tmp_path: Path) -> None:
    """Of a run of few cases: Chromium takes a tenth of a second for each sheet."""
    browser = Browser(tmp_path, reports.render(few_cases(), "harness run quick"))
    sheets = browser.sheets()
    browser.text = without_policy(browser.text).replace("beforeprint", "never")
    assert sheets > browser.sheets() + len(few_cases().records) / 60


def test_hostile_strings_are_inert_in_a_browser(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=\"document.title='acted'\">" + HOSTILE
    run = run_of(
        record("opencl", reduction(), 1e-6, note=hostile),
        record("cuda", reduction(), 1e-6, location=hostile),
        record("cuda", reduction("min"), status="failed", reason=hostile),
        suite=hostile, command=hostile,
    )  # fmt: skip
    told = Browser(tmp_path, reports.render(run, hostile)).find(
        'const rows = document.querySelectorAll("#r0-all tbody tr");'
        "return [document.title, document.images.length, rows.length]",
        "#r0-all",
    )
    assert told[0] != "acted"
    assert told[1:] == [0, 3]
