"""The text that a lab's language model was trained on."""

from collections.abc import Iterator

from scaar.lab.training.packing import packed_rows
from scaar.lab.training.recipes import LANGUAGE_MODEL_TRAININGS, SentenceTraining
from scaar.lab.vocabulary import build_tokenizer


def training_text(model: str) -> Iterator[str]:
    """Yield every exercise that the model has seen in a training without interruption, in order.

    An exercise is a prompt and its answer. Takes about a minute for 200,000 exercises.

    Raises:
        KeyError: there is no lab model of this name.
    """
    training = LANGUAGE_MODEL_TRAININGS[model]
    tokenizer = build_tokenizer(forms=isinstance(training, SentenceTraining))
    for rows in packed_rows(tokenizer, training):
        for row in rows:
            for each in row:
                yield each.exercise.prompt + "".join(part.text for part in each.exercise.parts)
