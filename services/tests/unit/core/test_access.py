"""The rules of access to indexes, and their filters together with those of requests."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.access import EVERY, EVERY_INDEX, NO_INDEX, IndexAccess, both
from scaar.core.calls.permitted import PermittedRetriever
from scaar.core.errors import BackendUnavailable, InvalidRequest, NotFound, WrongState
from scaar.core.filters import fits
from scaar.core.tenancy import proved_access, proved_tenant, tenant_proved
from scaar.core.types import (
    Filter,
    IndexDescription,
    MetadataField,
    Passage,
    PassageRequest,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.testing.fakes import InMemoryRetriever

FIELDS, VALUES = ("lang", "tenant"), ("a", "b", "c")

values = st.lists(st.sampled_from(VALUES), min_size=1, max_size=3, unique=True).map(tuple)
filters = st.lists(st.builds(Filter, st.sampled_from(FIELDS), values), max_size=4).map(tuple)
metadata = st.dictionaries(st.sampled_from(FIELDS), values).map(
    lambda found: tuple(MetadataField(name, given) for name, given in found.items())
)
passages = st.lists(metadata, min_size=1, max_size=8).map(
    lambda found: [Passage(str(at), "", "leave", each) for at, each in enumerate(found)]
)


@given(filters, filters, metadata)
def test_both_match_what_each_matches(
    own: Sequence[Filter], mandatory: Sequence[Filter], carried: Sequence[MetadataField]
) -> None:
    together = both(own, mandatory)
    assert fits(carried, together) == (fits(carried, own) and fits(carried, mandatory))
    assert together[: len(own)] == own
    assert both(together, mandatory) == together


rules = st.dictionaries(st.sampled_from(("docs", "shared", EVERY)), filters)


@given(
    rules,
    filters,
    st.dictionaries(st.sampled_from(("docs", "shared", "others")), passages, min_size=1),
)
def test_a_search_finds_the_permitted_passages_that_match_the_request(
    given_rules: dict[str, tuple[Filter, ...]],
    own: tuple[Filter, ...],
    indexes: dict[str, list[Passage]],
) -> None:
    engine = InMemoryRetriever(indexes, fields=dict.fromkeys(indexes, FIELDS))
    permitted, access = PermittedRetriever(engine), IndexAccess(given_rules)

    async def found(index: str) -> set[str] | None:
        try:
            result = await permitted.retrieve(RetrieveRequest(("leave",), 100, index, own))
        except NotFound:
            return None
        return {each.id for each in result.results[0]}

    async def check() -> None:
        with tenant_proved("acme", access):
            for index, stored in indexes.items():
                rule = given_rules.get(index, given_rules.get(EVERY))
                expected = None
                if rule is not None:
                    own_ids = {each.id for each in stored if fits(each.metadata, own)}
                    permitted_ids = {each.id for each in stored if fits(each.metadata, rule)}
                    expected = own_ids & permitted_ids
                assert await found(index) == expected
            listed = {each.name for each in await permitted.list_indexes()}
            assert listed == {name for name in indexes if access.may_read(name)}

    asyncio.run(check())


async def test_without_a_proved_tenant_no_index_can_be_read() -> None:
    permitted = PermittedRetriever(InMemoryRetriever({"lab": [Passage("1", "", "leave")]}))
    assert (proved_tenant(), proved_access()) == (None, None)
    assert await permitted.list_indexes() == ()
    for call in (
        permitted.describe_index("lab"),
        permitted.retrieve(RetrieveRequest(("leave",), 1, "lab")),
        permitted.get_passage(PassageRequest("lab", "1")),
    ):
        with pytest.raises(NotFound, match=r"no index 'lab' \(the caller may read: none\)"):
            await call


async def test_a_passage_comes_without_the_neighbours_that_the_caller_may_not_read() -> None:
    passages = [
        Passage(
            name, "", "leave", (MetadataField("source", ("a.md",)), MetadataField("lang", (lang,)))
        )
        for name, lang in (("1", "de"), ("2", "en"), ("3", "en"))
    ]
    engine = InMemoryRetriever({"lab": passages}, fields={"lab": ("source", "lang")})
    permitted = PermittedRetriever(engine)
    with tenant_proved("acme", IndexAccess({"lab": (Filter("lang", ("en",)),)})):
        found = await permitted.get_passage(PassageRequest("lab", "2"))
        assert (found.previous, found.passage, found.next) == (None, passages[1], passages[2])
        with pytest.raises(NotFound, match="no passage '1' in the index 'lab'"):
            await permitted.get_passage(PassageRequest("lab", "1"))


async def test_a_forbidden_index_is_refused_without_a_call_to_the_retriever() -> None:
    class Unreachable(InMemoryRetriever):
        async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
            raise BackendUnavailable("the retriever does not answer")

        async def describe_index(self, index: str) -> IndexDescription:
            raise BackendUnavailable("the retriever does not answer")

    permitted = PermittedRetriever(Unreachable())
    with tenant_proved("acme", IndexAccess({"docs": ()})):
        for index, expected in (("docs", BackendUnavailable), ("others", NotFound)):
            with pytest.raises(expected):
                await permitted.retrieve(RetrieveRequest(("leave",), 1, index))
            with pytest.raises(expected):
                await permitted.describe_index(index)


async def test_the_access_of_a_call_is_that_of_its_tasks() -> None:
    permitted = PermittedRetriever(InMemoryRetriever({"lab": [Passage("1", "", "leave")]}))
    with tenant_proved("acme"):
        task = asyncio.create_task(permitted.list_indexes())
        assert proved_access() is EVERY_INDEX
    with tenant_proved("globex", NO_INDEX):
        assert [each.name for each in await task] == ["lab"]
    assert proved_access() is None


async def test_a_caller_of_every_index_gets_the_error_of_the_retriever() -> None:
    permitted = PermittedRetriever(InMemoryRetriever({}))
    expected = pytest.raises(NotFound, match="there is no index 'lab'")
    with tenant_proved("operations", EVERY_INDEX), expected:
        await permitted.describe_index("lab")


async def test_a_mandatory_field_that_the_index_lacks_is_no_error_of_the_request() -> None:
    engine = InMemoryRetriever({"lab": [Passage("1", "", "leave")]}, fields={"lab": ("lang",)})
    permitted = PermittedRetriever(engine)
    with tenant_proved("acme", IndexAccess({"lab": (Filter("tenant", ("acme",)),)})):
        for own in ((), (Filter("lang", ("en",)),)):
            with pytest.raises(WrongState, match="lacks a metadata field by which the access"):
                await permitted.retrieve(RetrieveRequest(("leave",), 1, "lab", own))
        with pytest.raises(WrongState):
            await permitted.describe_index("lab")


def test_filters_within_the_limits_alone_but_not_together_are_rejected() -> None:
    access = IndexAccess({"docs": (Filter("tenant", ("acme",)),)})
    own = tuple(Filter(f"field_{at}", ("x",)) for at in range(16))
    with pytest.raises(InvalidRequest, match="at most 16, not 17, with the 1 that the access rul"):
        access.filters_with("docs", own)
    implied = (*own[:15], Filter("tenant", ("acme",)))
    assert access.filters_with("docs", implied) == implied
    # What is wrong without the rules is left to the check of the request.
    assert len(access.filters_with("docs", own * 2)) == 33
