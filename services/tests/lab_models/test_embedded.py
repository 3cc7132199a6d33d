"""The client whose orchestrator runs in the same process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from scaar.client import AnswerFinished, Client, InvalidRequest, SyncClient
from scaar.embedded import open_client, open_sync_client
from scaar.lab.questions import Question


async def test_the_embedded_clients_answer_search_and_describe(
    tail_questions: list[Question],
) -> None:
    question = tail_questions[0].question

    def in_a_thread() -> tuple[str, list[str]]:
        with open_sync_client() as client:
            assert isinstance(client, SyncClient)
            with client.stream_answer(question) as events:
                last = list(events)[-1]
            assert isinstance(last, AnswerFinished)
            found = client.search(question, top_k=2)
            return last.answer.answer, [passage.id for passage in found.passages]

    async with open_client() as client:
        assert isinstance(client, Client)
        answer = await client.answer(question)
        assert answer.answer
        cited = {each for sentence in answer.sentences for each in sentence.passage_ids}
        assert {passage.id for passage in answer.passages} == cited
        found = await client.search(question, top_k=2)
        assert "lab" in {index.name for index in await client.list_indexes()}
        policies = {each.name: each for each in await client.list_policies()}
        assert policies["scaar"].missing_capabilities == ()
        assert (await client.describe()).model.model == answer.provenance.model
    ids = [passage.id for passage in found.passages]
    assert len(ids) == 2
    assert await asyncio.to_thread(in_a_thread) == (answer.answer, ids)


@pytest.mark.parametrize("given", [5, None, [Path("one.json"), 5]], ids=str)
async def test_policy_files_of_the_wrong_type_are_named(given: Any) -> None:
    with pytest.raises(InvalidRequest, match="^policy_files: must be a path, not "):
        async with open_client(policy_files=given):
            pass
    with (
        pytest.raises(InvalidRequest, match="^policy_files: must be a path, not "),
        open_sync_client(policy_files=given),
    ):
        pass


async def test_a_call_in_progress_when_an_embedded_client_closes_says_that_it_is_closed() -> None:
    begun = asyncio.Event()

    async def stream(client: Client) -> None:
        async with client.stream_answer("Who directed Glass Harbor?") as events:
            async for _ in events:
                begun.set()

    async with open_client() as client:
        await client.search("Where?")
        calls = [
            asyncio.create_task(each)
            for each in (client.answer("Who directed Silent River?"), stream(client))
        ]
        await begun.wait()
    for call in calls:
        with pytest.raises(RuntimeError, match="the client is closed"):
            await call


async def test_a_call_of_a_closed_embedded_client_says_that_it_is_closed() -> None:
    async with open_client() as client:
        await client.search("Where?")
    for call in (client.answer, client.search):
        with pytest.raises(RuntimeError, match="the client is closed"):
            await call("Where?")
    with pytest.raises(RuntimeError, match="the client is closed"):
        async with client.stream_answer("Where?") as events:
            await anext(events)
    with pytest.raises(RuntimeError, match="the client is closed"):
        await client.list_policies()
