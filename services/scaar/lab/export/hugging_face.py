"""Hugging Face checkpoints of the lab's models, which ``transformers`` can load.

The language model is a ``Qwen2ForCausalLM`` with tied embeddings, and the cross-encoder a
``BertForSequenceClassification`` with one label. The weight of a Linear is [out, in], the transpose
of the matrices in training.
"""

import json
from typing import Any

import numpy as np
import safetensors.numpy
from tokenizers import Tokenizer

from scaar.lab.shapes import DecoderShape, EncoderShape
from scaar.lab.vocabulary import BOS, BOS_ID, EOS, EOS_ID, PAD, PAD_ID, build_tokenizer

Array = np.ndarray[Any, Any]
Params = dict[str, Any]
Files = dict[str, bytes]
"""Content of files by name."""

_ANY_TOKENIZER = "PreTrainedTokenizerFast"
"""The class that loads any ``tokenizer.json`` as it is.

transformers 5 replaces the ``tokenizer_class`` of each ``qwen2`` model by Qwen's byte-level
tokenizer, unless ``auto_map`` names a class too. Both names are those of a class of transformers:
no code is loaded from the folder, so ``trust_remote_code`` must not be set.
"""


WEIGHTS = "model.safetensors"


def language_model_files(
    params: Params, shape: DecoderShape, tokens: Tokenizer | None = None
) -> Files:
    """Return the files of the language model's checkpoint, except for the ONNX graph.

    ``tokens`` is its tokenizer, by default that of the default world.
    """
    special = {"bos_token_id": BOS_ID, "eos_token_id": EOS_ID, "pad_token_id": PAD_ID}
    config = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.num_hidden_layers,
        "num_attention_heads": shape.num_attention_heads,
        "num_key_value_heads": shape.num_attention_heads,
        "hidden_act": "silu",
        "max_position_embeddings": shape.max_position_embeddings,
        "rms_norm_eps": shape.rms_norm_eps,
        "rope_theta": shape.rope_theta,
        "attention_dropout": 0.0,
        "use_sliding_window": False,
        "tie_word_embeddings": True,
        "use_cache": True,
        "torch_dtype": "float32",
        **special,
    }
    tokenizer = {
        **_tokenizer_config(shape.max_position_embeddings),
        "padding_side": "left",
        "model_input_names": ["input_ids", "attention_mask"],
        "auto_map": {"AutoTokenizer": [None, _ANY_TOKENIZER]},
    }
    return {
        "config.json": _json(config),
        "generation_config.json": _json({"do_sample": False, **special}),
        WEIGHTS: _safetensors(_decoder_tensors(params)),
        "tokenizer.json": (tokens or build_tokenizer()).to_str(pretty=True).encode(),
        "tokenizer_config.json": _json(tokenizer),
    }


def cross_encoder_files(
    params: Params, shape: EncoderShape, tokens: Tokenizer | None = None
) -> Files:
    """Return the files of the cross-encoder's checkpoint, except for the ONNX graph."""
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.num_hidden_layers,
        "num_attention_heads": shape.num_attention_heads,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout": 0.0,
        "max_position_embeddings": shape.max_position_embeddings,
        "type_vocab_size": shape.type_vocab_size,
        "layer_norm_eps": shape.layer_norm_eps,
        "position_embedding_type": "absolute",
        "num_labels": 1,
        "id2label": {"0": "LABEL_0"},
        "label2id": {"LABEL_0": 0},
        "pad_token_id": PAD_ID,
        "torch_dtype": "float32",
    }
    tokenizer = {
        **_tokenizer_config(shape.max_position_embeddings),
        "cls_token": BOS,
        "sep_token": EOS,
        "padding_side": "right",
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    return {
        "config.json": _json(config),
        WEIGHTS: _safetensors(_encoder_tensors(params)),
        "tokenizer.json": (tokens or build_tokenizer(pairs=True)).to_str(pretty=True).encode(),
        "tokenizer_config.json": _json(tokenizer),
    }


def _tokenizer_config(max_length: int) -> dict[str, Any]:
    return {
        "tokenizer_class": _ANY_TOKENIZER,
        "bos_token": BOS,
        "eos_token": EOS,
        "pad_token": PAD,
        "clean_up_tokenization_spaces": False,
        "model_max_length": max_length,
    }


def _decoder_tensors(params: Params) -> dict[str, Array]:
    tensors = {"model.embed_tokens.weight": params["embed"], "model.norm.weight": params["norm"]}
    for number, layer in enumerate(params["layers"]):
        at = f"model.layers.{number}"
        tensors[f"{at}.input_layernorm.weight"] = layer["attention_norm"]
        tensors[f"{at}.post_attention_layernorm.weight"] = layer["feed_forward_norm"]
        for name in "qkv":
            tensors[f"{at}.self_attn.{name}_proj.weight"] = layer[name].T
            tensors[f"{at}.self_attn.{name}_proj.bias"] = layer[f"{name}_bias"]
        tensors[f"{at}.self_attn.o_proj.weight"] = layer["o"].T
        for name in ("gate", "up", "down"):
            tensors[f"{at}.mlp.{name}_proj.weight"] = layer[name].T
    return tensors


def decoder_params(content: bytes) -> Params:
    """Return the parameters in the weights of a language model's checkpoint."""
    tensors = safetensors.numpy.load(content)
    count = sum(name.endswith(".q_proj.weight") for name in tensors)

    def layer(at: str) -> Params:
        found = {
            "attention_norm": tensors[f"{at}.input_layernorm.weight"],
            "feed_forward_norm": tensors[f"{at}.post_attention_layernorm.weight"],
        }
        for name in "qkvo":
            found[name] = tensors[f"{at}.self_attn.{name}_proj.weight"].T
        for name in "qkv":
            found[f"{name}_bias"] = tensors[f"{at}.self_attn.{name}_proj.bias"]
        for name in ("gate", "up", "down"):
            found[name] = tensors[f"{at}.mlp.{name}_proj.weight"].T
        return found

    return {
        "embed": tensors["model.embed_tokens.weight"],
        "norm": tensors["model.norm.weight"],
        "layers": [layer(f"model.layers.{number}") for number in range(count)],
    }


def encoder_params(content: bytes) -> Params:
    """Return the parameters in the weights of a sentence encoder, a ``BertModel``."""
    tensors = safetensors.numpy.load(content)
    count = sum(name.endswith(".attention.self.query.weight") for name in tensors)

    def linear(name: str, at: str) -> Params:
        return {name: tensors[f"{at}.weight"].T, f"{name}_bias": tensors[f"{at}.bias"]}

    def norm(at: str) -> Params:
        return {"scale": tensors[f"{at}.weight"], "bias": tensors[f"{at}.bias"]}

    def layer(at: str) -> Params:
        return {
            **linear("q", f"{at}.attention.self.query"),
            **linear("k", f"{at}.attention.self.key"),
            **linear("v", f"{at}.attention.self.value"),
            **linear("o", f"{at}.attention.output.dense"),
            **linear("up", f"{at}.intermediate.dense"),
            **linear("down", f"{at}.output.dense"),
            "attention_norm": norm(f"{at}.attention.output.LayerNorm"),
            "output_norm": norm(f"{at}.output.LayerNorm"),
        }

    return {
        "word_embed": tensors["embeddings.word_embeddings.weight"],
        "position_embed": tensors["embeddings.position_embeddings.weight"],
        "type_embed": tensors["embeddings.token_type_embeddings.weight"],
        "embed_norm": norm("embeddings.LayerNorm"),
        "layers": [layer(f"encoder.layer.{number}") for number in range(count)],
    }


def _encoder_tensors(params: Params) -> dict[str, Array]:
    tensors: dict[str, Array] = {}

    def add(at: str, matrix: Array, bias: Array) -> None:
        tensors[f"{at}.weight"], tensors[f"{at}.bias"] = matrix.T, bias

    def add_norm(at: str, norm: Params) -> None:
        tensors[f"{at}.weight"], tensors[f"{at}.bias"] = norm["scale"], norm["bias"]

    for name in ("word", "position"):
        tensors[f"bert.embeddings.{name}_embeddings.weight"] = params[f"{name}_embed"]
    tensors["bert.embeddings.token_type_embeddings.weight"] = params["type_embed"]
    add_norm("bert.embeddings.LayerNorm", params["embed_norm"])
    for number, layer in enumerate(params["layers"]):
        at = f"bert.encoder.layer.{number}"
        for name, long_name in (("q", "query"), ("k", "key"), ("v", "value")):
            add(f"{at}.attention.self.{long_name}", layer[name], layer[f"{name}_bias"])
        add(f"{at}.attention.output.dense", layer["o"], layer["o_bias"])
        add_norm(f"{at}.attention.output.LayerNorm", layer["attention_norm"])
        add(f"{at}.intermediate.dense", layer["up"], layer["up_bias"])
        add(f"{at}.output.dense", layer["down"], layer["down_bias"])
        add_norm(f"{at}.output.LayerNorm", layer["output_norm"])
    add("bert.pooler.dense", params["pooler"], params["pooler_bias"])
    add("classifier", params["classifier"], params["classifier_bias"])
    return tensors


def _safetensors(tensors: dict[str, Array]) -> bytes:
    whole = {name: np.ascontiguousarray(each, np.float32) for name, each in tensors.items()}
    return safetensors.numpy.save(whole, metadata={"format": "pt"})


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
