"""The file of a sentence filter: a JSON object with a digest of its other fields."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.gates.gate_json import FORMAT, GateDocument, JsonFields
from scaar.core.sentence_filter.features import FEATURES
from scaar.core.sentence_filter.learned_filter import FeatureWeight, Labelling, LearnedFilter


def filter_to_json(learned: LearnedFilter, *, learned_from: Mapping[str, object]) -> bytes:
    """Return the content of a filter's file; ``learned_from`` is informative only."""
    content = {
        "format": FORMAT,
        "labelling": learned.labelling.value,
        "learned_from": dict(learned_from),
        "threshold": learned.threshold,
        "intercept": learned.intercept,
        "features": {
            name: {"mean": each.mean, "scale": each.scale, "coefficient": each.coefficient}
            for name, each in learned.by_feature.items()
        },
    }
    document = {**content, "digest": _digest_of(content)}
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def filter_from_json(content: bytes, where: str) -> LearnedFilter:
    """Return the filter of a file's content; ``where`` names the file in errors.

    Raises:
        DataCorrupt: names the field that is missing or wrong, or the wrong digest.
    """
    fields = GateDocument.read(content, where).fields
    digest = fields.text("digest")
    expected = _digest_of({name: each for name, each in fields.fields.items() if name != "digest"})
    if digest != expected:
        text = f"is {digest!r}, and that of the content is {expected!r}"
        raise DataCorrupt(f"{where}: digest: {text}: the file was changed; fit the filter again")
    features = fields.object("features")
    if set(features.fields) != set(FEATURES):
        text = f"must be {', '.join(FEATURES)}, not {', '.join(features.fields)}"
        raise DataCorrupt(f"{where}: features {text}: fit the filter again")
    labelling = fields.text("labelling")
    if labelling not in list(Labelling):
        text = f"must be one of {', '.join(Labelling)}, not {labelling!r}"
        raise DataCorrupt(f"{where}: labelling {text}")
    return LearnedFilter(
        labelling=Labelling(labelling),
        threshold=fields.share("threshold"),
        intercept=fields.number("intercept"),
        weights=tuple(_weight(features.object(name), f"{where}, {name}") for name in FEATURES),
        digest=digest,
    )


def _weight(fields: JsonFields, where: str) -> FeatureWeight:
    scale = fields.number("scale")
    if scale <= 0:
        raise DataCorrupt(f"{where}: scale must be above 0, not {scale:g}")
    return FeatureWeight(fields.number("mean"), scale, fields.number("coefficient"))


def _digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of the fields."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
