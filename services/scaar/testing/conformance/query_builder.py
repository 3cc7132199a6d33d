"""Conformance suite of query builders."""

from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.ports import QueryBuilder
from scaar.core.queries import FORMULATIONS
from scaar.core.types import JudgedWord, QueryRequest, QuerySettings, ReadPassage

_WORDS = (
    JudgedWord("Ada", 0, 3, 0.9, 0.8, uncertain=False, contribution=0.6),
    JudgedWord("was", 4, 7, 0.99, 0.8, uncertain=False, contribution=0.1),
    JudgedWord("born", 8, 12, 0.9, 0.8, uncertain=False, contribution=0.4),
    JudgedWord("in", 13, 15, 0.9, 0.8, uncertain=False, contribution=0.0),
    JudgedWord("Paris.", 16, 22, 0.2, 1.0, uncertain=True, contribution=0.7, capped=True),
)


class QueryBuilderConformance:
    """Derive from this class; provide the fixture ``query_builder``."""

    @pytest.fixture
    def query_builder(self) -> QueryBuilder:
        """The query builder under test."""
        raise NotImplementedError

    @pytest.mark.parametrize("formulation", list(FORMULATIONS))
    async def test_every_formulation_returns_a_query_deterministically(
        self, query_builder: QueryBuilder, formulation: str
    ) -> None:
        request = _request(formulation)
        query = await query_builder.build_query(request)
        assert query.text.strip()
        assert query.formulation == formulation
        assert query == await query_builder.build_query(request)

    async def test_pfq_keeps_the_confident_words_that_contribute_most(
        self, query_builder: QueryBuilder
    ) -> None:
        query = await query_builder.build_query(_request("pfq"))
        assert query.kept == (0, 2)
        assert query.text == "Where was Ada born? Ada born"

    async def test_current_sentence_leaves_the_uncertain_words_out(
        self, query_builder: QueryBuilder
    ) -> None:
        request = _request("current_sentence", include_question=False)
        assert (await query_builder.build_query(request)).text == "Ada was born in"

    async def test_bridged_adds_the_names_of_passages_read(
        self, query_builder: QueryBuilder
    ) -> None:
        read = (ReadPassage("Ada", "Her father was Lord Byron.", rank=1),)
        query = await query_builder.build_query(replace(_request("bridged"), read=read))
        assert query.text == "Where was Ada born? Ada born Lord Byron"
        assert query.kept == (0, 2)

    async def test_a_formulation_that_would_be_empty_falls_back_to_the_question(
        self, query_builder: QueryBuilder
    ) -> None:
        request = replace(_request("last_sentence"), accepted=())
        query = await query_builder.build_query(request)
        assert query.fell_back
        assert query.text == "Where was Ada born?"

    async def test_a_share_of_no_words_is_refused(self, query_builder: QueryBuilder) -> None:
        request = _request("pfq")
        request = replace(request, settings=replace(request.settings, alpha=0.0))
        with pytest.raises(InvalidRequest) as caught:
            await query_builder.build_query(request)
        assert [each.field for each in caught.value.violations] == ["settings.alpha"]


def _request(formulation: str, *, include_question: bool = True) -> QueryRequest:
    return QueryRequest(
        question="Where was Ada born?",
        settings=QuerySettings(formulation, include_question, alpha=60.0),
        words=_WORDS,
        accepted=("Ada was a mathematician.",),
        recent_tokens=("Ada", " was", " a"),
    )
