"""Jobs: the evaluator's tables, the load of an index, the question of `helm test`."""

import os
import subprocess
import sys
from pathlib import Path

from scaar.testing.processes import running_service

from .rendering import Object, Rendered, render
from .scenarios import SCENARIOS, Scenario

PLACED = {
    "nodeSelector": {"pool": "cpu"},
    "tolerations": [{"key": "pool", "operator": "Exists", "effect": "NoSchedule"}],
}


def load_of(release: Rendered) -> Object:
    (found,) = [each for each in release.of("Job") if "index-load" in each["metadata"]["name"]]
    return found


def test_migrations_run_before_the_pods_that_need_them() -> None:
    release = SCENARIOS["production"].rendered()
    job = release.one("Job", "migrations")
    annotations = job["metadata"]["annotations"]
    assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert annotations["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
    spec = job["spec"]["template"]["spec"]
    # What the release makes is not there yet at its first installation.
    assert "serviceAccountName" not in spec
    assert {each["name"] for each in spec["volumes"]} == {"tmp", "database"}
    (container,) = spec["containers"]
    assert container["args"] == ["db", "upgrade"]
    assert container["image"].startswith("scaar/evaluator:")


def test_migrations_can_be_disabled() -> None:
    database = {"existingSecret": "database", "migrate": False}
    assert not Scenario({"evaluations": {"database": database}}).rendered().of("Job")


def test_tables_of_sqlite_are_made_in_the_pod_that_has_the_file() -> None:
    release = SCENARIOS["lab"].rendered()
    assert "migrations" not in release.names("Job")
    (container,) = release.pod("evaluator")["spec"]["initContainers"]
    assert container["args"] == ["db", "upgrade"]
    assert {"name": "home", "mountPath": "/var/lib/scaar"} in container["volumeMounts"]
    assert "initContainers" not in SCENARIOS["production"].rendered().pod("evaluator")["spec"]


RETRIEVER = "--address=dns:///films-scaar-retriever.questions.svc.cluster.local:50055"


def test_the_labs_passages_come_from_the_labs_image() -> None:
    job = load_of(SCENARIOS["lab"].rendered())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["image"].startswith("scaar/scaar-lab:")
    waiting = f"--wait={job['spec']['activeDeadlineSeconds']}"
    built = ["index", "build", "lab", "--lab", "--if-needed", waiting, RETRIEVER]
    assert container["args"] == built


def test_passages_of_a_volume_are_read_where_they_are_mounted() -> None:
    job = load_of(SCENARIOS["passages of a volume"].rendered())
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["args"] == [
        *("index", "build", "wikipedia", "--corpus=/corpus/psgs_w100.tsv.gz", "--if-needed"),
        *("--wait=86400", RETRIEVER, "--ignore-metadata"),
    ]
    assert {"name": "corpus", "mountPath": "/corpus", "readOnly": True} in container["volumeMounts"]


def test_the_command_line_takes_the_arguments_of_a_job(tmp_path: Path) -> None:
    """Up to the file: there is no corpus here."""
    job = load_of(SCENARIOS["passages of a volume"].rendered())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    arguments = [each for each in container["args"] if not each.startswith(("--wait", "--address"))]
    with running_service("retriever", tmp_path / "home") as retriever:
        ran = subprocess.run(
            [sys.executable, "-m", "scaar.cli", *arguments, "--address", retriever.target],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert "/corpus/psgs_w100.tsv.gz cannot be read: No such file" in ran.stderr


def test_another_index_is_another_job_and_the_same_one_the_same() -> None:
    def name(index: str, **values: object) -> str:
        load = {"enabled": True, "lab": True, "index": index}
        found: str = load_of(render({"indexLoad": load, **values}))["metadata"]["name"]
        return found

    assert name("lab") == name("lab", orchestrator={"replicas": 2})
    assert name("lab") != name("lab2")
    # Kubernetes refuses a Job of the same name whose pods are others.
    assert name("lab") != name("lab", serviceAccount={"create": False, "name": "other"})
    assert name("lab") != name("lab", jobs=PLACED)


def test_jobs_and_the_test_are_scheduled_according_to_the_values() -> None:
    lab, production = (render({"jobs": PLACED}, preset=each) for each in ("lab", "production"))
    specs = [pod["spec"] for owner, pod in (*lab.pods(), *production.pods()) if is_job(owner)]
    assert len(specs) == 9
    for spec in specs:
        assert {key: spec[key] for key in PLACED} == PLACED


def is_job(owner: Object) -> bool:
    return owner["kind"] in ("Job", "Pod")


def test_pods_of_jobs_that_failed_stay_with_their_logs(release: Rendered) -> None:
    for owner, pod in release.pods():
        if is_job(owner):
            assert pod["spec"]["restartPolicy"] == "Never"


def test_helm_test_asks_a_question() -> None:
    release = Scenario(
        {"tests": {"question": 'Who made "Low"?', "policy": "flare", "index": "films"}}
    ).rendered()
    pod = release.one("Pod", "test")
    annotations = pod["metadata"]["annotations"]
    assert annotations["helm.sh/hook"] == "test"
    assert "hook-succeeded" in annotations["helm.sh/hook-delete-policy"]
    assert annotations["helm.sh/hook-output-log-policy"] == "hook-succeeded,hook-failed"
    (container,) = pod["spec"]["containers"]
    assert container["args"] == [
        "ask",
        'Who made "Low"?',
        "--policy=flare",
        "--index=films",
        "--timeout=60",
        "--address=dns:///films-scaar-orchestrator.questions.svc.cluster.local:50051",
    ]
