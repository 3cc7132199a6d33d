"""Records of answers of the lab models are judged again as their policies judged them."""

from pathlib import Path

import pytest

from scaar.compose import open_orchestrator
from scaar.core.records import ExplainRecordRequest
from scaar.core.types import AnswerRequest, PolicyOverrides, PolicyRequest, SentenceJudged
from scaar.database.migration import open_checked_database
from scaar.lab.questions import Question
from scaar.records.service import StoredRecords
from scaar.records.store.schema import SCHEMA
from scaar.testing.answer_records import record_answers

POLICIES = {
    "scaar": (0.2, 0.9),
    "flare": (0.2, 0.9),
    "dragin": (0.3, 2.0),
    "dragin_reference": (0.3, 2.0),
    "etc": (0.3, 3.0),
    "mean_entropy": (0.1, 1.0),
    "perplexity": (1.01, 2.0),
    "tuned-1.4": (1.05, 3.0),
}
"""Policies with two thresholds, of which one makes more drafts uncertain than the other."""


@pytest.mark.parametrize("policy", POLICIES)
async def test_another_theta_decides_as_a_real_answer_at_it(
    policy: str, tail_questions: list[Question], tmp_path: Path
) -> None:
    asked = [each.question for each in tail_questions[:4]]
    async with (
        open_checked_database(f"sqlite:///{tmp_path}/records.sqlite", SCHEMA) as database,
        open_orchestrator() as (loop, _),
    ):
        records = StoredRecords(database)
        for question in asked:
            request = AnswerRequest(question, PolicyRequest(policy))
            await record_answers(database, loop, loop.resolve(request))
        stored = reversed((await records.list_records()).records)
        for question, summary in zip(asked, stored, strict=True):
            assert summary.policy == policy
            judged = [
                each
                for each in (await records.get_record(summary.id)).events
                if isinstance(each, SentenceJudged)
            ]
            same = await records.explain_record(ExplainRecordRequest(summary.id))
            assert [each.judged.retrieving for each in same.drafts] == [
                each.retrieving for each in judged
            ]
            assert [each.judged.words for each in same.drafts] == [each.words for each in judged]
            for theta in POLICIES[policy]:
                overrides = PolicyOverrides(theta=theta)
                found = await records.explain_record(
                    ExplainRecordRequest(summary.id, overrides=overrides)
                )
                again = AnswerRequest(question, PolicyRequest(policy, overrides))
                real = [
                    event
                    async for event in loop.stream_answer(loop.resolve(again))
                    if isinstance(event, SentenceJudged)
                ]
                first = found.first_difference
                until = (
                    len(found.drafts)
                    if first is None
                    else [each.judged.sentence for each in found.drafts].index(first) + 1
                )
                assert [each.judged.retrieving for each in found.drafts[:until]] == [
                    each.retrieving for each in real[:until]
                ]
