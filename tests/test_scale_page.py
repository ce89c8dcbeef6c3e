"""docs/scale.md: its compose file is one, and starts what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

FILE = Path(__file__).resolve().parent.parent / "docs" / "vllm-cluster.yaml"
PAGE = FILE.with_name("scale.md")
ENVIRONMENT = {
    "HEAD_IP": "10.0.0.5",
    "MY_IP": "10.0.0.6",
    "INTERFACE": "eth0",
    "GPUS": "4",
    "MACHINES": "3",
    "MODEL": "a/b",
    "VLLM_API_KEY": "k",
}


def test_the_file_has_a_head_and_a_worker() -> None:
    services = yaml.safe_load(FILE.read_text(encoding="utf-8"))["services"]
    assert set(services) == {"head", "worker"}
    assert [services[name]["profiles"] for name in ("head", "worker")] == [["head"], ["worker"]]
    head, worker = (services[name]["command"][0] for name in ("head", "worker"))
    assert "ray start --head" in head
    assert "ray start --block --address=${HEAD_IP" in worker
    assert re.search(r"--tensor-parallel-size \$\{GPUS:-8\} --pipeline-parallel-size \$\{MACHINES:-2\}", head)
    assert "--distributed-executor-backend ray" in head


def test_the_page_names_every_variable() -> None:
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", FILE.read_text(encoding="utf-8")))
    page = PAGE.read_text(encoding="utf-8") + FILE.read_text(encoding="utf-8").split("\nx-node", 1)[0]
    optional = {"VLLM_VERSION", "HF_TOKEN", "HF_HOME"}
    assert {name for name in used if name not in page} <= optional


def runs(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, timeout=30).returncode == 0


def test_a_parser_of_compose_files_reads_it() -> None:
    parser = next((words for words in (["docker", "compose"], ["docker-compose"]) if runs([*words, "version"])), None)
    if parser is None:
        pytest.skip("needs docker compose or docker-compose")
    for profile in ("head", "worker"):
        done = subprocess.run(
            [*parser, "-f", FILE, "--profile", profile, "config"],
            capture_output=True, text=True, timeout=60, env={**os.environ, **ENVIRONMENT},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        service = yaml.safe_load(done.stdout)["services"][profile]
        assert service["network_mode"] == "host"
        text = service["command"][0] if isinstance(service["command"], list) else service["command"]
        assert "10.0.0.5" in text
        if profile == "head":
            assert "--tensor-parallel-size 4 --pipeline-parallel-size 3" in text
