"""Compatible models on Triton, and the errors of incompatible ones."""

from dataclasses import replace

import pytest

from scaar.core.errors import CapabilityMissing
from scaar.scorer.engines.triton_contract import ReportedModel, ServedModel, Tensor, served_model

IDS, LOGITS = Tensor("INT64", (-1, -1)), Tensor("FP32", (-1, 1))
FITTING = ReportedModel(
    name="ce",
    version="3",
    inputs={"attention_mask": IDS, "input_ids": IDS},
    outputs={"logits": LOGITS},
    max_batch_size=8,
    parameters={},
)


def found(**changed):
    return served_model(replace(FITTING, **changed), tokenizer_sha256="ab", target="t:1")


def test_a_compatible_model_gets_its_own_inputs():
    assert found() == ServedModel("version-3", ("input_ids", "attention_mask"), 8)
    typed = found(inputs={**FITTING.inputs, "token_type_ids": IDS})
    assert typed.inputs == ("input_ids", "attention_mask", "token_type_ids")


def test_the_revision_is_that_of_the_export_or_else_tritons_version():
    assert found(parameters={"revision": "0123"}).revision == "0123"
    assert found(parameters={"revision": ""}).revision == "version-3"


def test_further_outputs_are_ignored():
    assert found(outputs={"logits": LOGITS, "hidden": Tensor("FP16", (-1, 4))}).max_batch_size == 8


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"inputs": {"input_ids": IDS}}, "attention_mask must be INT64 [-1, -1], and is missing"),
        ({"inputs": {**FITTING.inputs, "x": IDS}}, "token_type_ids, not x"),
        (
            {"inputs": {**FITTING.inputs, "input_ids": Tensor("INT32", (-1, 64))}},
            "input_ids must be INT64 [-1, -1], not INT32 [-1, 64]",
        ),
        ({"outputs": {"scores": LOGITS}}, "must be FP32 [-1, 1], and the outputs are scores"),
        ({"outputs": {}}, "the outputs are none"),
        ({"outputs": {"logits": Tensor("FP32", (-1, 3))}}, "not FP32 [-1, 3]"),
        ({"max_batch_size": 0}, "max_batch_size must be at least 1, not 0"),
        ({"parameters": {"tokenizer_sha256": "cd"}}, "SHA-256 cd, and that of the model folder ab"),
    ],
)
def test_the_error_of_an_incompatible_model_names_what_is_expected(changed, said):
    with pytest.raises(CapabilityMissing) as refused:
        found(**changed)
    assert said in refused.value.message
    assert refused.value.message.startswith("t:1: model 'ce' cannot score")


def test_all_violations_are_reported_together():
    with pytest.raises(CapabilityMissing) as refused:
        found(inputs={}, outputs={}, max_batch_size=0)
    assert refused.value.message.count(";") == 3
