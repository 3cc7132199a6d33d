"""The report of a run over drafts."""

from collections.abc import Sequence

from scaar.evaluator.queries.comparing import PER_TERMS, Comparing, Difference
from scaar.evaluator.queries.records import CUTS
from scaar.evaluator.queries.scoring import TERMS, recall, together
from scaar.evaluator.queries.store import QueryResults
from scaar.evaluator.report.cells import estimated, number, score_column, text
from scaar.evaluator.report.model import Column, Report, Section, Table
from scaar.evaluator.statistics.estimate import Estimate

LABEL = Column("formulation", "formulation")
MIDDLE = CUTS[1]
_PER_TERMS = f"per {PER_TERMS} terms"
NO_PROBABILITIES = (
    "The drafts carry no probabilities, so no word counts as uncertain: of pfq this measures the "
    "choice by contribution, and not the leaving out of what the model doubts."
)


def compose(results: QueryResults, comparing: Comparing, *, reference: str) -> Report:
    """The report; a part without content is left out."""
    dataset, count = results.evaluation.dataset, len(comparing.table.questions)
    return Report(
        title=f"Query formulations on {dataset.name}",
        subtitle=(
            f"{count:,} questions, {len(comparing.labels)} formulations, begun "
            f"{results.evaluation.created}, scaar {results.evaluation.scaar}"
        ),
        sections=(
            Section("Recall of the supports", (how(results, comparing), by_retrieval(comparing))),
            Section("All retrievals of an answer", (by_answer(comparing),)),
            Section(f"Beside {reference}", (beside(comparing, reference),)),
            *_controls(comparing),
            Section("What made it", (made_by(results, comparing),)),
        ),
    )


def how(results: QueryResults, comparing: Comparing) -> str:
    """How it was measured, in plain words."""
    concluding = len(results.asked) - len(comparing.table.questions)
    left_out = (
        f" {concluding} whose draft is a conclusion alone are left out." if concluding else ""
    )
    if refused := {(question, each.sentence) for question, each in results.refused}:
        left_out += (
            f" A scorer did not take {len(refused)} sentence{'' if len(refused) == 1 else 's'}: "
            "pfq finds nothing there."
        )
    return (
        "Every sentence of a draft that does not conclude is retrieved for once, by each "
        f"formulation, as if the model had doubted it. {NO_PROBABILITIES} Recall is the share of a "
        "question's supporting passages among the first passages of a retrieval, the mean over its "
        "retrievals and then over the questions; terms are the words of a query. Intervals are of "
        f"95%, by {comparing.resamples:,} bootstrap resamples of whole entities.{left_out}"
    )


def by_retrieval(comparing: Comparing) -> Table:
    """Recall at every cut, terms, and recall for the terms spent."""
    columns = [
        *(score_column(recall(cut), f"recall at {cut}") for cut in CUTS),
        Column(TERMS, "terms", decimals=1),
        score_column(f"{recall(MIDDLE)}_per_terms", f"recall at {MIDDLE} {_PER_TERMS}"),
    ]
    found = [
        *(comparing.estimates(recall(cut)) for cut in CUTS),
        comparing.estimates(TERMS),
        comparing.per_terms(recall(MIDDLE)),
    ]
    return _by_label(comparing, "by_retrieval", "A retrieval", columns, found)


def by_answer(comparing: Comparing) -> Table:
    """Recall of what all retrievals of a question find."""
    columns = [score_column(together(cut), f"recall at {cut} each") for cut in CUTS]
    found = [comparing.estimates(together(cut)) for cut in CUTS]
    return _by_label(comparing, "by_answer", "What they find together", columns, found)


def beside(comparing: Comparing, reference: str) -> Table:
    """What the others have more than the reference."""
    return differences_table(
        comparing,
        comparing.to_reference(reference),
        name="differences",
        title=f"More than {reference}, paired",
        note="P-values are two-sided, after Holm over the lines of a column.",
    )


def _controls(comparing: Comparing) -> Sequence[Section]:
    pairs = comparing.to_controls()
    if not pairs:
        return ()
    table = differences_table(
        comparing,
        pairs,
        name="controls",
        title="More by the scorer's own contributions than by a control, paired",
        note="P-values are two-sided, after Holm over the lines of a column.",
    )
    return (Section("Whether it is the contributions", (table,)),)


def differences_table(
    comparing: Comparing, pairs: Sequence[tuple[str, str]], *, name: str, title: str, note: str
) -> Table:
    """Differences of recall at every cut and of recall for the terms spent."""
    parts: list[tuple[str, str, Sequence[Difference]]] = [
        (recall(cut), f"recall at {cut}", comparing.differences(pairs, recall(cut))) for cut in CUTS
    ]
    middle = recall(MIDDLE)
    spent = comparing.differences(pairs, middle, per_terms=True)
    parts.append((f"{middle}_per_terms", f"recall at {MIDDLE} {_PER_TERMS}", spent))
    columns = [LABEL, Column("beside", "beside")]
    for column, heading, _ in parts:
        columns += [score_column(column, heading, signed=True), score_column(f"{column}_p", "p")]
    rows = []
    for at, (label, other) in enumerate(pairs):
        cells = [text(label), text(other)]
        for _, _, found in parts:
            cells += [estimated(found[at].found), number(found[at].holm, missing="undefined")]
        rows.append(tuple(cells))
    return Table(name, title, tuple(columns), tuple(rows), note)


def made_by(results: QueryResults, comparing: Comparing) -> Table:
    """Data, scorers, index and seeds."""
    evaluation = results.evaluation
    dataset, drafts = evaluation.dataset, evaluation.drafts
    facts = [
        ("scaar", evaluation.scaar),
        ("begun", evaluation.created),
        ("data set", f"{dataset.name} {dataset.path}".strip()),
        ("questions", f"{dataset.questions} (seed {dataset.seed})"),
        ("questions' SHA-256", dataset.checksum),
        ("drafts", f"{drafts.path}, field {drafts.field}"),
        ("drafts' SHA-256", drafts.sha256),
        *(
            (f"scorer {name}", f"{each.model} {each.revision} ({each.engine})")
            for name, each in evaluation.scorers.items()
        ),
        ("index", f"{evaluation.index} {evaluation.index_version}"),
        ("passages", f"{evaluation.passages:,}"),
        ("resampling", f"{comparing.resamples} draws, seed {dataset.seed}"),
    ]
    rows = tuple((text(name), text(value)) for name, value in facts)
    columns = (Column("what", "what"), Column("value", "value"))
    return Table("made_by", "Data, scorers and seeds", columns, rows)


def _by_label(
    comparing: Comparing,
    name: str,
    title: str,
    columns: Sequence[Column],
    found: Sequence[Sequence[Estimate]],
) -> Table:
    rows = [
        (text(label), *(estimated(each[at]) for each in found))
        for at, label in enumerate(comparing.labels)
    ]
    return Table(name, title, (LABEL, *columns), tuple(rows))
