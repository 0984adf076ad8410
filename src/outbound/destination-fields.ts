import type { InputField, InputFields } from "../web/input.ts";

import { formatNames, formats, givenSecretOf } from "./formats/formats.ts";

/** `paused`: deliveries wait. `disabled`: no deliveries are stored. */
export const destinationStates = ["active", "paused", "disabled"] as const;

/** The longest expression, in characters. */
export const maxFilterCharacters = 2_000;
const filterExample = 'event.type == "deploy.error"';
const maxAddressCharacters = 2_000;
const maxConcurrent = 64;
export const defaultMaxConcurrent = 8;

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
  url: {
    type: "text",
    rules: { minLength: 1, maxLength: maxAddressCharacters },
    error: `Write an address of 1 to ${maxAddressCharacters} characters`,
    description: "Where to post to; for `email`, smtps://user:password@host/?from=…&to=…",
    label: "Address",
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
    hint: `Empty: ${defaultMaxConcurrent}`,
    option: "--concurrent <number>",
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
