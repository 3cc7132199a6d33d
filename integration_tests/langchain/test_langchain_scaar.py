"""The retriever and the tool on a running orchestrator, and the example of the README."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import langchain_scaar
import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException
from langchain_scaar import ScaarAnswer, ScaarRetriever

import scaar
from scaar.client import NotFound, open_client, open_sync_client

ROOT = Path(__file__).parents[2]
QUESTION = "Who directed the film The Haunted Fountain?"
DEFAULT_TARGET = "dns:///127.0.0.1:50051"


def called(tool: ScaarAnswer, question: str = QUESTION) -> dict[str, Any]:
    return {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": question}}


def test_documents_have_the_passages_and_their_origin(target: str) -> None:
    (found, *_) = ScaarRetriever(target=target, k=2).invoke(QUESTION)
    with open_sync_client(target) as client:
        expected = client.search(QUESTION, top_k=1)
    (passage,) = expected.passages
    assert (found.page_content, found.id) == (passage.text, passage.id)
    assert found.metadata["title"] == passage.title
    assert found.metadata["score"] == passage.score
    assert found.metadata["index_version"] == expected.index_version
    assert "url" not in found.metadata


async def test_an_open_client_is_used_for_both_kinds_of_calls(target: str) -> None:
    async with open_client(target) as client:
        retriever = ScaarRetriever(target="dns:///127.0.0.1:9", async_client=client)
        assert len(await retriever.ainvoke(QUESTION)) == 3
    with open_sync_client(target) as sync_client:
        retriever = ScaarRetriever(target="dns:///127.0.0.1:9", client=sync_client)
        assert len(retriever.invoke(QUESTION)) == 3


def test_an_error_of_the_retriever_is_that_of_scaar(target: str) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        ScaarRetriever(target=target, index="nowhere").invoke(QUESTION)


async def test_the_tool_answers_with_citations_and_decisions(target: str) -> None:
    tool = ScaarAnswer(target=target, policy="scaar", settings={"theta": 0.25})
    message, again = tool.invoke(called(tool)), await tool.ainvoke(called(tool))
    assert isinstance(message, ToolMessage)
    artifact = message.artifact
    assert json.loads(json.dumps(artifact)) == artifact
    assert artifact["answer"] in artifact["text"]
    assert message.content.startswith(artifact["text"].strip())
    assert "Sources:\n- " in message.content
    cited = {each["id"] for each in artifact["passages"]}
    for citation in artifact["citations"]:
        assert artifact["text"][citation["start"] : citation["end"]] == citation["text"]
        assert set(citation["passage_ids"]) <= cited
    assert "passages_retrieved" in [each["event"] for each in artifact["decisions"]]
    assert artifact["usage"]["retrievals"] >= 1
    assert (again.content, again.artifact["citations"]) == (message.content, artifact["citations"])


async def test_an_error_of_the_tool_can_be_returned_to_the_model(target: str) -> None:
    tool = ScaarAnswer(target=target, index="nowhere")
    with pytest.raises(ToolException, match="nowhere"):
        await tool.ainvoke(called(tool))
    handled = ScaarAnswer(target=target, index="nowhere", handle_tool_error=True)
    message = handled.invoke(called(handled))
    assert (message.status, "nowhere" in message.content) == ("error", True)


def test_its_version_is_that_of_scaar() -> None:
    assert langchain_scaar.__version__ == scaar.__version__


def test_the_token_is_not_shown_in_representations() -> None:
    assert "secret" not in repr(ScaarRetriever(token="secret", ca_file="ca.pem"))


def test_the_example_of_the_readme_runs(target: str) -> None:
    page = (ROOT / "clients/langchain/README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert DEFAULT_TARGET in code
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code.replace(DEFAULT_TARGET, target), {})
    lines = printed.getvalue().splitlines()
    assert lines[0].startswith("The Haunted Fountain ")
    assert "Sources:" in lines
    assert "passages_retrieved" in lines[-1]
