"""What a node of the secured distribution needs: certificates, users and their roles.

Two users, whose roles are those that docs/retriever.md gives: ``builder`` builds indexes,
``reader`` searches them. Needs openssl.
"""

import shutil
import subprocess
from pathlib import Path

from .distribution import JAVA
from .node import Node

PASSWORDS = {"builder": "builders-password", "reader": "readers-password"}
SETTINGS = (
    "plugins.security.ssl.http.enabled=true",
    *(
        f"plugins.security.ssl.{layer}.{name}_filepath={file}"
        for layer in ("http", "transport")
        for name, file in (
            ("pemcert", "node.pem"),
            ("pemkey", "node.key"),
            ("pemtrustedcas", "ca.pem"),
        )
    ),
    "plugins.security.ssl.transport.enforce_hostname_verification=false",
    "plugins.security.allow_default_init_securityindex=true",
    "plugins.security.nodes_dn=CN=node",
)
ROLES = """\
_meta: {type: roles, config_version: 2}
scaar_reader:
  cluster_permissions: [cluster_composite_ops_ro, "cluster:monitor/health"]
  index_permissions:
    - index_patterns: ["scaar-*"]
      allowed_actions: [read, "indices:admin/get", "indices:admin/aliases/get"]
scaar_builder:
  cluster_permissions: [cluster_composite_ops, "cluster:monitor/health", "cluster:monitor/task/get"]
  index_permissions:
    - index_patterns: ["scaar-*"]
      allowed_actions: [indices_all]
"""
ROLES_MAPPING = """\
_meta: {type: rolesmapping, config_version: 2}
scaar_reader: {users: [reader]}
scaar_builder: {users: [builder]}
"""


def prepare(home: Path, node: Node) -> None:
    """Writes what the node needs into its folder; ``config/ca.pem`` is the one to trust."""
    config = node.folder / "config"
    config.mkdir(parents=True, exist_ok=True)
    _make_certificates(config)
    security = config / "opensearch-security"
    shutil.copytree(home / "plugins" / "opensearch-security" / "config", security)
    users = ["_meta: {type: internalusers, config_version: 2}"]
    users += [f'{user}: {{hash: "{_hash(home, each)}"}}' for user, each in PASSWORDS.items()]
    (security / "internal_users.yml").write_text("\n".join(users))
    (security / "roles.yml").write_text(ROLES)
    (security / "roles_mapping.yml").write_text(ROLES_MAPPING)


def _make_certificates(folder: Path) -> None:
    """A certificate authority, and a certificate of the node for 127.0.0.1."""
    days = ("-days", "2")
    _openssl(
        folder,
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", *days, "-subj", "/CN=ca"),
        *("-keyout", "ca.key", "-out", "ca.pem"),
    )
    _openssl(
        folder,
        *("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node"),
        *("-keyout", "node.key", "-out", "node.csr"),
    )
    (folder / "node.ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    _openssl(
        folder,
        *("x509", "-req", "-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", *days),
        *("-CAcreateserial", "-extfile", "node.ext", "-out", "node.pem"),
    )
    for key in folder.glob("*.key"):
        key.chmod(0o600)


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def _hash(home: Path, password: str) -> str:
    """The password as the security plugin keeps it."""
    jars = f"{home}/lib/*:{home}/plugins/opensearch-security/*"
    hasher = [JAVA, "-cp", jars, "org.opensearch.security.tools.Hasher", "-p", password]
    made = subprocess.run(hasher, check=True, capture_output=True, text=True)
    return next(line for line in made.stdout.splitlines() if line.startswith("$2"))
