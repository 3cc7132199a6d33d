// Asks a question, and shows every sentence as it is accepted, with the passages that support it.
// The gateway is that of ?gateway=URL, by default http://localhost:8090.
import { type AnswerStep, type Passage, answerSteps, createScaarClient, errorDetails, urlOf } from "@scaar/client";
import { ConnectError } from "@connectrpc/connect";

const gateway = new URLSearchParams(location.search).get("gateway") ?? "http://localhost:8090";
const scaar = createScaarClient(gateway, { timeoutMs: 120_000 });

const byId = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind;
const answer = byId("answer");
const sources = byId("sources");
const steps = byId("steps");
const status = byId("status");
const ask = byId<HTMLButtonElement>("ask");
const stop = byId<HTMLButtonElement>("stop");
let running: AbortController | undefined;
let found = new Map<string, Pick<Passage, "title" | "text" | "metadata">>();
let cited: string[] = [];

byId<HTMLFormElement>("form").addEventListener("submit", (event) => {
  event.preventDefault();
  void show(byId<HTMLTextAreaElement>("question").value);
});
stop.addEventListener("click", () => running?.abort());

async function show(question: string): Promise<void> {
  running = new AbortController();
  for (const each of [answer, sources, steps, byId("short")]) each.replaceChildren();
  [found, cited] = [new Map(), []];
  setRunning(true);
  report("Writing …");
  try {
    for await (const step of answerSteps(scaar, question, { signal: running.signal })) take(step);
  } catch (error) {
    if (running.signal.aborted) report("Stopped");
    else report(textOf(error), "error");
  } finally {
    setRunning(false);
  }
}

function take(step: AnswerStep): void {
  switch (step.case) {
    case "sentenceJudged":
      if (step.value.retrieving) note(`Uncertain: “${step.value.text.trim()}”`);
      break;
    case "queryBuilt":
      note(`Query: “${step.value.query?.text}”`);
      break;
    case "passagesRetrieved":
      for (const each of step.value.passages) found.set(each.id, each);
      note(`Retrieved ${step.value.passages.length} passages of ${step.value.index}`);
      break;
    case "sentenceAccepted":
      if (step.value.accepted) accept(step.value.accepted.text, step.value.accepted.supportingPassageIds);
      break;
    case "finished": {
      const retrievals = step.value.answer?.usage?.retrievals ?? 0;
      byId("short").textContent = step.value.answer?.answer ?? "";
      report(`Done: ${retrievals} ${retrievals === 1 ? "retrieval" : "retrievals"}`);
    }
  }
}

function accept(text: string, ids: string[]): void {
  answer.append(answer.childNodes.length ? text : text.trimStart());
  for (const id of ids) {
    const link = document.createElement("a");
    link.href = `#source-${sourceNumber(id)}`;
    link.textContent = `[${sourceNumber(id)}]`;
    const mark = document.createElement("sup");
    mark.append(link);
    answer.append(mark);
  }
}

function sourceNumber(id: string): number {
  if (!cited.includes(id)) {
    cited.push(id);
    const passage = found.get(id);
    const item = document.createElement("li");
    item.id = `source-${cited.length}`;
    const title = document.createElement("b");
    title.append(passage ? titleOf(passage) : id);
    item.append(title, passage?.text ?? "");
    sources.append(item);
  }
  return cited.indexOf(id) + 1;
}

function titleOf(passage: Pick<Passage, "title" | "metadata">): Node {
  const url = urlOf(passage);
  if (!url || !/^https?:/i.test(url)) return document.createTextNode(passage.title);
  const link = document.createElement("a");
  [link.href, link.textContent] = [url, passage.title];
  return link;
}

function note(text: string): void {
  const item = document.createElement("li");
  item.textContent = text;
  steps.append(item);
}

function report(text: string, kind = ""): void {
  [status.textContent, status.className] = [text, kind];
}

function setRunning(now: boolean): void {
  [ask.disabled, stop.disabled] = [now, !now];
}

function textOf(error: unknown): string {
  const { reason, violations } = errorDetails(error);
  const wrong = violations.map((each) => `${each.field} ${each.description}`).join("; ");
  return wrong || [reason, ConnectError.from(error).rawMessage].filter(Boolean).join(": ");
}
