"""LiteLLM's proxy before the gateway: what OpenAI's client gets through it."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
import yaml

from .test_gateway_page import RELEASED

QUESTION: Any = [{"role": "user", "content": "When was the film The Velvet Statue released?"}]
PATIENCE_S = 300


@pytest.fixture(scope="module")
def proxy(
    gateway: str, python: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[openai.OpenAI]:
    """Yield OpenAI's client of a proxy with the configuration of docs/gateway.md."""
    folder = tmp_path_factory.mktemp("proxy")
    parameters = {"model": "openai/scaar", "api_base": f"http://{gateway}/v1", "api_key": "unused"}
    config = {"model_list": [{"model_name": "scaar", "litellm_params": parameters}]}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [str(Path(python).with_name("litellm")), "--config", "config.yaml"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    # The list of prices is the one that the package ships.
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(f"{url}/health/liveliness", process, folder / "log")
        with openai.OpenAI(base_url=url, api_key="any", timeout=PATIENCE_S) as client:
            yield client
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        try:
            if httpx2.get(url).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"the proxy is not ready: {log.read_text()[-4000:]}")


def test_an_answer_has_citations_usage_and_log_probabilities(proxy: openai.OpenAI) -> None:
    found = proxy.chat.completions.create(model="scaar", messages=QUESTION, logprobs=True)
    (choice,) = found.choices
    assert choice.message.content == RELEASED
    cited = [each.url_citation for each in choice.message.annotations or ()]
    assert "The Velvet Statue" in {each.title for each in cited}
    assert found.usage is not None
    assert found.usage.completion_tokens > 0
    assert choice.logprobs is not None
    assert "".join(each.token for each in choice.logprobs.content or ()) == RELEASED


def test_a_stream_has_the_same_text(proxy: openai.OpenAI) -> None:
    chunks = proxy.chat.completions.create(model="scaar", messages=QUESTION, stream=True)
    text = "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)
    assert text == RELEASED


def test_an_invalid_field_is_an_error_of_the_request(proxy: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="top_logprobs"):
        proxy.chat.completions.create(
            model="scaar", messages=QUESTION, logprobs=True, top_logprobs=2
        )
