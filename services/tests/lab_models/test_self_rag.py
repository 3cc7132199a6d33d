"""``self_rag`` over the embedded engine: models with the reflection tokens, and without them."""

import json
import shutil
from contextlib import aclosing
from pathlib import Path

import pytest

from scaar.compose import open_answerer
from scaar.core.errors import CapabilityMissing
from scaar.core.ports import Answerer
from scaar.core.prompts.reflection import REFLECTION_TOKENS
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    CandidatesScored,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    RetrievalWeighed,
)
from scaar.lab.models import LAB_LM, model_folder

QUESTION = "Who directed the film The Glass Ladder?"


def write_tagged_model(folder: Path, *, special: bool) -> None:
    """Write the lab's model, whose last words are now the reflection tokens, untrained."""
    for name in ("config.json", "generation_config.json", "model.onnx", "scaar.json"):
        shutil.copy(model_folder(LAB_LM) / name, folder)
    described = json.loads((model_folder(LAB_LM) / "tokenizer.json").read_text())
    model = described["model"]
    lost = sorted(model["vocab"], key=model["vocab"].get)[-len(REFLECTION_TOKENS) :]
    model["merges"] = [each for each in model["merges"] if "".join(each) not in lost]
    for token, word in zip(REFLECTION_TOKENS, lost, strict=True):
        model["vocab"][token] = number = model["vocab"].pop(word)
        shape = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        described["added_tokens"].append(
            {"id": number, "content": token, **shape, "special": special}
        )
    (folder / "tokenizer.json").write_text(json.dumps(described))
    shutil.copy(model_folder(LAB_LM) / "tokenizer_config.json", folder)


async def answered(answerer: Answerer, **overrides: object) -> list[AnswerEvent]:
    policy = PolicyRequest("self_rag", PolicyOverrides(**overrides))  # type: ignore[arg-type]
    async with aclosing(answerer.stream_answer(AnswerRequest(QUESTION, policy))) as events:
        return [event async for event in events]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the embedded model."""
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", str(tmp_path))
    return tmp_path


async def test_the_tokens_of_a_model_decide_and_rank_and_are_not_in_the_answer(
    folder: Path,
) -> None:
    write_tagged_model(folder, special=False)
    async with open_answerer() as answerer:
        events = await answered(answerer, retrieve_above=1e-9)
    weighed = [each for each in events if isinstance(each, RetrievalWeighed)]
    assert weighed[0].decision == "retrieve"
    assert 0 < weighed[0].probability < 1
    found = next(each for each in events if isinstance(each, PassagesRetrieved))
    scored = next(each for each in events if isinstance(each, CandidatesScored))
    assert {each.passage_id for each in scored.candidates} <= {each.id for each in found.passages}
    assert all(0 < each.relevance < 1 and 0 < each.likelihood < 1 for each in scored.candidates)
    assert scored.candidates[scored.kept].score == max(each.score for each in scored.candidates)
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    assert finished.answer.text
    assert not any(token in finished.answer.text for token in REFLECTION_TOKENS)


async def test_the_layout_of_the_authors_is_a_profile_for_every_request(folder: Path) -> None:
    write_tagged_model(folder, special=False)
    request = AnswerRequest(
        QUESTION,
        PolicyRequest("self_rag", PolicyOverrides(retrieve_above=1e-9)),
        prompt_profile="self_rag",
    )
    async with open_answerer() as answerer, aclosing(answerer.stream_answer(request)) as events:
        *_, finished = [event async for event in events]
    assert isinstance(finished, AnswerFinished)
    assert finished.answer.provenance.prompt_profile == "self_rag@1"
    assert finished.answer.usage.retrievals


async def test_a_model_whose_reflection_tokens_are_special_is_refused(folder: Path) -> None:
    write_tagged_model(folder, special=True)
    async with open_answerer() as answerer:
        with pytest.raises(CapabilityMissing, match="as ordinary text"):
            await answered(answerer)


async def test_the_labs_model_without_reflection_tokens_is_refused_by_name() -> None:
    async with open_answerer() as answerer:
        with pytest.raises(CapabilityMissing, match=r"lab-lm does not: .*'\[Retrieval\]' is 11"):
            await answered(answerer)
