import type { InputField, InputFields } from "../../web/input.ts";
import { formatNames, formats, givenSecretOf, isSigned } from "../formats/formats.ts";
import { transportNames, transports } from "../transports/transports.ts";

import { usualRetryDelays } from "./retry-delays.ts";

/** `paused`: deliveries wait. `disabled`: no deliveries are stored. */
export const destinationStates = ["active", "paused", "disabled"] as const;

/** The longest expression, in characters. */
export const maxFilterCharacters = 2_000;
const filterExample = 'event.type == "deploy.error"';
const maxUrlCharacters = 2_000;
const maxConcurrent = 64;
/** The most items of a batch, and the longest wait for them: a delivery is leased for 30 s. */
const maxBatchItems = 1_000;
const longestBatchWaitMs = 10_000;

/** What a destination has unless a request says otherwise. Its transport follows from the format. */
export const destinationDefaults = {
  filter: null,
  orderBy: null,
  ratePerSecond: null,
  maxConcurrent: 8,
  retryDelays: null,
  template: null,
  batchMaxItems: null,
  batchMaxWaitMs: null,
  alerts: false,
} as const;

const maxHeadersCharacters = 4_000;
const maxTemplateCharacters = 4_000;
const signedNames = formatNames
  .filter(isSigned)
  .map((name) => `\`${name}\``)
  .join(", ");

const secrets = formatNames.flatMap((name) => {
  const secret = givenSecretOf(name);
  return secret === null ? [] : [`For \`${name}\`: the ${secret.label.toLowerCase()}.`];
});

/** The fields of a request that creates or changes a destination. The console's page imports them. */
export const destinationFields = {
  name: {
    type: "text",
    rules: { pattern: "^[a-z0-9][a-z0-9._-]{0,62}$" },
    error: "Use 1 to 63 lower-case letters, digits, dots, hyphens or underscores",
    description: "Unique among your destinations.",
    example: "deploys",
    label: "Name",
    hint: "Such as deploys",
  },
  format: {
    type: "choice",
    words: formatNames,
    labels: formats,
    error: `One of: ${formatNames.join(", ")}`,
    description: "Format of its messages.",
    label: "Format",
  },
  transport: {
    type: "choice",
    words: transportNames,
    labels: transports,
    isOptional: true,
    error: `One of: ${transportNames.join(", ")}`,
    description: "What carries its messages. Default: `http`; `smtp` for `email`.",
    label: "Transport",
    option: "--transport <name>",
  },
  url: {
    type: "text",
    rules: { minLength: 1, maxLength: maxUrlCharacters },
    error: `Write a URL of 1 to ${maxUrlCharacters} characters`,
    description:
      "Where to post to; for other transports and `email`, a URL with its login, such as smtps://user:password@host/?from=…&to=…",
    label: "URL",
  },
  filter: {
    type: "text",
    rules: { maxLength: maxFilterCharacters },
    isOptional: true,
    isNullable: true,
    error: `Write an expression of at most ${maxFilterCharacters} characters, or null for all events`,
    description: "An expression (CEL) that an event must match. Null: all events.",
    example: filterExample,
    placeholder: filterExample,
    label: "Filter",
    hint: "An expression, or empty for all events",
    rows: 3,
    option: "--filter <expression>",
  },
  orderBy: {
    type: "text",
    rules: { maxLength: 80 },
    isOptional: true,
    isNullable: true,
    description: "Deliveries with the same value of this field are sent one after the other.",
    example: "event.subject",
    label: "Order by",
    hint: "A field such as event.subject: one at a time for each value",
    option: "--order-by <field>",
  },
  ratePerSecond: {
    type: "integer",
    isOptional: true,
    isNullable: true,
    description: "Deliveries per second, 1 to 1000. Null: no limit.",
    label: "Deliveries per second",
    hint: "Empty: no limit",
    option: "--rate <number>",
  },
  maxConcurrent: {
    type: "integer",
    rules: { minimum: 1, maximum: maxConcurrent },
    isOptional: true,
    error: `Use a whole number from 1 to ${maxConcurrent}`,
    description: "Deliveries at the same time, per process.",
    label: "Deliveries at the same time",
    hint: `Empty: ${destinationDefaults.maxConcurrent}`,
    option: "--concurrent <number>",
  },
  retryDelays: {
    type: "text",
    rules: { maxLength: 200 },
    isOptional: true,
    isNullable: true,
    description: `The delays before retries, 1 to 20. Null: ${usualRetryDelays}.`,
    example: "10s 1m 10m 1h 6h 24h",
    label: "Retry after",
    hint: `Such as 10s 1m 1h; empty: ${usualRetryDelays}`,
    option: "--retry-delays <delays>",
  },
  batchMaxItems: {
    type: "integer",
    rules: { minimum: 2, maximum: maxBatchItems },
    isOptional: true,
    isNullable: true,
    error: `Use a whole number from 2 to ${maxBatchItems}, or null for no batches`,
    description: `For \`json\` by \`http\`: send up to this many at once, as an array. 2 to ${maxBatchItems}. Null: one at a time.`,
    label: "Items of a batch",
    hint: "For JSON: up to this many as one array; empty: one at a time",
    option: "--batch-max-items <number>",
  },
  batchMaxWaitMs: {
    type: "integer",
    rules: { minimum: 0, maximum: longestBatchWaitMs },
    isOptional: true,
    isNullable: true,
    error: `Use a whole number from 0 to ${longestBatchWaitMs}`,
    description: `How long a batch waits to be full, in milliseconds, at most ${longestBatchWaitMs}. Null: 1000.`,
    label: "Longest wait for a batch, in milliseconds",
    hint: "Empty: 1000",
    option: "--batch-max-wait <milliseconds>",
  },
  headers: {
    type: "text",
    rules: { maxLength: maxHeadersCharacters },
    isOptional: true,
    isNullable: true,
    description: `For ${signedNames}: headers to send, as lines such as \`Authorization: Bearer …\`. Their values are not shown again. Null: none.`,
    example: "Authorization: Bearer 3f9a",
    label: "Headers",
    hint: "Lines such as Authorization: Bearer …",
    rows: 2,
    isSecret: true,
    option: "--headers <lines>",
  },
  tokenUrl: {
    type: "text",
    rules: { minLength: 1, maxLength: maxUrlCharacters },
    isOptional: true,
    isNullable: true,
    error: `Write a URL of 1 to ${maxUrlCharacters} characters, or null for no token`,
    description: `For ${signedNames} by \`http\`: the token server (OAuth 2.0 client credentials), with client:secret@ before its host; its \`scope\`, \`audience\` and \`resource\` are sent to it. Null: no token.`,
    label: "Token URL",
    hint: "For OAuth 2.0: the token server, with client:secret@ before its host and ?scope=…",
    isSecret: true,
    option: "--token-url <url>",
  },
  template: {
    type: "text",
    rules: { maxLength: maxTemplateCharacters },
    isOptional: true,
    isNullable: true,
    description:
      "For `json`: a JSON document that replaces the body; its texts hold values such as {/data/title}. Null: the usual body.",
    example: '{"text": "{/data/title}", "link": "{/data/url}"}',
    label: "Body",
    hint: 'A JSON document such as {"text": "{/data/title}"}; empty: the usual body',
    rows: 3,
    option: "--template <json>",
  },
  alerts: {
    type: "flag",
    isOptional: true,
    description: "Whether it receives alerts about Skyhook itself.",
    label: "Also send alerts about Skyhook itself, such as dead letters",
    option: "--alerts",
  },
  secret: {
    type: "text",
    rules: { minLength: 1, maxLength: 200 },
    isOptional: true,
    description: `${secrets.join(" ")} Other formats get a secret made for them.`,
    label: "Secret",
    isSecret: true,
    option: "--secret <key>",
  },
} as const satisfies InputFields;

export const stateField = {
  type: "choice",
  words: destinationStates,
  error: `One of: ${destinationStates.join(", ")}`,
  description: "`paused`: deliveries wait. `disabled`: none are stored.",
  label: "State",
} as const satisfies InputField;
