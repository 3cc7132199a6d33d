"""Oracles on the lab's model, and the truth of drafts in predictions."""

from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.policies.checks import check_policy
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluation import evaluate
from scaar.evaluator.oracles import ORACLE, ORACLE_ERROR, PLANNED, oracle_parts, plan_of
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.store.folder import read_results
from scaar.lab.reading import facts_of

SEED, LIMIT = 1001, 12


@pytest.mark.long
def test_the_error_oracle_retrieves_for_wrong_drafts_alone(tmp_path: Path) -> None:
    asking = PolicyRequest(ORACLE_ERROR, PolicyOverrides(query=ORACLE))
    policies = [PolicyRequest(ORACLE_ERROR), asking]
    done = evaluate("lab", policies, out=tmp_path, seed=SEED, limit=LIMIT, progress=False)
    assert "Detection of wrong drafts" in done.report_html
    results = read_results(tmp_path)
    facts = facts_of(SEED)
    judged = [
        (prediction.setting, each)
        for prediction in results.predictions
        for each in prediction.decisions
        if each.words
    ]
    assert {each.draft_right for _, each in judged} == {True, False, None}
    for setting, each in judged:
        assert each.draft_right == facts.is_right(each.draft)
        assert each.right == facts.is_right(each.text)
        assert (each.query is not None) == (each.draft_right is False)
        if each.query is not None and setting.endswith(f"query={ORACLE}"):
            assert each.query.text == facts.query(each.draft)
            assert facts.support(each.draft) in each.passage_ids


def test_a_plan_retrieves_at_its_sentences_alone(tmp_path: Path) -> None:
    plan = {0, 2}
    request = PolicyRequest(PLANNED, PolicyOverrides(theta=plan_of(plan)))
    evaluate("lab", [request], out=tmp_path, seed=SEED, limit=LIMIT, progress=False)
    results = read_results(tmp_path)
    for prediction in results.predictions:
        retrieved = {n for n, each in enumerate(prediction.decisions) if each.query is not None}
        judged = {n for n, each in enumerate(prediction.decisions) if each.words}
        assert retrieved == plan & judged
    assert any(len(prediction.decisions) > 3 for prediction in results.predictions)


def test_oracles_exist_within_their_block_alone() -> None:
    with pytest.raises(InvalidRequest, match="there is no policy 'oracle_error'"):
        plan_settings([ORACLE_ERROR], {})
    (violation,) = check_policy(PolicyRequest("flare", PolicyOverrides(query=ORACLE)))
    assert "there is no query 'oracle'" in violation.description
    with oracle_parts(), oracle_parts():
        assert len(plan_settings([ORACLE_ERROR, "flare"], {"query": [ORACLE]})) == 2


def test_an_oracle_on_other_questions_is_refused(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "1", "question": "Who?", "answers": ["Ann"]}\n')
    with pytest.raises(
        InvalidRequest, match=r"policies\[1\]: is an oracle, and needs the data set"
    ):
        evaluate(
            f"jsonl:{questions}",
            ["flare", PolicyRequest("flare", PolicyOverrides(query=ORACLE))],
            target=f"embedded:{tmp_path / 'evaluations'}",
            progress=False,
        )


def test_a_plan_covers_the_first_sentences() -> None:
    assert (plan_of(set()), plan_of({0}), plan_of({1, 2})) == (1.0, 2.0, 7.0)
    with pytest.raises(ValueError, match="sentences must be 0 to 19, not .20."):
        plan_of({20})
