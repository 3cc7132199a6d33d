from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import EvaluationRequest
from scaar.core.types import AnswerRequest, JudgeDraftRequest, PolicyOverrides, SearchRequest
from scaar.core.value_types import check_types
from scaar.testing.values import values_of


@pytest.mark.parametrize(
    "kind", [AnswerRequest, JudgeDraftRequest, SearchRequest, EvaluationRequest]
)
@given(st.data())
def test_requests_of_the_right_types_pass(kind: type, data: st.DataObject) -> None:
    check_types(data.draw(values_of(kind)))


def test_numbers_of_numpy_are_numbers() -> None:
    check_types(SearchRequest("Where?", top_k=np.int64(3)))  # type: ignore[arg-type]
    check_types(PolicyOverrides(theta=np.float32(0.5)))  # type: ignore[arg-type]
    check_types(PolicyOverrides(theta=1))


def test_every_field_of_another_type_is_named() -> None:
    request = replace(AnswerRequest(5), index=None, filters=["year"])  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest) as caught:
        check_types(request)
    assert [str(each) for each in caught.value.violations] == [
        "question: must be text, not 5",
        "index: must be text, not None",
        "filters: must be a tuple, not ['year']",
    ]
