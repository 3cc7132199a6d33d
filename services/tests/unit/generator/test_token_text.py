from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.decoding.token_text import TokenText, texts_of
from scaar.lab.vocabulary import EOS_ID, build_tokenizer

TOKENIZER = build_tokenizer()
# As the engine has it: a text that looks like a special token is a text.
TOKENIZER.encode_special_tokens = True
# Tokens 3 to 258 are the bytes, in the order of the characters that stand for them.
BYTE_IDS = st.integers(3, 258)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def pieces(ids, context=()):
    text = TokenText(TOKENIZER, context)
    return [*(text.feed(each) for each in ids), text.flush()]


@given(TEXTS, TEXTS)
def test_the_pieces_of_any_text_make_the_text(before, text):
    context = TOKENIZER.encode(before).ids
    ids = TOKENIZER.encode(text, add_special_tokens=False).ids
    assert "".join(pieces(ids, context)) == text


@given(st.lists(BYTE_IDS, max_size=30))
def test_the_pieces_of_any_bytes_are_what_the_tokenizer_decodes(ids):
    assert "".join(pieces(ids)) == TOKENIZER.decode(ids)


def test_a_character_is_added_by_the_token_that_completes_it():
    ids = TOKENIZER.encode("a🙂é", add_special_tokens=False).ids
    assert pieces(ids) == ["a", "", "", "", "🙂", "", "é", ""]


def test_an_invalid_byte_becomes_a_replacement_character():
    stray, letter = TOKENIZER.encode("🙂a", add_special_tokens=False).ids[1::3]
    assert pieces([stray, letter]) == ["", "�a", ""]
    assert pieces([letter, stray]) == ["a", "", "�"]


def test_special_tokens_add_nothing():
    word = TOKENIZER.token_to_id("Ġfilm")
    assert pieces([word, EOS_ID, word]) == [" film", "", " film", ""]


def test_a_preview_changes_nothing():
    text = TokenText(TOKENIZER)
    first, second, third = TOKENIZER.encode("é🙂", add_special_tokens=False).ids[:3]
    assert text.feed(first) == ""
    assert text.preview(second) == "é"
    assert text.preview(third) == "��"
    assert text.feed(second) == "é"


@given(TEXTS, st.lists(BYTE_IDS, max_size=30), st.lists(BYTE_IDS, max_size=8))
def test_tokens_fed_together_add_what_they_add_one_by_one(before, ids, after):
    context = TOKENIZER.encode(before).ids
    together, singly = (TokenText(TOKENIZER, context) for _ in range(2))
    assert together.feed_all(ids) == "".join(map(singly.feed, ids))
    assert together.complete == singly.complete
    assert [together.feed(each) for each in after] == [singly.feed(each) for each in after]
    assert together.flush() == singly.flush()


@given(st.lists(BYTE_IDS | st.integers(0, TOKENIZER.get_vocab_size() - 1), max_size=30) | TEXTS)
def test_decoding_a_whole_text_equals_incremental_decoding(text):
    ids = TOKENIZER.encode(text).ids if isinstance(text, str) else text
    *texts, rest = pieces(ids)
    expected = [*texts[:-1], texts[-1] + rest] if texts else []
    assert texts_of(TOKENIZER, ids) == expected
