"""What the service reports is what a folder of the same evaluation reports, to the byte."""

import json
from pathlib import Path

from scaar import __version__
from scaar.core.evaluations import EvaluationRequest, ReportForm, no_questions
from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.evaluator.datasets.drawing import draw_questions
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.report.writing import write_report
from scaar.evaluator.run import Run, run_in_folder
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.service.opening import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.testing.steady_answerer import SteadyAnswerer

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


async def reported_by_folder(questions: Path, folder: Path, created: str) -> None:
    drawn = draw_questions("jsonl", str(questions), limit=LIMIT, seed=SEED)
    run = Run(
        answerer=SteadyAnswerer(FAILING),
        template=AnswerRequest("", index="lab"),
        scaar=__version__,
        now=created,
    )
    settings = plan_settings(POLICIES, {})
    results = await run_in_folder(run, folder, settings, drawn.questions, origin=drawn.origin)
    write_report(
        results.evaluation,
        results.questions,
        scores=scores_of(results),
        predictions=results.predictions,
        out=folder,
    )


async def test_the_report_is_that_of_a_folder_of_the_same_questions(tmp_path: Path) -> None:
    questions, folder = write_questions(tmp_path / "questions.jsonl"), tmp_path / "results"
    settings = EvaluatorSettings(
        datasets={"jsonl": questions},
        attempts=1,
        patience_s=0.0,
        shard_predictions=10,
        concurrency=3,
    )
    request = EvaluationRequest(
        policies=tuple(PolicyRequest(name) for name in POLICIES),
        dataset="jsonl",
        limit=LIMIT,
        seed=SEED,
        index="lab",
    )
    opened = open_evaluator(
        settings,
        SteadyAnswerer(FAILING),
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
    )
    async with opened as evaluator:
        created = await evaluator.create_evaluation(request, no_questions())
        async for _ in evaluator.watch_evaluation(created.id):
            pass
        told = {form: await evaluator.report(created.id, form) for form in ReportForm}
    await reported_by_folder(questions, folder, created.created)
    assert told[ReportForm.MARKDOWN] == (folder / "report.md").read_text()
    assert told[ReportForm.HTML] == (folder / "report.html").read_text()
    by_folder = json.loads((folder / "report.json").read_text())
    assert json.loads(told[ReportForm.JSON]) == {**by_folder, "files": []}
