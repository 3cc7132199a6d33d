"""The report of ``scaar tune`` as a file, and the labelled drafts as JSON lines."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaar.evaluation.tuning import Tuned
    from scaar.evaluator.studies.tuning.label_report import LabelReport, ScoredDraft
    from scaar.evaluator.studies.tuning.procedure import CandidateResult


def report_to_json(found: "Tuned") -> bytes:
    """Return candidates, estimates, labels and learning curve as JSON.

    Estimates are objects with ``value``, ``low`` and ``high``; undefined ones are null.
    """
    tuning, labels = found.chosen.tuning, found.chosen.labels
    document = {
        "measure": found.artefact.development.measure,
        "questions": tuning.questions,
        "chosen": tuning.results.index(tuning.chosen),
        "candidates": [_candidate(each) for each in tuning.results],
        "outer": asdict(tuning.outer),
        "outer_searches": asdict(tuning.outer_searches),
        "outer_seconds": asdict(tuning.outer_seconds) if tuning.outer_seconds else None,
        "optimism": tuning.optimism,
        "answered": asdict(found.answered.quality),
        "answered_searches": asdict(found.answered.searches),
        "labels": _labels(labels) if labels else None,
        "learning_curve": [asdict(each) for each in found.chosen.curve],
    }
    return json.dumps(document, indent=2).encode() + b"\n"


def drafts_to_json(labels: "LabelReport | None") -> bytes:
    """Return the labelled drafts, one JSON object per line; nothing without learned candidates."""
    drafts = labels.drafts if labels else ()
    return b"".join(json.dumps(_draft(each)).encode() + b"\n" for each in drafts)


def _candidate(found: "CandidateResult") -> dict[str, object]:
    candidate = found.candidate
    return {
        "trigger": candidate.trigger,
        "label": candidate.label,
        **asdict(candidate.retrieving),
        "theta": found.policy.theta,
        "parts": candidate.complexity,
        "quality": asdict(found.quality),
        "searches": asdict(found.searches),
        "seconds": asdict(found.seconds) if found.seconds else None,
        "near_best": found.near_best,
    }


def _labels(labels: "LabelReport") -> dict[str, object]:
    shares = ("wrong", "fixed", "harmed", "better", "worse")
    return {
        "drafts": len(labels.drafts),
        **{name: asdict(getattr(labels, name)) for name in shares},
        "separations": [asdict(each) for each in labels.separations],
    }


def _draft(found: "ScoredDraft") -> dict[str, object]:
    labelled = found.labelled
    return {
        "question": labelled.question,
        "sentence": labelled.draft.sentence,
        "wrong": labelled.wrong,
        "gain": labelled.gain,
        "after_right": found.after_right,
        "signals": dict(labelled.draft.signals),
        "scores": dict(found.scores),
    }
