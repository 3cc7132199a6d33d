"""The lab's language model as a GGUF file, for llama.cpp: ``python gguf_model.py FOLDER FILE``.

It runs in the environment of the server, which has the packages gguf and safetensors.

llama.cpp splits text with one of its own patterns, and joins bytes by merges. The lab's tokenizer
has another pattern and no merges: a word of its vocabulary is one token, and any other word is
bytes. GPT-2's pattern is closest: with citations as tokens of the user, which are matched before
the pattern, and with merges that join each word from its start, the words of the vocabulary are the
same tokens. A word that starts with a shorter word of the vocabulary is not.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import gguf
from safetensors.numpy import load_file

_SPACE = "Ġ"
_BLOCK = {
    "input_layernorm.weight": "attn_norm.weight",
    "mlp.down_proj.weight": "ffn_down.weight",
    "mlp.gate_proj.weight": "ffn_gate.weight",
    "mlp.up_proj.weight": "ffn_up.weight",
    "post_attention_layernorm.weight": "ffn_norm.weight",
    "self_attn.k_proj.bias": "attn_k.bias",
    "self_attn.k_proj.weight": "attn_k.weight",
    "self_attn.o_proj.weight": "attn_output.weight",
    "self_attn.q_proj.bias": "attn_q.bias",
    "self_attn.q_proj.weight": "attn_q.weight",
    "self_attn.v_proj.bias": "attn_v.bias",
    "self_attn.v_proj.weight": "attn_v.weight",
}


def write_gguf(folder: Path, file: Path, *, template: str) -> None:
    """Write the checkpoint of a folder as a GGUF file with a chat template."""
    config = json.loads((folder / "config.json").read_text())
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    writer = gguf.GGUFWriter(file, "qwen2")
    writer.add_name(folder.name)
    _add_sizes(writer, config)
    _add_tokenizer(writer, config, sorted(vocabulary, key=vocabulary.__getitem__))
    writer.add_chat_template(template)
    for name, tensor in load_file(folder / "model.safetensors").items():
        writer.add_tensor(_tensor_name(name), tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_sizes(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


def _add_tokenizer(writer: gguf.GGUFWriter, config: dict[str, Any], tokens: list[str]) -> None:
    special = {config[f"{name}_token_id"] for name in ("bos", "eos", "pad")}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([_kind(at in special, token) for at, token in enumerate(tokens)])
    words = [
        token for at, token in enumerate(tokens) if at not in special and not _is_citation(token)
    ]
    writer.add_token_merges(merges_of(words))
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(True)


def merges_of(words: list[str]) -> list[str]:
    """Return the merges that join each word from its start, those of words after a space first."""
    pairs: dict[tuple[str, str], None] = {}
    for word in sorted(words, key=lambda each: not each.startswith(_SPACE)):
        starts = [word[:end] for end in range(1, len(word) + 1)]
        pairs |= {(start, longer[-1]): None for start, longer in pairwise(starts)}
    return [" ".join(pair) for pair in pairs]


def _kind(special: bool, token: str) -> gguf.TokenType:
    if special:
        return gguf.TokenType.CONTROL
    return gguf.TokenType.USER_DEFINED if _is_citation(token) else gguf.TokenType.NORMAL


def _is_citation(token: str) -> bool:
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def _tensor_name(name: str) -> str:
    name = name.removeprefix("model.")
    if name.startswith("layers."):
        _, block, rest = name.split(".", 2)
        return f"blk.{block}.{_BLOCK[rest]}"
    return {"embed_tokens.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}[name]


if __name__ == "__main__":
    write_gguf(Path(sys.argv[1]), Path(sys.argv[2]), template=sys.argv[3])
