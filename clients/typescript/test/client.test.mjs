// The client against a running installation: SCAAR_GATEWAY_URL by gRPC-Web, SCAAR_GRPC_URL and
// SCAAR_RECORDS_URL by gRPC.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  Verdict,
  answerSteps,
  createNodeClient,
  createNodeRecordsClient,
  createScaarClient,
  errorDetails,
  policyOf,
  recordSummaries,
  urlOf,
} from "@scaar/client/node";

const QUESTION = "Who directed the film The Haunted Fountain?";
const { SCAAR_GATEWAY_URL, SCAAR_GRPC_URL, SCAAR_RECORDS_URL } = process.env;

function codeIs(code) {
  return (error) => ConnectError.from(error).code === code;
}

async function stepsOf(client, question, options) {
  const steps = [];
  for await (const step of answerSteps(client, question, options)) steps.push(step);
  return steps;
}

const CLIENTS = {
  "gRPC-Web": (options) => createScaarClient(SCAAR_GATEWAY_URL, options),
  gRPC: (options) => createNodeClient(SCAAR_GRPC_URL, options),
};

for (const [protocol, connect] of Object.entries(CLIENTS)) {
  test(`${protocol}: an answer arrives step by step, with typed events`, async () => {
    const request = { question: QUESTION, policy: policyOf("scaar", { theta: 0.25 }), requestId: "ts-1" };
    const steps = await stepsOf(connect(), request);
    const [first, last] = [steps[0], steps.at(-1)];
    assert.equal(first.case, "started");
    assert.equal(first.value.provenance.requestId, "ts-1");
    assert.equal(first.value.provenance.policy.name, "scaar");
    assert.equal(last.case, "finished");
    const { answer } = last.value;
    const accepted = steps.filter((step) => step.case === "sentenceAccepted").map((step) => step.value);
    assert.equal(accepted.map((each) => each.accepted.text).join(""), answer.sentences.map((each) => each.text).join(""));
    const cited = new Set(answer.passages.map((each) => each.id));
    assert.ok(cited.size > 0);
    for (const { accepted: sentence } of accepted) for (const id of sentence.passageIds) assert.ok(cited.has(id));
    assert.ok(answer.usage.retrievals >= 1);
  });

  test(`${protocol}: calls with one response`, async () => {
    const client = connect();
    const { answer } = await client.answer({ question: QUESTION });
    assert.ok(answer.answer);
    const { passages, index } = await client.search({ query: QUESTION, topK: 2 });
    assert.deepEqual([passages.length, index], [2, "lab"]);
    assert.equal(urlOf(passages[0]), undefined);
    const { policies } = await client.listPolicies({});
    assert.ok(policies.some((each) => each.policy.name === "scaar"));
  });

  test(`${protocol}: an error has its reason, its subject and every invalid field`, async () => {
    const client = connect();
    const missing = await client.search({ query: QUESTION, index: "nowhere" }).catch((error) => error);
    assert.equal(missing.code, Code.NotFound);
    assert.equal(errorDetails(missing).reason, "NOT_FOUND");
    const invalid = await stepsOf(client, "").catch((error) => error);
    assert.equal(invalid.code, Code.InvalidArgument);
    assert.deepEqual(errorDetails(invalid).violations.map((each) => each.field), ["question"]);
  });

  test(`${protocol}: the timeout of a client and of a call apply`, async () => {
    await assert.rejects(stepsOf(connect({ timeoutMs: 20 }), QUESTION), codeIs(Code.DeadlineExceeded));
    await assert.rejects(connect().answer({ question: QUESTION }, { timeoutMs: 20 }), codeIs(Code.DeadlineExceeded));
  });

  test(`${protocol}: aborting and leaving the loop end the call`, async () => {
    const client = connect();
    const stopping = new AbortController();
    const aborted = (async () => {
      for await (const step of answerSteps(client, QUESTION, { signal: stopping.signal })) stopping.abort(step);
    })();
    await assert.rejects(aborted, codeIs(Code.Canceled));
    for await (const step of answerSteps(client, QUESTION)) {
      assert.equal(step.case, "started");
      break;
    }
    assert.equal((await stepsOf(client, QUESTION)).at(-1).case, "finished");
  });

  test(`${protocol}: headers and token are sent with every call`, async () => {
    const client = connect({ headers: { "x-scaar-tenant": "acme" }, token: "unused" });
    await client.describe({});
  });
}

test("records of answers are listed page by page, read, explained and given a verdict", async () => {
  const [client, records] = [createNodeClient(SCAAR_GRPC_URL), createNodeRecordsClient(SCAAR_RECORDS_URL)];
  const ids = ["ts-records-1", "ts-records-2"];
  for (const requestId of ids) await client.answer({ question: QUESTION, policy: policyOf("flare"), requestId });
  const summariesOf = async (requestId) => {
    const found = [];
    for await (const each of recordSummaries(records, { requestId }, { pageSize: 1 })) found.push(each);
    return found;
  };
  // The orchestrator writes a record a moment after the answer.
  for (const requestId of ids) while ((await summariesOf(requestId)).length < 1);
  const all = [];
  for await (const each of recordSummaries(records, { policy: "flare" }, { pageSize: 1 })) all.push(each.requestId);
  assert.deepEqual(all.filter((each) => ids.includes(each)), ids.toReversed());
  const [{ id }] = await summariesOf(ids[0]);
  const { record } = await records.getRecord({ id });
  assert.equal(record.request.question, QUESTION);
  assert.equal(record.events.at(-1).event.case, "finished");
  const explained = await records.explainRecord({ id, overrides: { theta: 0.01 } });
  assert.equal(explained.drafts.length > 0 && explained.retrievals, 0);
  const stored = await records.submitFeedback({ id, verdict: Verdict.WRONG });
  assert.equal(stored.record.feedback.verdict, Verdict.WRONG);
  assert.equal((await records.deleteRecords({ ids: [id] })).deleted, 1n);
  const missing = await records.getRecord({ id }).catch((error) => error);
  assert.equal(errorDetails(missing).reason, "NOT_FOUND");
});

test("details of an error that is none of scaar's", () => {
  assert.deepEqual(errorDetails(new Error("broken")), { reason: "", metadata: {}, violations: [] });
});
