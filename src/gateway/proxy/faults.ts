/** Errors of the gateway's own, in the shape of the API that a client speaks. */
import type { Family } from "./routes.ts";

/** The answer that tells an error. */
export interface Fault {
  readonly contentType: string;
  readonly body: string;
}

/** An error in a family's shape, for requests that no API of the wire reads. */
export function faultOf(family: Family, status: number, message: string): Fault {
  return { contentType: "application/json", body: JSON.stringify(shapes[family](status, message)) };
}

const shapes: Readonly<Record<Family, (status: number, message: string) => object>> = {
  anthropic: (status, message) => ({ type: "error", error: { type: anthropicType(status), message } }),
  openai: (status, message) => ({
    error: { message, type: status < 500 ? "invalid_request_error" : "server_error", param: null, code: null },
  }),
  gemini: (status, message) => ({ error: { code: status, message, status: geminiStatus(status) } }),
  ollama: (_status, message) => ({ error: message }),
};

function anthropicType(status: number): string {
  if (status === 404) return "not_found_error";
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 413) return "request_too_large";
  return status < 500 ? "invalid_request_error" : "api_error";
}

function geminiStatus(status: number): string {
  if (status === 404) return "NOT_FOUND";
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 403) return "PERMISSION_DENIED";
  return status < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE";
}

/** The cause of a failed call in words. They hold a system's code at most: a message could quote what was sent. */
export function causeOf(error: unknown): string {
  const code = codeOf(error);
  return causes[code] ?? (code === "" ? "the call failed" : `the call failed (${code})`);
}

/** The code of an error, of its cause where it has none itself; empty where neither has one. */
export function codeOf(error: unknown): string {
  for (let one = error, depth = 0; one instanceof Error && depth < 4; one = firstOf(one), depth++) {
    const { code } = one as NodeJS.ErrnoException;
    if (typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code)) return code;
  }
  return "";
}

function firstOf(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : error.cause;
}

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there (ECONNREFUSED)",
  ECONNRESET: "it broke the connection off (ECONNRESET)",
  EAI_AGAIN: "its name cannot be looked up (EAI_AGAIN)",
  ENOTFOUND: "its name is not known (ENOTFOUND)",
  ETIMEDOUT: "it cannot be reached in time (ETIMEDOUT)",
  UND_ERR_CONNECT_TIMEOUT: "it did not take the connection within 10 s",
  UND_ERR_SOCKET: "it broke the connection off",
  UND_ERR_HEADERS_OVERFLOW: "its headers are too large",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "its answer was cut off",
};
