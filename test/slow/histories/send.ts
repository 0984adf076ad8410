import { at } from "../../support/graphql.ts";

/** A complete response. */
interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Null for an empty body. */
  readonly body: unknown;
}

/** `unknown`: the request may have been carried out. `refused`: it did not reach the program. */
export type Outcome<Answer> = Answer | "unknown" | "refused";

const timeoutMs = 20_000;

/** Sends a request on a connection of its own: Bun would repeat one that fails on a reused connection. */
async function send(url: string, init: RequestInit): Promise<Outcome<Reply>> {
  let response: Response;
  let text: string;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    response = await fetch(url, { ...init, keepalive: false, signal });
    text = await response.text();
  } catch (error) {
    return at(error, "code") === "ConnectionRefused" ? "refused" : "unknown";
  }
  const { status, headers } = response;
  return status === 503
    ? "unknown"
    : { status, headers, body: text === "" ? null : JSON.parse(text) };
}

/** A response by its error code; null on success. */
export interface Result {
  readonly code: string | null;
  /** The result, or the details of the error. */
  readonly body: unknown;
  readonly headers: Headers;
}

export async function rest(url: string, init: RequestInit = {}): Promise<Outcome<Result>> {
  const reply = await send(url, init);
  if (typeof reply === "string") return reply;
  const { status, headers, body } = reply;
  return { code: status < 400 ? null : codeIn(body, url), body, headers };
}

/** The queried field must have the alias `result`. */
export async function graphql(
  server: string,
  headers: Readonly<Record<string, string>>,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<Outcome<Result>> {
  const body = JSON.stringify({ query, variables });
  const reply = await send(`${server}/graphql`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
  });
  if (typeof reply === "string") return reply;
  const errors = at(reply.body, "errors");
  if (errors === undefined) {
    return { code: null, body: at(reply.body, "data", "result"), headers: reply.headers };
  }
  const details = at(errors, 0, "extensions");
  const code = codeIn(details, query);
  if (code === "unavailable") return "unknown";
  return { code, body: details, headers: reply.headers };
}

function codeIn(body: unknown, request: string): string {
  const code = at(body, "code");
  if (typeof code === "string" && code !== "internal") return code;
  throw new Error(`${request} failed: ${JSON.stringify(body)}`);
}

/** Uses the result of a request that was answered. */
export function answered<Answer>(
  result: Outcome<Result>,
  read: (result: Result) => Answer,
): Outcome<Answer> {
  return typeof result === "string" ? result : read(result);
}
