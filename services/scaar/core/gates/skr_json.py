"""The gate of SKR as JSON."""

import base64
import binascii
import json
from collections.abc import Mapping

from scaar.core.errors import DataCorrupt
from scaar.core.gates.gate_json import FORMAT, GateDocument
from scaar.core.gates.skr import QuestionVectors, SkrGate

NUMBER_BYTES = 4
"""Number of bytes of a number of a vector."""


def skr_to_json(gate: SkrGate, *, learned_from: Mapping[str, object]) -> bytes:
    """Return the content of a gate's file; ``learned_from`` is informative only."""
    document = {
        "format": FORMAT,
        "gate": gate.name,
        "learned_from": dict(learned_from),
        "neighbours": gate.neighbours,
        "unchanged": gate.unchanged,
        "helped": gate.helped,
        "vectors": {
            "encoder": gate.vectors.encoder,
            "encoder_revision": gate.vectors.encoder_revision,
            "width": gate.vectors.width,
            "float32": base64.b64encode(gate.vectors.data).decode(),
        },
    }
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"


def read_skr(document: GateDocument) -> SkrGate:
    """Return the gate of a document, without an encoder.

    Raises:
        DataCorrupt: a field is missing or wrong; names it.
    """
    fields, where = document.fields, document.where
    vectors = fields.object("vectors")
    helped = fields.field("helped")
    if not isinstance(helped, list) or not all(isinstance(each, bool) for each in helped):
        raise DataCorrupt(f"{where}: helped must be a list of true and false")
    neighbours = fields.whole("neighbours", 1)
    if len(helped) < neighbours:
        text = f"helped must have at least neighbours values, {neighbours}, not {len(helped)}"
        raise DataCorrupt(f"{where}: {text}")
    width = vectors.whole("width", 1)
    try:
        data = base64.b64decode(vectors.text("float32"), validate=True)
    except binascii.Error as error:
        raise DataCorrupt(f"{where}, vectors: float32 is not base64: {error}") from error
    if len(data) != len(helped) * width * NUMBER_BYTES:
        text = f"must have {len(helped)} vectors of {width} numbers, not {len(data)} bytes"
        raise DataCorrupt(f"{where}, vectors: float32 {text}")
    return SkrGate(
        revision=document.revision,
        helped=tuple(helped),
        unchanged=fields.whole("unchanged", 0),
        neighbours=neighbours,
        vectors=QuestionVectors(
            vectors.text("encoder"), vectors.text("encoder_revision"), width, data
        ),
    )
