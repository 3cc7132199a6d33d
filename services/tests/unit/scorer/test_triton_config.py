"""The configurations for Triton, validated against its schema and compared with deploy."""

from array import array
from pathlib import Path

import pytest
from google.protobuf import text_format
from tritonclient.grpc import model_config_pb2 as pb

from scaar.scorer.engines.batched_request import BatchLimits
from scaar.scorer.triton_repository.export import write_configuration
from scaar.scorer.triton_repository.model_config import (
    MODEL_NAME,
    Backend,
    ModelShape,
    config_text,
    mask_name,
)

DEPLOYED = Path(__file__).parents[4] / "deploy" / "triton" / "model_repository"
ROBERTA = ModelShape(inputs=("input_ids", "attention_mask"), max_pair_tokens=512, padding=1)
BERT = ModelShape(
    inputs=("input_ids", "attention_mask", "token_type_ids"),
    max_pair_tokens=300,
    revision="0123456789ab",
    tokenizer_sha256="ab" * 32,
    max_batch_size=16,
)


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".gitkeep"
    }


def parsed(backend, shape):
    return text_format.Parse(config_text(backend, shape), pb.ModelConfig())


@pytest.mark.parametrize("backend", Backend)
def test_the_deployed_configuration_is_that_of_an_exported_roberta(backend, tmp_path):
    write_configuration(tmp_path / MODEL_NAME, backend, ROBERTA)
    assert files_of(DEPLOYED / backend / MODEL_NAME) == files_of(tmp_path / MODEL_NAME)


@pytest.mark.parametrize("backend", Backend)
def test_a_deployed_configuration_is_of_tritons_schema(backend):
    text = (DEPLOYED / backend / MODEL_NAME / "config.pbtxt").read_text()
    config = text_format.Parse(text, pb.ModelConfig())
    assert config.name == MODEL_NAME
    assert [each.name for each in config.input] == ["input_ids", "attention_mask"]


@pytest.mark.parametrize("shape", [ROBERTA, BERT], ids=["roberta", "bert"])
@pytest.mark.parametrize("backend", Backend)
def test_every_back_end_serves_the_same_model_with_a_bounded_queue(backend, shape):
    config = parsed(backend, shape)
    assert [each.name for each in config.input] == list(shape.inputs)
    assert {(each.data_type, *each.dims) for each in config.input} == {(pb.TYPE_INT64, -1)}
    assert [(each.name, each.data_type, *each.dims) for each in config.output] == [
        ("logits", pb.TYPE_FP32, 1)
    ]
    assert config.max_batch_size == shape.max_batch_size
    policy = config.dynamic_batching.default_queue_policy
    assert policy.timeout_action == pb.ModelQueuePolicy.REJECT
    assert policy.max_queue_size > 0
    assert policy.default_timeout_microseconds > 0
    (instances,) = config.instance_group
    assert instances.count == 2


@pytest.mark.parametrize("backend", Backend)
def test_the_warm_up_covers_every_width_with_a_mask_of_ones(backend, tmp_path):
    write_configuration(tmp_path / MODEL_NAME, backend, BERT)
    widths = []
    for sample in parsed(backend, BERT).model_warmup:
        assert set(sample.inputs) == set(BERT.inputs)
        (width,) = {each.dims[0] for each in sample.inputs.values()}
        widths.append(width)
        mask = sample.inputs["attention_mask"].input_data_file
        assert mask == mask_name(width)
        ones = array("q", (tmp_path / MODEL_NAME / "warmup" / mask).read_bytes())
        assert list(ones) == [1] * width
        assert sample.inputs["input_ids"].zero_data
    assert widths == [64, 128, 256, 300]


def test_the_widths_are_those_that_the_scorer_pads_to():
    for most in (40, 64, 65, 300, 512, 600):
        limits = BatchLimits(pair_tokens=most, batch_pairs=1, queued_pairs=1)
        padded_to = {limits.bucket_of(range(length)) for length in range(1, most + 1)}
        assert ModelShape(inputs=(), max_pair_tokens=most).widths == tuple(sorted(padded_to))


def test_only_the_back_end_that_pads_accepts_mixed_lengths():
    mixed = {
        backend: {each.allow_ragged_batch for each in parsed(backend, BERT).input}
        for backend in Backend
    }
    assert mixed == {Backend.PYTHON: {True}, Backend.ONNX: {False}, Backend.TENSORRT: {False}}


def test_an_engine_is_found_by_the_gpu_and_has_a_profile_for_every_width():
    config = parsed(Backend.TENSORRT, BERT)
    assert config.platform == "tensorrt_plan"
    assert config.cc_model_filenames["8.6"] == "model_sm86.plan"
    assert config.cc_model_filenames["10.0"] == "model_sm100.plan"
    (instances,) = config.instance_group
    assert instances.kind == pb.ModelInstanceGroup.KIND_GPU
    assert list(instances.profile) == ["0", "1", "2", "3"]


def test_the_configuration_identifies_the_exported_model():
    reported = {
        key: each.string_value for key, each in parsed(Backend.PYTHON, BERT).parameters.items()
    }
    assert reported == {"revision": "0123456789ab", "tokenizer_sha256": "ab" * 32, "padding": "0"}
