"""Which models behind Triton can score; what is wrong with the others is named."""

from dataclasses import replace

import pytest

from scaar.core.errors import CapabilityMissing
from scaar.scorer.engines.triton_contract import FoundModel, ServedModel, Tensor, fitting

IDS, LOGITS = Tensor("INT64", (-1, -1)), Tensor("FP32", (-1, 1))
FITTING = FoundModel(
    name="ce",
    version="3",
    inputs={"attention_mask": IDS, "input_ids": IDS},
    outputs={"logits": LOGITS},
    max_batch_size=8,
    parameters={},
)


def found(**changed):
    return fitting(replace(FITTING, **changed), tokenizer_sha256="ab", target="t:1")


def test_a_model_that_fits_is_asked_by_its_own_inputs():
    assert found() == ServedModel("version-3", ("input_ids", "attention_mask"), 8)
    typed = found(inputs={**FITTING.inputs, "token_type_ids": IDS})
    assert typed.inputs == ("input_ids", "attention_mask", "token_type_ids")


def test_the_revision_is_what_the_export_says_or_else_tritons_version():
    assert found(parameters={"revision": "0123"}).revision == "0123"
    assert found(parameters={"revision": ""}).revision == "version-3"


def test_further_outputs_do_no_harm():
    assert found(outputs={"logits": LOGITS, "hidden": Tensor("FP16", (-1, 4))}).max_batch_size == 8


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"inputs": {"input_ids": IDS}}, "attention_mask must be INT64 [-1, -1], and there is"),
        ({"inputs": {**FITTING.inputs, "x": IDS}}, "token_type_ids, not x"),
        (
            {"inputs": {**FITTING.inputs, "input_ids": Tensor("INT32", (-1, 64))}},
            "input_ids must be INT64 [-1, -1], not INT32 [-1, 64]",
        ),
        ({"outputs": {"scores": LOGITS}}, "must be FP32 [-1, 1], and the outputs are scores"),
        ({"outputs": {}}, "the outputs are none"),
        ({"outputs": {"logits": Tensor("FP32", (-1, 3))}}, "not FP32 [-1, 3]"),
        ({"max_batch_size": 0}, "max_batch_size must be at least 1, not 0"),
        ({"parameters": {"tokenizer_sha256": "cd"}}, "SHA-256 cd, and the model folder has ab"),
    ],
)
def test_what_does_not_fit_is_named_with_what_is_expected(changed, said):
    with pytest.raises(CapabilityMissing) as refused:
        found(**changed)
    assert said in refused.value.message
    assert refused.value.message.startswith("t:1: model 'ce' cannot score")


def test_all_that_is_wrong_is_named_at_once():
    with pytest.raises(CapabilityMissing) as refused:
        found(inputs={}, outputs={}, max_batch_size=0)
    assert refused.value.message.count(";") == 3
