import { at } from "../../../src/base/payload.ts";
import { isErrorCode, problems } from "../../../src/web/problems.ts";

import type { FuzzRequest } from "./request.ts";
import type { Answer, World } from "./world.ts";

/** What no answer and no line of the log may look like, whatever was sent. */
const leaks: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a stack", /\n\s+at .+:\d+:\d+|\\n\s+at .+:\d+:\d+|\.(?:ts|js|mjs):\d+/],
  ["a file path", /node_modules|(?:^|[\s"'(=])\/(?:tmp|home|root|usr|var|work)\/\w/],
  [
    "SQL",
    // Operators may know which database it is.
    /(?<!"database":")sqlite|drizzle|\b(?:select|insert into|update|delete from)\b.+\b(?:from|values|set|where)\b/i,
  ],
  ["a passport number", /FZ\d{7}/i],
];

/** GraphQL's own codes beside ours; docs/api.md explains them. */
const graphqlCodes = new Set([
  "BAD_USER_INPUT",
  "LIMIT_EXCEEDED",
  "NOT_ACCEPTABLE",
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "OPERATION_RESOLUTION_FAILURE",
]);

/** Bun refuses a head of more than 16 KiB by itself, before it is a request to anyone. */
export const isRefusedUnread = ({ status, text }: Answer): boolean => status === 431 && text === "";

/** Throws what is wrong with an answer, whatever it answers. */
export function checkAnswer(request: FuzzRequest, answer: Answer, world: World): void {
  const { status, text, headers } = answer;
  if (status >= 500) throw new Error(`Answered ${status}: ${text.slice(0, 500)}`);
  if (!isDocument(request.path)) {
    checkLeaks(text, world, "The answer");
    checkLeaks(JSON.stringify([...headers]), world, "A header of the answer");
  }
  if (request.method === "HEAD") return;
  if (isRefusedUnread(answer)) return;
  if (/^\/graphql(?:[?#]|$)/.test(request.path)) checkGraphql(answer);
  else if (status >= 400) checkProblem(answer);
  else if (headers.get("content-type")?.startsWith("application/json")) JSON.parse(text);
}

/** Pages that tell how to use the API, or how to set up a provider: there is much in them that would be a leak elsewhere. */
const isDocument = (path: string): boolean =>
  /^\/(?:swagger|docs|graphql\/playground|problems|v1\/providers\/catalogue|openapi\.json)/.test(
    path,
  );

/** Throws when a secret, a passport or an inner fact of the program is in a text. */
export function checkLeaks(text: string, { secrets }: Pick<World, "secrets">, where: string): void {
  if (secrets.some((secret) => text.includes(secret)))
    throw new Error(`${where} tells a secret: ${text}`);
  for (const [what, pattern] of leaks) {
    const found = pattern.exec(text);
    if (found !== null) throw new Error(`${where} tells ${what}: ${around(text, found.index)}`);
  }
}

const around = (text: string, index: number): string =>
  text.slice(Math.max(0, index - 100), index + 200);

/** RFC 9457, and the contract's codes with their one status each. */
function checkProblem({ status, headers, text }: Answer): void {
  const fault = (what: string) =>
    new Error(`Not a problem of the contract (${what}): ${status} ${text}`);
  if (headers.get("content-type") !== "application/problem+json") throw fault("content type");
  const problem: unknown = JSON.parse(text);
  const code = at(problem, "code");
  if (typeof code !== "string" || !isErrorCode(code)) throw fault("code");
  const requestId = headers.get("x-request-id");
  if (requestId === null || !/^[A-Za-z0-9._-]{1,64}$/.test(requestId)) throw fault("request id");
  const expected = {
    type: `/problems/${code}`,
    title: problems[code].title,
    status,
    instance: `urn:skyhook:request:${requestId}`,
    requestId,
  };
  if (problems[code].status !== status) throw fault("status");
  for (const [name, value] of Object.entries(expected)) {
    if (at(problem, name) !== value) throw fault(name);
  }
  const detail = at(problem, "detail");
  if (typeof detail !== "string" || detail === "") throw fault("detail");
  checkFieldErrors(at(problem, "errors"), fault);
}

function checkFieldErrors(errors: unknown, fault: (what: string) => Error): void {
  if (errors === undefined) return;
  if (!Array.isArray(errors) || errors.length === 0 || errors.length > 20) throw fault("errors");
  for (const error of errors) {
    const place = at(error, "pointer") ?? at(error, "parameter");
    const isWhole = [place, at(error, "code"), at(error, "detail")].every(
      (part) => typeof part === "string",
    );
    if (!isWhole) throw fault("errors");
  }
}

/** GraphQL over HTTP, with a code that clients can look at in every error. */
function checkGraphql({ status, headers, text }: Answer): void {
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("text/html") || type.startsWith("text/event-stream")) return;
  const fault = (what: string) =>
    new Error(`Not an answer of GraphQL (${what}): ${status} ${text}`);
  if (!/^application\/(?:graphql-response\+)?json/.test(type)) throw fault(`content type ${type}`);
  const answer: unknown = JSON.parse(text);
  const [data, errors] = [at(answer, "data"), at(answer, "errors")];
  if (errors === undefined) {
    if (typeof data !== "object" || data === null) throw fault("neither data nor errors");
    return;
  }
  if (!Array.isArray(errors) || errors.length === 0) throw fault("errors");
  for (const error of errors) {
    const code = at(error, "extensions", "code");
    if (typeof at(error, "message") !== "string") throw fault("message");
    if (typeof code !== "string") throw fault("an error without a code");
    if (!isErrorCode(code) && !graphqlCodes.has(code)) throw fault(`code ${code}`);
    if (code === "internal") throw fault("an error of ours");
  }
}
