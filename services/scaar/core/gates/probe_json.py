"""The probe of hidden states as JSON."""

from collections.abc import Mapping

from scaar.core.errors import DataCorrupt
from scaar.core.gates.closed_book import TOKENS
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.gate_json import GateDocument, JsonFields, gate_content
from scaar.core.gates.probe import THRESHOLD, LinearProbe, ProbeGate


def probe_to_json(gate: ProbeGate, *, learned_from: Mapping[str, object]) -> bytes:
    """Return the content of a gate's file; ``learned_from`` is informative only."""
    return gate_content(
        gate.name,
        {
            "model": gate.model.name,
            "model_revision": gate.model.revision,
            "learned_from": dict(learned_from),
            "threshold": gate.threshold,
            "tokens": gate.tokens,
            "layer": gate.layer,
            "width": gate.probe.width,
            "intercept": gate.probe.intercept,
            "coefficients": gate.probe.coefficients,
            "means": gate.probe.means,
            "scales": gate.probe.scales,
        },
    )


def read_probe(document: GateDocument) -> ProbeGate:
    """Return the gate of a document.

    Raises:
        DataCorrupt: a field is missing or wrong; names it.
    """
    fields = document.fields
    width = fields.whole("width", 1)
    means, scales, coefficients = (
        _vector(fields, name, width, document.where) for name in ("means", "scales", "coefficients")
    )
    if min(scales) <= 0:
        raise DataCorrupt(f"{document.where}: scales must be above 0")
    return ProbeGate(
        revision=document.revision,
        model=FittedModel.read(fields),
        layer=fields.whole("layer", 0),
        probe=LinearProbe(means, scales, coefficients, fields.number("intercept")),
        threshold=fields.share("threshold", THRESHOLD),
        tokens=fields.whole("tokens", 1, 256, TOKENS),
    )


def _vector(fields: JsonFields, name: str, width: int, where: str) -> tuple[float, ...]:
    values = fields.numbers(name)
    if len(values) != width:
        raise DataCorrupt(f"{where}: {name} must have width numbers, {width}, not {len(values)}")
    return values
