import type { Interceptor } from "@connectrpc/connect";

/** Options of a client. */
export interface ClientOptions {
  /** Bearer token that is sent with every call. Use HTTPS with it. */
  token?: string;
  /** Headers that are sent with every call, such as `{"x-scaar-tenant": "acme"}`. */
  headers?: Record<string, string>;
  /** Maximum duration of a call, in milliseconds. Default: no limit but that of the budget. */
  timeoutMs?: number;
}

/** Return the interceptors that add the headers of the options. */
export function interceptorsOf({ token, headers = {} }: ClientOptions): Interceptor[] {
  const sent = { ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
  return [
    (next) => (request) => {
      for (const [name, value] of Object.entries(sent)) request.header.set(name, value);
      return next(request);
    },
  ];
}
