import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.v1 import policy_pb2 as pb
from scaar.wire.messages.codec import from_pb, request_to_pb


def refused(message: pb.Policy) -> list[str]:
    with pytest.raises(InvalidRequest) as caught:
        from_pb(message, PolicyRequest, field="policy")
    return [violation.field for violation in caught.value.violations]


def test_every_preset_of_the_contract_is_a_policy_of_the_core() -> None:
    presets = [field.name for field in pb.Policy.DESCRIPTOR.oneofs_by_name["preset"].fields]
    assert presets.pop() == "name"
    assert set(presets) <= set(PRESETS)


def test_every_override_of_the_core_is_in_the_contract() -> None:
    names = {field.name for field in pb.PolicyOverrides.DESCRIPTOR.fields}
    assert names == set(PolicyOverrides.__dataclass_fields__)


def test_no_preset_is_the_default_policy() -> None:
    assert from_pb(pb.Policy(), PolicyRequest) == PolicyRequest("")
    overrides = pb.PolicyOverrides(top_k=5)
    expected = PolicyRequest("", PolicyOverrides(top_k=5))
    assert from_pb(pb.Policy(overrides=overrides), PolicyRequest) == expected


def test_the_presets_own_settings_are_taken() -> None:
    scaar = pb.ScaarPolicy(theta=0.7, theta_cap=0.99, alpha=40.0)
    overrides = pb.PolicyOverrides(query="question")
    expected = PolicyOverrides(
        theta=0.7,
        theta_cap=0.99,
        alpha=40.0,
        query="question",
    )
    message = pb.Policy(scaar=scaar, overrides=overrides)
    assert from_pb(message, PolicyRequest) == PolicyRequest("scaar", expected)
    flare = pb.Policy(flare=pb.FlarePolicy(theta=0.5))
    assert from_pb(flare, PolicyRequest) == PolicyRequest("flare", PolicyOverrides(theta=0.5))


def test_a_setting_given_twice_the_same_is_taken_once() -> None:
    message = pb.Policy(flare=pb.FlarePolicy(theta=0.5), overrides=pb.PolicyOverrides(theta=0.5))
    assert from_pb(message, PolicyRequest).overrides == PolicyOverrides(theta=0.5)


def test_a_setting_given_twice_and_differently_is_refused_by_name() -> None:
    message = pb.Policy(
        scaar=pb.ScaarPolicy(theta=0.5, alpha=10.0),
        overrides=pb.PolicyOverrides(theta=0.6, alpha=20.0),
    )
    assert refused(message) == ["policy.theta", "policy.alpha"]


def test_an_invalid_number_is_refused_by_name() -> None:
    nan = float("nan")
    assert refused(pb.Policy(flare=pb.FlarePolicy(theta=nan))) == ["policy.theta"]
    assert refused(pb.Policy(overrides=pb.PolicyOverrides(alpha=nan))) == ["policy.alpha"]
    message = pb.Policy(scaar=pb.ScaarPolicy(theta_cap=float("inf")))
    assert refused(message) == ["policy.theta_cap"]


@pytest.mark.parametrize("value", [0, 99])
def test_an_enum_value_that_is_none_is_refused_by_name(value: int) -> None:
    raw = pb.PolicyOverrides(granularity=value)  # type: ignore[arg-type]
    assert refused(pb.Policy(overrides=raw)) == ["policy.granularity"]
    raw = pb.PolicyOverrides(truncate=value)  # type: ignore[arg-type]
    assert refused(pb.Policy(overrides=raw)) == ["policy.truncate"]


def test_a_policy_without_a_message_of_its_own_goes_by_name() -> None:
    request = PolicyRequest("growing", PolicyOverrides(top_k=2))
    message = request_to_pb(request, pb.Policy, field="policy")
    assert message == pb.Policy(name="growing", overrides=pb.PolicyOverrides(top_k=2))
    assert from_pb(message, PolicyRequest) == request


def test_a_policy_of_the_contract_can_go_by_name() -> None:
    message = pb.Policy(name="flare", overrides=pb.PolicyOverrides(theta=0.5))
    expected = PolicyRequest("flare", PolicyOverrides(theta=0.5))
    assert from_pb(message, PolicyRequest) == expected
