"""Gates and routers, which judge a question before its answer. One module each, and their table."""

from collections.abc import Callable

from scaar.core.errors import DataCorrupt
from scaar.core.gates import adaptive_rag, quco
from scaar.core.gates.gate import (
    AbstainingGate,
    GateJudgement,
    GateModel,
    ModelSpecificGate,
    QuestionGate,
)
from scaar.core.gates.gate_json import GateDocument
from scaar.core.gates.lexsim import read_lexsim
from scaar.core.gates.p_correct_json import read_p_correct
from scaar.core.gates.p_true import read_p_true
from scaar.core.gates.probe_json import read_probe
from scaar.core.gates.proxy_json import read_proxy
from scaar.core.gates.seakr import read_seakr
from scaar.core.gates.skr_json import read_skr
from scaar.core.gates.targ import read_entropy, read_margin, read_variance
from scaar.core.gates.verbalised import read_verbalised
from scaar.core.registry import Registry

__all__ = [
    "GATES",
    "ROUTERS",
    "AbstainingGate",
    "GateJudgement",
    "GateModel",
    "ModelSpecificGate",
    "QuestionGate",
    "gate_without_file",
    "read_gate",
]

GATES = Registry[Callable[[GateDocument], QuestionGate]](
    "gate",
    "scaar.gates",
    Callable,
    {
        "gece_proxy": read_proxy,
        "skr": read_skr,
        adaptive_rag.NAME: adaptive_rag.read_adaptive_rag,
        "targ": read_margin,
        "targ_entropy": read_entropy,
        "targ_variance": read_variance,
        "lexsim": read_lexsim,
        "p_true": read_p_true,
        "verbalised": read_verbalised,
        "seakr": read_seakr,
        quco.NAME: quco.read_quco,
        "probe": read_probe,
        "p_correct": read_p_correct,
    },
)
"""Each returns the gate of a file, or raises DataCorrupt."""
ROUTERS = frozenset({adaptive_rag.NAME})
"""The built-in gates that choose among policies of their own."""


def read_gate(content: bytes, where: str) -> QuestionGate:
    """Return the gate of a file's content; its revision is a digest of the content.

    Raises:
        DataCorrupt: the content is no gate; names the missing or wrong field.
    """
    document = GateDocument.read(content, where)
    name = document.fields.text("gate")
    if name not in GATES:
        raise DataCorrupt(f"{where}: gate: {GATES.unknown(name)}")
    return GATES[name](document)


def gate_without_file(name: str) -> QuestionGate | None:
    """Return the gate of this name with its defaults; None if it needs a file."""
    try:
        return GATES[name](GateDocument.empty(name))
    except DataCorrupt:
        return None
