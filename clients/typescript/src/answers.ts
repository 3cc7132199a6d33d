import { type MessageInitShape, create } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import type { AnswerEvent } from "./gen/scaar/v1/answer_pb.js";
import type { StreamAnswerRequestSchema } from "./gen/scaar/v1/orchestrator_pb.js";
import { type Policy, PolicyOverridesSchema, PolicySchema } from "./gen/scaar/v1/policy_pb.js";
import type { MetadataField } from "./gen/scaar/v1/retriever_pb.js";
import type { ScaarClient } from "./index.js";

/** A request: the fields of `StreamAnswerRequest`, all of them optional. */
export type Question = MessageInitShape<typeof StreamAnswerRequestSchema>;

/** One step of an answer. `switch (step.case)` gives `step.value` its type. */
export type AnswerStep = Exclude<AnswerEvent["event"], { case: undefined }>;

/**
 * Yield the steps of an answer; the last one is `finished`. Steps that this version does not know
 * are skipped. Leaving the loop, or aborting `signal`, cancels all work for the answer.
 *
 * Throws a ConnectError: of the orchestrator, or `Code.Aborted` for a stream that ends too early.
 */
export async function* answerSteps(
  client: ScaarClient,
  question: string | Question,
  options: CallOptions = {},
): AsyncGenerator<AnswerStep, void, undefined> {
  const request = typeof question === "string" ? { question } : question;
  // The transport cancels a call by its signal, and not when its iterator is left.
  const left = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
  try {
    for await (const { event } of client.streamAnswer(request, { ...options, signal })) {
      const step = event?.event;
      if (step === undefined || step.case === undefined) continue;
      yield step;
      if (step.case === "finished") return;
    }
  } finally {
    left.abort();
  }
  throw new ConnectError("the stream of the answer ended before its last event", Code.Aborted);
}

/** Return the policy of a name, with the settings that differ from its own. */
export function policyOf(
  name: string,
  overrides: MessageInitShape<typeof PolicyOverridesSchema> = {},
): Policy {
  return create(PolicySchema, { preset: { case: "name", value: name }, overrides });
}

/** Return the URL of a passage, the first value of a metadata field; undefined without one. */
export function urlOf(passage: { metadata: MetadataField[] }, field = "url"): string | undefined {
  return passage.metadata.find((each) => each.name === field)?.values[0];
}
