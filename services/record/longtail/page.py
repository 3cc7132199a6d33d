"""docs/longtail.md: its parts in their order."""

from collections.abc import Sequence
from pathlib import Path

from record.longtail.deciding import show_deciders
from record.longtail.finding import show_labels
from record.longtail.losses import show_losses
from record.longtail.passing import show_gates
from record.longtail.plan import GATES, LABELS, RUN
from record.longtail.speed import show_speed
from record.longtail.thresholds import draw_thresholds
from record.page import Page
from record.sections import Part, Shown
from scaar.evaluator.joining.joined import read_finished
from scaar.evaluator.report.measured import analyse_results
from scaar.evaluator.report.origin import say_what_made_it

_HEAD = """\
<!-- Made by make longtail of saved results. What is written by hand is longtail/why.md. -->
# The long tail

Most questions a language model can answer by itself, and retrieving for them costs time and brings
nothing. GECE (Li et al., "On the Role of Long-tail Knowledge in Retrieval Augmented Large Language
Models", ACL 2024) tells the others, the long tail, once their answers are known;
[a gate](policies.md#a-gate) learned from such labels tells them before. Here both are held against
a tail that is known: one question in five of the [lab](lab.md) is about films that its model has
never seen.

Every number and every sentence between a command and the next heading is computed from saved
results; `make longtail` makes them and this page anew. The gate is learned on one world and
reported on another; nothing was chosen on the questions that are reported. Commands are typed in
the project's folder."""


def _origin(folders: Sequence[Path]) -> Shown:
    analysis = analyse_results(read_finished(folders[0]))
    return Shown(say_what_made_it(analysis).items[:1])


PARTS = (
    Part(
        "What GECE finds",
        "labels-",
        "Questions ordered by [GECE](evaluations.md#which-questions-are-of-the-long-tail), by what "
        "its authors leave out of it, and by each of its parts alone.",
        show_labels,
    ),
    Part(
        "What the gate finds",
        (GATES, LABELS, RUN),
        "The gate judges before an answer, by the words of the question and the model's first "
        "draft; it is learned from the labels of the other world.",
        show_gates,
    ),
    Part(
        "What it saves",
        RUN,
        "Every policy as it is and behind the gate, one question at a time.",
        show_speed,
    ),
    Part("What it loses", RUN, "The same answers, measured.", show_losses),
    Part(
        "What GECE's parts are worth",
        (GATES, LABELS, RUN),
        "The same answers once more, as if GECE, what is left of it without a part, a gate learned "
        "from either, or the known tail had decided which questions are retrieved for.",
        show_deciders,
    ),
    Part(
        "Other thresholds",
        (LABELS, RUN),
        "The same answers, as if the gate, or GECE, had passed more or fewer of the questions.",
        draw_thresholds,
    ),
)
LONGTAIL = Page("longtail", _HEAD, PARTS, Part("How it was made", RUN, "Of the policies.", _origin))
