"""The loss through the gate: F1, ROUGE-1, BLEU-4 and METEOR with it, less those without it."""

from collections.abc import Sequence
from pathlib import Path

from record.longtail.gated_evaluation import MEASURES, GatedEvaluation, Measurements, read_gated
from record.sections import PartContent
from scaar.evaluator.report.cells import estimated, measure_title, number, score_column, text
from scaar.evaluator.report.model import Cell, Column, Table


def show_losses(folders: Sequence[Path]) -> PartContent:
    """Return the change and the values of every measure, and F1 of head and tail."""
    gated = read_gated(folders[0])
    sentences = tuple(_sentence(gated, measure) for measure in MEASURES)
    return PartContent((_changes(gated), _by_popularity(gated)), (_scores(gated),), sentences)


def _changes(gated: GatedEvaluation) -> Table:
    judged = gated.judged().values()
    share = sum(each.passed for each in judged) / len(judged)
    rows = tuple(
        (
            text(each.policy),
            *(
                estimated(gated.measurements.change(measure, each.behind, each.without))
                for measure in MEASURES
            ),
            estimated(gated.measurements.change_from_random("f1", each, gated.alone, share)),
        )
        for each in gated.pairs
    )
    return Table(
        "losses",
        "Changes with the gate",
        (
            Column("policy", "policy"),
            *(score_column(measure, measure_title(measure), signed=True) for measure in MEASURES),
            score_column("random", "F1 minus random", signed=True),
        ),
        rows,
        note=(
            "The mean with the gate less that without it, on the same questions, with the "
            "paired 95% interval by entity. The last column is F1 with the gate less that of a "
            "random choice of as many questions (its expected value): without it, a gate's "
            "speed-up shows only how many questions it leaves out."
        ),
    )


def _scores(gated: GatedEvaluation) -> Table:
    rows = gated.rows(
        lambda at: (estimated(gated.measurements.mean(measure, at)) for measure in MEASURES)
    )
    columns = (
        Column("policy", "policy"),
        Column("gate", "gate"),
        *(score_column(measure, measure_title(measure)) for measure in MEASURES),
    )
    return Table("scores", "Scores", columns, rows)


def _by_popularity(gated: GatedEvaluation) -> Table:
    parts = {value: gated.measurements.of("popularity", value) for value in ("head", "tail")}
    titles = [
        (value, gate) for value in parts for gate in ("without the gate", "with it", "change")
    ]
    rows = []
    for each in gated.pairs:
        cells = [text(each.policy)]
        for part in parts.values():
            cells += [_f1(part, each.without), _f1(part, each.behind)]
            cells.append(estimated(part.change("f1", each.behind, each.without)))
        rows.append(tuple(cells))
    counts = {value: len(part.table.questions) for value, part in parts.items()}
    return Table(
        "losses_by_popularity",
        "F1 of head and tail",
        (
            Column("policy", "policy"),
            *(
                score_column(
                    f"{value}_{gate.split()[0]}", f"{value}, {gate}", signed=gate == "change"
                )
                for value, gate in titles
            ),
        ),
        tuple(rows),
        note=f"{counts['head']} questions are in the head, {counts['tail']} in the tail.",
    )


def _f1(part: Measurements, at: int) -> Cell:
    return number(part.mean("f1", at).value)


def _sentence(gated: GatedEvaluation, measure: str) -> str:
    below: list[str] = []
    above: list[str] = []
    neither: list[str] = []
    for each in gated.pairs:
        found = gated.measurements.change(measure, each.behind, each.without)
        if found.low is None or found.high is None or found.low <= 0 <= found.high:
            neither.append(each.policy)
        else:
            (above if found.low > 0 else below).append(f"{each.policy} ({found.value:+.3f})")
    parts = [
        f"{what} for {', '.join(names)}"
        for what, names in (("lower", below), ("higher", above))
        if names
    ]
    if neither:
        parts.append(f"not significantly different for {', '.join(neither)}")
    return f"{measure_title(measure)} with the gate is {'; '.join(parts)}."
