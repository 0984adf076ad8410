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

/** What the destinations of an owner may be. Null for the operators. */
type OwnerRules = readonly [rules: AddressRules, ownerId: string | null];

/** Reads a new destination. Throws one error that names every invalid field and every broken rule. */
export function readDestination(body: unknown, ...owner: OwnerRules): DestinationInput {
  const input = readValidFields(body, owner);
  validate(input, ...owner);
  return input;
}

/** Where a field is invalid, the error also names the rules that the others break. */
function readValidFields(body: unknown, owner: OwnerRules): DestinationInput {
  try {
    return readFields(body);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { errors: invalid = [] } = error.extras;
    const isValid = (pointer: string) => invalid.every((each) => pointerOf(each) !== pointer);
    const others = Object.entries(Object(body)).filter(([name]) => isValid(`/${name}`));
    // Guarantee: the schema rejects none of these fields.
    const fields = Object.fromEntries(others) as Partial<DestinationInput>;
    const broken = brokenRules(fields, ...owner).filter(([pointer]) => isValid(pointer));
    const errors = [...invalid, ...broken.map(ruleError)];
    if (errors.length <= 1) throw error;
    const named = errors.map((each) => ({
      ...each,
      detail: `${pointerOf(each)}: ${each.detail}`,
    }));
    throw new AppError(error.code, detailOf(named), { errors });
  }
}

const pointerOf = (error: FieldError): string => ("pointer" in error ? error.pointer : "");

export const readDestinationChanges = bodyReader(destinationChangesSchema, "validation-failed");

export function invalid(pointer: string, detail: string): AppError {
  return invalidAll([ruleError([pointer, detail])]);
}

function invalidAll(errors: readonly FieldError[]): AppError {
  return new AppError("validation-failed", detailOf(errors), { errors });
}

type BrokenRule = readonly [pointer: string, detail: string];

const ruleError = ([pointer, detail]: BrokenRule) =>
  ({ pointer, code: "rule-broken", detail }) as const;

/** Some details end with a full stop, others do not. */
const detailOf = (errors: readonly FieldError[]): string =>
  errors
    .map(({ detail }) => detail)
    .join("; ")
    .replaceAll(".; ", "; ");

const maxRatePerSecond = 1_000;

/**
 * Checks the rules between and beyond the types. Throws `validation-failed` with all of them. `rules` is null
 * for the destination of the settings, whose name and address were checked as settings.
 */
export function validate(
  input: DestinationInput,
  rules: AddressRules | null,
  ownerId: string | null,
): void {
  const errors = brokenRules(input, rules, ownerId);
  if (errors.length > 0) throw invalidAll(errors.map(ruleError));
}

/** Without `format`, what depends on it is not checked. */
function brokenRules(
  { name, format, url, filter, orderBy, ratePerSecond, secret, alerts }: Partial<DestinationInput>,
  rules: AddressRules | null,
  ownerId: string | null,
): readonly BrokenRule[] {
  const given = format === undefined ? null : givenSecretOf(format);
  const isOrder = orderBy === undefined || orderBy === null || orderByPattern.test(orderBy);
  return [
    name === operatorGateway.name && rules !== null
      ? (["/name", `${name} is the destination of OPERATOR_GATEWAY_URL`] as const)
      : null,
    format !== undefined && given === null && secret !== undefined
      ? ([
          "/secret",
          `Only ${formatNames.filter(givenSecretOf).join(", ")} takes a secret from you. Leave it out.`,
        ] as const)
      : null,
    rules === null || format === undefined || url === undefined
      ? null
      : addressError(format, url, rules),
    filterError(filter ?? null),
    (ratePerSecond ?? 1) >= 1 && (ratePerSecond ?? 1) <= maxRatePerSecond
      ? null
      : (["/ratePerSecond", `Use a whole number from 1 to ${maxRatePerSecond}`] as const),
    isOrder ? null : (["/orderBy", "Write a field of the event, such as event.subject"] as const),
    given !== null && (secret ?? "") === ""
      ? (["/secret", `Required: the ${given.label.toLowerCase()} of ${given.of}`] as const)
      : null,
    ownerId !== null && format !== undefined && !isSigned(format)
      ? (["/format", `Use ${formatNames.filter(isSigned).join(" or ")}`] as const)
      : null,
    ownerId !== null && alerts === true
      ? (["/alerts", "Only destinations of the operators receive alerts. Leave it out."] as const)
      : null,
  ].filter((error) => error !== null);
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
