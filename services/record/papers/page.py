"""docs/paper-tables.md: its head and its parts in order."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from record.longtail.plan import LEARNED_BY, gate_file
from record.page import Page
from record.papers import not_run
from record.papers.costs import overhead_table, tokens_table
from record.papers.gece import documents_of, gece_table, methods_of, replacements_table
from record.papers.not_run import NotRun, with_not_run
from record.papers.plan import (
    ANSWERS,
    DENSE,
    DOCUMENTED,
    ENCODERS,
    GATED,
    LEARNED_LABELS,
    MAIN,
    REFLECT,
    RIND,
    SKR,
    SKR_FILE,
    TAIL_LABELS,
    THETA,
    TIMED,
    TIMING,
    VECTORS,
    WORDS,
    main_kind,
)
from record.papers.settings import (
    Row,
    compared_table,
    efficiency_table,
    main_table,
    matches_table,
    rows_of,
)
from record.pool import Pool
from record.sections import Content, Part, PartContent, name_origin, of_pool
from scaar.evaluator.report.model import Column, Table
from scaar.lab.models import LAB_LM

_HEAD = """\
<!-- Made by make papers from saved predictions. -->
# Tables of the papers

The tables of SCAAR, DRAGIN and GECE ([sources](policies.md#sources)), each by one command.
The papers use public data sets and large models; here the questions, passages and models are \
those of the [lab](lab.md), so only orders and differences compare with a paper, and no value does.
With a model and a data set of your own ([models](models.md), [data sets](datasets.md)), the same \
commands make the tables of that data set: replace `--dataset lab --seed S`.
What needs data, weights or a service that the lab lacks is a row that is not run.
`flare` is FLARE as SCAAR and DRAGIN compare it; FLARE as its authors run it is \
[`flare_reference`](policies.md#flare_reference), which these tables do not have.
SCAAR's analyses of S_eff and of words and tokens are named without the numbers of their tables, \
which could not be checked; one of them may be its Table 6.

| table | compares | section |
| --- | --- | --- |
| SCAAR, Table 2 | policies, by model and data set | [below](#scaar-policies) |
| SCAAR, Table 3 | triggers by queries | [results](results.md#triggers-by-queries) |
| SCAAR, Table 5 | BM25 and a dense retriever | [below](#scaar-a-dense-retriever) |
| SCAAR, S_eff | the gain of a retrieval | [below](#scaar-efficiency-of-retrieval) |
| SCAAR, words and tokens | the unit of a threshold | [results](results.md#words-or-tokens) |
| SCAAR, Table 8 | the time of an answer | [below](#scaar-overhead) |
| SCAAR, Table 9 | the encoder of contributions | [below](#scaar-another-encoder) |
| SCAAR, Figure 2 | how often each trigger wins | [results](results.md#what-wins-how-often) |
| SCAAR, Figure 4 | the share of words in the query | \
[results](results.md#the-share-of-words-in-the-query) |
| SCAAR, limitations | a learned share of words | \
[`scaar tune --alpha`](evaluations.md#tune-a-policy) |
| DRAGIN, Table 3 | retrievals, calls and tokens | [below](#dragin-tokens) |
| DRAGIN, Table 4 | the timing of retrieval, at one query | [below](#dragin-timing) |
| DRAGIN, Table 5 | the threshold of RIND | [below](#dragin-threshold) |
| DRAGIN, Table 6 | queries under RIND | [below](#dragin-queries) |
| DRAGIN, Table 7 | BM25 and a dense retriever | [below](#dragin-a-dense-retriever) |
| GECE, Tables 1 and 2 | methods without and with GECE, with speed | \
[below](#gece-methods-without-and-with-gece) |
| GECE, documents | 10, 15 and 20 documents | [below](#gece-10-15-and-20-documents) |
| GECE, another measure | chrF and TER instead of METEOR | [below](#gece-another-measure) |
| GECE, its parts | GECE without statistics or semantics | \
[long tail](longtail.md#what-gece-finds) |
| GECE, Table 4 | MMLU | [below](#gece-mmlu) |

Every number between a command and the next heading is computed from saved predictions.
`make papers` computes the predictions and writes this page.
Nothing was chosen on the worlds 5101 and 5103; gates were fitted on another world.
Run the commands in the project's folder."""


def _of_pool(make: Callable[[Pool], Table], *left_out: NotRun) -> Content:
    """Return what shows a table of the pooled evaluations, with rows of what is not run."""
    return of_pool(lambda pool: with_not_run(make(pool), left_out))


def _by_index(pool: Pool, *, policies: Sequence[str]) -> Table:
    at = {each.label: each.at for each in rows_of(pool, DENSE)}
    pairs = [
        (each, at[f"{each}:index={WORDS}"], at[f"{each}:index={VECTORS}"]) for each in policies
    ]
    return compared_table(
        pool,
        pairs,
        name="retrievers",
        title="Policies with an index of words and one of vectors",
        names=("BM25", "vectors"),
    )


def _encoders(pool: Pool) -> Table:
    own = {each.label: each.at for each in rows_of(pool, main_kind(LAB_LM))}
    pairs = [
        (each.label, own[each.label], each.at)
        for each in rows_of(pool, ENCODERS)
        if each.label.startswith("scaar")
    ]
    return compared_table(
        pool,
        pairs,
        name="encoders",
        title="scaar with the contributions of another encoder",
        names=("cross-encoder", "MiniLM"),
    )


def _matches(
    kind: str, title: str, called: Callable[[Row], str] = lambda row: row.label
) -> Content:
    def table(pool: Pool) -> Table:
        return matches_table(pool, rows_of(pool, kind), name=kind, title=title, called=called)

    return _of_pool(table, not_run.IIRC, not_run.VICUNA)


def _gece(folders: Sequence[Path]) -> PartContent:
    table = gece_table(
        methods_of(folders),
        _labels(folders),
        name="gece",
        title="Methods without GECE and with GECE",
    )
    return PartContent((with_not_run(table, (not_run.QA, not_run.LLAMA_CHAT)),))


def _documents(folders: Sequence[Path]) -> PartContent:
    table = gece_table(
        documents_of(folders),
        _labels(folders),
        name="documents",
        title="Numbers of documents, without GECE and with GECE",
    )
    return PartContent((with_not_run(table, (not_run.QA,)),))


def _replacements(folders: Sequence[Path]) -> PartContent:
    return PartContent((replacements_table(_labels(folders)),))


def _labels(folders: Sequence[Path]) -> Path:
    (found,) = (each for each in folders if each.name == TAIL_LABELS)
    return found


def _mmlu(folders: Sequence[Path]) -> PartContent:
    columns = (Column("data", "data set"), Column("accuracy", "accuracy", decimals=3))
    empty = Table("mmlu", "Accuracy without GECE and with GECE", columns, ())
    return PartContent((with_not_run(empty, (not_run.MMLU,)),))


_GATE = gate_file(LEARNED_BY)

PARTS = (
    Part(
        "SCAAR: policies",
        f"{MAIN}-",
        "SCAAR's Table 2 has EM and F1 of every policy with four models on four data sets, each "
        "at its best threshold. Here every threshold of the paper is a row, since a choice among "
        "them on the same questions would favour the policies that have one.",
        _of_pool(main_table, not_run.PAPER_SETS, not_run.IIRC, not_run.LLAMA, not_run.GPT),
    ),
    Part(
        "SCAAR: efficiency of retrieval",
        f"{MAIN}-",
        "S_eff is the paper's measure of what a retrieval gains. The answers are those of the "
        "previous table.",
        _of_pool(efficiency_table),
        commands=False,
    ),
    Part(
        "SCAAR: a dense retriever",
        f"{DENSE}-",
        "SCAAR's Table 5 replaces BM25 by DPR. Here the vectors are those of all-MiniLM-L6-v2, "
        "and both indexes have the same passages. `scaar eval ablate retriever` compares indexes "
        "in the same way.",
        _of_pool(
            partial(_by_index, policies=("single_round", "flare", "scaar")),
            *(not_run.DPR, not_run.IIRC),
        ),
    ),
    Part(
        "SCAAR: overhead",
        f"{TIMED}-",
        "SCAAR's Table 8 compares the time of scaar with that of DRAGIN. The lab's models are "
        "small, so that the scorer takes a larger share of an answer than with a large model.",
        _of_pool(overhead_table),
    ),
    Part(
        "SCAAR: another encoder",
        (f"{ENCODERS}-", f"{main_kind(LAB_LM)}-5"),
        "SCAAR's Table 9 computes the contributions of words with another cross-encoder. Here a "
        "sentence encoder, all-MiniLM-L6-v2 ([sentence encoders](scorer.md#sentence-encoders)), "
        "replaces the lab's cross-encoder.",
        _of_pool(_encoders, not_run.ROBERTA, not_run.DEBERTA),
    ),
    Part(
        "DRAGIN: tokens",
        f"{TIMED}-",
        "DRAGIN's Table 3 has what each method takes. `dragin` is the paper's policy and "
        "`dragin_reference` that of the authors' code. The answers are those of SCAAR's overhead.",
        _of_pool(tokens_table, not_run.PAPER_SETS, not_run.IIRC, not_run.VICUNA),
        commands=False,
    ),
    Part(
        "DRAGIN: timing",
        f"{TIMING}-",
        "DRAGIN's Table 4 compares when to retrieve, with the last complete sentence as the query "
        "of every method.",
        _matches(
            TIMING,
            "Timing of retrieval, with the last sentence as every query",
            lambda row: row.label.partition(":")[0],
        ),
    ),
    Part(
        "DRAGIN: threshold",
        f"{THETA}-",
        "DRAGIN's Table 5 varies the threshold of RIND, with the query of its Table 4.",
        _matches(
            THETA,
            "Thresholds of RIND, with the last sentence as every query",
            lambda row: row.label.removesuffix(",query=last_sentence"),
        ),
    ),
    Part(
        "DRAGIN: queries",
        f"{RIND}-",
        "DRAGIN's Table 6 compares what to search for at the moments that RIND finds: the current "
        "sentence (FLARE), all that was written, the last sentence (FS-RAG), the last tokens "
        "(FL-RAG), and the words that the model attends to (DRAGIN).",
        _matches(RIND, "Queries under RIND"),
    ),
    Part(
        "DRAGIN: a dense retriever",
        f"{DENSE}-",
        "DRAGIN's Table 7 replaces BM25 by SGPT. The answers are those of SCAAR's dense retriever.",
        _of_pool(
            partial(_by_index, policies=("flare", "dragin", "dragin_reference")),
            *(not_run.SGPT, not_run.IIRC, not_run.VICUNA),
        ),
        commands=False,
    ),
    Part(
        "GECE: methods without and with GECE",
        (LEARNED_LABELS, _GATE, TAIL_LABELS, GATED, ANSWERS, SKR_FILE, SKR, REFLECT),
        "GECE's Tables 1 and 2 compare methods that retrieve for every question with the same "
        "methods if they retrieve only for questions that GECE calls long-tail, by ROUGE-1, "
        "BLEU-4, METEOR and speed. With GECE, its labels replace SKR's vote. Self-RAG "
        "has a model of its own, and the gate is not fitted to that model.",
        _gece,
    ),
    Part(
        "GECE: 10, 15 and 20 documents",
        (TAIL_LABELS, DOCUMENTED),
        "GECE's authors vary the number of documents. The lab's models are trained to read few "
        "passages, and read 10 and more badly.",
        _documents,
    ),
    Part(
        "GECE: another measure",
        TAIL_LABELS,
        "GECE's authors replace METEOR by chrF and by TER. The labels are computed again from the "
        "stored answers.",
        _replacements,
        commands=False,
    ),
    Part(
        "GECE: MMLU",
        TAIL_LABELS,
        "GECE's Table 4 has the accuracy on MMLU. `scaar eval longtail label --dataset mmlu:FILE` "
        "and `scaar eval run --dataset mmlu:FILE --gate gece_proxy` make it with an English model.",
        _mmlu,
        commands=False,
    ),
)
PAPERS = Page(
    "paper-tables",
    _HEAD,
    PARTS,
    Part("Provenance", f"{MAIN}-", "Of the first evaluation.", name_origin, commands=False),
)
