"""The gate of calibrated P(correct) as JSON."""

from collections.abc import Mapping
from itertools import pairwise

from scaar.core.errors import DataCorrupt
from scaar.core.gates.closed_book import TOKENS
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.gate_json import GateDocument, JsonFields, gate_content
from scaar.core.gates.p_correct import (
    FEW,
    THRESHOLD,
    AnswerSignal,
    Curve,
    IsotonicCurve,
    PCorrectGate,
    PlattCurve,
)

PLATT, ISOTONIC = "platt", "isotonic"


def p_correct_to_json(gate: PCorrectGate, *, learned_from: Mapping[str, object]) -> bytes:
    """Return the content of a gate's file; ``learned_from`` is informative only."""
    return gate_content(
        gate.name,
        {
            "model": gate.model.name,
            "model_revision": gate.model.revision,
            "learned_from": dict(learned_from),
            "threshold": gate.threshold,
            "abstain_below": gate.abstain_below,
            "few_above": gate.few_above,
            "few": gate.few,
            "tokens": gate.tokens,
            "signal": gate.signal.value,
            "curve": _plain(gate.curve),
        },
    )


def read_p_correct(document: GateDocument) -> PCorrectGate:
    """Return the gate of a document.

    Raises:
        DataCorrupt: a field is missing or wrong; names it.
    """
    fields = document.fields
    signal = fields.text("signal")
    if signal not in tuple(AnswerSignal):
        known = ", ".join(AnswerSignal)
        raise DataCorrupt(f"{document.where}: signal must be one of {known}, not {signal!r}")
    return PCorrectGate(
        revision=document.revision,
        model=FittedModel.read(fields),
        signal=AnswerSignal(signal),
        curve=_curve(fields.object("curve"), f"{document.where}, curve"),
        threshold=fields.share("threshold", THRESHOLD),
        abstain_below=fields.limited("abstain_below", 0, 1, 0.0),
        tokens=fields.whole("tokens", 1, 256, TOKENS),
        few_above=fields.limited("few_above", 0, 1, 1.0),
        few=fields.whole("few", 1, default=FEW),
    )


def _plain(curve: Curve) -> Mapping[str, object]:
    match curve:
        case PlattCurve(slope, intercept):
            return {"kind": PLATT, "slope": slope, "intercept": intercept}
        case IsotonicCurve(signals, probabilities):
            return {"kind": ISOTONIC, "signals": signals, "probabilities": probabilities}


def _curve(fields: JsonFields, where: str) -> Curve:
    kind = fields.text("kind")
    if kind == PLATT:
        slope = fields.number("slope")
        if slope < 0:
            raise DataCorrupt(f"{where}: slope must be at least 0, not {slope:g}")
        return PlattCurve(slope, fields.number("intercept"))
    if kind != ISOTONIC:
        raise DataCorrupt(f"{where}: kind must be {PLATT} or {ISOTONIC}, not {kind!r}")
    signals, probabilities = fields.numbers("signals"), fields.numbers("probabilities")
    if not signals or len(signals) != len(probabilities):
        raise DataCorrupt(f"{where}: signals and probabilities must have as many numbers, from 1")
    if any(one >= other for one, other in pairwise(signals)):
        raise DataCorrupt(f"{where}: signals must rise")
    if any(one > other for one, other in pairwise((0.0, *probabilities, 1.0))):
        raise DataCorrupt(f"{where}: probabilities must rise from 0 to 1")
    return IsotonicCurve(signals, probabilities)
