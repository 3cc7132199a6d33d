"""The report of a comparison of gates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.plurals import counted
from scaar.evaluator.report.cells import estimated, number, score_column, text
from scaar.evaluator.report.model import Cell, Column, Report, Section, Table
from scaar.evaluator.studies.gates.candidates import DESCRIPTIONS, UNAVAILABLE
from scaar.evaluator.studies.gates.choices import SHARES
from scaar.evaluator.studies.gates.outcomes import (
    ALWAYS,
    F1,
    NEVER,
    ORACLE,
    PER_RETRIEVALS,
    RANDOM,
    RETRIEVED,
    Detection,
    Gain,
    GateOutcomes,
    at_share,
    label_of,
)
from scaar.evaluator.studies.gates.sample import GateSample, counts_of
from scaar.evaluator.studies.gates.scenarios import Scenario

PAIRS_AT = 0.5
"""The share of retrievals at which gates are compared with each other."""
LABEL = Column("gate", "gate, and its target")


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A scenario with its outcomes, and the detection by each gate's label."""

    scenario: Scenario
    outcomes: GateOutcomes
    detection: Mapping[str, Detection]


def compared(scenario: Scenario, sample: GateSample, *, resamples: int, seed: int) -> Compared:
    """Return the outcomes of a scenario."""
    outcomes = GateOutcomes(sample, scenario.judged, resamples=resamples, seed=seed)
    found = {label_of(each): outcomes.detection(each) for each in outcomes.trained}
    return Compared(scenario, outcomes, found)


def compose(
    sample: GateSample, found: Sequence[Compared], *, subtitle: str, made_by: Sequence[str]
) -> Report:
    """Return the report; ``made_by`` are sentences on the origin of questions and vectors."""
    return Report(
        title="Gates on answers without and with retrieval",
        subtitle=subtitle,
        sections=(
            Section("Questions", (questions(sample),)),
            Section("Gates", (served(found), unavailable())),
            Section("Detection", (aurocs(found), sides(found))),
            *(
                Section(each.scenario.title, (verdict(each), quality(each), gains(each), own(each)))
                for each in found
            ),
            Section("Provenance", (" ".join(made_by),)),
        ),
    )


def questions(sample: GateSample) -> Table:
    """Return the outcomes of the questions of each set."""
    columns = (
        Column("set", "set"),
        *(Column(each, each, decimals=0) for each in ("questions", "wrong", "helped", "harmed")),
        score_column("without", "F1 without retrieval"),
        score_column("retrieved", "F1 with retrieval"),
        score_column("oracle", "F1 of the better answer"),
    )
    rows = []
    for name in sample.sets:
        counts = counts_of(sample, sample.of(name))
        rows.append((text(name), *(number(counts[each.name]) for each in columns[1:])))
    note = (
        "Wrong, without retrieval, and helped and harmed by retrieval: by exact match. Questions "
        "that share a supporting passage are one cluster; there are "
        f"{len({each.entity for each in sample.questions}):,} clusters."
    )
    return Table("questions", "Questions by outcome", columns, tuple(rows), note)


def served(found: Sequence[Compared]) -> Table:
    """Return the trained gates."""
    names = dict.fromkeys(each.gate for each in found[0].outcomes.trained)
    targets = {
        name: ", ".join(x.target for x in found[0].outcomes.trained if x.gate == name)
        for name in names
    }
    columns = (Column("gate", "gate"), Column("targets", "targets"), Column("by", "judges by"))
    rows = tuple(tuple(map(text, (name, targets[name], DESCRIPTIONS[name]))) for name in names)
    return Table("gates", "Trained gates", columns, rows)


def unavailable() -> Table:
    """Return the gates that the answers cannot serve."""
    columns = (Column("gate", "gate"), Column("missing", "missing"))
    rows = tuple(tuple(map(text, each)) for each in UNAVAILABLE.items())
    return Table("unavailable", "Gates that these answers cannot serve", columns, rows)


def aurocs(found: Sequence[Compared]) -> Table:
    """Return the AUROC of every gate for its own target in every scenario."""
    note = (
        "Of a wrong answer without retrieval (target wrong), or of help by retrieval (target "
        "benefit). 0.5 is chance."
    )
    rows = tuple(
        (text(label), *(estimated(each.detection[label].auroc) for each in found))
        for label in found[0].outcomes.labels
    )
    return _by_scenario("auroc", "AUROC of the target", found, rows, note)


def sides(found: Sequence[Compared]) -> Table:
    """Return the AUROC of help against harm of every gate in every scenario."""
    note = "Among the questions that retrieval helps or harms. 0.5 is chance."
    rows = tuple(
        (text(label), *(estimated(each.detection[label].sides) for each in found))
        for label in found[0].outcomes.labels
    )
    return _by_scenario("sides", "AUROC of help against harm", found, rows, note)


def quality(compared: Compared) -> Table:
    """Return the F1 at each share of retrievals."""
    columns = (LABEL, *(score_column(at_share(x), f"F1 at {x:.0%}") for x in SHARES))
    values = [compared.outcomes.estimates(at_share(x)) for x in SHARES]
    rows = tuple((text(label), *(estimated(each[label]) for each in values)) for label in values[0])
    note = (
        "The given share of the questions is answered with retrieval: those with the highest "
        "scores of their fold. never and always do not depend on the share."
    )
    title = "F1 at a share of retrievals"
    return Table(f"{compared.scenario.name}_f1", title, columns, rows, note)


def gains(compared: Compared) -> Table:
    """Return the differences from random choice at each share."""
    columns = (
        LABEL,
        *(
            each
            for x in SHARES
            for each in (
                score_column(f"difference@{x:g}", f"difference at {x:.0%}", signed=True),
                score_column(f"detectable@{x:g}", "detectable"),
                score_column(f"holm@{x:g}", "p"),
            )
        ),
    )
    by_label: dict[str, list[Cell]] = {label: [] for label in compared.outcomes.labels}
    for gain in compared.outcomes.gains():
        by_label[gain.label] += [
            estimated(gain.found),
            number(gain.detectable),
            number(gain.found.holm, missing="-"),
        ]
    rows = tuple((text(label), *cells) for label, cells in by_label.items())
    note = (
        "F1 less that of a random choice of as many questions, on the same questions. Detectable "
        "is the minimum detectable effect at 5% and a power of 80%; p has Holm's correction over "
        "the differences of this table."
    )
    title = "Differences from random choice"
    return Table(f"{compared.scenario.name}_differences", title, columns, rows, note)


def own(compared: Compared) -> Table:
    """Return the outcomes of each gate by its own threshold."""
    lost = f"F1 lost per {PER_RETRIEVALS} retrievals saved"
    columns = (
        LABEL,
        score_column(RETRIEVED, "retrieved"),
        score_column(F1, "F1"),
        Column("lost", lost, decimals=1, signed=True),
        score_column("over_retrieval", "over-retrieval"),
        score_column("under_retrieval", "under-retrieval"),
    )
    outcomes = compared.outcomes
    f1, retrieved = outcomes.estimates(F1), outcomes.estimates(RETRIEVED)
    rows = []
    for label in (NEVER, RANDOM, ORACLE, ALWAYS, *outcomes.labels):
        detection = compared.detection.get(label)
        rows.append(
            (
                text(label),
                estimated(retrieved[label]),
                estimated(f1[label]),
                estimated(outcomes.lost(label), missing="saves none"),
                estimated(detection.over_retrieval) if detection else Cell("-"),
                estimated(detection.under_retrieval) if detection else Cell("-"),
            )
        )
    note = (
        "By the gate's own threshold: a probability of a wrong answer of 0.5, an expected benefit "
        "of 0, SKR's vote. random retrieves for half of the questions. Over-retrieval is the share "
        "of the questions that do not need retrieval (by the gate's target) that it retrieves for; "
        "under-retrieval is the share of the others that it does not retrieve for."
    )
    return Table(f"{compared.scenario.name}_own", "Own thresholds", columns, tuple(rows), note)


def verdict(compared: Compared) -> str:
    """Say which differences are established."""
    outcomes = compared.outcomes
    against, pairs = outcomes.gains(), outcomes.pairs(PAIRS_AT)
    count = len(outcomes.judged.positions)
    return (
        f"{counted(count, 'question')}. Differences from random choice that are significant and at "
        f"least the minimum detectable effect: {_listed(against)}. Differences between two gates "
        f"at {PAIRS_AT:.0%} retrieved: {_listed(pairs)}."
    )


def _listed(gains: Sequence[Gain]) -> str:
    found = [each for each in gains if each.established]
    named = ", ".join(f"{x.label} at {x.share:.0%} ({x.found.value or 0:+.3f})" for x in found)
    return f"{len(found)} of {len(gains)}" + (f": {named}" if found else "")


def _by_scenario(
    name: str, title: str, found: Sequence[Compared], rows: tuple[tuple[Cell, ...], ...], note: str
) -> Table:
    columns = (LABEL, *(score_column(x.scenario.name, x.scenario.title) for x in found))
    return Table(name, title, columns, rows, note)
