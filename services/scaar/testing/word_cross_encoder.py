"""A cross-encoder without training: the logit of a pair counts the words that both texts have.

It knows the words that it is created with, so that a test can predict the order of texts. Its files
are those of any ONNX cross-encoder.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from scaar.lab.export.onnx_graph import FLOAT, INT64, OnnxGraph

_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_SPECIAL = (_UNKNOWN, _START, _END)


def write_word_cross_encoder(folder: Path, texts: Iterable[str], *, max_tokens: int = 64) -> Path:
    """Write the cross-encoder for the words of some texts, and return its folder.

    The logit is 0.1 for each pair of equal words, one of each text.
    """
    words = sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})
    vocabulary = {word: place for place, word in enumerate([*_SPECIAL, *words])}
    folder.mkdir(parents=True)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{_START} $A {_END}",
        pair=f"{_START} $A {_END} $B:1 {_END}:1",
        special_tokens=[(each, vocabulary[each]) for each in (_START, _END)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(_model(len(vocabulary)))
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": max_tokens}))
    return folder


def _model(width: int) -> bytes:
    table = np.eye(width, dtype=np.float32)
    table[: len(_SPECIAL)] = 0
    graph = OnnxGraph("common_words")
    ids, mask, types = (
        graph.input(name, INT64, ("pairs", "tokens"))
        for name in ("input_ids", "attention_mask", "token_type_ids")
    )
    graph.output("logits", FLOAT, ("pairs", 1))
    vectors = graph.do("Gather", graph.weight("table", table), ids)
    read = graph.do("Cast", graph.do("Unsqueeze", mask, graph.integers(2)), to=FLOAT)
    second = graph.do("Cast", graph.do("Unsqueeze", types, graph.integers(2)), to=FLOAT)
    vectors = graph.do("Mul", vectors, read)
    every = graph.do("ReduceSum", vectors, graph.integers(1), keepdims=0)
    passage = graph.do("ReduceSum", graph.do("Mul", vectors, second), graph.integers(1), keepdims=0)
    query = graph.do("Sub", every, passage)
    common = graph.do("ReduceSum", graph.do("Mul", query, passage), graph.integers(1), keepdims=1)
    graph.do("Mul", common, graph.number(0.1), name="logits")
    return graph.to_bytes()
