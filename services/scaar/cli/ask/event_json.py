"""Answer events as JSON lines; the last line has the answer and its usage."""

import dataclasses
import json
import re
from typing import Any

from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    EffectivePolicy,
    Passage,
    RetrievedPassage,
)
from scaar.retriever.metadata import metadata_to_json

# JSON is where values leave the typed world.
Json = Any


def event_line(event: AnswerEvent) -> str:
    """Return an event as one line of JSON; ``event`` is its type."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()
    if isinstance(event, AnswerFinished):
        answer = _plain(event.answer)
        usage = answer.pop("usage")
        content = {"answer": answer.pop("answer"), "text": event.answer.text, **usage, **answer}
    else:
        content = _plain(event)
    return json.dumps({"event": name, **content}, ensure_ascii=False)


def answer_record(answer: Answer) -> dict[str, Json]:
    """Return an answer as JSON: text, usage, how it ended, and its policy."""
    return {
        "answer": answer.answer,
        "text": answer.text,
        **_fields(answer.usage),
        "end": answer.end,
        "degraded": answer.degraded,
        "abstained": None if answer.abstained is None else _fields(answer.abstained),
        "scorer_mismatch": answer.provenance.scorer_mismatch,
        "policy": _plain(answer.provenance.policy),
    }


def _plain(value: Json) -> Json:
    match value:
        case EffectivePolicy():
            return {**_fields(value), "sources": dict(value.sources)}
        case Passage() | RetrievedPassage():
            return {**_fields(value), "metadata": metadata_to_json(value.metadata)}
        case _ if dataclasses.is_dataclass(value):
            return _fields(value)
        case tuple() | list():
            return [_plain(each) for each in value]
        case _:
            return value


def _fields(value: Json) -> dict[str, Json]:
    return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
