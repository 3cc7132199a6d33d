"""Tools of the chart's tests: helm and the schemas of the operators' objects, cached.

Both are downloaded through Go's module proxy at fixed versions. `HELM` names another helm.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

CACHE = Path(__file__).resolve().parent / ".cache"
HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0"
# A kind of object, the module that has its definition, and the file in it.
CUSTOM_KINDS = {
    "ScaledObject": (
        "github.com/kedacore/keda/v2@v2.17.2",
        "config/crd/bases/keda.sh_scaledobjects.yaml",
    ),
    "TriggerAuthentication": (
        "github.com/kedacore/keda/v2@v2.17.2",
        "config/crd/bases/keda.sh_triggerauthentications.yaml",
    ),
    "ServiceMonitor": (
        "github.com/prometheus-operator/prometheus-operator@v0.85.0",
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
    ),
    "PrometheusRule": (
        "github.com/prometheus-operator/prometheus-operator@v0.85.0",
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
    ),
    "HTTPRoute": (
        "sigs.k8s.io/gateway-api@v1.3.0",
        "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
    ),
    "GRPCRoute": (
        "sigs.k8s.io/gateway-api@v1.3.0",
        "config/crd/standard/gateway.networking.k8s.io_grpcroutes.yaml",
    ),
    "Certificate": (
        "github.com/cert-manager/cert-manager@v1.18.2",
        "deploy/crds/crd-certificates.yaml",
    ),
}


def helm() -> Path:
    """Return the path of helm; build it first if necessary (two minutes)."""
    if given := os.environ.get("HELM"):
        return Path(given)
    folder = CACHE / HELM.rsplit("@", 1)[1]
    program = folder / "helm"
    if not program.is_file():
        _go(["install", HELM], GOBIN=str(folder), GOFLAGS="-buildvcs=false")
    return program


def custom_kind(kind: str) -> dict[str, Any]:
    """Return the published definition of an operator's kind of object."""
    module, path = CUSTOM_KINDS[kind]
    copy = CACHE / module.replace("/", "_") / Path(path).name
    if not copy.is_file():
        reported = json.loads(_go(["mod", "download", "-json", module]))
        copy.parent.mkdir(parents=True, exist_ok=True)
        half = copy.with_suffix(".half")
        shutil.copyfile(Path(reported["Dir"]) / path, half)
        half.rename(copy)
    definition: dict[str, Any] = yaml.safe_load(copy.read_text())
    return definition


def _go(arguments: list[str], **variables: str) -> str:
    go = shutil.which("go")
    assert go, "make chart needs Go, or HELM and Go's module cache: https://go.dev/doc/install"
    CACHE.mkdir(exist_ok=True)
    ran = subprocess.run(
        [go, *arguments],
        cwd=CACHE,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
