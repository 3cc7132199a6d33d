"""The proxy of LiteLLM before a gateway, with the configuration of docs/gateway.md."""

import asyncio
import re
import secrets
import urllib.request
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import pytest
import yaml
from openai import AsyncOpenAI, OpenAI

from scaar.core.types import AnswerEvent, AnswerRequest, SentenceAccepted
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.gateways import SENTENCES, cited_answer, gateway_before
from scaar.testing.ports import free_port

from ..servers.server_process import ServerProcess

PAGE = Path(__file__).parents[2] / "docs/gateway.md"
QUESTIONS = (
    "When was the film The Velvet Statue released?",
    "Who directed the film The Haunted Fountain?",
)
ENDLESS = "endless"
PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running proxy; its model ``endless`` is for a gateway on the port ``endless``."""

    url: str
    key: str
    log: Path
    endless: int


@pytest.fixture(scope="module")
def proxy(gateway: str, python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Yield a proxy before the gateway of the lab."""
    folder, port = tmp_path_factory.mktemp("litellm"), free_port()
    made = Proxy(
        f"http://127.0.0.1:{port}/v1", f"sk-{secrets.token_hex(32)}", folder / "log", free_port()
    )
    configuration = folder / "config.yaml"
    configuration.write_text(yaml.safe_dump(configured(gateway, made.endless)))
    command = [str(Path(python).with_name("litellm")), "--config", str(configuration)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    environment = {
        "LITELLM_MASTER_KEY": made.key,
        # Prices of models and news are otherwise fetched from the internet.
        "LITELLM_OFFLINE_MODE": "true",
        "OMP_NUM_THREADS": "1",
    }
    process = ServerProcess(made.log, environment=environment)
    process.start(command, answers=lambda: is_live(port))
    try:
        yield made
    finally:
        process.kill_with_children()


@pytest.fixture(autouse=True)
def output(proxy: Proxy) -> Iterator[None]:
    """Print what the proxy writes during a test; pytest shows the text if the test fails."""
    start = proxy.log.stat().st_size
    yield
    print(proxy.log.read_bytes()[start:].decode())


@pytest.fixture
def through(proxy: Proxy) -> Iterator[OpenAI]:
    """Yield a client of the proxy."""
    with OpenAI(base_url=proxy.url, api_key=proxy.key, max_retries=0) as client:
        yield client


@pytest.fixture
def direct(gateway: str) -> Iterator[OpenAI]:
    """Yield a client of the gateway."""
    with OpenAI(base_url=f"http://{gateway}/v1", api_key="unused", max_retries=0) as client:
        yield client


@pytest.fixture
async def endless(proxy: Proxy) -> AsyncIterator[ScriptedAnswerer]:
    """Yield the answerer of a gateway whose answers do not end."""

    def script(request: AnswerRequest) -> Iterator[AnswerEvent]:
        events = list(cited_answer(request))
        yield events[0]
        while True:
            yield next(each for each in events if isinstance(each, SentenceAccepted))

    answerer = ScriptedAnswerer(script, delay_s=0.05)
    async with gateway_before(answerer, address=f"127.0.0.1:{proxy.endless}"):
        yield answerer


def configured(gateway: str, endless: int) -> dict[str, Any]:
    """Return the configuration of the page, with one more model."""
    found = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (block,) = [each for each in found if "litellm_params" in each]
    assert "localhost:8090" in block
    configuration: dict[str, Any] = yaml.safe_load(block.replace("localhost:8090", gateway))
    (model,) = configuration["model_list"]
    target = {**model["litellm_params"], "api_base": f"http://127.0.0.1:{endless}/v1"}
    configuration["model_list"].append({"model_name": ENDLESS, "litellm_params": target})
    return configuration


def is_live(port: int) -> bool:
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/health/liveliness", timeout=5
        ) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def chat(question: str, **fields: Any) -> dict[str, Any]:
    return {"model": "scaar", "messages": [{"role": "user", "content": question}], **fields}


def answered(client: OpenAI, question: str) -> dict[str, Any]:
    """Return the whole answer to a question."""
    return client.chat.completions.create(**chat(question)).to_dict()


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_the_gateways_with_citations_and_usage(
    question: str, through: OpenAI, direct: OpenAI
) -> None:
    expected, found = answered(direct, question), answered(through, question)
    (mine,), (theirs,) = expected["choices"], found["choices"]
    assert theirs["message"]["content"] == mine["message"]["content"]
    assert theirs["message"]["annotations"] == mine["message"]["annotations"] != []
    assert theirs["finish_reason"] == mine["finish_reason"]
    assert {**found["scaar"], "request_id": ""} == {**expected["scaar"], "request_id": ""}
    assert found["scaar"]["request_id"] != expected["scaar"]["request_id"]
    # Tokens of a draft that is discarded early depend on the time.
    for name in ("prompt_tokens", "retrievals", "searches"):
        assert found["usage"][name] == expected["usage"][name] > 0
    assert found["usage"]["completion_tokens"] > 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_stream_has_text_citations_and_tokens_of_the_whole_answer(
    question: str, through: OpenAI, direct: OpenAI
) -> None:
    expected = answered(direct, question)
    (mine,) = expected["choices"]
    fields = chat(question, stream=True, stream_options={"include_usage": True})
    chunks = [each.to_dict() for each in through.chat.completions.create(**fields)]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    texts = [each["delta"]["content"] for each in choices if each["delta"].get("content")]
    cited = [each for choice in choices for each in choice["delta"].get("annotations", [])]
    assert len(texts) > 1
    assert "".join(texts) == mine["message"]["content"]
    assert cited == mine["message"]["annotations"]
    assert choices[-1]["finish_reason"] == mine["finish_reason"]
    (usage,) = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    assert usage["prompt_tokens"] == expected["usage"]["prompt_tokens"]
    assert usage["completion_tokens"] > 0


def test_a_response_is_the_gateways_with_citations(through: OpenAI, direct: OpenAI) -> None:
    expected, found = (
        client.responses.create(model="scaar", input=QUESTIONS[0]).to_dict()
        for client in (direct, through)
    )
    (mine,), (theirs,) = expected["output"], found["output"]  # type: ignore[misc]
    assert theirs["content"] == mine["content"]
    assert theirs["content"][0]["annotations"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"policy": "nothing"}, openai.BadRequestError),
        ({"settings": {"theta": 7}}, openai.BadRequestError),
        ({"index": "nowhere"}, openai.NotFoundError),
    ],
)
def test_an_error_has_the_message_of_the_gateway_and_later_questions_are_answered(
    fields: dict[str, Any],
    error: type[openai.APIStatusError],
    stream: bool,
    through: OpenAI,
    direct: OpenAI,
) -> None:
    request = chat(QUESTIONS[0], stream=stream, extra_body={"scaar": fields})
    with pytest.raises(error) as expected:
        direct.chat.completions.create(**request)
    with pytest.raises(error) as found:
        through.chat.completions.create(**request)
    assert expected.value.body["message"] in found.value.body["message"]  # type: ignore[index]
    assert found.value.param == expected.value.param
    assert answered(through, QUESTIONS[0])["choices"]


async def test_a_client_that_leaves_cancels_the_answer(
    proxy: Proxy, endless: ScriptedAnswerer
) -> None:
    async with AsyncOpenAI(base_url=proxy.url, api_key=proxy.key, max_retries=0) as client:
        request = {**chat("Where was Ada born?", stream=True), "model": ENDLESS}
        stream: Any = await client.chat.completions.create(**request)
        async for chunk in stream:
            if text := chunk.choices[0].delta.content:
                assert text.strip() == SENTENCES[0].text.strip()
                break
        assert (endless.opened, endless.closed) == (1, 0)
        await stream.close()
        async with asyncio.timeout(PATIENCE_S):
            while not endless.closed:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
