import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** What an error of scaar says beside its code and its text. */
export interface ErrorDetails {
  /** Stable reason, such as `NOT_FOUND`; empty for an error of gRPC itself or of a proxy. */
  reason: string;
  /** Subject of the error, such as `{"index": "acme"}`. */
  metadata: Record<string, string>;
  /** Every invalid field of the request, and its limit. */
  violations: { field: string; description: string }[];
  /** Delay after which to retry, in milliseconds, if the orchestrator named one. */
  retryAfterMs?: number;
}

/** Return the details of an error that a call has thrown. */
export function errorDetails(error: unknown): ErrorDetails {
  const found = ConnectError.from(error);
  const [info] = found.findDetails(ErrorInfoSchema);
  const [bad] = found.findDetails(BadRequestSchema);
  const [retry] = found.findDetails(RetryInfoSchema);
  const delay = retry?.retryDelay;
  return {
    reason: info?.domain === "scaar" ? info.reason : "",
    metadata: info?.metadata ?? {},
    violations: bad?.fieldViolations.map(({ field, description }) => ({ field, description })) ?? [],
    ...(delay ? { retryAfterMs: Number(delay.seconds) * 1000 + delay.nanos / 1e6 } : {}),
  };
}
