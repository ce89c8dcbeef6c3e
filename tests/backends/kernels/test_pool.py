"""The pool of threads: idle it sleeps, and neither forks nor callers at the same time confuse it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from backends.torch.kernels.linear import KernelLinear, linear
from tests.asserting import every
from tests.backends.kernels.weights_made_here import make

X = torch.randn(4, 512, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def matrix() -> Iterator[KernelLinear]:
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    yield linear([make("Q8_0", 2048, 512).weight], [None], torch.float32)
    torch.set_num_threads(threads)


def test_the_number_of_threads_changes_nothing(matrix: KernelLinear) -> None:
    many = matrix(X)
    torch.set_num_threads(1)
    assert torch.equal(matrix(X), many)


def test_idle_threads_use_no_time(matrix: KernelLinear) -> None:
    for _ in range(20):
        matrix(X)
    time.sleep(0.02)
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.05


def test_callers_at_the_same_time_each_get_their_own_result(matrix: KernelLinear) -> None:
    inputs = [X * (i + 1) for i in range(8)]
    want = [matrix(x) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            assert every(torch.equal(a, b) for a, b in zip(pool.map(matrix, inputs), want))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(matrix: KernelLinear) -> None:
    want = matrix(X)
    out = torch.zeros(4, 2048)
    child = os.fork()
    if child == 0:  # only the kernels are called: torch's own threads do not survive a fork
        matrix.matrices[0].matmul(X, out)
        os._exit(0 if out.tolist() == want.tolist() else 1)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")
