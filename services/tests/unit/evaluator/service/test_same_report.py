"""What the service reports is what a folder of the same evaluation reports, to the byte."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from scaar.core.evaluations import (
    EvaluationRequest,
    EvaluationState,
    ReportFormat,
    no_questions,
)
from scaar.core.ports import Answerer
from scaar.core.types import PolicyRequest
from scaar.evaluator.datasets.sample import draw_questions
from scaar.evaluator.execution.scorers import Answerers
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.report.writer import write_report
from scaar.evaluator.run import Run, run_in_folder
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.specification import EvaluationSpec
from scaar.testing.steady_answerer import SteadyAnswerer, varied

POLICIES = ("no_retrieval", "single_round", "flare")
FAILING = (("poison", 0),)
SEED, LIMIT = 3, 24


def write_questions(path: Path) -> Path:
    rows = [
        {
            "id": f"q{at}",
            "question": f"Who is {'poison' if at == 7 else 'number'} {at}?",
            "answers": ["Ada" if at % 3 else "Grace"],
            "labels": {"kind": "even" if at % 2 == 0 else "odd"},
        }
        for at in range(30)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def answerer(request: EvaluationRequest) -> Answerer:
    """One that fails a question if nothing else is tested, and lacks attention."""
    if request.theta_candidates is None:
        return SteadyAnswerer(FAILING)
    return SteadyAnswerer(script=varied)


async def reported_by_folder(
    request: EvaluationRequest, questions: Path, folder: Path, created: str
) -> None:
    drawn = draw_questions("jsonl", str(questions), limit=LIMIT, seed=SEED)
    spec = EvaluationSpec(
        *(drawn.origin, plan_settings([each.name for each in request.policies], {}), "lab", 60.0),
        theta_candidates=request.theta_candidates,
        skip_unserved=request.skip_unserved,
        cache_generations=request.cache_generations,
    )
    now = datetime.fromisoformat(created).timestamp()
    run = Run(Answerers(answerer(request)), concurrency=3, now=lambda: now)
    results = await run_in_folder(run, folder, spec, drawn.questions)
    write_report(
        results.evaluation,
        results.questions,
        scores=scores_of(results),
        predictions=results.predictions,
        out=folder,
    )


REQUEST = EvaluationRequest(
    policies=tuple(map(PolicyRequest, POLICIES)),
    dataset="jsonl",
    limit=LIMIT,
    seed=SEED,
    indexes=("lab",),
)


@pytest.mark.parametrize(
    "request_",
    [
        REQUEST,
        replace(REQUEST, policies=(*REQUEST.policies, PolicyRequest("dragin")), skip_unserved=True),
        replace(
            REQUEST,
            policies=(*REQUEST.policies, PolicyRequest("dragin")),
            skip_unserved=True,
            theta_candidates=3,
        ),
        replace(REQUEST, cache_generations=True),
    ],
    ids=["policies", "skip_unserved", "theta_candidates", "cache_generations"],
)
async def test_the_report_is_that_of_a_folder_of_the_same_questions(
    request_: EvaluationRequest, tmp_path: Path
) -> None:
    questions, folder = write_questions(tmp_path / "questions.jsonl"), tmp_path / "results"
    settings = EvaluatorSettings(
        datasets={"jsonl": questions},
        attempts=1,
        patience_s=0.0,
        shard_predictions=10,
        concurrency=3,
    )
    opened = open_evaluator(
        settings,
        answerer(request_),
        cached=Answerers(answerer(request_)),
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
    )
    async with opened as evaluator:
        created = await evaluator.create_evaluation(request_, no_questions())
        async for progress in evaluator.watch_evaluation(created.id):
            ended = progress.evaluation
        assert ended.state is EvaluationState.SUCCEEDED, ended.error
        assert [each.setting for each in ended.left_out] == (
            ["dragin"] if request_.skip_unserved else []
        )
        assert (await evaluator.list_evaluations()).evaluations == (ended,)
        message = {form: await evaluator.report(created.id, form) for form in ReportFormat}
    await reported_by_folder(request_, questions, folder, created.created)
    assert message[ReportFormat.MARKDOWN] == (folder / "report.md").read_text()
    assert message[ReportFormat.HTML] == (folder / "report.html").read_text()
    by_folder = json.loads((folder / "report.json").read_text())
    assert json.loads(message[ReportFormat.JSON]) == {**by_folder, "files": []}
