"""What the papers evaluate and this record does not, with the reason: rows of the tables."""

from collections.abc import Sequence
from dataclasses import replace

from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Table

ENGLISH = "the lab's models know no English beyond their world"
WEIGHTS = "the weights are not part of the lab"
PAPER_SETS = ("2WikiMultihopQA, HotpotQA, StrategyQA", ENGLISH)
IIRC = ("IIRC", f"{ENGLISH}, and its passages are not at hand")
LLAMA = ("Llama-2 7B and 13B, Llama-3.1 8B", WEIGHTS)
VICUNA = ("Llama-2-chat 7B and 13B, Vicuna 13B", WEIGHTS)
GPT = ("GPT-4o", "needs a paid service")
LLAMA_CHAT = ("Llama-2 7B and the other models of GECE", WEIGHTS)
DPR, SGPT = ("DPR", WEIGHTS), ("SGPT", WEIGHTS)
ROBERTA, DEBERTA = ("stsb-roberta-large", WEIGHTS), ("DeBERTa", WEIGHTS)
MMLU = ("MMLU", ENGLISH)
QA = ("NQ, TriviaQA", ENGLISH)

NotRun = tuple[str, str]
"""A data set or a model of a paper, and why it is not run."""


def with_not_run(table: Table, rows: Sequence[NotRun]) -> Table:
    """Return the table with a row for each data set or model that is not run."""
    blank = len(table.columns) - 2
    added = (
        (text(name), number(None, missing=f"not run: {why}"), *[number(None)] * blank)
        for name, why in rows
    )
    return replace(table, rows=(*table.rows, *added))
