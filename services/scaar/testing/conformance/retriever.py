"""Conformance suite of retrievers."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import ClassVar

import pytest

from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound
from scaar.core.filters import fits
from scaar.core.ports import IndexKeeper
from scaar.core.types import (
    Filter,
    HybridSettings,
    IndexMode,
    IndexResult,
    MetadataField,
    Passage,
    PassageRequest,
    RetrievedPassage,
    RetrieveRequest,
    SearchMode,
)

_PASSAGES = (
    Passage("p3", "Lisbon", "Lisbon is the capital of Portugal."),
    Passage("p1", "Paris", "Paris is the capital of France."),
    Passage("p2", "Paris", "Paris is the capital of France."),
    Passage("ü4 ", "", "Der Fluß fließt; 🙂 Question: [2] So the answer is nothing."),
)

_FIELDS = ("lang", "tenant")
_CARRYING = (
    Passage("a1", "Etna", "Etna is a volcano.", (MetadataField("tenant", ("acme",)),)),
    Passage(
        "b1",
        "Fuji",
        "Fuji is a volcano.",
        (MetadataField("tenant", ("beta",)), MetadataField("lang", ("ja", "en"))),
    ),
    Passage(
        "a2",
        "Hekla",
        "Hekla is a volcano, a volcano of Iceland.",
        (MetadataField("tenant", ("acme",)), MetadataField("lang", ("is", 'Größe, "so"'))),
    ),
    Passage("n1", "Kea", "Mauna Kea is a volcano."),
)


WORDS = (
    *(f"{each.title} {each.text}" for each in (*_PASSAGES, *_CARRYING)),
    "Austria Vienna city of light hay needle 東京 x xyzzy",
    *(f"word{number}" for number in range(1000)),
)
"""Texts with the words of the suite, for an encoder that knows only these words."""


_WRONG_FILTERS = (
    (Filter("Tenant", ("a",)), "filters[0].field"),
    (Filter("tenant", ()), "filters[0].values"),
    (Filter("tenant", ("a", "")), "filters[0].values[1]"),
    (Filter("tenant", ("a" * 257,)), "filters[0].values[0]"),
    (Filter("tenant", ("a\0b",)), "filters[0].values[0]"),
)
_WRONG_METADATA = (
    ((MetadataField("tenant", ()),), "metadata.tenant"),
    ((MetadataField("tenant", ("a", "")),), "metadata.tenant[1]"),
    ((MetadataField("tenant", ("a" * 257,)),), "metadata.tenant[0]"),
    ((MetadataField("tenant", ("a",) * 33),), "metadata.tenant"),
    ((MetadataField("tenant", ("a",)), MetadataField("tenant", ("b",))), "metadata.tenant"),
    ((MetadataField("Tenant", ("a",)),), "metadata"),
    (tuple(MetadataField(f"f{n}", ("a",)) for n in range(17)), "metadata"),
)
_WRONG_DECLARED = (
    (("tenant", "tenant"), "metadata_fields[1]"),
    (("Tenant",), "metadata_fields[0]"),
    (("a" * 65,), "metadata_fields[0]"),
    (("tenant", ""), "metadata_fields[1]"),
    (tuple(f"f{number}" for number in range(17)), "metadata_fields"),
)


class RetrieverConformance:
    """Derive from this class; provide the fixture ``retriever``, without indexes.

    With ``by_words``, a passage is found only by its words; a retriever with vectors returns the
    nearest passages even without common words. With ``is_exact``, the nearest passages are always
    found; a graph of nearly identical vectors may not reach distant ones. With ``keeps_order``, the
    neighbours of a passage are known.
    """

    by_words: ClassVar[bool] = True
    is_exact: ClassVar[bool] = True
    keeps_order: ClassVar[bool] = True

    @pytest.fixture
    def retriever(self) -> IndexKeeper:
        """The retriever under test."""
        raise NotImplementedError

    async def test_an_index_is_described_as_it_was_built(self, retriever: IndexKeeper) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        assert (built.name, built.passages) == ("cities", 4)
        assert built.version
        assert await retriever.describe_index("cities") == built
        assert await retriever.list_indexes() == (built,)

    async def test_the_best_passage_comes_first_as_it_was_indexed(
        self, retriever: IndexKeeper
    ) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        result = await retriever.retrieve(RetrieveRequest(("Portugal Lisbon",), 3, "cities"))
        assert (result.index, result.version) == ("cities", built.version)
        (passages,) = result.results
        assert _indexed(passages[0]) == _PASSAGES[0]
        assert [passage.rank for passage in passages] == list(range(1, len(passages) + 1))
        scores = [passage.score for passage in passages]
        assert scores == sorted(scores, reverse=True)

    async def test_ties_go_by_id_and_top_k_cuts_them(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        for top_k, ids in ((1, ["p1"]), (2, ["p1", "p2"])):
            request = RetrieveRequest(("France Paris",), top_k, "cities")
            (passages,) = (await retriever.retrieve(request)).results
            assert [passage.id for passage in passages] == ids

    async def test_results_are_in_the_order_of_the_queries(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        queries = ("Portugal", "xyzzy", "fließt")
        result = await retriever.retrieve(RetrieveRequest(queries, 1, "cities"))
        ids = [[passage.id for passage in passages] for passages in result.results]
        assert (ids[0], ids[2]) == (["p3"], ["ü4 "])
        assert len(ids[1]) == (0 if self.by_words else 1)

    async def test_no_queries_give_no_results(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        assert (await retriever.retrieve(RetrieveRequest((), 3, "cities"))).results == ()

    async def test_a_passage_is_read_by_its_id_with_its_neighbours_in_its_document(
        self, retriever: IndexKeeper
    ) -> None:
        passages = [
            Passage(f"{source}/{number} ü#?", "", "Etna.", (MetadataField("source", (source,)),))
            for source in ("b.md", "a.md")
            for number in range(3)
        ]
        passages.append(Passage("alone", "", "Etna."))
        built = await retriever.index_passages("docs", _each(passages), metadata_fields=("source",))
        for position, passage in enumerate(passages):
            found = await retriever.get_passage(PassageRequest("docs", passage.id))
            assert (found.index, found.index_version) == ("docs", built.index.version)
            assert found.passage == passage
            if self.keeps_order and position < 6:
                before = None if position % 3 == 0 else passages[position - 1]
                after = None if position % 3 == 2 else passages[position + 1]
                assert (found.previous, found.next) == (before, after)
            else:
                assert (found.previous, found.next) == (None, None)

    async def test_a_missing_passage_is_not_found(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        for wrong in ("p", "p4", "zz", "P1", "p" * 512):
            with pytest.raises(NotFound) as error:
                await retriever.get_passage(PassageRequest("cities", wrong))
            assert "passage" in error.value.metadata
        with pytest.raises(NotFound) as error:
            await retriever.get_passage(PassageRequest("towns", "p1"))
        assert "passage" not in error.value.metadata

    async def test_a_passage_needs_an_id_within_the_limit(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        for wrong in ("", "p" * 513):
            with pytest.raises(InvalidRequest) as error:
                await retriever.get_passage(PassageRequest("cities", wrong))
            assert [each.field for each in error.value.violations] == ["id"]

    async def test_many_and_long_passages_arrive_whole(self, retriever: IndexKeeper) -> None:
        many = [Passage(f"m{number}", "", f"word{number} " + "x " * 300) for number in range(1000)]
        many.append(Passage("long", "", "needle " + "hay " * 250_000))
        built = (await retriever.index_passages("many", _each(many))).index
        assert built.passages == 1001
        assert (await retriever.verify_index("many")).is_whole
        if self.is_exact:
            result = await retriever.retrieve(RetrieveRequest(("word617", "needle"), 1, "many"))
            assert [_indexed(found) for (found,) in result.results] == [many[617], many[-1]]

    async def test_an_existing_index_is_not_overwritten(self, retriever: IndexKeeper) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        with pytest.raises(AlreadyExists):
            await retriever.index_passages("cities", _each(_PASSAGES[:1]))
        assert await retriever.describe_index("cities") == built

    @pytest.mark.parametrize("mode", list(IndexMode))
    async def test_every_mode_creates_a_missing_index(
        self, retriever: IndexKeeper, mode: IndexMode
    ) -> None:
        made = await retriever.index_passages("cities", _each(_PASSAGES), mode=mode)
        assert (made.added, made.replaced, made.index.passages) == (4, 0, 4)
        assert await retriever.describe_index("cities") == made.index

    async def test_a_new_index_replaces_an_old_one(self, retriever: IndexKeeper) -> None:
        old = await retriever.index_passages("cities", _each(_PASSAGES))
        new = (Passage("p1", "Vienna", "Vienna is the capital of Austria."), _PASSAGES[3])
        built = await retriever.index_passages("cities", _each(new), mode=IndexMode.REPLACE)
        assert (built.added, built.replaced, built.index.passages) == (2, 0, 2)
        assert built.index.version != old.index.version
        assert await retriever.list_indexes() == (built.index,)
        found, gone = await _found(retriever, "cities", "Austria", "Portugal Lisbon France")
        assert _indexed(found[0]) == new[0]
        assert len(gone) == (0 if self.by_words else 2)

    async def test_an_upsert_is_the_same_as_building_the_merged_passages(
        self, retriever: IndexKeeper
    ) -> None:
        news = (
            Passage("p5", "Vienna", "Vienna is the capital of Austria."),
            Passage("p1", "Paris", "Paris, Paris, Paris: the city of light."),
        )
        await retriever.index_passages("cities", _each(_PASSAGES))
        upserted = await retriever.index_passages("cities", _each(news), mode=IndexMode.UPSERT)
        assert (upserted.added, upserted.replaced, upserted.index.passages) == (1, 1, 5)
        assert await retriever.describe_index("cities") == upserted.index
        merged = (_PASSAGES[0], news[1], *_PASSAGES[2:], news[0])
        built = await retriever.index_passages("merged", _each(merged))
        assert built.index.version == upserted.index.version
        queries = ("Paris capital", "Austria France", "light", "Der Fluß", "So the answer is")
        assert await _found(retriever, "cities", *queries) == await _found(
            retriever, "merged", *queries
        )

    async def test_an_upsert_that_changes_nothing_keeps_the_index(
        self, retriever: IndexKeeper
    ) -> None:
        built = await retriever.index_passages("cities", _each(_PASSAGES))
        same = await retriever.index_passages(
            "cities", _each(reversed(_PASSAGES)), mode=IndexMode.UPSERT
        )
        assert (same.added, same.replaced) == (0, 4)
        assert same.index == built.index

    @pytest.mark.parametrize("mode", [IndexMode.REPLACE, IndexMode.UPSERT])
    @pytest.mark.parametrize(
        "wrong", [(), (Passage("p9", "", "Once."), Passage("p9", "", "Twice."))]
    )
    async def test_wrong_passages_leave_the_existing_index(
        self, retriever: IndexKeeper, mode: IndexMode, wrong: tuple[Passage, ...]
    ) -> None:
        built = await retriever.index_passages("cities", _each(_PASSAGES))
        with pytest.raises(InvalidRequest) as caught:
            await retriever.index_passages("cities", _each(wrong), mode=mode)
        field = "passages[1].id" if wrong else "passages"
        assert [each.field for each in caught.value.violations] == [field]
        assert await retriever.list_indexes() == (built.index,)

    @pytest.mark.parametrize(
        "wrong", [Passage("p1", "", "Twice."), Passage("", "", "No id."), Passage("p9", "", "")]
    )
    async def test_a_wrong_passage_leaves_no_index(
        self, retriever: IndexKeeper, wrong: Passage
    ) -> None:
        with pytest.raises(InvalidRequest):
            await retriever.index_passages("cities", _each((*_PASSAGES, wrong)))
        assert await retriever.list_indexes() == ()

    async def test_a_source_that_fails_leaves_no_index(self, retriever: IndexKeeper) -> None:
        async def failing() -> AsyncIterator[Passage]:
            yield _PASSAGES[0]
            raise NotFound("the file is gone")

        with pytest.raises(NotFound, match="the file is gone"):
            await retriever.index_passages("cities", failing())
        assert await retriever.list_indexes() == ()

    async def test_deleted_passages_are_not_found(self, retriever: IndexKeeper) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        assert await retriever.delete_passages("cities", ("p1", "nowhere")) == 1
        changed = await retriever.describe_index("cities")
        assert changed.passages == 3
        assert changed.version != built.version
        request = RetrieveRequest(("France Paris",), 1, "cities")
        ((found,),) = (await retriever.retrieve(request)).results
        assert found.id == "p2"

    async def test_a_dropped_index_does_not_exist(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        await retriever.drop_index("cities")
        assert await retriever.list_indexes() == ()

    async def test_an_unknown_index_is_not_found(self, retriever: IndexKeeper) -> None:
        with pytest.raises(NotFound):
            await retriever.retrieve(RetrieveRequest(("a",), 1, "nowhere"))
        with pytest.raises(NotFound):
            await retriever.describe_index("nowhere")
        with pytest.raises(NotFound):
            await retriever.delete_passages("nowhere", ("p1",))
        with pytest.raises(NotFound):
            await retriever.drop_index("nowhere")

    @pytest.mark.parametrize("top_k", [0, -1, 101])
    async def test_top_k_is_1_to_100(self, retriever: IndexKeeper, top_k: int) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        with pytest.raises(InvalidRequest) as caught:
            await retriever.retrieve(RetrieveRequest(("France",), top_k, "cities"))
        assert [each.field for each in caught.value.violations] == ["top_k"]

    async def test_settings_of_a_hybrid_search_need_one(self, retriever: IndexKeeper) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        request = RetrieveRequest(("France",), 1, "cities", hybrid=HybridSettings())
        if SearchMode.HYBRID not in built.modes:
            with pytest.raises(InvalidRequest, match=r"hybrid: has no effect: .* 'cities' is of"):
                await retriever.retrieve(request)

    async def test_an_empty_query_is_refused(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        with pytest.raises(InvalidRequest) as caught:
            await retriever.retrieve(RetrieveRequest(("France", " "), 1, "cities"))
        assert [each.field for each in caught.value.violations] == ["queries[1]"]

    async def test_fields_that_are_declared_are_described_by_name(
        self, retriever: IndexKeeper
    ) -> None:
        built = await _carrying(retriever)
        assert built.index.metadata_fields == _FIELDS
        assert await retriever.describe_index("geo") == built.index
        assert await retriever.list_indexes() == (built.index,)

    async def test_a_passage_comes_back_with_its_fields(self, retriever: IndexKeeper) -> None:
        await _carrying(retriever)
        (found,) = await _found(retriever, "geo", "volcano")
        assert {each.id: _indexed(each) for each in found} == {each.id: each for each in _CARRYING}

    @pytest.mark.parametrize(
        ("filters", "ids"),
        [
            ((Filter("tenant", ("acme",)),), {"a1", "a2"}),
            ((Filter("tenant", ("acme", "beta")),), {"a1", "a2", "b1"}),
            ((Filter("tenant", ("acme", "acme", "nobody")),), {"a1", "a2"}),
            ((Filter("lang", ("en",)),), {"b1"}),
            ((Filter("lang", ('Größe, "so"',)),), {"a2"}),
            ((Filter("tenant", ("acme",)), Filter("lang", ("en", "is"))), {"a2"}),
            ((Filter("lang", ("en",)), Filter("lang", ("ja",))), {"b1"}),
            ((Filter("tenant", ("ACME",)),), set()),
            ((Filter("tenant", ("acm",)),), set()),
            ((Filter("tenant", ("acme",)), Filter("lang", ("en",))), set()),
        ],
    )
    async def test_passages_match_every_filter_by_any_of_its_values(
        self, retriever: IndexKeeper, filters: tuple[Filter, ...], ids: set[str]
    ) -> None:
        await _carrying(retriever)
        (found,) = await _filtered(retriever, "volcano", filters=filters)
        assert {each.id for each in found} == ids

    async def test_a_filter_does_not_reduce_the_results_below_top_k(
        self, retriever: IndexKeeper
    ) -> None:
        wanted = tuple(
            Passage(f"w{number}", "", f"volcano {'x ' * 50}", (MetadataField("tenant", ("w",)),))
            for number in range(5)
        )
        others = tuple(
            Passage(f"o{number:03}", "", "volcano", (MetadataField("tenant", ("o",)),))
            for number in range(200)
        )
        await retriever.index_passages(
            "geo", _each((*others, *wanted)), metadata_fields=("tenant",)
        )
        request = RetrieveRequest(("volcano",), 5, "geo", (Filter("tenant", ("w",)),))
        ((*found,),) = (await retriever.retrieve(request)).results
        assert [each.id for each in found] == [each.id for each in wanted]
        assert [each.rank for each in found] == [1, 2, 3, 4, 5]

    async def test_filtering_equals_removing_the_passages_that_do_not_match(
        self, retriever: IndexKeeper
    ) -> None:
        await _carrying(retriever)
        queries = ("volcano", "a volcano of Iceland", "Etna Fuji")
        everything = await _found(retriever, "geo", *queries)
        for filters in (
            (Filter("tenant", ("acme",)),),
            (Filter("lang", ("en", "is")),),
            (Filter("tenant", ("acme", "beta")), Filter("lang", ("is",))),
        ):
            left = tuple(
                tuple((each.id, each.score) for each in found if fits(each.metadata, filters))
                for found in everything
            )
            filtered = await _filtered(retriever, *queries, filters=filters)
            assert (
                tuple(tuple((each.id, each.score) for each in found) for found in filtered) == left
            )

    @pytest.mark.parametrize("top_k", [1, 2, 10])
    async def test_excluding_equals_removing_the_excluded_passages(
        self, retriever: IndexKeeper, top_k: int
    ) -> None:
        await _carrying(retriever)
        queries = ("volcano", "a volcano of Iceland", "Etna Fuji")
        everything = await _found(retriever, "geo", *queries)
        acme = (Filter("tenant", ("acme",)),)
        for excluded, filters in (
            (("b1",), ()),
            (("n1", "b1", "nobody", "n1"), ()),
            (("a1", "b1", "a2", "n1"), ()),
            (("a1", "b1"), acme),
        ):
            request = RetrieveRequest(queries, top_k, "geo", filters, excluded)
            found = (await retriever.retrieve(request)).results
            left = tuple(
                [each for each in passages if fits(each.metadata, filters)]
                for passages in everything
            )
            assert found == tuple(
                tuple(
                    replace(each, rank=rank)
                    for rank, each in enumerate(
                        [each for each in passages if each.id not in excluded][:top_k], 1
                    )
                )
                for passages in left
            )

    async def test_an_exclusion_does_not_reduce_the_results_below_top_k(
        self, retriever: IndexKeeper
    ) -> None:
        passages = tuple(Passage(f"v{number:04}", "", "volcano") for number in range(1_100))
        await retriever.index_passages("geo", _each(passages))
        excluded = tuple(each.id for each in passages[:1_024])
        request = RetrieveRequest(("volcano",), 5, "geo", excluded_ids=excluded)
        (found,) = (await retriever.retrieve(request)).results
        assert not {each.id for each in found} & set(excluded)
        if self.is_exact:
            assert [(each.id, each.rank) for each in found] == [
                (f"v{1_023 + rank}", rank) for rank in range(1, 6)
            ]

    async def test_wrong_excluded_ids_are_refused(self, retriever: IndexKeeper) -> None:
        await _carrying(retriever)
        for wrong, field in (
            (("a1", ""), "excluded_ids[1]"),
            (("x" * 513,), "excluded_ids[0]"),
            (("a\0b",), "excluded_ids[0]"),
            (("x",) * 1_025, "excluded_ids"),
            (("x" * 512,) * 65, "excluded_ids"),
        ):
            with pytest.raises(InvalidRequest) as caught:
                await retriever.retrieve(RetrieveRequest(("volcano",), 1, "geo", (), wrong))
            assert [each.field for each in caught.value.violations] == [field]

    async def test_score_all_scores_every_passage_under_every_query(
        self, retriever: IndexKeeper
    ) -> None:
        await _carrying(retriever)
        queries = ("a volcano of Iceland", "Etna Fuji", "xyzzy volcano")
        everything = await _found(retriever, "geo", *queries)
        acme = (Filter("tenant", ("acme",)),)
        for top_k, filters, excluded in (
            (1, (), ()),
            (2, (), ("a2",)),
            (1, acme, ()),
            (100, (), ("n1", "nobody")),
        ):
            request = RetrieveRequest(queries, top_k, "geo", filters, excluded)
            apart = (await retriever.retrieve(request)).results
            found = (await retriever.retrieve(replace(request, score_all=True))).results
            ids = {each.id for passages in apart for each in passages}
            for passages, known in zip(found, everything, strict=True):
                assert {each.id for each in passages} == ids
                assert [each.rank for each in passages] == list(range(1, len(ids) + 1))
                assert list(passages) == sorted(passages, key=lambda each: (-each.score, each.id))
                # A passage that the query alone does not find has no word of the query.
                scores = {each.id: each.score for each in known}
                assert [each.score for each in passages] == [
                    scores.get(each.id, 0.0) for each in passages
                ]
                assert {_indexed(each) for each in passages} <= set(_CARRYING)

    async def test_score_all_of_one_query_changes_nothing(self, retriever: IndexKeeper) -> None:
        await _carrying(retriever)
        request = RetrieveRequest(("a volcano of Iceland",), 2, "geo")
        alone = await retriever.retrieve(request)
        assert await retriever.retrieve(replace(request, score_all=True)) == alone

    async def test_score_all_of_no_passage_or_no_query_is_empty(
        self, retriever: IndexKeeper
    ) -> None:
        await _carrying(retriever)
        everyone = tuple(each.id for each in _CARRYING)
        for queries in ((), ("volcano", "Etna")):
            request = RetrieveRequest(queries, 2, "geo", excluded_ids=everyone, score_all=True)
            assert (await retriever.retrieve(request)).results == ((),) * len(queries)

    async def test_score_all_of_more_than_8_queries_is_refused(
        self, retriever: IndexKeeper
    ) -> None:
        await _carrying(retriever)
        request = RetrieveRequest(("volcano",) * 8, 1, "geo", score_all=True)
        assert len((await retriever.retrieve(request)).results) == 8
        with pytest.raises(InvalidRequest, match="at most 8 with score_all, not 9") as caught:
            await retriever.retrieve(replace(request, queries=("volcano",) * 9))
        assert [each.field for each in caught.value.violations] == ["queries"]

    async def test_a_filter_on_a_field_that_is_not_declared_is_refused(
        self, retriever: IndexKeeper
    ) -> None:
        await _carrying(retriever)
        filters = (Filter("tenant", ("acme",)), Filter("licence", ("free",)))
        with pytest.raises(
            InvalidRequest, match=r"'licence' \(its fields: lang, tenant\)"
        ) as caught:
            await _filtered(retriever, "volcano", filters=filters)
        assert [each.field for each in caught.value.violations] == ["filters[1].field"]
        await retriever.index_passages("cities", _each(_PASSAGES))
        request = RetrieveRequest(("Paris",), 1, "cities", filters[:1])
        with pytest.raises(InvalidRequest, match=r"\(its fields: none\)"):
            await retriever.retrieve(request)

    async def test_a_wrong_filter_is_refused_by_its_place(self, retriever: IndexKeeper) -> None:
        await _carrying(retriever)
        for wrong, field in _WRONG_FILTERS:
            with pytest.raises(InvalidRequest) as caught:
                await _filtered(retriever, "volcano", filters=(wrong,))
            assert [each.field for each in caught.value.violations] == [field], wrong

    @pytest.mark.parametrize("mode", list(IndexMode))
    async def test_a_passage_with_a_field_that_is_not_declared_changes_nothing(
        self, retriever: IndexKeeper, mode: IndexMode
    ) -> None:
        before: tuple[object, ...] = ()
        if mode is not IndexMode.CREATE:
            before = ((await _carrying(retriever)).index,)
        wrong = Passage("p9", "", "Text.", (MetadataField("licence", ("free",)),))
        with pytest.raises(InvalidRequest, match=r"\(lang, tenant\), in passage 'p9'") as caught:
            await retriever.index_passages(
                "geo", _each((_CARRYING[0], wrong)), mode=mode, metadata_fields=_FIELDS
            )
        assert [each.field for each in caught.value.violations] == ["passages[1].metadata.licence"]
        assert await retriever.list_indexes() == before

    async def test_wrong_fields_of_a_passage_are_refused_by_name(
        self, retriever: IndexKeeper
    ) -> None:
        for metadata, field in _WRONG_METADATA:
            passages = _each((Passage("p1", "", "Text.", metadata),))
            with pytest.raises(InvalidRequest) as caught:
                await retriever.index_passages("geo", passages, metadata_fields=_FIELDS)
            (wrong,) = caught.value.violations
            # A server names a value over the contract's limit by its place in the message,
            # before it parses the request.
            on_the_wire = field.replace("metadata.tenant", "metadata[0].values")
            assert wrong.field in (f"passages[0].{field}", f"passages[0].{on_the_wire}")
            assert await retriever.list_indexes() == ()

    async def test_wrong_declared_fields_are_refused(self, retriever: IndexKeeper) -> None:
        for declared, field in _WRONG_DECLARED:
            with pytest.raises(InvalidRequest) as caught:
                await retriever.index_passages("geo", _each(_CARRYING), metadata_fields=declared)
            assert [each.field for each in caught.value.violations] == [field], declared
            assert await retriever.list_indexes() == ()

    @pytest.mark.parametrize("declared", [(), _FIELDS, ("tenant", "lang")])
    async def test_an_upsert_keeps_the_declared_fields_and_what_passages_carry(
        self, retriever: IndexKeeper, declared: tuple[str, ...]
    ) -> None:
        await _carrying(retriever)
        moved = Passage("b1", "Fuji", "A volcano.", (MetadataField("tenant", ("acme",)),))
        upserted = await retriever.index_passages(
            "geo", _each((moved,)), mode=IndexMode.UPSERT, metadata_fields=declared
        )
        assert upserted.index.metadata_fields == _FIELDS
        assert await _ids(retriever, Filter("tenant", ("acme",))) == {"a1", "a2", "b1"}
        assert await _ids(retriever, Filter("tenant", ("beta",))) == set()
        assert await _ids(retriever, Filter("lang", ("en",))) == set()
        assert await _ids(retriever, Filter("lang", ("is",))) == {"a2"}
        merged = (_CARRYING[0], moved, *_CARRYING[2:])
        built = await retriever.index_passages("merged", _each(merged), metadata_fields=_FIELDS)
        assert built.index.version == upserted.index.version

    async def test_a_passage_with_other_fields_is_changed(self, retriever: IndexKeeper) -> None:
        built = await _carrying(retriever)
        moved = Passage("a1", "Etna", "Etna is a volcano.", (MetadataField("tenant", ("beta",)),))
        changed = await retriever.index_passages("geo", _each((moved,)), mode=IndexMode.UPSERT)
        assert changed.index.version != built.index.version
        assert await _ids(retriever, Filter("tenant", ("beta",))) == {"a1", "b1"}

    @pytest.mark.parametrize(
        ("declared", "message"),
        [
            (("lang",), "missing: tenant"),
            (("lang", "tenant", "year"), "unknown: year"),
        ],
    )
    async def test_an_upsert_that_declares_other_fields_is_refused(
        self, retriever: IndexKeeper, declared: tuple[str, ...], message: str
    ) -> None:
        built = await _carrying(retriever)
        with pytest.raises(InvalidRequest, match=rf"\(lang, tenant\): {message}") as caught:
            await retriever.index_passages(
                "geo", _each(_CARRYING[:1]), mode=IndexMode.UPSERT, metadata_fields=declared
            )
        assert [each.field for each in caught.value.violations] == ["metadata_fields"]
        assert await retriever.list_indexes() == (built.index,)

    async def test_a_new_index_in_an_old_ones_place_declares_its_own_fields(
        self, retriever: IndexKeeper
    ) -> None:
        old = await _carrying(retriever)
        new = await retriever.index_passages(
            "geo", _each(_CARRYING[:1]), mode=IndexMode.REPLACE, metadata_fields=("tenant",)
        )
        assert new.index.metadata_fields == ("tenant",)
        assert new.index.version != old.index.version
        assert await _ids(retriever, Filter("tenant", ("acme",))) == {"a1"}
        with pytest.raises(InvalidRequest):
            await _ids(retriever, Filter("lang", ("en",)))

    async def test_declaring_more_fields_changes_the_version(self, retriever: IndexKeeper) -> None:
        versions = set()
        for index, declared in (("a", ()), ("b", ("tenant",)), ("c", ("lang", "tenant"))):
            built = await retriever.index_passages(
                index, _each(_PASSAGES), metadata_fields=declared
            )
            versions.add(built.index.version)
        assert len(versions) == 3

    async def test_deleted_passages_are_found_by_no_filter(self, retriever: IndexKeeper) -> None:
        await _carrying(retriever)
        assert await retriever.delete_passages("geo", ("a1",)) == 1
        assert await _ids(retriever, Filter("tenant", ("acme",))) == {"a2"}
        assert await _ids(retriever, Filter("lang", ("en",))) == {"b1"}
        assert (await retriever.describe_index("geo")).metadata_fields == _FIELDS

    async def test_fields_that_no_passage_carries_may_be_declared(
        self, retriever: IndexKeeper
    ) -> None:
        await retriever.index_passages("geo", _each(_PASSAGES), metadata_fields=_FIELDS)
        request = RetrieveRequest(("Paris",), 1, "geo", (Filter("tenant", ("acme",)),))
        assert (await retriever.retrieve(request)).results == ((),)

    async def test_an_index_that_is_whole_is_verified(self, retriever: IndexKeeper) -> None:
        for index, declared in (("plain", ()), ("geo", _FIELDS)):
            passages = _CARRYING if declared else _PASSAGES
            built = await retriever.index_passages(index, _each(passages), metadata_fields=declared)
            found = await retriever.verify_index(index)
            assert (found.index, found.version) == (index, built.index.version)
            assert [each for each in found.checks if not each.passed] == []
            assert found.checks
            assert found.is_whole
        await retriever.delete_passages("geo", ("a1",))
        assert (await retriever.verify_index("geo")).is_whole
        await retriever.index_passages("geo", _each(_CARRYING), mode=IndexMode.UPSERT)
        assert (await retriever.verify_index("geo")).is_whole

    async def test_an_unknown_index_cannot_be_verified(self, retriever: IndexKeeper) -> None:
        with pytest.raises(NotFound):
            await retriever.verify_index("nowhere")


async def _carrying(retriever: IndexKeeper) -> IndexResult:
    declared = tuple(reversed(_FIELDS))
    return await retriever.index_passages("geo", _each(_CARRYING), metadata_fields=declared)


async def _filtered(
    retriever: IndexKeeper, *queries: str, filters: tuple[Filter, ...]
) -> tuple[tuple[RetrievedPassage, ...], ...]:
    return (await retriever.retrieve(RetrieveRequest(queries, 10, "geo", filters))).results


async def _ids(retriever: IndexKeeper, *filters: Filter) -> set[str]:
    (found,) = await _filtered(retriever, "volcano", filters=filters)
    return {each.id for each in found}


async def _each(passages: Iterable[Passage]) -> AsyncIterator[Passage]:
    for passage in passages:
        yield passage


async def _found(
    retriever: IndexKeeper, index: str, *queries: str
) -> tuple[tuple[RetrievedPassage, ...], ...]:
    return (await retriever.retrieve(RetrieveRequest(queries, 10, index))).results


def _indexed(passage: RetrievedPassage) -> Passage:
    return Passage(passage.id, passage.title, passage.text, passage.metadata)
