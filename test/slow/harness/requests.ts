import { at } from "../../support/graphql.ts";
import type { RunningServer } from "../../support/program.ts";

/** A response of either interface in a common form. */
export interface Answer {
  readonly status: number;
  /** The code of an error; null on success. */
  readonly code: string | null;
  /** The result; for an error, its details; null if there is none. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** Sends a request to the program, which runs in this process or in another one. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

export const interfaces = ["REST", "GraphQL"] as const;
export type Interface = (typeof interfaces)[number];

/** An operation, as both interfaces name it. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The queried field has the alias `result`. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

type Authorized = string | null;

export async function rest(
  send: Send,
  authorization: Authorized,
  { method, path, body, headers }: Omit<Operation, "query" | "variables">,
): Promise<Answer> {
  const response = await send(path, {
    method,
    headers: { ...headersOf(authorization), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return answerOf(response);
}

export const get = (send: Send, authorization: Authorized, path: string): Promise<Answer> =>
  rest(send, authorization, { method: "GET", path });

export async function answerOf(response: Response): Promise<Answer> {
  const { status, headers, ok } = response;
  const text = await response.text();
  // A load balancer without a reachable server answers in HTML.
  const isJson = headers.get("content-type")?.includes("json") ?? false;
  const body: unknown = text === "" || !isJson ? null : JSON.parse(text);
  const isError = !ok && status !== 304;
  return { status, code: isError ? String(at(body, "code")) : null, body, headers };
}

export async function graphql(
  send: Send,
  authorization: Authorized,
  { query, variables }: Pick<Operation, "query" | "variables">,
): Promise<Answer> {
  const body = JSON.stringify({ query, variables });
  const init = { method: "POST", headers: headersOf(authorization), body };
  const answer = await answerOf(await send("/graphql", init));
  const error = at(answer.body, "errors", 0);
  const details = at(error, "extensions");
  if (error === undefined) return { ...answer, body: at(answer.body, "data", "result") };
  const code = String(at(details, "code") ?? at(error, "message"));
  return { ...answer, status: Number(at(details, "status")), code, body: details };
}

export const through = (
  interfaceOf: Interface,
  send: Send,
  authorization: Authorized,
  operation: Operation,
): Promise<Answer> =>
  interfaceOf === "REST"
    ? rest(send, authorization, operation)
    : graphql(send, authorization, operation);

const headersOf = (authorization: Authorized): Record<string, string> => ({
  "content-type": "application/json",
  ...(authorization !== null && { authorization }),
});

/* The operations. `fields` are those that GraphQL returns. */

export const bookingsPath = "/v1/api/bookings";
const keyed = (key: string | null) => (key === null ? {} : { "idempotency-key": key });

export const book = (input: object, key: string | null, fields: string): Operation => ({
  method: "POST",
  path: bookingsPath,
  body: input,
  headers: keyed(key),
  query: `mutation ($input: CreateBookingInput!, $key: String) {
    result: createBooking(input: $input, idempotencyKey: $key) { ${fields} } }`,
  variables: { input, key },
});

export const cancel = (id: string, fields: string): Operation => ({
  method: "DELETE",
  path: `${bookingsPath}/${id}`,
  query: `mutation ($id: ID!) { result: cancelBooking(bookingId: $id) { ${fields} } }`,
  variables: { id },
});

export const readBooking = (id: string, fields: string): Operation => ({
  method: "GET",
  path: `${bookingsPath}/${id}`,
  query: `query ($id: ID!) { result: booking(bookingId: $id) { ${fields} } }`,
  variables: { id },
});

export const readFlight = (id: number, fields: string): Operation => ({
  method: "GET",
  path: `/v1/api/flights/${id}`,
  query: `query ($id: Int!) { result: flight(flightId: $id) { ${fields} } }`,
  variables: { id },
});

export const createUser = (input: object, key: string | null, fields: string): Operation => ({
  method: "POST",
  path: "/v1/users",
  body: input,
  headers: keyed(key),
  query: `mutation ($input: CreateUserInput!, $key: String) {
    result: createUser(input: $input, idempotencyKey: $key) { ${fields} } }`,
  variables: { input, key },
});

const timeoutMs = 20_000;

/** A request without a complete answer. */
export class Lost extends Error {
  constructor(
    /** Whether it may have been carried out. */
    readonly wasSent: boolean,
    cause: unknown,
  ) {
    super("There was no answer", { cause });
  }
}

/** Sends to a server, on a connection of its own: Bun would repeat a request that fails on a reused one. */
export const to =
  ({ url }: Pick<RunningServer, "url">): Send =>
  async (path, init) => {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(`${url}${path}`, { ...init, keepalive: false, signal });
      const body = await response.bytes();
      return new Response(body.length === 0 ? null : body, response);
    } catch (error) {
      throw new Lost(at(error, "code") !== "ConnectionRefused", error);
    }
  };
