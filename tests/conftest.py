"""What holds for every test: one thread a process, set before any array library is imported, and no dice of the machine.

The models in the tests are tiny, the suite runs in two processes, and sums come out in the same order everywhere.
A request without a seed draws one (`secrets.randbits`): here it draws the same one in every run, else a test that
forgets its seed fails once in a hundred runs. `GRUS_TEST_DICE=7` throws other dice: to look for such a test.
"""

from __future__ import annotations

import gc
import os
import random
import secrets
import signal
import ssl
import sys
from collections.abc import Generator
from functools import cache

import pytest

from tests import mlx_pass
from tests.needs import no_window

# Each client of httpx reads the certificates of all authorities anew, for 15 ms and more: a sixth of the time of the server's tests.
ssl.create_default_context = cache(ssl.create_default_context)

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("GRUS_OTHER_APPS", "off")  # what this machine's LM Studio or Ollama has is nothing to a test
# What a script starts behind itself ignores Ctrl-C, and so would the programs that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def same_dice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(os.environ.get("GRUS_TEST_DICE", "") + request.node.nodeid)
    monkeypatch.setattr(secrets, "randbits", dice.getrandbits)


def pytest_configure(config: pytest.Config) -> None:
    """MLX on a CPU has g++ compile every fused function, a second each: on a machine that has none of them yet `make test` does
    so in its pass on MLX alone, `make test-all` everywhere. On a Mac Metal's are there at once."""
    if sys.platform != "darwin" and not mlx_pass.running() and config.option.markexpr:
        os.environ.setdefault("MLX_DISABLE_COMPILE", "1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mlx_pass.select(config, items)


def pytest_collection(session: pytest.Session) -> None:
    """The tests themselves are a million objects, none of them garbage: collections would take a quarter of this time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """A full garbage collection, as each unloading of a model makes one, would look at them for half a second."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The same for what a file of tests has imported."""
    if nextitem is not None and nextitem.path != item.path and "gui" not in nextitem.path.parts:
        gc.collect()
        gc.freeze()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Where Qt cannot be loaded, pytest-qt would end the whole run."""
    if no_window():
        pluginmanager.unregister(name="pytest-qt")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """There, a module of tests that imports Qt is skipped, with the reason."""
    report = yield
    if report.failed and no_window() and "cannot open shared object file" in str(report.longrepr):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, f"Skipped: {no_window()}")
    return report


if no_window():

    @pytest.fixture
    def qapp() -> None:
        pytest.skip(no_window())

    @pytest.fixture
    def qtbot() -> None:
        pytest.skip(no_window())
