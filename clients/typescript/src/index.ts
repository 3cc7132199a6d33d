/** Client of scaar for browsers, by gRPC-Web. `@scaar/client/node` has the one for Node, by gRPC. */

import { type Client, type Interceptor, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { OrchestratorService } from "./gen/scaar/v1/orchestrator_pb.js";
import { type ClientOptions, interceptorsOf } from "./options.js";

export * from "./gen/scaar/v1/answer_pb.js";
export * from "./gen/scaar/v1/orchestrator_pb.js";
export { type MetadataField, type Passage, type RetrievedPassage } from "./gen/scaar/v1/retriever_pb.js";
export { type Policy, PolicySchema } from "./gen/scaar/v1/policy_pb.js";
export { type AnswerStep, type Question, answerSteps, policyOf, urlOf } from "./answers.js";
export { type ErrorDetails, errorDetails } from "./errors.js";
export type { ClientOptions } from "./options.js";

/** Client of the orchestrator: a method for each call of the contract. */
export type ScaarClient = Client<typeof OrchestratorService>;

/** Return a client of the gateway at a URL, such as `http://localhost:8090`. */
export function createScaarClient(baseUrl: string, options: ClientOptions = {}): ScaarClient {
  const interceptors: Interceptor[] = interceptorsOf(options);
  const { timeoutMs } = options;
  const transport = createGrpcWebTransport({ baseUrl, interceptors, defaultTimeoutMs: timeoutMs });
  return createClient(OrchestratorService, transport);
}
