/** Client of scaar for Node, by gRPC over HTTP/2, without a gateway. */

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { OrchestratorService } from "./gen/scaar/v1/orchestrator_pb.js";
import type { ScaarClient } from "./index.js";
import { type ClientOptions, interceptorsOf } from "./options.js";

export * from "./index.js";

/** Options of a client by gRPC. `nodeOptions` are those of `http2.connect`, such as `ca`, `cert` and `key`. */
export interface NodeClientOptions extends ClientOptions {
  nodeOptions?: NonNullable<Parameters<typeof createGrpcTransport>[0]["nodeOptions"]>;
}

/** Return a client of the orchestrator at a URL, such as `http://localhost:50051`. */
export function createNodeClient(baseUrl: string, options: NodeClientOptions = {}): ScaarClient {
  const { timeoutMs, nodeOptions } = options;
  const interceptors = interceptorsOf(options);
  return createClient(
    OrchestratorService,
    createGrpcTransport({ baseUrl, interceptors, nodeOptions, defaultTimeoutMs: timeoutMs }),
  );
}
