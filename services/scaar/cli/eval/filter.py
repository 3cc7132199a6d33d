"""``scaar eval filter``: fit a sentence filter, which keeps useful sentences of passages."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scaar.cli.addresses import RetrieverAddress
from scaar.cli.eval import options
from scaar.cli.eval.fields import draw, named_by_options
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Table, number, print_table
from scaar.compose import (
    EMBEDDED,
    ensure_lab_index_in,
    lab_index_name,
    open_generator,
    open_indexes,
)
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.policies.preset import PAPER_TOP_K
from scaar.core.prompts import profile_of
from scaar.core.sentence_filter.filter_json import filter_to_json
from scaar.core.sentence_filter.learned_filter import Labelling
from scaar.core.types import Capability, IndexDescription
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.store.files import write_whole
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.evaluator.studies.filtering.fit import LabelledQuestion
    from scaar.evaluator.studies.filtering.labelling import AnswerModel

app = typer.Typer(help="Fit a filter of the sentences of passages.")

RECALL = 0.9


@app.callback()
def _filter() -> None:
    """Fit a filter of the sentences of passages."""


@app.command("fit")
def fit(
    dataset: options.Dataset,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the filter.")],
    labelling: Annotated[
        Labelling,
        typer.Option(
            help="Useful sentences: those with a correct answer (strinc), those that overlap most "
            "with question and answer (lexical), or those that make the answer most probable "
            "(cxmi)."
        ),
    ] = Labelling.STRINC,
    limit: options.Limit = None,
    seed: options.Seed = None,
    index: options.Index = None,
    top_k: Annotated[
        int, typer.Option(metavar="N", help="Passages per question, 1 to 100.")
    ] = PAPER_TOP_K,
    recall: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of the useful development sentences that the filter keeps, (0, 1].",
        ),
    ] = RECALL,
    target: RetrieverAddress = EMBEDDED,
    output: Format = None,
) -> None:
    """Fit the sentence filter of FILCO to questions with answers.

    It learns the useful sentences of one retrieval per question from the development split. The
    table has both splits. cxmi calls the generator of the orchestrator's settings.
    """
    # Only commands that fit load numpy.
    from scaar.evaluator.studies.filtering.fit import SplitFigures, check_fit, fit_filter

    with named_by_options():
        sample = draw(dataset, limit=limit, seed=seed)
        check_fit(sample.questions, recall=recall, top_k=top_k)
        if (name := index or sample.index) is None:
            raise InvalidRequest.of("--index", "is required: the data set has no default index")
        labelled, described, model = asyncio.run(_label(sample, name, labelling, top_k, target))
        fitted = fit_filter(labelled, labelling=labelling, recall=recall)
    origin = {
        "data set": sample.origin.name,
        "questions": sample.origin.questions,
        "checksum": sample.origin.checksum,
        "index": described.name,
        "index version": described.version,
        "passages": top_k,
        **({"model": model} if model else {}),
        **{split.value: asdict(each) for split, each in fitted.figures.items()},
    }
    write_whole(out, filter_to_json(fitted.learned, learned_from=origin))
    names = tuple(SplitFigures.__dataclass_fields__)
    columns = (
        Column("split", right=False),
        *(Column(each, each.replace("_", " "), number(0)) for each in names[:2]),
        *(Column(each, each.replace("_", " "), number(3)) for each in names[2:]),
    )
    rows = [(split.value, *asdict(each).values()) for split, each in fitted.figures.items()]
    print_table(Table(columns, rows), output)
    print_notes(f"SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE={out}")


async def _label(
    sample: QuestionSample, index: str, labelling: Labelling, top_k: int, target: str
) -> tuple[tuple["LabelledQuestion", ...], IndexDescription, str]:
    """Return the labelled questions, the index, and the model of cxmi, else an empty name."""
    from scaar.evaluator.studies.filtering.fit import label_questions

    progress, world = EvaluationProgress(what="questions", name="labelling"), sample.lab_world
    async with AsyncExitStack() as stack:
        indexes = await stack.enter_async_context(open_indexes(target))
        if target == EMBEDDED and world is not None and index == lab_index_name(world):
            await ensure_lab_index_in(indexes, world)
        described, model, name = await indexes.describe_index(index), None, ""
        if labelling is Labelling.CXMI:
            model, name = await _answer_model(stack)
        with progress.watch(len(sample.questions), 0) as count:
            labelled = await label_questions(
                sample.questions,
                indexes,
                index=index,
                top_k=top_k,
                labelling=labelling,
                model=model,
                on_labelled=count,
            )
        return labelled, described, name


async def _answer_model(stack: AsyncExitStack) -> tuple["AnswerModel", str]:
    """Open the generator of the orchestrator, and return it with the name of its model."""
    from scaar.evaluator.execution.provenance import evaluated_profile
    from scaar.evaluator.studies.filtering.labelling import AnswerModel

    opening = open_generator(OrchestratorSettings.read().generator_target)
    generator = await stack.enter_async_context(opening)
    described = await generator.describe_model()
    if Capability.TEXT_LOGPROBS not in described.capabilities:
        raise CapabilityMissing(
            f"the labelling cxmi needs {Capability.TEXT_LOGPROBS}, which model {described.model} "
            f"on engine {described.engine} does not provide: use strinc or lexical",
            missing=Capability.TEXT_LOGPROBS,
        )
    profile = profile_of(evaluated_profile(described.prompt_profile))
    return AnswerModel(generator, profile), described.model
