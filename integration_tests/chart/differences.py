"""Settings that may differ between compose and the chart, with reasons."""

from collections.abc import Iterator
from dataclasses import dataclass

from scaar.cli.serve.services import GRPC_SERVICES, ServiceName

SERVICES = tuple(map(str, ServiceName))
SERVED_BY_GRPC = tuple(map(str, GRPC_SERVICES))
SERVED = ("address", "tls_cert_file", "tls_key_file", "tls_client_ca_file", "identities_file")
FILES = {
    "/etc/scaar/tls/tls.crt": "/run/secrets/scaar.pem",
    "/etc/scaar/tls/tls.key": "/run/secrets/scaar.key",
    "/etc/scaar/tls/ca.crt": "/run/secrets/scaar-ca.pem",
    "/etc/scaar/identities/identities.yaml": "/run/secrets/identities.yaml",
    "/etc/scaar/opensearch/password": "/run/secrets/opensearch-password",
    "/etc/scaar/opensearch-ca/ca.crt": "/run/secrets/scaar-ca.pem",
    "/etc/scaar/database/url": "/run/secrets/evaluations-database",
    "/etc/scaar/broker/url": "/run/secrets/evaluations-broker",
    "/etc/scaar/records-database/url": "/run/secrets/records-database",
}
"""Path of a secret in a pod, and of the same secret in a container of compose."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Settings that differ in each of these parts."""

    profile: str
    parts: tuple[str, ...]
    settings: tuple[str, ...]
    why: str

    def each(self) -> Iterator[tuple[str, str]]:
        """Yield every part with every setting."""
        return ((part, setting) for part in self.parts for setting in self.settings)


BACK_ENDS = ("generator", "scorer", "query-builder", "retriever")
DIFFERENCES = (
    *(
        Difference(
            profile,
            BACK_ENDS,
            ("max_connection_age_s",),
            "pods are replaced while they are called, and orchestrators must find the new ones",
        )
        for profile in ("lab", "production")
    ),
    *(
        Difference(
            profile,
            ("orchestrator",),
            ("policy_folder",),
            "compose mounts a folder that may be empty, the chart a ConfigMap if there is one",
        )
        for profile in ("lab", "production")
    ),
    *(
        Difference(
            profile,
            ("gateway",),
            ("allowed_hosts",),
            "each lists the names by which its own network knows the gateway",
        )
        for profile in ("lab", "production")
    ),
    Difference("lab", SERVICES, ("log_format",), "who runs it on a laptop reads along"),
    Difference(
        "lab",
        SERVICES,
        ("drain_s", "stop_grace_s"),
        "it ends at Ctrl-C, and no replica is there to take its calls",
    ),
    Difference(
        "production",
        SERVED_BY_GRPC,
        ("health_address",),
        "the kubelet has no certificate to show; an image's own check has the service's",
    ),
    Difference(
        "production",
        ("scorer",),
        ("triton_tls", "triton_ca_file", "triton_client_cert_file", "triton_client_key_file"),
        "as TGI, the release's Triton is asked in plaintext, by the scorer alone (NetworkPolicy)",
    ),
    Difference(
        "production",
        ("retriever",),
        ("opensearch_urls",),
        "compose runs an OpenSearch, the chart uses an existing one",
    ),
    Difference(
        "production",
        ("retriever",),
        ("opensearch_replicas",),
        "that of compose is one node, which can hold no copies",
    ),
    Difference(
        "production",
        ("evaluator", "worker"),
        ("channel.token_file",),
        "compose knows them by certificate, the chart by token: its pods may share a certificate",
    ),
    Difference(
        "production",
        ("worker",),
        SERVED,
        "compose has one file for all; a worker serves nothing, and reads none of these",
    ),
)
