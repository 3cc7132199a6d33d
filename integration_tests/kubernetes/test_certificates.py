"""A release by TLS whose certificates cert-manager makes, and renews under load."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from ..installation import load
from ..installation.access import Access
from ..installation.client import request
from ..installation.needs import Need, needs
from .certificates import AUTHORITY, ClientFiles, NamespaceCertificates
from .cluster import Cluster
from .release import RELEASE, Release, installed

pytestmark = needs(Need.CERT_MANAGER)
PATIENCE_S = 300.0
"""The kubelet brings a changed Secret into a pod within about two minutes."""
SERVICES = ("orchestrator", "generator", "scorer", "query-builder", "retriever", "evaluator")


@pytest.fixture(scope="module")
def issued(cluster: Cluster, namespace: str) -> NamespaceCertificates:
    found = NamespaceCertificates(cluster, namespace)
    found.begin()
    return found


@pytest.fixture(scope="module")
def release(cluster: Cluster, namespace: str, issued: NamespaceCertificates) -> Iterator[Release]:
    """The lab's release, all calls in it and to it by certificates of both sides."""
    outside = {"expose": {"names": [cluster.address]}}
    manager = {"enabled": True, "issuer": {"name": AUTHORITY}}
    # Connections end soon, so that the next ones show what is there then.
    soon = {"settings": {"max_connection_age_s": 5}}
    values = dict.fromkeys(("generator", "scorer", "queryBuilder", "retriever"), soon)
    given = {
        **values,
        "tls": {"enabled": True, "certManager": manager},
        "orchestrator": {**outside, **soon},
        "evaluator": outside,
    }
    with installed(Release(cluster, namespace, "lab", given)) as found:
        yield found


def access(release: Release, shown: ClientFiles) -> Access:
    return Access(
        f"ipv4:{release.node_port('orchestrator')}", ca=shown.ca, cert=shown.cert, key=shown.key
    )


def serves_by(release: Release, shown: ClientFiles) -> bytes:
    """The certificate that the orchestrator shows; nothing where it does not take the caller's."""
    context = ssl.create_default_context(cafile=shown.ca)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(shown.cert, shown.key)
    context.set_alpn_protocols(["h2"])
    host, port = release.node_port("orchestrator").split(":")
    with (
        socket.create_connection((host, int(port)), timeout=10) as raw,
        context.wrap_socket(raw) as secured,
    ):
        return secured.getpeercert(binary_form=True) or b""


def started(release: Release) -> list[str]:
    """Which containers run, in their pods, since when."""
    return [
        f"{pod['metadata']['name']} {each['restartCount']}"
        for service in SERVICES
        for pod in release.pods(service)
        for each in pod["status"]["containerStatuses"]
    ]


async def answered_calls(release: Release, shown: ClientFiles) -> bool:
    """Whether a question is, by what the caller trusts and shows."""
    requested = access(release, shown)
    async with requested.channel() as channel:
        try:
            await OrchestratorServiceStub(channel).Answer(request(requested), timeout=10)
        except grpc.aio.AioRpcError:
            return False
    return True


async def test_helm_test_and_a_caller_outside_are_answered(
    release: Release, issued: NamespaceCertificates, tmp_path: Path
) -> None:
    assert "Phase:          Succeeded" in release.helm("test", RELEASE, "--timeout", "5m")
    async with load.answers(access(release, issued.shown(tmp_path / "shown"))) as answers:
        await answers.goes_on(5)
    assert answers.failed == []


async def test_no_call_fails_while_certificates_are_renewed(
    release: Release, issued: NamespaceCertificates, tmp_path: Path
) -> None:
    shown = issued.shown(tmp_path / "shown")
    before, since = serves_by(release, shown), started(release)
    async with load.answers(access(release, shown)) as answers:
        await asyncio.to_thread(issued.renew, *issued.names())
        async with asyncio.timeout(PATIENCE_S):
            while await asyncio.to_thread(serves_by, release, shown) == before:  # noqa: ASYNC110
                await asyncio.sleep(1)
        await answers.goes_on(20)
    assert answers.failed == []
    assert started(release) == since


async def test_services_reconnect_when_their_authority_changes(
    release: Release, issued: NamespaceCertificates, tmp_path: Path
) -> None:
    since = started(release)
    await asyncio.to_thread(issued.renew, AUTHORITY)
    await asyncio.to_thread(issued.renew, *issued.names())
    shown = issued.shown(tmp_path / "shown")
    # Until all of them have both, they do not know one another.
    async with asyncio.timeout(PATIENCE_S):
        while not await answered_calls(release, shown):  # noqa: ASYNC110
            await asyncio.sleep(2)
    async with load.answers(access(release, shown)) as answers:
        await answers.goes_on(20)
    assert answers.failed == []
    assert started(release) == since
