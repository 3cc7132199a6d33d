import os
import subprocess
import sys
from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))


def refused(*arguments: str) -> str:
    ran = run_scaar("eval", "worker", *arguments)
    assert (ran.status, ran.out) == (2, "")
    return ran.err


def test_a_worker_without_a_broker_is_refused() -> None:
    assert "broker: must be set for workers, or executor=poll: redis://" in refused()


def test_a_worker_without_a_running_orchestrator_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_EVALUATOR_BROKER", "redis://127.0.0.1:1/0")
    assert "orchestrator_target: must be a running orchestrator" in refused()


def test_an_invalid_broker_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_EVALUATOR_BROKER", "sqs://user:secret@host/")
    said = refused("--orchestrator", "dns:///127.0.0.1:1")
    assert "broker: must be redis://" in said
    assert "secret" not in said


def test_a_broker_is_given_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCAAR_EVALUATOR_BROKER", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("SCAAR_EVALUATOR_BROKER_FILE", str(tmp_path / "broker"))
    assert "broker_file: cannot be combined with broker" in refused()


def test_the_number_of_processes_is_limited() -> None:
    assert "--worker-processes: Input should be less than or equal to 64" in refused(
        "--worker-processes", "65"
    )


def test_a_database_of_another_version_keeps_a_worker_from_starting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    monkeypatch.setenv("SCAAR_EVALUATOR_BROKER", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("SCAAR_EVALUATOR_DATABASE", f"sqlite:///{empty}")
    ran = run_scaar("eval", "worker", "--orchestrator", "dns:///127.0.0.1:1")
    assert ran.status == 1
    assert "create them with scaar db upgrade" in ran.err


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("OTLP_ENDPOINT", "collector:4317", "otlp_endpoint: must be http://host:port"),
        ("METRICS_ADDRESS", "9464", "METRICS_ADDRESS: must be host:port, not '9464'"),
    ],
)
def test_an_unreachable_endpoint_keeps_a_worker_from_starting(
    tmp_path: Path, variable: str, value: str, message: str
) -> None:
    settings = {
        "SCAAR_EVALUATOR_BROKER": "redis://127.0.0.1:1/0",
        "SCAAR_EVALUATOR_ORCHESTRATOR_TARGET": "dns:///127.0.0.1:1",
        "SCAAR_EVALUATOR_DATABASE": f"sqlite:///{tmp_path}/evaluations.sqlite",
        f"SCAAR_EVALUATOR_{variable}": value,
    }
    # What keeps the metrics of several processes is chosen once in one.
    ran = subprocess.run(
        [sys.executable, "-m", "scaar.cli", "eval", "worker"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
