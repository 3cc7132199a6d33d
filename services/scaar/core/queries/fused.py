"""Two queries whose results are fused by reciprocal rank: ``pfq`` and ``current_sentence``.

The retriever searches for both (two searches), and a passage scores

    sum_q 1 / (60 + rank_q)

over the queries that found it (Cormack, Clarke and Büttcher, SIGIR 2009,
:func:`scaar.core.text.fusion.fuse`). The query with the question finds what the question names, the
sentence alone what the draft is about.
"""

from scaar.core.queries import current_sentence, pfq
from scaar.core.queries.formulation import FormulationRule
from scaar.core.types import WordRule

FUSED = FormulationRule(
    pfq.formulate,
    pfq.PFQ.needs,
    needs_draft=True,
    settings=pfq.PFQ.settings,
    includes_question=True,
    masks=True,
    otherwise=WordRule.MAX_WORDS,
    fused_with=current_sentence.CURRENT_SENTENCE,
)
