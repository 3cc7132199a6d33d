"""Model servers of this machine, as ``scaar doctor`` finds and offers them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from scaar.cli.serve import model_servers
from scaar.cli.serve.model_servers import ModelServer, find_model_servers
from scaar.testing.commands import run_scaar


@contextmanager
def listing(body: str, status: int = 200) -> Iterator[int]:
    """The port of a server with this list of models."""

    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/v1/models"
            self.send_response(status if found else 404)
            self.end_headers()
            self.wfile.write(body.encode() if found else b"")

        def log_message(self, *_: object) -> None:
            """Keep the log of the test empty."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Models) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def _list(*names: object) -> str:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]})


async def test_a_server_that_lists_models_is_found_past_proxies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with listing(_list("llama3.2", "qwen3:4b")) as port, listing(_list("m")) as other:
        monkeypatch.setattr(
            model_servers, "USUAL_PORTS", {"Ollama": port, "vLLM": 1, "LM Studio": other}
        )
        found = await find_model_servers()
    assert found == [
        ModelServer("Ollama", port, ("llama3.2", "qwen3:4b")),
        ModelServer("LM Studio", other, ("m",)),
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("<html>", 200),
        ("[]", 200),
        ("{}", 200),
        (_list("m"), 401),
        (_list(), 200),
        ('{"data": 3}', 200),
    ],
)
async def test_other_servers_are_ignored(
    monkeypatch: pytest.MonkeyPatch, body: str, status: int
) -> None:
    with listing(body, status) as port:
        monkeypatch.setattr(model_servers, "USUAL_PORTS", {"llama.cpp": port})
        assert await find_model_servers() == []


async def test_names_with_control_characters_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with listing(_list("\x1b[31mred", 7, "plain")) as port:
        monkeypatch.setattr(model_servers, "USUAL_PORTS", {"llama.cpp": port})
        (found,) = await find_model_servers()
    assert found.models == ("plain",)


def test_the_command_names_a_model_where_there_are_several() -> None:
    settings = "SCAAR_GENERATOR_ENGINE=openai SCAAR_GENERATOR_URL=http://127.0.0.1:8000"
    assert ModelServer("vLLM", 8000, ("m",)).command() == f'{settings} scaar ask "..."'
    several = ModelServer("vLLM", 8000, ("a b", "c", "d", "e", "f"))
    assert several.command() == f"{settings} SCAAR_GENERATOR_MODEL='a b' scaar ask \"...\""
    assert str(several) == "a b, c, d and 2 more"


def test_doctor_offers_a_server_unless_the_settings_name_one(
    home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listing(_list("llama3.2")) as port:
        monkeypatch.setattr(model_servers, "USUAL_PORTS", {"Ollama": port})
        offer = (
            f"✓ model server: llama3.2 (found at port {port}, the usual one of Ollama); to use it: "
            f"SCAAR_GENERATOR_ENGINE=openai SCAAR_GENERATOR_URL=http://127.0.0.1:{port} scaar ask"
        )
        assert offer in run_scaar("doctor").out
        monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "openai")
        monkeypatch.setenv("SCAAR_GENERATOR_URL", "http://127.0.0.1:1")
        assert "model server:" not in run_scaar("doctor").out
