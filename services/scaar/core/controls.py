"""Controls of a scorer: baselines that replace its contributions.

A gain of the scorer over a control is due to the meaning of the contributions. A gain that a
control achieves too does not need that meaning.
"""

import enum

_MARK = "+"


class Control(enum.StrEnum):
    """Controls, by what they keep of the contributions."""

    PERMUTED = "permuted"
    """The same values, permuted over the words of the sentence."""
    CONSTANT = "constant"
    """The mean over the sentence, for every word."""
    IDF = "idf"
    """The rarity of the word (inverse document frequency) instead of its contribution."""


def controlled_name(scorer: str, control: Control) -> str:
    """Return the name of a controlled scorer, such as ``lab-cross-encoder+permuted``."""
    return f"{scorer}{_MARK}{control}"


def control_of(scorer: str) -> Control | None:
    """Return the control in the name of a scorer; None without a control."""
    _, mark, name = scorer.rpartition(_MARK)
    return Control(name) if mark and name in list(Control) else None
