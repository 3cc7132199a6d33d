"""``scaar eval conversations``: follow-up questions of the lab, rewritten and as they are."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from scaar.cli.eval import options
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.tables import Column, Format, Interval, Table, interval, number, print_table
from scaar.compose import LAB_SEED, ensure_lab_index, lab_index_name, open_answerer
from scaar.core.types import DEFAULT_POLICY, AnswerRequest, BudgetLimits, PolicyRequest
from scaar.core.validation import validate

if TYPE_CHECKING:
    from scaar.evaluator.studies.conversations import ConversationRow


def conversations(
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of the lab's world.")] = (
        LAB_SEED
    ),
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=1_000, help="Number of conversations.")
    ] = 50,
    turns: Annotated[
        int, typer.Option(metavar="N", min=2, max=3, help="Questions of a conversation.")
    ] = 3,
    policy: Annotated[str, typer.Option(metavar="NAME", help="Policy.")] = DEFAULT_POLICY.name,
    concurrency: options.Concurrency = 4,
    output: Format = None,
) -> None:
    """Compare ways to answer follow-up questions of the lab.

    Every question after the first one is answered as the model rewrites it, as it was asked, and
    in its right standalone form. The model is that of SCAAR_GENERATOR_MODEL.
    """
    request = AnswerRequest(
        policy=PolicyRequest(policy),
        index=lab_index_name(seed),
        budget=BudgetLimits(timeout_s=options.TIMEOUT_S),
    )
    validate(AnswerRequest(question="?", policy=request.policy))
    rows = asyncio.run(_rows(seed, limit, turns, request, concurrency))
    columns = [
        Column("question", "question", right=False),
        Column("questions", "questions"),
        Column("exact", "exact", interval(3)),
        Column("exact_follow_ups", "exact follow-ups", interval(3)),
        Column("f1", "F1", interval(3)),
        Column("searches", "searches", number(2)),
        Column("tokens", "tokens", number(0)),
        Column("failed", "failed"),
    ]
    print_table(Table(columns, [_cells(row) for row in rows]), output)


async def _rows(
    seed: int, limit: int, turns: int, request: AnswerRequest, concurrency: int
) -> "tuple[ConversationRow, ...]":
    # Only commands that compute load numpy.
    from scaar.evaluator.studies.conversations import (
        Variant,
        draw_later_questions,
        evaluate_conversations,
    )

    questions = draw_later_questions(seed, conversations=limit, turns=turns)
    await ensure_lab_index(seed)
    progress = EvaluationProgress(what="answers")
    with progress.watch(len(questions) * len(Variant), 0) as count:
        async with open_answerer() as answerer:
            return await evaluate_conversations(
                answerer,
                request,
                questions,
                concurrency=concurrency,
                on_answer=count,
            )


def _cells(row: "ConversationRow") -> list[str | float | Interval]:
    return [
        row.variant.value,
        row.questions,
        Interval.of(row.exact),
        Interval.of(row.exact_follow_ups),
        Interval.of(row.f1),
        row.searches,
        row.tokens,
        row.failed,
    ]
