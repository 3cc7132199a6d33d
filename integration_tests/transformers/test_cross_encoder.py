"""lab-cross-encoder as a BertForSequenceClassification: transformers says what the scorer says."""

from random import Random

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForSequenceClassification,
)

from scaar.core.loop.contribution import leave_one_out
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.lab.training.pairs import draw_pair

RANDOM = Random(2000)
PAIRS = [(pair.text, pair.altered) for pair in (draw_pair(RANDOM) for _ in range(200))]
WORDS = "The film The Crimson Desert was directed by Roric Kelford.".split()
WHOLE, ALTERED = leave_one_out("Who directed the film The Crimson Desert?", WORDS)


@pytest.fixture(scope="module")
def loaded():
    return AutoModelForSequenceClassification.from_pretrained(
        model_folder(LAB_CROSS_ENCODER), output_loading_info=True
    )


@pytest.fixture(scope="module")
def expected_logits(loaded):
    """The logits that transformers gives for a batch of pairs of texts, padded."""
    model = loaded[0].eval()
    tokenizer = AutoTokenizer.from_pretrained(model_folder(LAB_CROSS_ENCODER))

    def logits(pairs):
        batch = tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
        with torch.no_grad():
            return model(**batch).logits[:, 0].double().numpy()

    return logits


def test_every_tensor_is_taken_and_none_is_missing(loaded):
    model, reported = loaded
    assert isinstance(model, BertForSequenceClassification)
    assert model.config.num_labels == 1
    assert not any(reported.values())


def test_the_logits_of_200_pairs_agree(expected_logits, cross_encoder):
    similarity = cross_encoder.similarities(cross_encoder.encode(PAIRS))
    logits = np.log(similarity / (1 - similarity))
    np.testing.assert_allclose(logits, expected_logits(PAIRS), atol=1e-4)


def test_a_sentence_without_each_of_its_words_is_as_like(expected_logits, cross_encoder):
    pairs = [(WHOLE, other) for other in ALTERED]
    expected = torch.sigmoid(torch.tensor(expected_logits(pairs)))
    similarity = cross_encoder.similarities(cross_encoder.encode(pairs))
    np.testing.assert_allclose(similarity, expected, atol=1e-5)
