"""The report over evaluations that are joined."""

import re

from scaar.evaluator.joining import facts
from scaar.evaluator.joining.joined import Joined
from scaar.evaluator.joining.policies import tabulate_policies
from scaar.evaluator.joining.sweeps import draw_sweeps
from scaar.evaluator.joining.wins import count_all_wins
from scaar.evaluator.report.cells import measure_title, number, text
from scaar.evaluator.report.model import Column, Item, Report, Section, Table
from scaar.evaluator.report.origin import OF_RECORD
from scaar.evaluator.results import told_left_out


def compose_joined(joined: Joined) -> Report:
    """The report; a part without content is left out."""
    parts = (
        tabulate_policies(joined),
        *draw_sweeps(joined),
        count_all_wins(joined),
        _how(joined),
        _made_of(joined),
    )
    differing = ", ".join(each.name for each in joined.axes if each.differs)
    return Report(
        title=f"{len(joined.analyses)} evaluations by {differing}",
        subtitle=f"{len(joined.policies())} policies; each evaluation is measured by itself",
        sections=tuple(part for part in parts if part is not None),
    )


def _how(joined: Joined) -> Section:
    options = joined.analyses[0].options
    few = min(len(each.table.questions) for each in joined.analyses)
    items: list[Item] = [
        "Every evaluation was split into halves by what its questions are about; each policy's "
        f"setting is the one with the best {measure_title(joined.measure)} on the development half "
        "of that evaluation, and everything here is measured on its test half. Intervals are of "
        f"95%, by {options.resamples} bootstrap resamples of whole entities in each evaluation. "
        "Nothing is averaged over evaluations, and no difference between two of them is tested."
    ]
    for name, analysis in zip(joined.names, joined.analyses, strict=True):
        if told := "; ".join(told_left_out(analysis.evaluation.left_out)):
            items.append(f"Left out of {name}, because its model cannot serve them: {told}.")
        if not analysis.halved.apart:
            items.append(
                f"Warning: {name} could not be split into halves; what was chosen there looks "
                "better than it is."
            )
    if few < OF_RECORD:
        items.append(
            f"Warning: {few:,} question{'' if few == 1 else 's'} in the smallest evaluation. A "
            f"report of record has at least {OF_RECORD:,}."
        )
    return Section("How the comparison is made", tuple(items))


def _made_of(joined: Joined) -> Section:
    rows = []
    for name, analysis in zip(joined.names, joined.analyses, strict=True):
        evaluation = analysis.evaluation
        told = (
            *(facts.model_of(evaluation), facts.scorer_of(evaluation), facts.index_of(evaluation)),
            *(facts.data_set_of(evaluation), f"{evaluation.dataset.seed}"),
            *(evaluation.dataset.checksum, evaluation.created, evaluation.scaar),
        )
        counts = (len(analysis.table.questions), len(analysis.table.settings))
        rows.append((text(name), *map(number, counts), *(text(_cut(each)) for each in told)))
    names = ("model", "scorer", "index", "data set", "seed", "questions' SHA-256", "begun", "scaar")
    table = Table(
        "joined_evaluations",
        "The evaluations",
        (
            Column("folder", "folder"),
            Column("questions", "questions", decimals=0),
            Column("settings", "settings", decimals=0),
            *(Column(each.replace(" ", "_").replace("'", ""), each) for each in names),
        ),
        tuple(rows),
    )
    return Section("What was joined", (table,))


def _cut(told: str) -> str:
    """A text whose checksums are cut to what tells them apart."""
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{20,}\b", r"\1", told)
