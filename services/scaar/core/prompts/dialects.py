"""Dialects: the tags in which a model asks for searches, and the prompts that explain them.

The tags are those of the authors' code: Search-R1 (PeterGriffinJin/Search-R1, infer.py),
R1-Searcher (RUCAIBox/R1-Searcher, evaluation) and Search-o1 (sunnynexus/Search-o1, scripts), and
those of the chat templates of Hermes and Qwen. The prompts are the project's own words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from scaar.core.prompts.tool_calls import TOOL, Request, read_call
from scaar.core.prompts.untrusted import one_line, safe_passage, safe_question
from scaar.core.types import RetrievedPassage, SearchDecision, SearchDialect

_NOTES = {
    SearchDecision.SEARCHED: "No passages found.",
    SearchDecision.SKIPPED: "Not searched, because you are certain. Continue with what you know.",
    SearchDecision.EMPTY: "Not searched, because the query is empty.",
    SearchDecision.REPEATED: "Not searched again: the results of this query are above.",
    SearchDecision.LIMIT: "No more searches are possible. Give your answer.",
    SearchDecision.MALFORMED: "Not searched, because the request is not valid.",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The prompt, and the opening and closing tags of queries, results and the answer.

    ``results`` include the white space around them. ``passage`` is the layout of a passage.
    ``forcing`` makes the model answer. With ``stops_at_answer`` the text ends with the answer;
    otherwise the model ends it. With ``calls``, a request is a call of the tool as JSON; otherwise
    it is the query itself.
    """

    prompt: str
    query: tuple[str, str]
    results: tuple[str, str]
    answer: tuple[str, str]
    passage: str
    forcing: str
    stops_at_answer: bool = True
    calls: bool = False

    @property
    def stop(self) -> tuple[str, ...]:
        """The strings that end a step: the closing tags of a query, and of an answer."""
        return (self.query[1], self.answer[1]) if self.stops_at_answer else (self.query[1],)

    def render(self, question: str, max_searches: int) -> str:
        """Return the prompt that explains the tags. Tags in the question are replaced."""
        return self.prompt.format(question=self.safe(question), max_searches=max_searches)

    def safe(self, question: str) -> str:
        """Return the question for a prompt, with tags replaced."""
        return self._without_tags(safe_question(question))

    def request_in(self, text: str) -> Request:
        """Return the request in the text between the tags of a query."""
        return read_call(text) if self.calls else Request(text, (0, len(text)))

    def results_of(
        self,
        decision: SearchDecision,
        passages: Sequence[RetrievedPassage] = (),
        *,
        fault: str = "",
    ) -> str:
        """Return what the model reads after its request: the passages, or why there are none.

        ``fault`` says what is wrong with a malformed request.
        """
        texts = [
            self.passage.format(
                rank=rank,
                title=self._without_tags(safe_passage(one_line(each.title))),
                text=self._without_tags(safe_passage(each.text)),
            )
            for rank, each in enumerate(passages, 1)
        ]
        content = "\n".join(texts) or self._without_tags(fault) or _NOTES[decision]
        return f"{self.results[0]}{content}{self.results[1]}"

    def query_start(self, step: str) -> int:
        """Return where the last query of a step begins; -1 without one, or if an answer follows."""
        begin = step.rfind(self.query[0])
        answered = self.stops_at_answer and step.rfind(self.answer[0]) > begin
        return -1 if begin < 0 or answered else begin + len(self.query[0])

    def answer_in(self, step: str) -> tuple[int, int]:
        """Return the span of the last answer of a step, without tags; empty if it has none."""
        begin = step.rfind(self.answer[0])
        return self.without_rest(step, begin + len(self.answer[0])) if begin >= 0 else (0, 0)

    def without_rest(self, text: str, start: int = 0) -> tuple[int, int]:
        """Return the span of an answer up to the first tag, without white space around it."""
        ends = [at for tag in self._tags if (at := text.find(tag, start)) >= 0]
        answer = text[start : min(ends, default=None)]
        start += len(answer) - len(answer.lstrip())
        return start, start + len(answer.strip())

    @property
    def _tags(self) -> tuple[str, ...]:
        tags = (each.strip() for each in (*self.query, *self.results, *self.answer))
        return tuple(each for each in tags if each)

    def _without_tags(self, text: str) -> str:
        for tag in self._tags:
            if len(tag) > 1:
                text = re.sub(re.escape(tag), _apart, text, flags=re.IGNORECASE)
        return text


def _apart(tag: re.Match[str]) -> str:
    return f"{tag[0][0]} {tag[0][1:]}"


DIALECTS: Mapping[SearchDialect, Dialect] = MappingProxyType(
    {
        SearchDialect.SEARCH_R1: Dialect(
            "Answer the question. Reason between <think> and </think>, first about the question "
            "and again after everything new that you learn. If you lack a fact, request a search "
            "with <search> query </search>; the best passages follow between <information> and "
            "</information>. You can search several times. Once you lack nothing, write the short "
            "answer alone: <answer> answer </answer>. Question: {question}\n",
            query=("<search>", "</search>"),
            results=("\n\n<information>", "</information>\n\n"),
            answer=("<answer>", "</answer>"),
            passage="Doc {rank}(Title: {title}) {text}",
            forcing="\n<answer>",
        ),
        SearchDialect.R1_SEARCHER: Dialect(
            "The User asks a question, which the Assistant answers. The Assistant reasons first, "
            "within <think> </think>, and then gives the final answer within <answer> </answer>. "
            "While it reasons, the Assistant can request a search for a fact that it does not "
            "know, by keywords for one fact at a time: <|begin_of_query|> keywords "
            "<|end_of_query|>. The results follow: <|begin_of_documents|> passages "
            "<|end_of_documents|>.\n\nUser:{question}\nAssistant: <think>",
            query=("<|begin_of_query|>", "<|end_of_query|>"),
            results=("\n\n<|begin_of_documents|>\n", "\n<|end_of_documents|>\n\n"),
            answer=("<answer>", "</answer>"),
            passage="({rank}){title} {text}",
            forcing="</think>\n\n<answer>",
        ),
        SearchDialect.SEARCH_O1: Dialect(
            "You answer a question step by step, and can search for what you do not know. To "
            "search, write <|begin_search_query|> your query <|end_search_query|>; the results "
            "follow as <|begin_search_result|> results <|end_search_result|>, and you continue "
            "with them. You can search at most {max_searches} times. Give the final answer as "
            "\\boxed{{answer}}.\n\nQuestion:\n{question}\n\n",
            query=("<|begin_search_query|>", "<|end_search_query|>"),
            results=("\n\n<|begin_search_result|>", "<|end_search_result|>\n\n"),
            answer=("\\boxed{", "}"),
            passage="({rank}) {title}: {text}",
            forcing="\n\\boxed{",
            stops_at_answer=False,
        ),
        SearchDialect.TOOL_CALL: Dialect(
            "Answer the question. Reason step by step, and call a tool for each fact that you do "
            "not know. The tools, as JSON:\n<tools>\n" + TOOL + "\n</tools>\nTo call a tool, write "
            "its name and its arguments as JSON:\n<tool_call>\n"
            '{{"name": "search", "arguments": {{"query": "keywords"}}}}\n</tool_call>\n'
            "The results follow between <tool_response> and </tool_response>. You can search at "
            "most {max_searches} times. Once you lack nothing, write the short answer alone: "
            "<answer> answer </answer>.\n\nQuestion: {question}\n",
            query=("<tool_call>", "</tool_call>"),
            results=("\n<tool_response>\n", "\n</tool_response>\n"),
            answer=("<answer>", "</answer>"),
            passage="({rank}) {title}: {text}",
            forcing="\n<answer>",
            calls=True,
        ),
    }
)
"""The dialects by name. A dialect is a row, and a member of ``SearchDialect``."""
