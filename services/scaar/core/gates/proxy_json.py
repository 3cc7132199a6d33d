"""The proxy of GECE as JSON."""

from collections.abc import Mapping

from scaar.core.gates.gate_json import GateDocument, gate_content
from scaar.core.gates.proxy import FEATURES, GateProxy
from scaar.core.gates.word_statistics import WordStatistics


def proxy_to_json(proxy: GateProxy, *, learned_from: Mapping[str, object]) -> bytes:
    """Return the content of a proxy's file; ``learned_from`` is informative only."""
    return gate_content(
        "gece_proxy",
        {
            "model": proxy.model,
            "learned_from": dict(learned_from),
            "threshold": proxy.threshold,
            "bias": proxy.bias,
            "weights": dict(zip(FEATURES, proxy.weights, strict=True)),
            "words": {
                "source": proxy.statistics.source,
                "unseen": proxy.statistics.unseen,
                "frequencies": dict(proxy.statistics.frequencies),
            },
        },
    )


def read_proxy(document: GateDocument) -> GateProxy:
    """Return the proxy of a document.

    Raises:
        DataCorrupt: a field is missing or wrong; names it.
    """
    fields = document.fields
    words, weights = fields.object("words"), fields.object("weights")
    frequencies = words.object("frequencies")
    return GateProxy(
        model=fields.text("model"),
        revision=document.revision,
        statistics=WordStatistics(
            source=words.text("source"),
            frequencies={word: frequencies.share(word) for word in frequencies.fields},
            unseen=words.share("unseen"),
        ),
        bias=fields.number("bias"),
        weights=(
            weights.number(FEATURES[0]),
            weights.number(FEATURES[1]),
            weights.number(FEATURES[2]),
        ),
        threshold=fields.share("threshold"),
    )


def proxy_from_json(content: bytes, where: str) -> GateProxy:
    """Return the proxy of a file's content.

    Raises:
        DataCorrupt: the content is no proxy; names the missing or wrong field.
    """
    return read_proxy(GateDocument.read(content, where))
