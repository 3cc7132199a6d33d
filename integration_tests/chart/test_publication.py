"""What the chart says of itself, and the package that is published."""

import base64
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from scaar import __version__

from .rendering import CHART
from .tools import helm

ROOT = CHART.parents[1]
IMAGES = {
    *("orchestrator", "generator", "scorer", "query-builder", "retriever", "evaluator", "gateway"),
    *("records", "console", "worker", "scaar-lab"),
}


def described(text: str | bytes) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_the_icon_is_the_projects() -> None:
    kind, _, packed = described((CHART / "Chart.yaml").read_text())["icon"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(packed) == (ROOT / "docs" / "icon.svg").read_bytes()


def test_the_package_names_its_repository(tmp_path: Path) -> None:
    ran = subprocess.run(
        ["make", "chart-package", f"HELM={helm()}", f"DIST={tmp_path}", "REPOSITORY=films/scaar"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    package = tmp_path / f"scaar-{__version__}.tgz"
    with tarfile.open(package) as tar:
        file = tar.extractfile("scaar/Chart.yaml")
        assert file
        chart = described(file.read())
    assert chart["version"] == chart["appVersion"] == __version__
    assert chart["home"] == "https://github.com/films/scaar"
    assert chart["sources"] == ["https://github.com/films/scaar"]
    assert chart["maintainers"]
    images = yaml.safe_load(chart["annotations"]["artifacthub.io/images"])
    assert {each["name"] for each in images} == IMAGES
    assert images[0]["image"] == f"ghcr.io/films/scaar/{images[0]['name']}:{__version__}"
    linted = subprocess.run([helm(), "lint", package], capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize(
    "service", ["orchestrator", "evaluator", "records", "gateway", "console", "grafana"]
)
def test_ports_that_compose_opens_are_variables(service: str) -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    defaults = {
        "orchestrator": "50051",
        "evaluator": "50056",
        "records": "50057",
        "gateway": "8090",
        "console": "8091",
        "grafana": "3000",
    }
    for name in {service, f"{service}-lab"} & set(services):
        (port,) = services[name]["ports"]
        opened, _, inside = port.rpartition(":")
        assert inside == defaults[service]
        assert opened.endswith(f"_PORT:-{inside}}}")
