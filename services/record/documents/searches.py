"""Share of contexts that contain the answer, by ``first_search`` and ``top_k``, without a model.

``python -m record.documents.searches INDEXES QUESTIONS ... [--index NAME] [--mode MODE]`` prints a
row for each setting. INDEXES is the folder of indexes (``SCAAR_RETRIEVER_INDEXES``), QUESTIONS are
JSON lines with ``question``, ``answers``, and ``folder``, the name of the index of the question
unless ``--index`` names one. Questions of yes and no, and without an answer, are left out. The
passages are those that ``single_round`` gives to a model that writes one word.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AnswerFinished,
    AnswerRequest,
    FirstSearch,
    PolicyOverrides,
    PolicyRequest,
    SearchMode,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.fakes import ScriptedGenerator, ScriptedScorer

TOP_K = (2, 3, 5, 8)


async def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("indexes", type=Path)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--index")
    parser.add_argument("--mode", type=SearchMode, default=SearchMode.INDEX)
    options = parser.parse_args()
    questions = [
        json.loads(line) for file in options.questions for line in file.read_text().splitlines()
    ]
    settings = RetrieverSettings.read().model_copy(update={"indexes": options.indexes})
    async with open_retriever(settings) as retriever:
        generator = ScriptedGenerator(lambda request: [(" So the answer is that.", -0.01)])
        loop = AdaptiveLoop(Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), retriever))
        print("first_search  top_k  questions  with the answer  words read")
        for first_search in FirstSearch:
            for top_k in TOP_K:
                overrides = PolicyOverrides(
                    first_search=first_search, top_k=top_k, search_mode=options.mode
                )
                policy = PolicyRequest("single_round", overrides)
                row = await _row(loop, policy, questions, options.index)
                print(f"{first_search:12}  {top_k:5}  {row}", flush=True)


async def _row(
    loop: AdaptiveLoop,
    policy: PolicyRequest,
    questions: Sequence[Mapping[str, Any]],
    index: str | None,
) -> str:
    found, words = list[bool](), 0
    for question in questions:
        answers = [folded(answer) for answer in question["answers"]]
        if not answers or answers[0] in ("yes", "no"):
            continue
        request = AnswerRequest(question["question"], policy, index=index or question["folder"])
        context = await _context(loop, request)
        words += len(context.split())
        found.append(any(contains(context, answer) for answer in answers))
    share = sum(found) / len(found)
    return f"{len(found):9}  {share:15.3f}  {words / len(found):10.0f}"


async def _context(loop: AdaptiveLoop, request: AnswerRequest) -> str:
    async with aclosing(loop.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, AnswerFinished):
                passages = event.answer.passages
                return folded(" ".join(f"{each.title} {each.text}" for each in passages))
    raise AssertionError("the answer has no end")


def folded(text: str) -> str:
    """Return a text in lower case, with single spaces."""
    return " ".join(text.casefold().split())


def contains(context: str, answer: str) -> bool:
    """Return whether a folded text has the answer as whole words."""
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", context) is not None


if __name__ == "__main__":
    asyncio.run(main())
