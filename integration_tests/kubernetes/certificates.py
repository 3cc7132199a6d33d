"""Certificate authority of cert-manager in a namespace, and its certificates."""

import base64
import json
import time
from dataclasses import dataclass
from pathlib import Path

from .cluster import Cluster, Object

AUTHORITY = "authority"
_CALLER = "caller"
_PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """Certificate files of a client."""

    ca: Path
    cert: Path
    key: Path


class NamespaceCertificates:
    """The authority and the certificates of a namespace."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace

    def begin(self) -> None:
        """Create the authority, its Issuer, and a client certificate for the tests."""
        ca = {"isCA": True, "usages": ["cert sign", "digital signature"]}
        objects = [
            _object("Issuer", "root", {"selfSigned": {}}),
            _certificate(AUTHORITY, "root", ca),
            _object("Issuer", AUTHORITY, {"ca": {"secretName": AUTHORITY}}),
            _certificate(_CALLER, AUTHORITY, {"usages": ["client auth"]}),
        ]
        self._cluster.apply(*objects, namespace=self._namespace)
        ready = ("--for=condition=Ready", f"certificate/{_CALLER}", "--timeout=2m")
        self._cluster.kubectl("wait", *ready, namespace=self._namespace)

    def names(self) -> list[str]:
        """Return the names of all certificates except the authority's."""
        found = self._cluster.objects("certificates.cert-manager.io", namespace=self._namespace)
        return [each["metadata"]["name"] for each in found if each["metadata"]["name"] != AUTHORITY]

    def shown(self, folder: Path) -> ClientFiles:
        """Write the current client files of the tests into a new folder."""
        folder.mkdir()
        data = self._secret(_CALLER)
        for name, content in data.items():
            (folder / name).write_bytes(base64.b64decode(content))
        return ClientFiles(folder / "ca.crt", folder / "tls.crt", folder / "tls.key")

    def renew(self, *names: str) -> None:
        """Renew certificates, and wait until the new ones exist."""
        secrets = {each: self._secret_of(each) for each in names}
        before = {each: self._secret(secret)["tls.crt"] for each, secret in secrets.items()}
        for each in names:
            self._due(each)
        until = time.monotonic() + _PATIENCE_S
        while any(self._secret(secrets[each])["tls.crt"] == was for each, was in before.items()):
            assert time.monotonic() < until, "cert-manager renewed nothing"
            time.sleep(0.5)

    def _due(self, name: str) -> None:
        due = {
            "type": "Issuing",
            "status": "True",
            "reason": "ManuallyTriggered",
            "message": "renewed by a test",
            "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        change = json.dumps({"status": {"conditions": [due]}})
        patch = ("certificates.cert-manager.io", name, "--subresource=status", "--type=merge")
        self._cluster.kubectl("patch", *patch, "--patch", change, namespace=self._namespace)

    def _secret_of(self, name: str) -> str:
        one = self._cluster.one("certificates.cert-manager.io", name, namespace=self._namespace)
        return str(one["spec"]["secretName"])

    def _secret(self, name: str) -> dict[str, str]:
        data: dict[str, str] = self._cluster.one("secret", name, namespace=self._namespace)["data"]
        return data


def _object(kind: str, name: str, spec: Object) -> Object:
    version = "cert-manager.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _certificate(name: str, issuer: str, also: Object) -> Object:
    key = {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"}
    spec = {
        "secretName": name,
        "commonName": name,
        "privateKey": key,
        "issuerRef": {"name": issuer},
    }
    return _object("Certificate", name, {**spec, **also})
