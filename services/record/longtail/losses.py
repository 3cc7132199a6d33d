"""What the gate loses: F1, ROUGE-1, BLEU-4 and METEOR behind it less those without it."""

from collections.abc import Sequence
from pathlib import Path

from record.longtail.measured import MEASURES, Gated, Measured, read_gated
from record.sections import Shown
from scaar.evaluator.report.cells import estimated, measure_title, number, score_column, text
from scaar.evaluator.report.model import Cell, Column, Table


def show_losses(folders: Sequence[Path]) -> Shown:
    """The change of every measure, what it was and is, and F1 of head and tail apart."""
    gated = read_gated(folders[0])
    told = tuple(_told(gated, measure) for measure in MEASURES)
    return Shown((_changes(gated), _by_popularity(gated)), (_scores(gated),), told)


def _changes(gated: Gated) -> Table:
    rows = tuple(
        (
            text(each.policy),
            *(
                estimated(gated.measured.change(measure, each.behind, each.without))
                for measure in MEASURES
            ),
        )
        for each in gated.pairs
    )
    return Table(
        "losses",
        "What changes behind the gate",
        (
            Column("policy", "policy"),
            *(score_column(measure, measure_title(measure), signed=True) for measure in MEASURES),
        ),
        rows,
        note=(
            "The mean behind the gate less that without it, on the same questions, with the "
            "paired 95% interval by entity."
        ),
    )


def _scores(gated: Gated) -> Table:
    rows = [_score_row(gated, "no_retrieval", "-", gated.alone)]
    for each in gated.pairs:
        rows.append(_score_row(gated, each.policy, "without", each.without))
        rows.append(_score_row(gated, each.policy, "behind", each.behind))
    columns = (
        Column("policy", "policy"),
        Column("gate", "gate"),
        *(score_column(measure, measure_title(measure)) for measure in MEASURES),
    )
    return Table("scores", "What answers score", columns, tuple(rows))


def _score_row(gated: Gated, policy: str, gate: str, at: int) -> tuple[Cell, ...]:
    cells = (estimated(gated.measured.mean(measure, at)) for measure in MEASURES)
    return (text(policy), text(gate), *cells)


def _by_popularity(gated: Gated) -> Table:
    parts = {value: gated.measured.of("popularity", value) for value in ("head", "tail")}
    titles = [
        (value, gate) for value in parts for gate in ("without the gate", "behind it", "change")
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
        "F1 of head and tail apart",
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
        note=f"{counts['head']} questions are of the head, {counts['tail']} of the tail.",
    )


def _f1(part: Measured, at: int) -> Cell:
    return number(part.mean("f1", at).value)


def _told(gated: Gated, measure: str) -> str:
    below: list[str] = []
    above: list[str] = []
    neither: list[str] = []
    for each in gated.pairs:
        found = gated.measured.change(measure, each.behind, each.without)
        if found.low is None or found.high is None or found.low <= 0 <= found.high:
            neither.append(each.policy)
        else:
            (above if found.low > 0 else below).append(f"{each.policy} ({found.value:+.3f})")
    told = [
        f"{what} for {', '.join(names)}"
        for what, names in (("lower", below), ("higher", above))
        if names
    ]
    if neither:
        told.append(f"not told apart from what it was for {', '.join(neither)}")
    return f"{measure_title(measure)} behind the gate is {'; '.join(told)}."
