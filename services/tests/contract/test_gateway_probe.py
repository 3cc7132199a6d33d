"""The health check of the images of gateway and console, over sockets."""

import asyncio
from pathlib import Path

import pytest

from scaar.console.server import open_console
from scaar.console.settings import ConsoleSettings
from scaar.gateway.server import open_gateway
from scaar.gateway.settings import GatewaySettings
from scaar.runtime import probe
from scaar.runtime.config_file import CONFIG_VARIABLE
from scaar.testing.certificates import Authority, Issued
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.gateways import cited_answer, gateway_before

CERTIFICATE = "SCAAR_GATEWAY_TLS_CERT_FILE"


@pytest.fixture
def issued(tmp_path: Path) -> Issued:
    return Authority(tmp_path).issue("scaar.example.org")


async def probed(*arguments: str) -> int:
    return await asyncio.to_thread(probe.main, list(arguments))


async def test_the_probe_asks_a_gateway_by_its_url(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with gateway_before(ScriptedAnswerer(cited_answer)) as url:
        assert await probed(f"{url}/readyz") == 0
        monkeypatch.setenv("PROBE", f"{url}/healthz")
        assert await probed() == 0
        assert await probed(f"{url}/nothing") == 1
        assert f"{url}/nothing returned status 404" in capsys.readouterr().err
    assert await probed(f"{url}/healthz") == 1
    assert "did not respond" in capsys.readouterr().err


async def test_a_gateway_without_its_orchestrator_is_not_healthy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = GatewaySettings(
        address="127.0.0.1:0", stop_grace_s=0, orchestrator_target="dns:///127.0.0.1:1"
    )
    async with open_gateway(settings) as gateway:
        assert await probed(f"{gateway}/healthz") == 0
        assert await probed(f"{gateway}/readyz") == 1
    assert "returned status 503" in capsys.readouterr().err


async def test_the_probe_uses_tls_if_the_gateway_has_a_certificate(
    issued: Issued, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {"tls_cert_file": issued.cert, "tls_key_file": issued.key}
    async with gateway_before(ScriptedAnswerer(cited_answer), **files) as url:
        asked = url.replace("https://", "http://", 1) + "/readyz"
        assert await probed(asked) == 1
        assert await probed(f"{url}/readyz") == 0
        monkeypatch.setenv(CERTIFICATE, str(issued.cert))
        assert await probed(asked) == 0
        monkeypatch.delenv(CERTIFICATE)
        config = tmp_path / "scaar.yaml"
        config.write_text(f"gateway: {{tls_cert_file: {issued.cert}}}\n")
        monkeypatch.setenv(CONFIG_VARIABLE, str(config))
        assert await probed(asked) == 0


async def test_a_probe_by_an_invalid_file_is_invalid_usage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(CONFIG_VARIABLE, str(tmp_path / "missing.yaml"))
    assert await probed("http://127.0.0.1:1/readyz") == 2


async def test_a_server_in_plaintext_is_probed_beside_one_with_a_certificate(
    issued: Issued, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "scaar.yaml"
    config.write_text(f"console: {{tls_cert_file: {issued.cert}}}\n")
    monkeypatch.setenv(CONFIG_VARIABLE, str(config))
    async with gateway_before(ScriptedAnswerer(cited_answer)) as url:
        assert await probed(f"{url}/readyz") == 0
        assert await probed(url.replace("http://", "https://", 1) + "/readyz") == 1


async def test_the_probe_uses_tls_if_the_console_has_a_certificate(
    issued: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ConsoleSettings(
        address="127.0.0.1:0",
        stop_grace_s=0,
        orchestrator_target="dns:///127.0.0.1:1",
        tls_cert_file=issued.cert,
        tls_key_file=issued.key,
    )
    monkeypatch.setenv("SCAAR_CONSOLE_TLS_CERT_FILE", str(issued.cert))
    async with open_console(settings) as url:
        # It is ready without the services, whose absence its pages report.
        assert await probed(url.replace("https://", "http://", 1) + "/readyz") == 0
