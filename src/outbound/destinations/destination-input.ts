import type { Static } from "@sinclair/typebox";

import { AppError, type FieldError } from "../../base/errors.ts";
import { AddressError } from "../../base/public-address.ts";
import { bodyReader } from "../../base/validation.ts";
import { changesSchema, inputSchema } from "../../web/input.ts";
import { orderByPattern } from "../deliveries/destination-cache.ts";
import { destinationFields, stateField } from "../destination-fields.ts";
import { operatorGateway } from "../destination.ts";
import { compileFilter, FilterError } from "../filters/filter.ts";
import { formatNames, formats, givenSecretOf, isSigned } from "../formats/formats.ts";
import { type AddressRules, destinationUrl } from "../transports/address.ts";
import { mailboxOf } from "../transports/mail.ts";

// The example is not in `destinationFields`: the console's page, which imports them, names no other origin.
const example = "https://hooks.slack.com/services/T000/B000/XXXX";
const fields = { ...destinationFields, url: { ...destinationFields.url, example } };

export const destinationInputSchema = inputSchema(fields, {
  $id: "DestinationInput",
  description: "A new destination.",
});
/** A new destination, or one as it is to be. */
export type DestinationInput = Static<typeof destinationInputSchema>;

export const destinationChangesSchema = changesSchema(
  { ...fields, state: stateField },
  { $id: "DestinationChanges", description: "The fields to change." },
);
export type DestinationChanges = Static<typeof destinationChangesSchema>;

const readFields = bodyReader(destinationInputSchema, "validation-failed");
const readFieldsAndFilter = bodyReader(destinationInputSchema, "validation-failed", (body) => {
  const { filter }: { readonly filter?: unknown } = Object(body);
  const error = typeof filter === "string" ? filterError(filter) : null;
  return error === null ? [] : [{ pointer: error[0], kind: "rule", detail: error[1] }];
});

/** Reads fields that are valid each. Where one is not, the error names what is wrong with the filter too. */
export function readDestination(body: unknown): DestinationInput {
  try {
    return readFields(body);
  } catch {
    return readFieldsAndFilter(body);
  }
}
export const readDestinationChanges = bodyReader(destinationChangesSchema, "validation-failed");

export function invalid(pointer: string, detail: string): AppError {
  return invalidAll([{ pointer, code: "rule-broken", detail }]);
}

function invalidAll(errors: readonly FieldError[]): AppError {
  // Some details end with a full stop, others do not.
  const detail = errors
    .map((error) => error.detail)
    .join("; ")
    .replaceAll(".; ", "; ");
  return new AppError("validation-failed", detail, { errors });
}

const maxRatePerSecond = 1_000;

/**
 * Checks the rules between and beyond the types. Throws `validation-failed` with all of them. `rules` is null
 * for the destination of the settings, whose name and address were checked as settings.
 */
export function validate(
  { name, format, url, filter, orderBy, ratePerSecond, secret, alerts }: DestinationInput,
  rules: AddressRules | null,
  ownerId: string | null,
): void {
  const given = givenSecretOf(format);
  const isOrder = orderBy === undefined || orderBy === null || orderByPattern.test(orderBy);
  const errors = [
    name === operatorGateway.name && rules !== null
      ? (["/name", `${name} is the destination of OPERATOR_GATEWAY_URL`] as const)
      : null,
    given === null && secret !== undefined
      ? ([
          "/secret",
          `Only ${formatNames.filter(givenSecretOf).join(", ")} takes a secret from you. Leave it out.`,
        ] as const)
      : null,
    rules === null ? null : addressError(format, url, rules),
    filterError(filter ?? null),
    (ratePerSecond ?? 1) >= 1 && (ratePerSecond ?? 1) <= maxRatePerSecond
      ? null
      : (["/ratePerSecond", `Use a whole number from 1 to ${maxRatePerSecond}`] as const),
    isOrder ? null : (["/orderBy", "Write a field of the event, such as event.subject"] as const),
    given !== null && (secret ?? "") === ""
      ? (["/secret", `Required: the ${given.label.toLowerCase()} of ${given.of}`] as const)
      : null,
    ownerId !== null && !isSigned(format)
      ? (["/format", `Use ${formatNames.filter(isSigned).join(" or ")}`] as const)
      : null,
    ownerId !== null && alerts === true
      ? (["/alerts", "Only destinations of the operators receive alerts. Leave it out."] as const)
      : null,
  ].filter((error) => error !== null);
  if (errors.length === 0) return;
  throw invalidAll(errors.map(([pointer, detail]) => ({ pointer, code: "rule-broken", detail })));
}

function addressError(format: DestinationInput["format"], url: string, rules: AddressRules) {
  try {
    if (formats[format].transport === "smtp") mailboxOf(url, rules);
    else destinationUrl(url, rules);
    return null;
  } catch (error) {
    if (error instanceof AddressError) return ["/url", error.message] as const;
    throw error;
  }
}

/** The place and description of an error in a filter; null if it has none. */
export function filterError(filter: string | null): readonly ["/filter", string] | null {
  if (filter === null) return null;
  try {
    compileFilter(filter);
    return null;
  } catch (error) {
    if (error instanceof FilterError) return ["/filter", error.message];
    throw error;
  }
}
