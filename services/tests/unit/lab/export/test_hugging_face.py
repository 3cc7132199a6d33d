import json

import jax
import numpy as np
import safetensors
import safetensors.numpy
from tokenizers import Tokenizer

from scaar.lab.export.hugging_face import (
    cross_encoder_files,
    decoder_params,
    encoder_params,
    language_model_files,
)
from scaar.lab.vocabulary import BOS_ID, EOS_ID, PAD_ID

# Names and shapes as transformers 4.57 gives them for these configurations.
QWEN2_LAYER = {
    "input_layernorm.weight": (32,),
    "self_attn.q_proj.weight": (32, 32),
    "self_attn.q_proj.bias": (32,),
    "self_attn.k_proj.weight": (32, 32),
    "self_attn.k_proj.bias": (32,),
    "self_attn.v_proj.weight": (32, 32),
    "self_attn.v_proj.bias": (32,),
    "self_attn.o_proj.weight": (32, 32),
    "post_attention_layernorm.weight": (32,),
    "mlp.gate_proj.weight": (48, 32),
    "mlp.up_proj.weight": (48, 32),
    "mlp.down_proj.weight": (32, 48),
}
BERT_LAYER = {
    "attention.self.query.weight": (32, 32),
    "attention.self.query.bias": (32,),
    "attention.self.key.weight": (32, 32),
    "attention.self.key.bias": (32,),
    "attention.self.value.weight": (32, 32),
    "attention.self.value.bias": (32,),
    "attention.output.dense.weight": (32, 32),
    "attention.output.dense.bias": (32,),
    "attention.output.LayerNorm.weight": (32,),
    "attention.output.LayerNorm.bias": (32,),
    "intermediate.dense.weight": (48, 32),
    "intermediate.dense.bias": (48,),
    "output.dense.weight": (32, 48),
    "output.dense.bias": (32,),
    "output.LayerNorm.weight": (32,),
    "output.LayerNorm.bias": (32,),
}


def tensors_of(files):
    return safetensors.numpy.load(files["model.safetensors"])


def shapes_of(files):
    return {name: tensor.shape for name, tensor in tensors_of(files).items()}


def in_layers(prefix, layer, count):
    return {f"{prefix}.{i}.{name}": shape for i in range(count) for name, shape in layer.items()}


def test_the_parameters_of_a_sentence_encoder_are_read_from_its_weights(encoder):
    shape, params = encoder
    tensors = {
        name.removeprefix("bert."): tensor
        for name, tensor in tensors_of(cross_encoder_files(params, shape)).items()
        if "pooler" not in name and "classifier" not in name
    }
    read = encoder_params(safetensors.numpy.save(tensors))
    expected = {
        name: part for name, part in params.items() if not name.startswith(("pooler", "classifier"))
    }
    jax.tree.map(np.testing.assert_array_equal, read, expected)


def test_a_training_can_continue_from_the_tensors_of_a_checkpoint(decoder):
    shape, params = decoder
    read = decoder_params(language_model_files(params, shape)["model.safetensors"])
    assert set(read) == set(params)
    for name in ("embed", "norm"):
        np.testing.assert_array_equal(read[name], params[name])
    for layer, expected in zip(read["layers"], params["layers"], strict=True):
        assert set(layer) == set(expected)
        for name, tensor in expected.items():
            np.testing.assert_array_equal(layer[name], tensor)


def test_the_language_models_tensors_are_those_of_qwen2(decoder):
    shape, params = decoder
    assert shapes_of(language_model_files(params, shape)) == {
        "model.embed_tokens.weight": (shape.vocab_size, 32),
        "model.norm.weight": (32,),
        **in_layers("model.layers", QWEN2_LAYER, 2),
    }


def test_the_cross_encoders_tensors_are_those_of_bert(encoder):
    shape, params = encoder
    assert shapes_of(cross_encoder_files(params, shape)) == {
        "bert.embeddings.word_embeddings.weight": (shape.vocab_size, 32),
        "bert.embeddings.position_embeddings.weight": (96, 32),
        "bert.embeddings.token_type_embeddings.weight": (2, 32),
        "bert.embeddings.LayerNorm.weight": (32,),
        "bert.embeddings.LayerNorm.bias": (32,),
        **in_layers("bert.encoder.layer", BERT_LAYER, 2),
        "bert.pooler.dense.weight": (32, 32),
        "bert.pooler.dense.bias": (32,),
        "classifier.weight": (1, 32),
        "classifier.bias": (1,),
    }


def test_matrices_are_transposed_to_out_by_in(decoder, encoder):
    shape, params = decoder
    tensors = tensors_of(language_model_files(params, shape))
    for name, ours in (("q", "q"), ("o", "o")):
        weight = tensors[f"model.layers.1.self_attn.{name}_proj.weight"]
        np.testing.assert_array_equal(weight, params["layers"][1][ours].T)
    shape, params = encoder
    tensors = tensors_of(cross_encoder_files(params, shape))
    np.testing.assert_array_equal(tensors["bert.pooler.dense.weight"], params["pooler"].T)


def test_the_tensors_have_the_metadata_of_pytorch(decoder, tmp_path):
    shape, params = decoder
    path = tmp_path / "model.safetensors"
    path.write_bytes(language_model_files(params, shape)["model.safetensors"])
    with safetensors.safe_open(path, "numpy") as file:
        assert file.metadata() == {"format": "pt"}


def test_the_configurations_name_architecture_and_tokens(decoder, encoder):
    shape, params = decoder
    files = language_model_files(params, shape)
    config = json.loads(files["config.json"])
    assert config["architectures"] == ["Qwen2ForCausalLM"]
    assert config["tie_word_embeddings"] is True
    assert (config["rope_theta"], config["hidden_act"]) == (1e8, "silu")
    ids = [config[f"{name}_token_id"] for name in ("bos", "eos", "pad")]
    assert ids == [BOS_ID, EOS_ID, PAD_ID]
    assert json.loads(files["generation_config.json"])["eos_token_id"] == EOS_ID
    shape, params = encoder
    config = json.loads(cross_encoder_files(params, shape)["config.json"])
    assert config["architectures"] == ["BertForSequenceClassification"]
    assert (config["num_labels"], config["layer_norm_eps"]) == (1, 1e-12)


def test_the_tokenizers_add_special_tokens_to_texts_and_pairs(decoder, encoder):
    shape, params = decoder
    tokenizer = Tokenizer.from_str(language_model_files(params, shape)["tokenizer.json"].decode())
    assert tokenizer.encode("Who is 🙂?").ids[0] == BOS_ID
    assert tokenizer.decode(tokenizer.encode("Who is 🙂?").ids) == "Who is 🙂?"
    shape, params = encoder
    tokenizer = Tokenizer.from_str(cross_encoder_files(params, shape)["tokenizer.json"].decode())
    pair = tokenizer.encode("Who", "born")
    assert [pair.ids[0], pair.ids[-1]] == [BOS_ID, EOS_ID]
    assert pair.type_ids == sorted(pair.type_ids)
    assert set(pair.type_ids) == {0, 1}
