"""docs/longtail.md: its head and its parts in order."""

from record.longtail.deciders import show_deciders
from record.longtail.gate_detection import show_gates
from record.longtail.label_detection import show_labels
from record.longtail.losses import show_losses
from record.longtail.plan import GATES, LABELS, RUN
from record.longtail.speed import show_speed
from record.longtail.thresholds import draw_thresholds
from record.page import Page
from record.sections import Part, name_origin

_HEAD = """\
<!-- Made by make longtail from saved results; longtail/why.md is written by hand. -->
# The long tail

A language model can answer most questions alone, and retrieval for them costs time without a gain.
GECE (Li et al., "On the Role of Long-tail Knowledge in Retrieval Augmented Large Language \
Models", ACL 2024) labels the others, the long tail, once their answers are known.
[A gate](policies.md#a-gate) learned from such labels predicts them before an answer.
This page compares both with a known tail: one question in five of the [lab](lab.md) is \
about films that its model has never seen.

Every number and every sentence between a command and the next heading is computed from saved \
results.
`make longtail` computes the results and writes this page.
The gate is learned on one world and reported on another; nothing was chosen on the reported \
questions.
Run the commands in the project's folder."""


PARTS = (
    Part(
        "What GECE finds",
        "labels-",
        "Questions ordered by [GECE](evaluations.md#which-questions-are-of-the-long-tail), by its "
        "authors' ablations, and by each of its parts alone.",
        show_labels,
    ),
    Part(
        "What the gate finds",
        (GATES, LABELS, RUN),
        "The gate judges a question before its answer, by its words and the model's first draft; "
        "it is learned from the labels of the other world.",
        show_gates,
    ),
    Part(
        "What the gate saves",
        RUN,
        "Every policy without the gate and with the gate, one question at a time.",
        show_speed,
    ),
    Part("What the gate loses", RUN, "The scores of the same answers.", show_losses),
    Part(
        "What GECE's parts are worth",
        (GATES, LABELS, RUN),
        "The same answers, if GECE, one of its ablations, a gate learned from either, or the known "
        "tail decided which questions are retrieved for.",
        show_deciders,
    ),
    Part(
        "Other thresholds",
        (LABELS, RUN),
        "The same answers, if the gate, or GECE, passed more or fewer of the questions.",
        draw_thresholds,
    ),
)
LONGTAIL = Page("longtail", _HEAD, PARTS, Part("Provenance", RUN, "Of the policies.", name_origin))
