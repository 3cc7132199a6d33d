"""Texts that models wrote, replayed as the drafts of answers."""

import gzip
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import ContributionScorer
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    BudgetLimits,
    GenerateRequest,
    Passage,
    PolicyRequest,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.query_builder.local import LocalQueryBuilder
from scaar.retriever.validation import check_request
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator
from scaar.wire.messages.events import answer_event_from_pb, answer_event_to_pb

POLICIES = ("scaar", "flare", "single_round")
_PASSAGES = (
    Passage("bread", "Bread", "Bread is baked from flour and water. It is older than writing."),
    Passage("vienna", "Vienna", "Vienna is the capital of Austria.\n- It lies on the Danube."),
)
_RECORDS = Path(__file__).parent / "recorded_texts.jsonl.gz"


@dataclass(frozen=True, slots=True)
class RecordedText:
    """A text of a model, with the log-probability of every token."""

    name: str
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)

    def after(self, request: GenerateRequest) -> Iterator[Piece]:
        """Yield the rest of the text after that of the request; a conclusion after another text."""
        if not self.text.startswith(request.prefix):
            yield " unknown.", -0.5
            return
        skipped = len(request.prefix)
        for text, logprob in self.pieces:
            if len(text) > skipped:
                yield text[skipped:], logprob
            skipped = max(0, skipped - len(text))


_WORDS = " ".join(f"word{number}" for number in range(2_000))
ODD_TEXTS = (
    RecordedText("nothing", ()),
    RecordedText("white space", ((" \n\n\t", -1.0), ("\n", -0.1))),
    RecordedText("2,000 words", tuple((f" {word}", -0.2) for word in _WORDS.split())),
    RecordedText("600 words in one token", ((" " + " ".join(_WORDS.split()[:600]), -0.2),)),
    RecordedText("40,000 characters", (("x" * 40_000, -0.2), (" end.", -3.0))),
    RecordedText("40,000 characters in tokens", (("x" * 500, -0.2),) * 80),
    RecordedText("9,000 characters and words", ((f" {'x' * 9_000} and so on.", -3.0),)),
    RecordedText("4,000 ideographs", (("漢字" * 8, -3.0),) * 250),
    RecordedText(
        "control characters", (("\x00\x01 A\x00b\x1b[31m.", -3.0), (" C\x85\u2028d.", -3.0))
    ),
    RecordedText("surrogates", ((" A\ud83d", -3.0), ("\ude00 b\udfff.", -3.0), (" C.", -3.0))),
    RecordedText("combining marks", ((" a" + "\u0301" * 5_000 + ".", -3.0),)),
    RecordedText("unknown probabilities", ((" A b.", None), (" C d.", -3.0))),
    RecordedText("marks", ((" ... ?! --- |||", -3.0), ("\n|---|---|\n```\n***\n", -3.0))),
)
"""Texts that no model has written, and that none can rule out."""


def recorded_texts() -> list[RecordedText]:
    """Return the texts. Each record has the name of its model and the SHA-256 of the GGUF file."""
    lines = gzip.decompress(_RECORDS.read_bytes()).decode().splitlines()
    return [_recorded(json.loads(line)) for line in lines]


def of_every_kind(recorded: Sequence[RecordedText]) -> list[RecordedText]:
    """Return a text of every kind."""
    return list({each.name.split()[-1]: each for each in recorded}.values())


class CheckingRetriever(InMemoryRetriever):
    """Rejects what a retriever rejects."""

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        check_request(request)
        return await super().retrieve(request)


@asynccontextmanager
async def open_lab_scorer() -> AsyncIterator[ContributionScorer]:
    """Open the lab's scorer for the duration of the block."""
    settings = ScorerSettings(model=model_folder(LAB_CROSS_ENCODER), threads=1)
    async with open_scorer(settings) as scorer:
        yield scorer


async def replay(
    recorded: RecordedText, policy: str, scorer: ContributionScorer
) -> list[AnswerEvent]:
    """Return the events of an answer whose drafts are the text, as a remote client gets them."""
    ports = Ports(
        ScriptedGenerator(recorded.after),
        scorer,
        LocalQueryBuilder(),
        CheckingRetriever({"lab": _PASSAGES}),
    )
    # A slow machine is no error of the text.
    limits = BudgetLimits(timeout_s=3_600.0)
    request = AnswerRequest("What do you know about it?", PolicyRequest(policy), budget=limits)
    events = list[AnswerEvent]()
    async with aclosing(AdaptiveLoop(ports, default_index="lab").stream_answer(request)) as stream:
        async for event in stream:
            received = answer_event_from_pb(answer_event_to_pb(event))
            assert received is not None
            events.append(received)
    return events


async def failures(
    recorded: Sequence[RecordedText], policy: str, scorer: ContributionScorer
) -> list[str]:
    """Return the errors of the answers, each after the name of its text."""
    found = []
    for each in recorded:
        try:
            await replay(each, policy, scorer)
        except Exception as error:  # noqa: BLE001 - every error is a finding
            found.append(f"{each.name}: {type(error).__name__}: {error}")
    return found


def _recorded(record: dict[str, object]) -> RecordedText:
    tokens, logprobs = record["tokens"], record["logprobs"]
    assert isinstance(tokens, list)
    assert isinstance(logprobs, list)
    pieces = tuple((text, logprob / 1000) for text, logprob in zip(tokens, logprobs, strict=True))
    return RecordedText(f"{record['model']} {record['prompt']} {record['kind']}", pieces)
