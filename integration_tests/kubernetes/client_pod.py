"""Client pod in the cluster, which finds services by the names of headless Services."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from .cluster import Cluster
from .release import Release, images
from .source_archive import source_archive

_NAME = "asker"
# The images have no shell.
_WAIT = "import threading; threading.Event().wait()"
_ASK = """
import subprocess, sys
from pathlib import Path
Path("/tmp/questions.jsonl").write_text(sys.stdin.read())
files = ["--file", "/tmp/questions.jsonl", "--out", "/tmp/answers.jsonl"]
command = ["scaar", "ask", *files, "--address", sys.argv[1], "--index", "lab"]
subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
print(Path("/tmp/answers.jsonl").read_text())
"""
_UNPACK = (
    "import base64, io, sys, tarfile; "
    "packed = io.BytesIO(base64.b64decode(sys.stdin.read())); "
    "tarfile.open(fileobj=packed).extractall('/tmp/carried')"
)
_TESTS = """
import json, os, sys
os.chdir("/tmp/carried")
variables = {**os.environ, **json.loads(sys.argv[1])}
pytest = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
os.execvpe("python", [*pytest, "integration_tests/installation"], variables)
"""


class ClientPod:
    """A pod with scaar installed, in the namespace of a release."""

    def __init__(self, release: Release) -> None:
        self._release = release

    def answers(self, questions: Sequence[str], target: str) -> list[str]:
        """Return the answer of the target's orchestrators to each question."""
        requested = [{"id": str(at), "question": each} for at, each in enumerate(questions)]
        lines = "".join(f"{json.dumps(each)}\n" for each in requested)
        output = self._run("python", "-c", _ASK, target, given=lines)
        return [str(json.loads(line)["answer"]) for line in output.splitlines() if line]

    def tests(self, variables: Mapping[str, str]) -> str:
        """Run the installation tests in the pod with these variables, and return their output.

        Raises:
            Failed: a test failed.
        """
        self._run("python", "-c", _UNPACK, given=base64.b64encode(source_archive()).decode())
        found = {"PYTHONPATH": "/tmp/carried/packages", "HOME": "/tmp", **variables}
        return self._run("python", "-c", _TESTS, json.dumps(found))

    def _run(self, *command: str, given: str = "") -> str:
        return self._release.kubectl("exec", "--stdin", _NAME, "--", *command, given=given)


@contextmanager
def client_pod(release: Release) -> Iterator[ClientPod]:
    """Run a client pod for the duration of the block."""
    with running_client_pod(release.cluster, release.namespace):
        yield ClientPod(release)


@contextmanager
def running_client_pod(cluster: Cluster, namespace: str) -> Iterator[str]:
    """Run a pod with scaar installed for the duration of the block, and yield its name."""
    image = images()["image"]
    container = {
        "name": _NAME,
        "image": f"{image['prefix']}scaar-lab:{image['tag']}",
        "imagePullPolicy": image["pullPolicy"],
        "command": ["python", "-c", _WAIT],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    spec = {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        "terminationGracePeriodSeconds": 0,
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": _NAME}, "spec": spec}
    cluster.apply(pod, namespace=namespace)
    try:
        ready = ("wait", "--for=condition=Ready", f"pod/{_NAME}", "--timeout=5m")
        cluster.kubectl(*ready, namespace=namespace)
        yield _NAME
    finally:
        cluster.kubectl("delete", "pod", _NAME, namespace=namespace)
