"""Every trigger with every query formulation (SCAAR, Table 3), and the contests won."""

from collections import defaultdict
from dataclasses import replace

from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS
from scaar.core.types import AttentionSpan, EffectivePolicy, Granularity, QuerySettings
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import estimated, measure_title, text
from scaar.evaluator.report.model import Cell, Column, Item, Section, Table
from scaar.evaluator.report.wins import contests_of, count_wins, own_policies
from scaar.evaluator.statistics.means import SplitMeans
from scaar.evaluator.statistics.selection import of_chosen
from scaar.evaluator.statistics.table import Floats


def combine(analysis: Analysis) -> Section | None:
    """Return the table of combinations and the contests won; None without any."""
    items = [*_combinations(analysis), *count_wins(*contests_of(analysis))]
    return Section("Triggers and queries", tuple(items)) if items else None


def _combinations(analysis: Analysis) -> list[Item]:
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for position, policy in enumerate(own_policies(analysis)):
        if policy is not None and policy.trigger is not None:
            found[(_trigger(policy), _query(policy.query))].append(position)
    triggers = list(dict.fromkeys(trigger for trigger, _ in found))
    queries = list(dict.fromkeys(query for _, query in found))
    if len(found) <= max(len(triggers), len(queries)) or min(len(triggers), len(queries)) < 2:
        return []
    cells = {at: _cell(analysis, candidates) for at, candidates in found.items()}
    rows = [
        (
            text(trigger),
            *(_marked(cells, trigger, query) for query in queries),
        )
        for trigger in triggers
    ]
    title = measure_title(analysis.measure)
    return [
        Table(
            "combinations",
            f"{title} of every trigger with every query",
            (
                Column("trigger", "trigger"),
                *(Column(query, query.replace("_", " "), decimals=3) for query in queries),
            ),
            tuple(rows),
            note=(
                'On the test split, each at its chosen setting. "Best of row" marks the best query '
                'for a trigger, "best of column" the best trigger for a query. Where intervals '
                "overlap, such a mark may be chance."
            ),
        )
    ]


def _trigger(policy: EffectivePolicy) -> str:
    parts = [policy.trigger if policy.trigger else ""]
    if policy.granularity is not Granularity.WORD:
        parts.append(f"by {policy.granularity.value}")
    if policy.trigger and policy.spare_stop_words != TRIGGERS[policy.trigger].spares_stop_words:
        parts.append(f"{'' if policy.spare_stop_words else 'not '}sparing stop words")
    if policy.trigger and policy.attention_span is not _span(policy.trigger):
        parts.append(f"over the {policy.attention_span.value}")
    return " ".join(parts)


def _span(trigger: str) -> AttentionSpan:
    return TRIGGERS[trigger].attention_span or AttentionSpan.SENTENCE


def _query(settings: QuerySettings) -> str:
    name = settings.formulation
    own = name in FORMULATIONS and FORMULATIONS[name].includes_question
    if settings.include_question == own or settings.formulation == "question":
        return name
    return f"{name} + question" if settings.include_question else f"{name} without question"


def _cell(analysis: Analysis, candidates: list[int]) -> Cell:
    def statistic(splits: SplitMeans) -> Floats:
        measure = analysis.measure
        return of_chosen(splits, candidates, column=measure, measure=measure)

    return estimated(analysis.estimate(statistic))


def _marked(cells: dict[tuple[str, str], Cell], trigger: str, query: str) -> Cell:
    cell = cells.get((trigger, query))
    if cell is None:
        return Cell(None, note="not run")
    notes = []
    for name, at, own in (("row", 0, trigger), ("column", 1, query)):
        rivals = [float(each.value or 0) for key, each in cells.items() if key[at] == own]
        if len(rivals) > 1 and cell.value == max(rivals):
            notes.append(f"best of {name}")
    return replace(cell, note=", ".join(notes), best=bool(notes))
