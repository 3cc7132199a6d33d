"""A sentence encoder without training: the vector of a text has its word counts, normalised.

It has one dimension for each word that it is created with, so that a test can predict the nearest
texts. Its files are those of any ONNX encoder.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from scaar.lab.export.onnx_graph import FLOAT, INT64, OnnxGraph

_UNKNOWN = "[UNK]"


def write_word_encoder(folder: Path, texts: Iterable[str], *, max_tokens: int = 64) -> Path:
    """Write the encoder for the words of some texts, and return its folder."""
    words = sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})
    vocabulary = {word: place for place, word in enumerate([_UNKNOWN, *words])}
    (folder / "1_Pooling").mkdir(parents=True)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(_model(len(vocabulary)))
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"path": path, "type": f"sentence_transformers.models.{kind}"}
        for path, kind in kinds.items()
    ]
    config = {"hidden_size": len(vocabulary), "max_position_embeddings": max_tokens}
    for name, content in (
        ("config.json", config),
        ("modules.json", modules),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True}),
    ):
        (folder / name).write_text(json.dumps(content))
    return folder


def _model(width: int) -> bytes:
    """Return the vectors of tokens: one dimension for each word, zero for unknown words."""
    table = np.eye(width, dtype=np.float32)
    table[0] = 0
    graph = OnnxGraph("words")
    ids = graph.input("input_ids", INT64, ("texts", "tokens"))
    graph.output("last_hidden_state", FLOAT, ("texts", "tokens", width))
    graph.do("Gather", graph.weight("table", table), ids, name="last_hidden_state", axis=0)
    return graph.to_bytes()
