/** Client of scaar for Node, by gRPC over HTTP/2, without a gateway. */

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { OrchestratorService } from "./gen/scaar/v1/orchestrator_pb.js";
import { RecordsService } from "./gen/scaar/v1/records_pb.js";
import type { ScaarClient } from "./index.js";
import { type ClientOptions, interceptorsOf } from "./options.js";
import type { RecordsClient } from "./records.js";

export * from "./gen/scaar/v1/records_pb.js";
export * from "./index.js";
export { type RecordsClient, recordSummaries } from "./records.js";

/** Options of a client by gRPC. `nodeOptions` are those of `http2.connect`, such as `ca`, `cert` and `key`. */
export interface NodeClientOptions extends ClientOptions {
  nodeOptions?: NonNullable<Parameters<typeof createGrpcTransport>[0]["nodeOptions"]>;
}

/** Return a client of the orchestrator at a URL, such as `http://localhost:50051`. */
export function createNodeClient(baseUrl: string, options: NodeClientOptions = {}): ScaarClient {
  return createClient(OrchestratorService, transportOf(baseUrl, options));
}

/** Return a client of the service of records at a URL, such as `http://localhost:50057`. */
export function createNodeRecordsClient(baseUrl: string, options: NodeClientOptions = {}): RecordsClient {
  return createClient(RecordsService, transportOf(baseUrl, options));
}

function transportOf(baseUrl: string, options: NodeClientOptions) {
  const { timeoutMs, nodeOptions } = options;
  const interceptors = interceptorsOf(options);
  return createGrpcTransport({ baseUrl, interceptors, nodeOptions, defaultTimeoutMs: timeoutMs });
}
