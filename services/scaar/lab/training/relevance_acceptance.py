"""Measures of a trained reranker on pairs that it was not trained on."""

from functools import partial
from random import Random
from typing import Any

import jax
import numpy as np
from tokenizers import Tokenizer

from scaar.lab.training import cross_encoder
from scaar.lab.training.acceptance import auroc
from scaar.lab.training.relevance_pairs import draw_relevance_pair


def measure_reranker(
    shape: Any, params: Any, tokenizer: Tokenizer, *, seed: int, count: int = 400
) -> dict[str, float]:
    """Measure how the relevance of unseen passages separates relevant ones from others."""
    random = Random(f"relevance {seed}")
    pairs = [draw_relevance_pair(random) for _ in range(count)]
    encodings = tokenizer.encode_batch([(pair.text, pair.altered) for pair in pairs])
    step = jax.jit(partial(cross_encoder.logits, shape))
    found = np.asarray(step(params, *cross_encoder.pad(encodings, 128)), np.float64).ravel()
    relevant = np.array([pair.similarity > 0.5 for pair in pairs])
    return {
        "seed": seed,
        "pairs": count,
        "accuracy": round(float(((found > 0) == relevant).mean()), 4),
        "auroc": round(auroc(list(found[relevant]), list(found[~relevant])), 4),
    }
