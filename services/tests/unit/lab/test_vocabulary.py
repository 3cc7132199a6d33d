import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from scaar.core.prompts.reflection import REFLECTION_TOKENS
from scaar.lab import layout
from scaar.lab.passages import passages_of
from scaar.lab.questions import Kind, ListedFilms, draw_question
from scaar.lab.tags import SEARCH_TAGS
from scaar.lab.vocabulary import BOS_ID, EOS_ID, build_tokenizer, vocabulary
from scaar.lab.world import World, build_world

TOKENIZER = build_tokenizer()


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(2000)


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the text of each token except the first, which starts the text."""
    encoded = tokenizer.encode(text)
    return [text[start:end] for start, end in encoded.offsets[1:]]


def test_a_token_is_in_the_vocabulary_once() -> None:
    tokens = vocabulary()
    assert len(tokens) == len(set(tokens))
    assert TOKENIZER.get_vocab_size() == len(tokens)


def test_every_word_of_the_world_is_one_token(world: World) -> None:
    texts = [f" {passage.text} {passage.title}" for passage in passages_of(world)]
    films = ListedFilms(world.tail)
    for kind in Kind:
        texts += [
            f" {draw_question(Random(seed), films, kind).answer_text(Random(seed))}"
            for seed in range(50)
        ]
    for text in texts:
        # A full stop is a token of its own, and so is a comma.
        expected = text.replace(".", " .").replace(",", " ,").split()
        assert [piece.strip() for piece in pieces(TOKENIZER, text)] == expected


def test_every_word_of_a_prompt_is_one_token(world: World) -> None:
    films = ListedFilms(world.tail)
    marks = (":", "?", ".", ",", "\n")
    for kind in Kind:
        for seed in range(50):
            drawn = draw_question(Random(seed), films, kind).plainly()
            prompt = layout.prompt(drawn.question, ["The film.", "The picture."])
            words = [piece for piece in pieces(TOKENIZER, prompt) if piece not in marks]
            expected = re.sub("[:?.,]", " ", prompt).split()
            assert [word.strip() for word in words] == expected


def test_a_text_starts_with_its_special_token_and_a_pair_is_framed() -> None:
    assert TOKENIZER.encode("film").ids[0] == BOS_ID
    pair = build_tokenizer(pairs=True).encode("The film", "The star")
    assert (pair.ids[0], pair.ids[-1]) == (BOS_ID, EOS_ID)
    second = pair.type_ids.index(1)
    assert pair.type_ids == [0] * second + [1] * (len(pair.ids) - second)
    assert pair.ids[second - 1] == EOS_ID


@pytest.mark.parametrize("tags", [REFLECTION_TOKENS, SEARCH_TAGS])
def test_a_tag_is_one_token_of_the_text_and_the_other_tokens_keep_their_ids(
    tags: tuple[str, ...], world: World
) -> None:
    tagged = build_tokenizer(tags=tags)
    for tag in tags:
        ids = tagged.encode(f" film{tag} film", add_special_tokens=False).ids
        assert ids[1] == tagged.token_to_id(tag) >= TOKENIZER.get_vocab_size()
        assert tagged.decode(ids) == f" film{tag} film"
    for passage in list(passages_of(world))[:50]:
        text = f" {passage.text}"
        assert tagged.encode(text).ids == TOKENIZER.encode(text).ids
        after = tagged.encode(f"{tags[-1]}{passage.text}").ids
        assert len(after) == len(TOKENIZER.encode(text).ids) + 1, "the first word is one token"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_decoded_from_its_tokens(text: str) -> None:
    ids = TOKENIZER.encode(text, add_special_tokens=False).ids
    decoded = TOKENIZER.decode(ids, skip_special_tokens=False)
    assert decoded == text


def test_the_prompt_has_numbered_passages_before_the_question() -> None:
    assert layout.prompt("Who?") == "Question: Who?\nAnswer:"
    expected = "Context:\n[1] One.\n[2] Two.\nQuestion: Who?\nAnswer:"
    assert layout.prompt("Who?", ["One.", "Two."]) == expected
    assert layout.recall_prompt(["One."]) == "Context:\n[1] One.\nFacts:"
