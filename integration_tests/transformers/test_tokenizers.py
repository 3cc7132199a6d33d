"""The tokenizers that ship: transformers 4 and 5 read any text as the engines do.

The engines read what looks like a special token as ordinary text; in transformers this is
``split_special_tokens``.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from scaar.lab import layout
from scaar.lab.models import LAB_CROSS_ENCODER, LAB_LM, LANGUAGE_MODELS, model_folder
from scaar.lab.passages import passages_of
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world

WORLD = build_world(2000)
PASSAGES = [passage.text for passage in passages_of(WORLD)]
QUESTION = draw_questions(WORLD, count=1)[0].question
TEXTS = {
    "prompt": layout.prompt(QUESTION, PASSAGES[:3]),
    "1,000 words": " ".join(" ".join(PASSAGES).split()[:1000]),
    "emoji": "A family 👨‍👩‍👧‍👦, a flag 🇯🇵 and a thumb 👍🏽: 🙂🙂.",
    "control characters": "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0)))),
    "scripts": "東京 Ελλάδα русский العربية नमस्ते cafe\u0301 café ½ Ⅷ ﬁ",
    "white space": "  a  b\t\tc \r\n\r\n d\u00a0\u2003\u2028\u200b\ufeff e  ",
    "special tokens": "<s>The film</s> <pad> <s",
    "nothing": "",
}

some_texts = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


@pytest.fixture(scope="module", params=LANGUAGE_MODELS)
def of_any_language_model(request):
    return AutoTokenizer.from_pretrained(model_folder(request.param), split_special_tokens=True)


@pytest.fixture(scope="module")
def of_language_model():
    return AutoTokenizer.from_pretrained(model_folder(LAB_LM), split_special_tokens=True)


@pytest.fixture(scope="module")
def of_cross_encoder():
    return AutoTokenizer.from_pretrained(model_folder(LAB_CROSS_ENCODER), split_special_tokens=True)


def check_text(theirs, language_model, text):
    ours = language_model.tokenizer.encode(text)
    expected = theirs(text, return_offsets_mapping=True)
    assert language_model.encode(text) == ours.ids == expected["input_ids"]
    assert ours.offsets == expected["offset_mapping"]
    assert theirs.decode(ours.ids[1:]) == text


def check_pair(theirs, cross_encoder, text, other):
    (ours,) = cross_encoder.encode([(text, other)])
    # As a batch: outside of one, transformers takes an empty second text for none.
    expected = theirs([text], [other], return_offsets_mapping=True)
    assert [ours.ids] == expected["input_ids"]
    assert [ours.type_ids] == expected["token_type_ids"]
    assert [ours.offsets] == expected["offset_mapping"]


@some_texts
def test_the_language_models_read_a_text_alike(of_any_language_model, language_model, text):
    check_text(of_any_language_model, language_model, text)


@given(text=st.text())
def test_the_language_model_reads_any_text_alike(of_language_model, language_model, text):
    check_text(of_language_model, language_model, text)


@some_texts
def test_the_cross_encoder_reads_a_pair_alike(of_cross_encoder, cross_encoder, text):
    check_pair(of_cross_encoder, cross_encoder, QUESTION, text)
    check_pair(of_cross_encoder, cross_encoder, text, QUESTION)


@given(text=st.text(), other=st.text())
def test_the_cross_encoder_reads_any_pair_alike(of_cross_encoder, cross_encoder, text, other):
    check_pair(of_cross_encoder, cross_encoder, text, other)
