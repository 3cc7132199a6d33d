"""What every retriever must keep to."""

from collections.abc import AsyncIterator, Iterable

import pytest

from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound
from scaar.core.ports import Retriever
from scaar.core.types import IndexMode, Passage, RetrievedPassage, RetrieveRequest

_PASSAGES = (
    Passage("p3", "Lisbon", "Lisbon is the capital of Portugal."),
    Passage("p1", "Paris", "Paris is the capital of France."),
    Passage("p2", "Paris", "Paris is the capital of France."),
    Passage("ü4 ", "", "Der Fluß fließt; 🙂 Question: [2] So the answer is nothing."),
)


class RetrieverConformance:
    """Derive and give the fixture ``retriever``: one without indexes."""

    @pytest.fixture
    def retriever(self) -> Retriever:
        """The retriever under test."""
        raise NotImplementedError

    async def test_an_index_is_described_as_it_was_built(self, retriever: Retriever) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        assert (built.name, built.passages) == ("cities", 4)
        assert built.version
        assert await retriever.describe_index("cities") == built
        assert await retriever.list_indexes() == (built,)

    async def test_the_best_passage_comes_first_as_it_was_indexed(
        self, retriever: Retriever
    ) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        result = await retriever.retrieve(RetrieveRequest(("Portugal Lisbon",), 3, "cities"))
        assert (result.index, result.version) == ("cities", built.version)
        (passages,) = result.results
        assert _indexed(passages[0]) == _PASSAGES[0]
        assert [passage.rank for passage in passages] == list(range(1, len(passages) + 1))
        scores = [passage.score for passage in passages]
        assert scores == sorted(scores, reverse=True)

    async def test_ties_go_by_id_and_top_k_cuts_them(self, retriever: Retriever) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        for top_k, ids in ((1, ["p1"]), (2, ["p1", "p2"])):
            request = RetrieveRequest(("France Paris",), top_k, "cities")
            (passages,) = (await retriever.retrieve(request)).results
            assert [passage.id for passage in passages] == ids

    async def test_results_are_in_the_order_of_the_queries(self, retriever: Retriever) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        queries = ("Portugal", "xyzzy", "fließt")
        result = await retriever.retrieve(RetrieveRequest(queries, 1, "cities"))
        ids = [[passage.id for passage in passages] for passages in result.results]
        assert ids == [["p3"], [], ["ü4 "]]

    async def test_no_queries_give_no_results(self, retriever: Retriever) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        assert (await retriever.retrieve(RetrieveRequest((), 3, "cities"))).results == ()

    async def test_many_and_long_passages_arrive_whole(self, retriever: Retriever) -> None:
        many = [Passage(f"m{number}", "", f"word{number} " + "x " * 300) for number in range(1000)]
        many.append(Passage("long", "", "needle " + "hay " * 250_000))
        built = (await retriever.index_passages("many", _each(many))).index
        assert built.passages == 1001
        result = await retriever.retrieve(RetrieveRequest(("word617", "needle"), 1, "many"))
        assert [_indexed(found) for (found,) in result.results] == [many[617], many[-1]]

    async def test_an_index_is_not_built_over(self, retriever: Retriever) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        with pytest.raises(AlreadyExists):
            await retriever.index_passages("cities", _each(_PASSAGES[:1]))
        assert await retriever.describe_index("cities") == built

    @pytest.mark.parametrize("mode", list(IndexMode))
    async def test_every_mode_makes_an_index_that_is_not_there(
        self, retriever: Retriever, mode: IndexMode
    ) -> None:
        made = await retriever.index_passages("cities", _each(_PASSAGES), mode=mode)
        assert (made.added, made.replaced, made.index.passages) == (4, 0, 4)
        assert await retriever.describe_index("cities") == made.index

    async def test_a_new_index_takes_an_old_ones_place(self, retriever: Retriever) -> None:
        old = await retriever.index_passages("cities", _each(_PASSAGES))
        new = (Passage("p1", "Vienna", "Vienna is the capital of Austria."), _PASSAGES[3])
        built = await retriever.index_passages("cities", _each(new), mode=IndexMode.REPLACE)
        assert (built.added, built.replaced, built.index.passages) == (2, 0, 2)
        assert built.index.version != old.index.version
        assert await retriever.list_indexes() == (built.index,)
        found, gone = await _found(retriever, "cities", "Austria", "Portugal Lisbon France")
        assert [_indexed(passage) for passage in found] == [new[0]]
        assert gone == ()

    async def test_an_upsert_is_the_same_as_building_the_merged_passages(
        self, retriever: Retriever
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
        self, retriever: Retriever
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
    async def test_wrong_passages_leave_the_index_there_was(
        self, retriever: Retriever, mode: IndexMode, wrong: tuple[Passage, ...]
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
        self, retriever: Retriever, wrong: Passage
    ) -> None:
        with pytest.raises(InvalidRequest):
            await retriever.index_passages("cities", _each((*_PASSAGES, wrong)))
        assert await retriever.list_indexes() == ()

    async def test_a_source_that_fails_leaves_no_index(self, retriever: Retriever) -> None:
        async def failing() -> AsyncIterator[Passage]:
            yield _PASSAGES[0]
            raise NotFound("the file is gone")

        with pytest.raises(NotFound, match="the file is gone"):
            await retriever.index_passages("cities", failing())
        assert await retriever.list_indexes() == ()

    async def test_deleted_passages_are_found_no_more(self, retriever: Retriever) -> None:
        built = (await retriever.index_passages("cities", _each(_PASSAGES))).index
        assert await retriever.delete_passages("cities", ("p1", "nowhere")) == 1
        changed = await retriever.describe_index("cities")
        assert changed.passages == 3
        assert changed.version != built.version
        request = RetrieveRequest(("France Paris",), 1, "cities")
        ((found,),) = (await retriever.retrieve(request)).results
        assert found.id == "p2"

    async def test_a_dropped_index_is_gone(self, retriever: Retriever) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        await retriever.drop_index("cities")
        assert await retriever.list_indexes() == ()

    async def test_an_index_that_is_not_there_is_not_found(self, retriever: Retriever) -> None:
        with pytest.raises(NotFound):
            await retriever.retrieve(RetrieveRequest(("a",), 1, "nowhere"))
        with pytest.raises(NotFound):
            await retriever.describe_index("nowhere")
        with pytest.raises(NotFound):
            await retriever.delete_passages("nowhere", ("p1",))
        with pytest.raises(NotFound):
            await retriever.drop_index("nowhere")

    @pytest.mark.parametrize("top_k", [0, -1, 101])
    async def test_top_k_is_1_to_100(self, retriever: Retriever, top_k: int) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        with pytest.raises(InvalidRequest) as caught:
            await retriever.retrieve(RetrieveRequest(("France",), top_k, "cities"))
        assert [each.field for each in caught.value.violations] == ["top_k"]

    async def test_an_empty_query_is_refused(self, retriever: Retriever) -> None:
        await retriever.index_passages("cities", _each(_PASSAGES))
        with pytest.raises(InvalidRequest) as caught:
            await retriever.retrieve(RetrieveRequest(("France", " "), 1, "cities"))
        assert [each.field for each in caught.value.violations] == ["queries[1]"]


async def _each(passages: Iterable[Passage]) -> AsyncIterator[Passage]:
    for passage in passages:
        yield passage


async def _found(
    retriever: Retriever, index: str, *queries: str
) -> tuple[tuple[RetrievedPassage, ...], ...]:
    return (await retriever.retrieve(RetrieveRequest(queries, 10, index))).results


def _indexed(passage: RetrievedPassage) -> Passage:
    return Passage(passage.id, passage.title, passage.text)
