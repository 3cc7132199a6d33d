"""lab-cross-encoder as a BertForSequenceClassification: transformers says what the scorer says."""

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForSequenceClassification,
)

from scaar.core.contribution import leave_one_out
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder

WORDS = "The film The Crimson Desert of Zaport was directed by Roric Kelford.".split()
WHOLE, ALTERED = leave_one_out("Who directed the film The Crimson Desert of Zaport?", WORDS)


@pytest.fixture(scope="module")
def loaded():
    return AutoModelForSequenceClassification.from_pretrained(
        model_folder(LAB_CROSS_ENCODER), output_loading_info=True
    )


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(model_folder(LAB_CROSS_ENCODER))


def test_every_tensor_is_taken_and_none_is_missing(loaded):
    model, told = loaded
    assert isinstance(model, BertForSequenceClassification)
    assert model.config.num_labels == 1
    assert not any(told.values())


def test_the_tokenizers_frame_pairs_alike(tokenizer, cross_encoder):
    for other, ours in zip(
        ALTERED, cross_encoder.encode([(WHOLE, other) for other in ALTERED]), strict=True
    ):
        theirs = tokenizer(WHOLE, other)
        assert theirs["input_ids"] == ours.ids
        assert theirs["token_type_ids"] == ours.type_ids


def test_likeness_agrees_over_a_padded_batch(loaded, tokenizer, cross_encoder):
    model = loaded[0].eval()
    batch = tokenizer([WHOLE] * len(ALTERED), list(ALTERED), padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = torch.sigmoid(model(**batch).logits[:, 0])
    pairs = cross_encoder.encode([(WHOLE, other) for other in ALTERED])
    np.testing.assert_allclose(cross_encoder.likeness(pairs), expected, atol=1e-5)
