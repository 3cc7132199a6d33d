"""Answers of a model to questions about documents, under several policies.

``python -m record.documents.answers QUESTIONS ... --out FILE [--settings NAME ...]`` embeds the
parts that the variables ``SCAAR_*`` select, asks, and prints a table of the answers in FILE.
QUESTIONS are JSON lines as in ``questions.jsonl``: the index of a question is its ``folder``, after
``--prefix``. FILE has a line for each answer. A run that was interrupted continues with what has
none.

A question with answers is right if an answer that is given has one of them as whole words. One
without is refused if the answer says so or is not given (``abstained``).
"""

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from record.documents.searches import contains, folded
from scaar.client import Client
from scaar.core.errors import ScaarError
from scaar.core.types import (
    AnswerForm,
    BudgetLimits,
    FirstSearch,
    PolicyOverrides,
    PolicyRequest,
)
from scaar.embedded import open_client

MAX_TOKENS = 256
SETTINGS: Mapping[str, PolicyRequest] = {
    "no_retrieval": PolicyRequest("no_retrieval"),
    **{
        f"single_round-{top_k}": PolicyRequest("single_round", PolicyOverrides(top_k=top_k))
        for top_k in (2, 3, 5, 8)
    },
    **{
        f"mentions-{top_k}": PolicyRequest(
            "single_round", PolicyOverrides(top_k=top_k, first_search=FirstSearch.MENTIONS)
        )
        for top_k in (3, 5)
    },
    "verified-3": PolicyRequest("verified", PolicyOverrides(top_k=3)),
    "verified-2": PolicyRequest("verified", PolicyOverrides(top_k=2)),
    "flare": PolicyRequest("flare"),
    "flare_reference": PolicyRequest("flare_reference"),
    "scaar": PolicyRequest("scaar"),
    "fixed_sentence": PolicyRequest("fixed_sentence"),
}


async def main() -> None:
    """Ask what has no answer yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--answer", type=AnswerForm, default=AnswerForm.TEXT)
    parser.add_argument("--prefix", default="")
    options = parser.parse_args()
    questions = [
        json.loads(line) for file in options.questions for line in file.read_text().splitlines()
    ]
    stored = read(options.out)
    known = {(line["setting"], line["id"]) for line in stored}
    async with open_client() as client:
        for setting in options.settings:
            label = f"{options.prefix}{setting}:{options.answer}"
            for question in questions:
                if (label, question["id"]) in known:
                    continue
                policy = SETTINGS[setting]
                line = await answered(client, question, policy, options.answer, options.prefix)
                with options.out.open("a") as file:
                    print(json.dumps({"setting": label, **line}, ensure_ascii=False), file=file)
            print(table(questions, read(options.out)), flush=True)


async def answered(
    client: Client,
    question: Mapping[str, Any],
    policy: PolicyRequest,
    form: AnswerForm,
    prefix: str,
) -> dict[str, Any]:
    """Return what is kept of an answer. A failed one has its error instead of a text."""
    try:
        answer = await client.answer(
            question["question"],
            policy=policy,
            index=prefix + question["folder"],
            answer=form,
            budget=BudgetLimits(max_tokens=MAX_TOKENS, timeout_s=3600),
            logprobs=True,
        )
    except ScaarError as error:
        return {"id": question["id"], "error": str(error)}
    context = folded(" ".join(f"{each.title} {each.text}" for each in answer.passages))
    return {
        "id": question["id"],
        "text": answer.answer or answer.text,
        "abstained": answer.abstained is not None,
        "found": any(contains(context, folded(each)) for each in question["answers"]),
        "passages": [each.id for each in answer.passages],
        "retrievals": answer.usage.retrievals,
        "prompt_tokens": answer.usage.prompt_tokens,
        "evaluated_tokens": answer.usage.evaluated_prompt_tokens,
        "generated_tokens": answer.usage.generated_tokens,
        "tokens": [
            [token.text, token.logprob and round(token.logprob, 4)]
            for sentence in answer.sentences
            for token in sentence.tokens
        ],
    }


def read(file: Path) -> list[dict[str, Any]]:
    """Return the stored answers."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def table(questions: Sequence[Mapping[str, Any]], stored: Sequence[Mapping[str, Any]]) -> str:
    """Return a row for each setting, over the questions that it has answers to."""
    by_id = {question["id"]: question for question in questions}
    by_setting = defaultdict[str, list[Mapping[str, Any]]](list)
    for line in stored:
        if line["id"] in by_id:
            by_setting[line["setting"]].append(line)
    rows = ["setting | right | found | refused wrongly | refused rightly | prompt tokens | errors"]
    for setting, lines in by_setting.items():
        given = [line for line in lines if "text" in line]
        asked = [(line, by_id[line["id"]]["answers"]) for line in given]
        right = [
            not line["abstained"] and is_right(line["text"], answers)
            for line, answers in asked
            if answers
        ]
        found = [line["found"] for line, answers in asked if answers]
        wrongly = sum(line["abstained"] for line, answers in asked if answers)
        rightly = [line["abstained"] for line, answers in asked if not answers]
        tokens = mean(line["prompt_tokens"] for line in given) if given else 0.0
        rows.append(
            f"{setting} | {sum(right)} of {len(right)} | {sum(found)} | {wrongly} | "
            f"{sum(rightly)} of {len(rightly)} | {tokens:.0f} | {len(lines) - len(given)}"
        )
    return "\n".join(rows)


def is_right(text: str, answers: Sequence[str]) -> bool:
    """Return whether a text has one of the answers as whole words."""
    return any(contains(folded(text), folded(answer)) for answer in answers)


if __name__ == "__main__":
    asyncio.run(main())
