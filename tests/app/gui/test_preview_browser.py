"""The policy of previews in a real browser: a page that a model wrote runs its scripts, and reaches nothing."""

from __future__ import annotations

import http.server
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.gui.viewmodels.chat.preview import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]

# every way out that a page has, each with a path of its own
WAYS_OUT = """
<link rel="stylesheet" href="{site}/style"><link rel="prefetch" href="{site}/prefetch"><link rel="icon" href="{site}/icon">
<link rel="preload" as="image" href="{site}/preload"><img src="{site}/img"><video src="{site}/video"></video>
<iframe src="{site}/iframe"></iframe><object data="{site}/object"></object><embed src="{site}/embed">
<style>@import url("{site}/import"); @font-face {{ font-family: f; src: url("{site}/font"); }} p {{ font-family: f; background: url("{site}/background"); }}</style>
<p>words</p><form id="form" action="{site}/form" method="post"><input name="secret" value="1"></form>
<a id="link" href="{site}/link" target="_blank">a</a><a id="ping" href="#" ping="{site}/ping">b</a>
<script src="{site}/script"></script>
<script>
const tries = [
  () => fetch("{site}/fetch"), () => {{ const x = new XMLHttpRequest(); x.open("GET", "{site}/xhr"); x.send(); }},
  () => navigator.sendBeacon("{site}/beacon", "1"), () => new WebSocket("ws://{host}/socket"),
  () => new EventSource("{site}/events"), () => new Worker("{site}/worker"), () => import("{site}/module"),
  () => {{ new Image().src = "{site}/image"; }}, () => window.open("{site}/open"), () => document.getElementById("form").submit(),
  () => document.getElementById("link").click(), () => document.getElementById("ping").click(),
  () => {{ top.location = "{site}/top"; }}, () => {{ parent.document.body.innerHTML = ""; }},
  () => {{ document.cookie = "a=1"; }}, () => localStorage.setItem("a", "1"),
];
for (const attempt of tries) try {{ const made = attempt(); if (made && made.catch) made.catch(() => 0); }} catch (error) {{}}
console.log("every way was tried");
setTimeout(() => {{ location = "{site}/location"; }}, 300);
</script>
"""


class Site:
    """A site elsewhere, which remembers what it was asked for."""

    def __init__(self) -> None:
        asked = self.asked = list[str]()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


def browse(file: Path, folder: Path) -> str:
    """What the page wrote to the console."""
    assert CHROMIUM is not None
    seen = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--enable-logging=stderr",
            "--no-first-run", "--disable-background-networking", "--timeout=4000", "--dump-dom", file.as_uri(),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return seen.stderr


def test_a_page_reaches_nothing(site: Site, tmp_path: Path) -> None:
    ways = WAYS_OUT.format(site=f"http://{site.host}", host=site.host)
    preview = tmp_path / "preview.html"
    preview.write_text(page(ways), encoding="utf-8")
    assert "every way was tried" in browse(preview, tmp_path / "profile")
    assert site.asked == []


def test_the_same_page_without_the_policy_reaches_the_site(site: Site, tmp_path: Path) -> None:
    """So that the test above can fail."""
    plain = tmp_path / "plain.html"
    plain.write_text(WAYS_OUT.format(site=f"http://{site.host}", host=site.host), encoding="utf-8")
    browse(plain, tmp_path / "profile")
    assert {"/style", "/img", "/fetch", "/script"} <= set(site.asked)
