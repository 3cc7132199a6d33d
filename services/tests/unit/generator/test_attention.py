"""Attention of the embedded engines: its size, and the tokens of a text that is read alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from scaar.core.errors import PromptTooLong
from scaar.core.types import AttendRequest, AttentionKind
from scaar.generator.engines.decoding.attention import AttentionPass
from scaar.generator.engines.decoding.language_model import LanguageModel
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.generator.validation import MAX_WEIGHTS, check_weights


@pytest.mark.parametrize(
    ("prompt_tokens", "tokens"), [(0, 1), (0, 1_731), (8_191, 8_192), (8_000, 8_184)]
)
def test_an_attention_that_fits_an_answer_passes(prompt_tokens: int, tokens: int) -> None:
    check_weights(prompt_tokens, tokens)


@pytest.mark.parametrize(("prompt_tokens", "tokens"), [(0, 1_732), (0, 8_192), (8_000, 8_186)])
def test_an_attention_that_fits_no_answer_is_refused_with_the_limit(
    prompt_tokens: int, tokens: int
) -> None:
    with pytest.raises(PromptTooLong, match=f"text: must have at most {MAX_WEIGHTS:,} weights"):
        check_weights(prompt_tokens, tokens)


class Read:
    """What a decoder has read: the tokens themselves."""

    size_bytes = 1

    def __init__(self, ids: Sequence[int] = ()) -> None:
        self.ids = tuple(ids)

    @property
    def length(self) -> int:
        return len(self.ids)


class Attentive:
    """A decoder of one head, whose tokens receive their own id in hundredths."""

    gives_attention = True
    begin = Read

    def step_attended(self, ids: Sequence[int], cache: Read) -> tuple[Any, Read]:
        after = Read([*cache.ids, *ids])
        return np.array([after.ids]) / 100, after


PIECES = ("<unk>", "</s>", "▁Ada", "▁was", "▁born", "▁in", "▁Paris.")


def sentence_piece() -> LanguageModel:
    """A model with a tokenizer as Llama's, whose texts begin without their space."""
    tokenizer = Tokenizer(models.WordLevel({each: at for at, each in enumerate(PIECES)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["</s>"])
    return LanguageModel(
        name="pieces",
        revision="",
        decoder=Attentive(),
        tokenizer=tokenizer,
        vocabulary=len(PIECES),
        max_total_tokens=64,
        characters_per_token=8,
        end_ids=frozenset({1}),
        prompt_profile="lab",
        recommended=(),
    )


@pytest.mark.parametrize("ended", [False, True])
def test_tokens_whose_text_loses_its_space_are_read_as_given(ended: bool) -> None:
    text, ids = " Ada was born in Paris.", (2, 3, 4, 5, 6)
    request = AttendRequest("", text, ids, AttentionKind.MAX_THEN_MEAN, ended=ended)
    attending = AttentionPass(sentence_piece(), request, PrefixStore(0))
    while not attending.done:
        attending.step()
    found = attending.attention()
    assert [each.id for each in found.tokens] == list(ids)
    assert [each.text for each in found.tokens] == [" Ada", " was", " born", " in", " Paris."]
    assert all(text[each.start : each.end] == each.text for each in found.tokens)
    assert found.received == tuple(each / 100 for each in ids)
