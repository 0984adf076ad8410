import type { Static } from "@sinclair/typebox";

import { AppError, errorMessage, type FieldError } from "../../base/errors.ts";
import { AddressError } from "../../base/public-address.ts";
import { bodyReader } from "../../base/validation.ts";
import { changesSchema, inputSchema } from "../../web/input.ts";
import { orderByPattern } from "../deliveries/order-key.ts";
import { compileFilter, FilterError } from "../filters/filter.ts";
import { bodyTemplate } from "../formats/body-template.ts";
import {
  type FormatName,
  formatNames,
  formats,
  givenSecretOf,
  isSigned,
} from "../formats/formats.ts";
import { destinationFields, stateField } from "../model/destination-fields.ts";
import { headersIn } from "../model/destination-headers.ts";
import { shownUrl } from "../model/destination-secrets.ts";
import { operatorGateway } from "../model/destination.ts";
import { delaysIn } from "../model/retry-delays.ts";
import { type AddressRules, destinationUrl } from "../transports/address.ts";
import { tokenRequest } from "../transports/bearer-token.ts";
import { brokers } from "../transports/brokers/brokers.ts";
import type { TransportName } from "../transports/transports.ts";

// The example is not in `destinationFields`: the console's page, which imports them, names no other origin.
const example = "https://example.com/webhooks";
const fields = { ...destinationFields, url: { ...destinationFields.url, example } };

export const destinationInputSchema = inputSchema(fields, {
  $id: "DestinationInput",
  description: "A new destination.",
});
/** A new destination, or one as it is to be. */
export type DestinationInput = Static<typeof destinationInputSchema>;

export const destinationChangesSchema = changesSchema(
  { ...fields, state: stateField },
  {
    $id: "DestinationChanges",
    description: "The fields to change.",
    examples: [{ ratePerSecond: 10 }],
  },
);
export type DestinationChanges = Static<typeof destinationChangesSchema>;

const readFields = bodyReader(destinationInputSchema, "validation-failed");

/** The addresses that an owner's destinations may have. `ownerId`: null for the operators. */
type OwnerRules = readonly [rules: AddressRules, ownerId: string | null];

/** Reads a new destination. Throws one error that names every invalid field and every broken rule. */
export function readDestination(body: unknown, ...owner: OwnerRules): DestinationInput {
  const input = readValidFields(body, owner);
  validate(input, ...owner);
  return input;
}

/** If a field is invalid, the error also names the rules that other fields break. */
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

type BrokenRule = readonly [pointer: string, detail: string];

const ruleError = ([pointer, detail]: BrokenRule) =>
  ({ pointer, code: "rule-broken", detail }) as const;

/** Some details end with a full stop, others do not. */
const detailOf = (errors: readonly FieldError[]): string =>
  errors
    .map(({ detail }) => detail)
    .join("; ")
    .replaceAll(".; ", "; ");

/** A stored destination can have a format that nobody chooses. */
export type CheckedInput = Omit<DestinationInput, "format"> & { readonly format: FormatName };

const maxRatePerSecond = 1_000;

/**
 * Checks the rules between and beyond the types. Throws `validation-failed` with all of them. `rules` is null
 * for the destination of the settings, whose name and address were checked as settings.
 */
export function validate(
  input: CheckedInput,
  rules: AddressRules | null,
  ownerId: string | null,
): void {
  const errors = brokenRules(input, rules, ownerId).map(ruleError);
  if (errors.length > 0) throw new AppError("validation-failed", detailOf(errors), { errors });
}

/** Without `format`, what depends on it is not checked. */
function brokenRules(
  input: Partial<CheckedInput>,
  rules: AddressRules | null,
  ownerId: string | null,
): readonly BrokenRule[] {
  const { name, format, filter, orderBy, ratePerSecond, alerts } = input;
  const isOrder = orderBy === undefined || orderBy === null || orderByPattern.test(orderBy);
  return [
    name === operatorGateway.name && rules !== null
      ? (["/name", `${name} is the destination of OPERATOR_GATEWAY_URL`] as const)
      : null,
    filterError(filter ?? null),
    (ratePerSecond ?? 1) >= 1 && (ratePerSecond ?? 1) <= maxRatePerSecond
      ? null
      : (["/ratePerSecond", `Use a whole number from 1 to ${maxRatePerSecond}`] as const),
    isOrder ? null : (["/orderBy", "Write a field of the event, such as event.subject"] as const),
    thrown("/retryDelays", () => delaysIn(input.retryDelays ?? null)),
    thrown("/headers", () => headersIn(input.headers ?? null)),
    typeof input.template === "string" ? templateError(input.template) : null,
    ownerId !== null && alerts === true
      ? (["/alerts", "Only destinations of the operators receive alerts. Leave it out."] as const)
      : null,
    ...(format === undefined ? [] : brokenByFormat(format, input, rules, ownerId)),
  ]
    .filter((error) => error !== null)
    .toSorted(([one], [other]) => places.indexOf(one) - places.indexOf(other));
}

/** Errors are named in the order of the fields. */
const places = Object.keys(destinationFields).map((name) => `/${name}`);

function brokenByFormat(
  format: FormatName,
  input: Partial<CheckedInput>,
  rules: AddressRules | null,
  ownerId: string | null,
): readonly (BrokenRule | null)[] {
  const { url, secret, transport = formats[format].transport, alerts } = input;
  const given = givenSecretOf(format);
  const mine = ownerId !== null;
  const only = (field: keyof DestinationInput, isAllowed: boolean, detail: string) =>
    (input[field] ?? null) === null || isAllowed ? null : ([`/${field}`, detail] as const);
  const [{ transport: usual }, signed] = [formats[format], isSigned(format)];
  return [
    given === null && secret !== undefined
      ? [
          "/secret",
          `Only ${named((name) => givenSecretOf(name) !== null)} takes a secret from you. Leave it out.`,
        ]
      : null,
    given !== null && (secret ?? "") === ""
      ? ["/secret", `Required: the ${given.label.toLowerCase()} of ${given.of}`]
      : null,
    mine && (!signed || format === "original") ? ["/format", "Use cloudevents or json"] : null,
    transport === usual || (signed && transport !== "smtp" && !mine)
      ? null
      : [
          "/transport",
          `${mine ? "Your destinations are" : `${format} is`} sent by ${usual}. Leave it out.`,
        ],
    rules === null || url === undefined ? null : addressError(transport, url, rules),
    only("headers", signed, `Only ${named(isSigned)} have headers of your own. Leave it out.`),
    only(
      "tokenUrl",
      signed && transport === "http",
      `Only ${named(isSigned)} send a token, by http. Leave it out.`,
    ),
    tokenError(input, rules),
    only("template", format === "json", "Only json has a template. Leave it out."),
    only(
      "batchMaxItems",
      format === "json" && transport === "http",
      "Only json is sent in batches, by http. Leave it out.",
    ),
    format === "original" && alerts === true
      ? ["/alerts", "An alert has no original. Choose another format for alerts."]
      : null,
  ];
}

const named = (which: (name: FormatName) => boolean) => formatNames.filter(which).join(", ");

/** What a reader of a field says is wrong with it. `kind`: throws errors of any other class. */
function thrown(
  pointer: string,
  read: () => unknown,
  kind: typeof Error | typeof AddressError | typeof FilterError = Error,
): BrokenRule | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof kind) return [pointer, errorMessage(error)];
    throw error;
  }
}

/** A template is rendered once, because what its values and filters can be shows only then. */
function templateError(text: string): BrokenRule | null {
  return thrown("/template", () => bodyTemplate(text)({ type: "" }));
}

function addressError(transport: TransportName, url: string, rules: AddressRules) {
  if (url === shownUrl(url)) {
    const detail = "This is the URL as the API shows it, without its secret parts. Write all of it";
    return ["/url", detail] as const;
  }
  const check = transport === "http" ? destinationUrl : brokers[transport].check;
  return thrown("/url", () => check(url, rules), AddressError);
}

function tokenError({ tokenUrl, headers }: Partial<CheckedInput>, rules: AddressRules | null) {
  if (typeof tokenUrl !== "string" || rules === null) return null;
  if (/^\s*authorization\s*:/im.test(headers ?? "")) {
    const detail =
      "The token is sent as Authorization, which is in headers, too. Leave one of them out.";
    return ["/tokenUrl", detail] as const;
  }
  return thrown("/tokenUrl", () => tokenRequest(tokenUrl, rules), AddressError);
}

/** The place and description of an error in a filter; null if it has none. */
export function filterError(filter: string | null): BrokenRule | null {
  return filter === null ? null : thrown("/filter", () => compileFilter(filter), FilterError);
}
