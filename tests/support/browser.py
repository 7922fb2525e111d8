"""A page in headless Chromium: what a piece of script finds there, pictures of it, what a printer gets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = "no Chromium is installed: apt-get install chromium"

_LIMIT_SECONDS = 120
_NARROWEST = 600
"""No window of Chromium is narrower than some 500 pixels: a telephone's width is that of a frame within."""
TELEPHONE, DESK = 390, 1280

AROUND = """<!DOCTYPE html><body style="margin:0">
<iframe style="border:0;width:{width}px;height:{height}px" src="page.html{at}"></iframe>
<script>
addEventListener("message", (told) => document.body.setAttribute("data-told", told.data))
</script>"""
WITHIN = """<script>const told = () => {{ {code} }};
addEventListener("load", async () => {{
  if (typeof ready !== "undefined") await ready;
  parent.postMessage(JSON.stringify(told()), "*");
}})</script>"""


def without_policy(text: str) -> str:
    """The page without its policy, which lets no script run but its own as it is."""
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)


class Browser:
    """Shows one page, and tells what a piece of script finds there."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        self.text = text

    def find(self, code: str, at: str = "", width: int = DESK, dark: bool = False) -> Any:
        """What ``code`` returns within the page, opened at a fragment. Nothing may complain meanwhile."""
        self._frame(code, at, width, 900)
        dom = self.show("around.html", dark=dark)
        found = re.search(r'data-told="([^"]*)"', dom)
        assert found, dom[-2000:]
        return json.loads(unescape(found[1]))

    def show(self, name: str, at: str = "", dark: bool = False) -> str:
        """The document once it is loaded."""
        return self._run("--dump-dom", name, at, dark)

    def picture(
        self, to: Path, code: str = "return 0", at: str = "", width: int = DESK, height: int = 900,
        dark: bool = False,
    ) -> None:  # fmt: skip
        """A PNG of the page's beginning, after ``code`` has run in it."""
        from PIL import Image

        self._frame(code, at, width, height)
        window = f"--window-size={max(width, _NARROWEST)},{height}"
        self._run(f"--screenshot={to}", "around.html", "", dark, window, "--hide-scrollbars")
        with Image.open(to) as shot:
            cut = shot.convert("RGB").crop((0, 0, width, height))
        cut.save(to, optimize=True)

    def sheets(self) -> int:
        """The number of sheets that the whole page is printed on."""
        (self.folder / "page.html").write_text(self.text, encoding="utf-8")
        to = self.folder / "page.pdf"
        # Tags, for screen readers, would take half as long again.
        self._run(
            f"--print-to-pdf={to}", "page.html", "", False, "--no-pdf-header-footer", "--disable-pdf-tagging"
        )
        return len(re.findall(rb"/Type /Page\b", to.read_bytes()))

    def _frame(self, code: str, at: str, width: int, height: int) -> None:
        """Writes the page with ``code`` in it, and a page around that is as wide as asked."""
        page = without_policy(self.text)
        (self.folder / "page.html").write_text(page + WITHIN.format(code=code), encoding="utf-8")
        around = AROUND.format(width=width, height=height, at=at)
        (self.folder / "around.html").write_text(around, encoding="utf-8")

    def _run(self, what: str, name: str, at: str, dark: bool, *more: str) -> str:
        command = [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            f"--user-data-dir={self.folder / 'profile'}", "--virtual-time-budget=5000",
            *(["--blink-settings=preferredColorScheme=0"] if dark else []), *more,
            what, f"{(self.folder / name).as_uri()}{at}",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=True)
        assert "CONSOLE" not in done.stderr, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout
