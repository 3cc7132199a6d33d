from scaar.wire.messages import enums


def test_every_value_of_the_contract_but_the_unspecified_is_a_member() -> None:
    pairs = [each for each in vars(enums).values() if isinstance(each, enums.EnumPair)]
    assert len(pairs) == 16
    for pair in pairs:
        assert sorted(pair._from_pb) == list(range(1, len(pair._from_pb) + 1))
        assert [pair.from_pb(pair.to_pb(member), "f") for member in pair._to_pb] == list(
            pair._to_pb
        )
