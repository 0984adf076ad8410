import { readFileSync } from "node:fs";
import { join } from "node:path";

import { limits as graphqlLimits } from "../../src/web/graphql/limits.ts";

/** What is limited, the response beyond it (null where nothing is refused), and the constant in a file of `src/`. */
type Limit = readonly [what: string, beyond: number | string | null, file: string, name: string];

const limiter = "identity/limiter.ts";
const graphql = "web/graphql/limits.ts";
const streams = "events/stream-budget.ts";
const rejections = "inbound/rejections/rejections.ts";
const destinations = "outbound/destinations/new-destination.ts";
const providerFiles = "inbound/providers/files/checked-file.ts";

const limits: readonly Limit[] = [
  ["body of the API", 413, "web/json-body.ts", "maxBodyBytes"],
  ["levels of JSON", 400, "web/json-body.ts", "maxDepth"],
  ["body of GraphQL", 413, graphql, "maxBodyBytes"],
  ["token request", 413, "identity/auth/auth.rest.ts", "maxBodyBytes"],
  ["message of an agent", 413, "mcp/server/mcp.rest.ts", "maxBodyBytes"],
  ["delivery", 413, "inbound/providers/task_tracker.ts", "maxBodyBytes"],
  ["delivery of code_host", 413, "inbound/providers/code_host.ts", "maxBodyBytes"],
  ["items of a delivery", 413, "inbound/providers/interpret.ts", "maxItems"],
  ["large bodies in progress", 503, "web/body-budget.ts", "maxBytes"],
  ["… of one client", 503, "web/body-budget.ts", "maxBytesPerClient"],
  ["… a body up to this is exempt", null, "web/body-budget.ts", "smallBytes"],
  ["time for a body", 400, "web/body.ts", "wholeTimeoutMs"],
  ["pause in a large or chunked body", 400, "web/body.ts", "pauseTimeoutMs"],
  ["idle connection", "closed", "cli/host/serve.ts", "idleTimeoutSeconds"],
  ["streams with bodies", 503, "events/event-streams.ts", "maxBodyStreams"],
  ["bodies in streams that clients have not read", "others wait", streams, "maxUnreadBytes"],
  ["time to read a body of a stream while others wait", "disconnected", streams, "patienceMs"],
  ["failed authentications and signatures per address", 429, limiter, "maxFailures"],
  ["… within", null, limiter, "windowSeconds"],
  ["test events and notifications per caller", 429, limiter, "maxTests"],
  ["recorded changes per user", 429, limiter, "maxUserWrites"],
  ["… per operator or admin", 429, limiter, "maxOperatorWrites"],
  ["writes per user, in a minute", 429, limiter, "maxWritesOfUser"],
  ["… per operator, admin or client", 429, limiter, "maxWrites"],
  ["searches, totals, statistics, previews and exports per caller", 429, limiter, "maxCostlyReads"],
  ["tokens of one subject that are revoked one by one", 429, limiter, "maxRevocations"],
  [
    "work per user, or per address without a token, in fields of GraphQL",
    429,
    limiter,
    "maxFields",
  ],
  ["… within", null, limiter, "workSeconds"],
  ["characters of a token", 401, "identity/auth/token.ts", "maxTokenLength"],
  [
    "API keys, and tokens for agents, per caller",
    422,
    "identity/sessions/stored-tokens.ts",
    "maxPerActor",
  ],
  ["page size", null, "base/page.ts", "maxLimit"],
  ["page × limit", 400, "base/page.ts", "maxOffsetRows"],
  ["characters of a cursor", 400, "base/cursor.ts", "maxCursorLength"],
  ["passengers", 422, "booking/model/flight.ts", "maxPassengers"],
  ["days of a price calendar", 400, "booking/flights/flight-search.ts", "maxCalendarDays"],
  ["GraphQL: depth", 400, graphql, "depth"],
  ["GraphQL: aliases", 400, graphql, "aliases"],
  ["GraphQL: tokens", 400, graphql, "tokens"],
  ["GraphQL: directives", 400, graphql, "directives"],
  ["GraphQL: fields of the response", 400, graphql, "complexity"],
  ["GraphQL: repeats of a field", 400, graphql, "repeats"],
  ["GraphQL: spreads of fragments", 400, graphql, "spreads"],
  ["GraphQL: ids in `nodes`", 400, "web/graphql/builder.ts", "maxNodes"],
  ["characters of a text of a delivery", "shortened", "base/payload.ts", "maxTextLength"],
  ["characters of a link", "dropped", "base/payload.ts", "maxUrlLength"],
  [
    "characters of the error of a destination",
    "shortened",
    "outbound/deliveries/send.ts",
    "maxErrorCharacters",
  ],
  ["fields of a form", 400, "inbound/providers/interpret.ts", "maxFields"],
  [
    "body whose members are signed",
    401,
    "inbound/signatures/payload-reader.ts",
    "maxUnverifiedBytes",
  ],
  ["rejections kept per provider", null, rejections, "keptPerProvider"],
  ["rejections kept in all", null, rejections, "maxKeptBytesOfAll"],
  ["destinations of a user", 422, destinations, "maxUserDestinations"],
  ["destinations of all users", 422, destinations, "maxOfUsers"],
  ["destinations of the operators", 422, destinations, "maxDestinations"],
  ["time for a destination's response", "retried", "outbound/transports/post.ts", "timeoutMs"],
  ["time to sign in by OpenID Connect", 401, "identity/oidc/oidc.ts", "attemptSeconds"],
  ["characters of a provider file", 422, providerFiles, "maxFileCharacters"],
  [
    "characters of a webhook secret to store",
    422,
    "inbound/signatures/usable-secret.ts",
    "maxSecretCharacters",
  ],
];

/** The table of limits in docs/security.md. */
export function limitTable(): string {
  const rows = limits.map(([what, beyond, file, name]) => {
    const response = beyond === null ? "" : ` (${beyond})`;
    return `| ${what}${response} | ${valueOf(file, name)} |`;
  });
  return ["| limit (response beyond it) | value |", "| --- | ---: |", ...rows].join("\n");
}

/** The GraphQL limits that the table lacks. */
export const unlistedGraphqlLimits = (): readonly string[] =>
  Object.keys(graphqlLimits).filter(
    (key) => !limits.some(([, , file, name]) => file === graphql && name === key),
  );

/** The value of a constant, in the unit that its name ends with. */
export function valueOf(file: string, name: string): string {
  const value = numberOf(file, name);
  if (/bytes/i.test(name)) return bytesText(value);
  if (name.endsWith("Ms")) return timeText(value / 1_000);
  if (name.endsWith("Seconds")) return timeText(value);
  return value.toLocaleString("en");
}

/** A constant that is a number or a product of numbers, as its file defines it. */
export function numberOf(file: string, name: string): number {
  const source = readFileSync(join(import.meta.dir, "../../src", file), "utf8");
  const pattern = `\\b${name}(?: =|:) ([\\d_]+(?: \\* [\\d_]+)*)(?:[;,]|$)`;
  const product = new RegExp(pattern, "m").exec(source)?.[1];
  if (product === undefined) throw new Error(`src/${file} has no number ${name}`);
  return product
    .split("*")
    .reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1);
}

const bytesText = (bytes: number) =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;

const timeText = (seconds: number) => (seconds < 600 ? `${seconds} s` : `${seconds / 60} min`);
