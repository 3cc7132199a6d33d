"""Acceptance of the models of sentence forms, measured on seeds that were not used in training.

No measure depends on a policy or on a trigger.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import jax
import numpy as np
from tokenizers import Tokenizer

from scaar.lab import layout
from scaar.lab.sentences import (
    FORMS,
    FilmFacts,
    ReadSentence,
    SentenceForm,
    WordKind,
    read_sentence,
)
from scaar.lab.sentences.questions import draw_facts, form_question
from scaar.lab.training import cross_encoder
from scaar.lab.training.acceptance import POPULAR, auroc
from scaar.lab.training.greedy import GreedyWriter, Written
from scaar.lab.training.meaning_pairs import draw_meaning_pair
from scaar.lab.world import Fact, Film, build_world

FORM_TARGETS = {
    "known_facts": 0.80,
    "known_from_unknown_auroc": 0.90,
    "well_formed": 0.98,
    "length_kept": 0.90,
}
"""Minimum shares: of right facts about the films of ranks 1 to 50; AUROC by which the lowest
probability of a value word separates them from unknown films; of answers that are one sentence
which states the requested facts; of sentences with the number of words of their form."""
MAX_UNKNOWN_FACTS = 0.05
"""Maximum share of right facts about films that the model has never seen."""
MAX_STYLE_ERROR = 0.10
"""Maximum mean difference between the model's probability of a free word and the generator's."""
MEANING_TARGETS = {"same_from_other_auroc": 0.85}
"""Minimum AUROC by which the encoder separates pairs of the same meaning from others."""


def missed_form_targets(measured: Mapping[str, Any]) -> list[str]:
    """Return the measures that prevent the acceptance of a model of sentence forms."""
    missed = [name for name, aim in FORM_TARGETS.items() if measured[name] < aim]
    missed += ["unknown_facts"] * (measured["unknown_facts"] > MAX_UNKNOWN_FACTS)
    return missed + ["style_error"] * (measured["style_error"] > MAX_STYLE_ERROR)


def missed_meaning_targets(measured: Mapping[str, Any]) -> list[str]:
    """Return the measures that prevent the acceptance of an encoder of meanings."""
    return [name for name, aim in MEANING_TARGETS.items() if measured[name] < aim]


@dataclass(frozen=True, slots=True)
class _Answer:
    form: SentenceForm
    facts: tuple[Fact, ...]
    read: ReadSentence | None
    probabilities: tuple[float, ...]

    @property
    def well_formed(self) -> bool:
        """Whether the answer states the requested facts of the requested film, right or wrong."""
        asked = [(fact.subject, fact.relation) for fact in self.facts]
        return self.read is not None and asked == [
            (fact.subject, fact.relation) for fact in self.read.facts
        ]

    def probabilities_of(self, kind: WordKind) -> Iterator[float]:
        words = self.read.words if self.read else ()
        for word, probability in zip(words, self.probabilities, strict=False):
            if word.kind is kind:
                yield probability


def measure_form_model(
    graph: bytes, tokenizer: Tokenizer, *, seed: int, count: int = 6
) -> dict[str, Any]:
    """Measure a model by its ONNX graph, on ``count`` known and unknown films of every form."""
    writer = GreedyWriter(graph, tokenizer)
    random = Random(f"form acceptance {seed}")
    world = build_world(seed)
    facts = FilmFacts.of(world)

    def answers(films: Sequence[Film]) -> list[_Answer]:
        drawn = [
            (form, draw_facts(random.choice(films), form, random))
            for form in FORMS
            for _ in range(count)
        ]
        prompts = [layout.prompt(form_question(stated, form)) for form, stated in drawn]
        return [
            _Answer(form, stated, read_sentence(each.text), _by_word(tokenizer, each))
            for (form, stated), each in zip(drawn, writer.write(prompts), strict=True)
        ]

    known, unknown = answers(world.known[:POPULAR]), answers(world.tail)
    both = [*known, *unknown]

    def right(answers: list[_Answer]) -> float:
        return _mean(label for each in answers if each.read for label in facts.labels(each.read))

    sure, unsure = (
        [min(each.probabilities_of(WordKind.VALUE)) for each in answers if each.read]
        for answers in (known, unknown)
    )
    errors = (
        abs(probability - np.exp(-word.surprisal))
        for each in both
        if each.read
        for word, probability in zip(each.read.words, each.probabilities, strict=False)
        if word.kind is WordKind.FREE
    )
    return {
        "seed": seed,
        "questions_each": count,
        "known_facts": right(known),
        "unknown_facts": right(unknown),
        "known_from_unknown_auroc": round(auroc(sure, unsure), 4) if sure and unsure else 0.0,
        "well_formed": _mean(each.well_formed for each in both),
        "length_kept": _mean(
            each.read is not None and len(each.read.words) == each.form.words for each in both
        ),
        "style_error": _mean(errors),
        "least_probability_of_unknown_values": _mean(unsure),
    }


def measure_meaning_encoder(
    shape: Any, params: Any, tokenizer: Tokenizer, *, seed: int, count: int = 500
) -> dict[str, Any]:
    """Measure an encoder of meanings on new pairs of its own grammar."""
    random = Random(f"meaning acceptance {seed}")
    pairs = [draw_meaning_pair(random) for _ in range(count)]
    batch = cross_encoder.pad(
        tokenizer.encode_batch([(pair.text, pair.altered) for pair in pairs]), 160
    )
    logits = np.asarray(jax.jit(cross_encoder.logits, static_argnums=0)(shape, params, *batch))
    same = np.array([pair.similarity for pair in pairs]) > 0.5
    return {
        "seed": seed,
        "pairs": count,
        "same_from_other_auroc": round(auroc(list(logits[same]), list(logits[~same])), 4),
        "accuracy": _mean((logits > 0) == same),
    }


def _by_word(tokenizer: Tokenizer, written: Written) -> tuple[float, ...]:
    """Return the probability of every word of an answer: its first token, before a full stop."""
    return tuple(
        float(np.exp(logprob))
        for token, logprob in zip(written.ids, written.logprobs, strict=True)
        if (tokenizer.id_to_token(token) or "").startswith("Ġ")
    )


def _mean(values: Any) -> float:
    found = [float(value) for value in values]
    return round(float(np.mean(found)), 4) if found else 0.0
