"""The report of ``scaar tune``: the candidates, the estimates, and how to use the policy."""

from pathlib import Path
from typing import TYPE_CHECKING

from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Interval, Table, TableFormat, interval, print_table
from scaar.core.plurals import counted

if TYPE_CHECKING:
    from scaar.evaluation.thresholds import TunedThreshold
    from scaar.evaluation.tuning import Tuned
    from scaar.evaluator.statistics.estimate import Estimate


def print_tuning(found: "Tuned", out: Path, output: TableFormat | None) -> None:
    """Print the candidates, best first, and the estimates of the chosen one."""
    tuning, risk = found.chosen.tuning, found.chosen.risk
    latency = found.artefact.latency
    shares = any(each.candidate.retrieving.alpha is not None for each in tuning.results)
    measure = found.artefact.development.measure
    columns = (
        Column("trigger", right=False),
        Column("query", right=False),
        Column("mask_below", text=lambda value: f"{value:g}"),
        Column("exclude_seen", right=False),
        Column("top_k"),
        # A query without a share of words has none.
        *([Column("alpha", text=lambda v: "" if v is None else f"{v:g}")] if shares else []),
        Column("search_mode", right=False),
        Column("rerank", right=False),
        Column("theta", text=lambda value: f"{value:g}"),
        Column(measure, f"{measure} [95%]", interval(3)),
        Column("searches", "searches per question [95%]", interval(3)),
        *([Column("seconds", "seconds [95%]", interval(3))] if latency else []),
        Column("parts"),
        Column("mark", "", right=False),
    )
    weight = latency.weight if latency else 0.0
    ranked = sorted(tuning.results, key=lambda each: -each.score(weight))
    rows = [
        (
            each.candidate.name,
            each.candidate.retrieving.query,
            each.candidate.retrieving.mask_below,
            each.candidate.retrieving.exclude_seen.value,
            each.candidate.retrieving.top_k,
            *([each.candidate.retrieving.alpha] if shares else []),
            each.candidate.retrieving.search_mode.value,
            each.candidate.retrieving.rerank.value,
            each.policy.theta,
            Interval.of(each.quality),
            Interval.of(each.searches),
            *([Interval.of(each.seconds)] if latency else []),
            each.candidate.complexity,
            "chosen" if each is tuning.chosen else "within 1 SE" if each.near_best else "",
        )
        for each in ranked
    ]
    print_table(Table(columns, rows), output)
    lines = [
        f"{counted(len(tuning.results), 'candidate')} on {counted(tuning.questions, 'question')}, "
        "estimated by cross-validation over entities.",
        f"The procedure on questions it was not applied to: {measure} "
        f"{_text(tuning.outer)}, searches {_text(tuning.outer_searches)}; "
        f"optimism of the choice {tuning.optimism:+.3f}.",
        f"The chosen policy on all questions: {measure} {_text(found.answered.quality)}, "
        f"searches {_text(found.answered.searches)}, trigger rate "
        f"{found.answered.trigger_rate:.3f}.",
    ]
    if latency is not None:
        units = ", ".join(f"{each.unit} {each.ms:.4g}" for each in latency.unit_times_ms)
        lines.append(
            f"Candidates are compared by {measure} minus {latency.weight:g} a second. Times in ms: "
            f"{units}. On questions it was not applied to, the procedure takes "
            f"{_text(tuning.outer_seconds)} s."
        )
    lines += _labels(found)
    lines += [
        f"Tuned on {counted(each.questions, 'question')}, on the other folds: {measure} "
        f"{_text(each.quality)}, searches {_text(each.searches)}; chosen "
        f"{', '.join(each.chosen)}."
        for each in found.chosen.curve
    ]
    if risk is not None:
        lines += [
            f"With {1 - risk.delta:.0%} confidence, at most {risk.max_risk:.0%} of the answers "
            f"contain a wrong draft that is accepted unchecked, at theta "
            f"{found.chosen.policy.theta:g}.",
            f"Of {counted(risk.answers, 'answer')} of the calibration split, {risk.risk:.1%} do; "
            f"share of the wrong drafts that are caught: {_text(found.chosen.caught)}, of the "
            f"right ones retrieved for: {_text(found.chosen.false_alarms)}.",
        ]
    if found.differing:
        lines.append(
            f"{counted(found.differing, 'question')} answered with other searches than the "
            "trajectories state: the model is not deterministic, and the estimates are approximate."
        )
    _conclude(lines, found.artefact.name, out)


def _labels(found: "Tuned") -> list[str]:
    """Return what is known of the labels of the chosen policy's drafts."""
    labels = found.chosen.labels
    if labels is None:
        return []
    lines = [
        f"Of {counted(len(labels.drafts), 'draft')}, a retrieval makes the answer better for "
        f"{_text(labels.better)} and worse for {_text(labels.worse)}. Learned "
        "scores are out of fold."
    ]
    if labels.wrong.value is not None:
        lines.append(
            f"Wrong: {_text(labels.wrong)}. A retrieval makes the answer better for "
            f"{_text(labels.fixed)} of the wrong drafts, and worse for "
            f"{_text(labels.harmed)} of the right ones."
        )
    for each in labels.separations:
        wrong = f"wrong {_text(each.wrong)}, " if each.wrong.value is not None else ""
        after = (
            f", wrong after right sentences {_text(each.wrong_after_right)}"
            if each.wrong_after_right.value is not None
            else ""
        )
        benefit = _text(each.benefit)
        lines.append(f"AUROC of {each.score}: {wrong}benefit {benefit}{after}.")
    return lines


def print_threshold(found: "TunedThreshold", out: Path, output: TableFormat | None) -> None:
    """Print the thetas that were tried, and how to use the policy."""
    search = found.search
    columns = (
        Column("theta", text=lambda theta: f"{theta:g}"),
        Column("searches", "searches per question [95%]", interval(3)),
        Column("chosen", text=lambda chosen: "chosen" if chosen else ""),
    )
    rows = [
        (each.theta, Interval(each.retrievals, each.low, each.high), each == search.chosen)
        for each in search.tried
    ]
    print_table(Table(columns, rows), output)
    lines = []
    if not search.in_reach:
        lines.append(
            f"no theta reaches a budget of {search.budget:g} searches; the nearest spends "
            f"{search.chosen.retrievals:.3f}"
        )
    _conclude(lines, found.artefact.name, out)


def _conclude(lines: list[str], name: str, out: Path) -> None:
    """Print the notes, and how to use the policy."""
    print_notes(*lines, f'{name} is in {out}: scaar ask "..." --policy-file {out}')


def _text(found: "Estimate | None") -> str:
    return interval(3)(Interval.of(found))
