"""``dragin_reference``, compared with the formula of DRAGIN's authors on drafts of a lab model."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np
import pytest
from tokenizers import Tokenizer

from scaar.compose import open_answerer
from scaar.core.ports import Answerer
from scaar.core.text.word_classes import WordClass, word_classes
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    AttendRequest,
    AttentionKind,
    PolicyOverrides,
    PolicyRequest,
    QueryBuilt,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
)
from scaar.generator.engines.decoding import prefill
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.questions import draw_questions
from scaar.lab.world import World

from .dragin_code import Code

THETA = 1.5
TOP_WORDS = 4
"""Words of a query: fewer than there are, so that it matters which."""
QUESTIONS = 80
"""Questions about films that the model has never seen, and as many about others."""
SENTENCES = 300
PROMPT = "Question: {question}\nAnswer:"


@dataclass(frozen=True)
class Compared:
    """Whether the policy and the code agree on a sentence; ``query`` is None if neither asks."""

    decision: bool
    hits: bool
    query: bool | None


@pytest.fixture(scope="module")
def code() -> Code:
    return Code()


async def answered(answerer: Answerer, question: str) -> list[AnswerEvent]:
    overrides = PolicyOverrides(theta=THETA, top_words=TOP_WORDS)
    request = AnswerRequest(question, PolicyRequest("dragin_reference", overrides))
    async with aclosing(answerer.stream_answer(request)) as stream:
        return [event async for event in stream]


def compared(code: Code, question: str, events: Sequence[AnswerEvent]) -> list[Compared]:
    """Compare every sentence that the policy judged. The code drafts after each rewritten one."""
    prompt, so_far, begin = PROMPT.format(question=question), "", 0
    draft, found = code.write(prompt, most=128), list[Compared]()
    for at, event in enumerate(events):
        match event:
            case SentenceJudged():
                hits = draft.judge(so_far[begin:], event.text, THETA, content)
                mine = [word.uncertain for word in event.words]
                agree = any(hits.hit) is event.retrieving
                query = None
                if any(hits.hit) or event.retrieving:
                    text = f"{question}{so_far}{event.text}"
                    formed = code.query(text, hits.hit, TOP_WORDS, content)
                    built = events[at + 1]
                    query = isinstance(built, QueryBuilt) and built.query.text == formed
                found.append(Compared(agree, mine == hits.hit, query))
            case SentenceAccepted():
                so_far += event.accepted.text
                if isinstance(events[at - 1], SentenceRegenerated):
                    begin, draft = len(so_far), code.write(prompt + so_far, most=128)
    return found


def content(words: Sequence[str]) -> list[bool]:
    return [each is WordClass.CONTENT for each in word_classes(words)]


@pytest.mark.long
async def test_decisions_hits_and_queries_are_those_of_the_authors_formula(
    world: World, code: Code
) -> None:
    questions = [
        each.question
        for split in ("tail", "head")
        for each in draw_questions(world, count=QUESTIONS, split=split)
    ]
    found = list[Compared]()
    async with open_answerer() as answerer:
        for question in questions:
            found += compared(code, question, await answered(answerer, question))
    queries = [each.query for each in found if each.query is not None]
    assert len(found) >= SENTENCES
    assert SENTENCES / 4 <= len(queries) <= len(found) - SENTENCES / 4, "some trigger, some do not"
    assert np.mean([each.decision for each in found]) >= 0.99
    assert np.mean([each.hits for each in found]) >= 0.99
    assert np.mean(queries) >= 0.99


@pytest.mark.parametrize("chunk", [3, 256])
async def test_received_attention_is_that_of_the_graph_in_one_run_or_several(
    code: Code, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(prefill, "CHUNK_TOKENS", chunk)
    tokenizer = Tokenizer.from_file(str(model_folder(LAB_LM) / "tokenizer.json"))
    text = " The film was directed by Ada Byron. She was born in Paris."
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    _, heads = code.read([*ids, tokenizer.token_to_id("</s>")])
    kind = AttentionKind.MAX_THEN_MEAN
    async with open_onnx_generator(GeneratorSettings(model=str(model_folder(LAB_LM)))) as generator:
        alone = await generator.attend(AttendRequest("", text, tuple(ids), kind))
        ended = await generator.attend(AttendRequest("", text, tuple(ids), kind, ended=True))
    within = heads[:, :-1, :-1].max(axis=1).mean(axis=0)
    assert alone.received == pytest.approx(list(within), abs=1e-5)
    assert ended.received == pytest.approx(list(heads.max(axis=1).mean(axis=0)[:-1]), abs=1e-5)
