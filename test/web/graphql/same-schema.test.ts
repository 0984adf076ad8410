import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";

import { startApp } from "../../support/app.ts";

/** The keywords that tell what a value is. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const app = await startApp();
const document: Document = JSON.parse(await (await app.fetch("/openapi.json")).text());
await app.stop();
const graphql = buildSchema(
  await Bun.file(join(import.meta.dir, "../../../schema.graphql")).text(),
);

/** Types of GraphQL by the name of the same schema in REST. */
const types: Readonly<Record<string, string>> = {
  Flight: "Flight",
  FlightSearchResult: "FlightSearchResult",
  FlightCalendar: "FlightCalendar",
  FlightDay: "FlightDay",
  CheapestFlight: "CheapestFlight",
  FlightChange: "FlightChange",
  Money: "Price",
  Booking: "Booking",
  BookingChange: "BookingChange",
  Cancellation: "Cancellation",
  Refund: "Refund",
  RefundProgress: "RefundProgress",
  Payment: "Payment",
  Payout: "Payout",
  Passenger: "Passenger",
  User: "User",
  BookingRequest: "CreateBookingInput",
  PassengerRequest: "PassengerInput",
  ExpectedPrice: "ExpectedPriceInput",
  PassengerCorrection: "PassengerCorrectionInput",
  RefundRequest: "RecordRefundInput",
  CreateUser: "CreateUserInput",
};

/** Operations by the field of GraphQL that does the same. */
const operations: Readonly<Record<string, string>> = {
  flight: "get /v1/api/flights/{id}",
  searchFlights: "get /v1/api/flights",
  flightCalendar: "get /v1/api/flights/calendar",
  booking: "get /v1/api/bookings/{id}",
  bookings: "get /v1/api/bookings",
  users: "get /v1/users",
  createBooking: "post /v1/api/bookings",
  createUser: "post /v1/users",
  cancelBooking: "delete /v1/api/bookings/{id}",
  offerCancellation: "post /v1/api/bookings/{id}/cancellation",
  offerChange: "post /v1/api/bookings/{id}/changes",
  confirmChange: "post /v1/api/bookings/{id}/changes/{changeId}/confirm",
  withdrawChange: "delete /v1/api/bookings/{id}/changes/{changeId}",
  correctPassenger: "patch /v1/api/bookings/{id}/passengers/{position}",
  recordRefund: "post /v1/api/bookings/{id}/refund",
};

/** How lists are paged. */
const paging = {
  rest: ["cursor", "direction", "include", "limit", "page"],
  graphql: ["after", "before", "first", "last"],
};

/** Formats that GraphQL has a scalar of its own for, but not in every place. */
const plain = new Set(["idn-email", "uuid"]);
const scalars: Readonly<Record<string, string>> = {
  ID: "string",
  String: "string",
  EmailAddress: "string",
  Date: "date",
  DateTime: "date-time",
  Int: "integer",
  Float: "number",
  Money: "number",
  Boolean: "boolean",
};

/** What a value of REST is; with `!` if it cannot be null. */
function restType(schema: Schema): string {
  const { $ref, anyOf, type, format, items } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1) ?? "";
    return `${types[name] ?? name}!`;
  }
  if (anyOf !== undefined) {
    return anyOf.map((each) => restType(each).slice(0, -1)).find((each) => each !== "nul") ?? "";
  }
  const listed = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  const all = [type ?? ""].flat();
  const [kind = ""] = all;
  const end = all.includes("null") ? "" : "!";
  if (listed !== undefined) return listed.map(String).toSorted().join("|") + end;
  if (kind === "array") return `[${restType(items ?? {})}]${end}`;
  return (format === undefined || plain.has(format) ? kind : format) + end;
}

function graphqlType(type: GraphQLType): string {
  if (isNonNullType(type)) return `${graphqlType(type.ofType)}!`;
  if (isListType(type)) return `[${graphqlType(type.ofType)}]`;
  if (isEnumType(type)) {
    return type
      .getValues()
      .map(({ name }) => name)
      .toSorted()
      .join("|");
  }
  return scalars[type.name] ?? type.name;
}

const line = (place: string, type: string, start: unknown) =>
  `${place}: ${type}${start === undefined ? "" : ` = ${JSON.stringify(start)}`}`;

function restFields(place: string, { properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties).map(([name, schema]) => {
    const type = restType(schema);
    const present = required.includes(name) ? type : type.replace(/!$/, "");
    return line(`${place}.${name}`, present, schema.default);
  });
}

const idOf = (field: string) => (field === "flight" ? "flightId" : "bookingId");

/** The parameters but for those that page a list. */
function unpaged<Named extends { readonly name: string }>(
  all: readonly Named[],
  names: readonly string[],
): readonly Named[] {
  const isList = all.some(({ name }) => name === names[0]);
  return isList ? all.filter(({ name }) => !names.includes(name)) : all;
}

/** The parameters, and the fields of a body that are no input of their own. */
function restArguments(field: string, operation: Operation): string[] {
  const { parameters = [], requestBody } = operation;
  const lines = unpaged(parameters, paging.rest).map(({ name, required, schema }) => {
    const type = restType(schema).replace(/!$/, required === true ? "!" : "");
    const argument = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return line(`${field}.${name === "id" ? idOf(field) : argument}`, type, schema.default);
  });
  const [body] = Object.values(requestBody?.content ?? {});
  if (body === undefined) return lines;
  const name = body.schema.$ref?.split("/").at(-1) ?? "";
  if (types[name] !== undefined)
    return [...lines, line(`${field}.input`, `${types[name]}!`, undefined)];
  return [...lines, ...restFields(field, document.components.schemas[name] ?? {})];
}

const argumentLine = (field: string, { name, type, defaultValue }: GraphQLArgument) =>
  line(`${field}.${name}`, graphqlType(type), defaultValue);

const roots = [graphql.getQueryType(), graphql.getMutationType()];
const rootFields = new Map(roots.flatMap((root) => Object.entries(root?.getFields() ?? {})));

/** The lines that only one of both has. */
function differences(rest: readonly string[], other: readonly string[]): string[] {
  return [
    ...rest.filter((each) => !other.includes(each)).map((each) => `REST ${each}`),
    ...other.filter((each) => !rest.includes(each)).map((each) => `GraphQL ${each}`),
  ].toSorted();
}

describe("REST and GraphQL have the same, but for what is listed:", () => {
  test("fields, with the same types", () => {
    const rest = Object.entries(types).flatMap(([name, type]) =>
      restFields(type, document.components.schemas[name] ?? {}),
    );
    const other = Object.values(types).flatMap((name) => {
      const type = graphql.getType(name);
      if (!isObjectType(type) && !isInputObjectType(type)) return [name];
      return Object.values(type.getFields()).map((field) =>
        line(`${name}.${field.name}`, graphqlType(field.type), undefined),
      );
    });
    expect(differences(rest, other)).toEqual([
      // Absent in REST until the booking is first changed.
      "GraphQL Booking.changes: [BookingChange!]!",
      // Null beside an error of GraphQL if the key is missing, where REST fails.
      "GraphQL Booking.passengers: [Passenger!]",
      "GraphQL Booking.user: User",
      "GraphQL BookingChange.booking: Booking",
      "GraphQL Cancellation.booking: Booking",
      "GraphQL Cancellation.status: cancelled|confirmed|expired|flown|held!",
      // `id` is the global id of Relay.
      "GraphQL Flight.flightId: integer!",
      "GraphQL Flight.id: string!",
      "GraphQL FlightChange.type: string!",
      "GraphQL Refund.method: string!",
      "GraphQL Refund.percent: number!",
      "GraphQL Refund.status: string!",
      "GraphQL User.userId: string!",
      "REST Booking.changes: [BookingChange!]",
      // In GraphQL `confirmationSentTo`, which REST has too.
      "REST Booking.contactEmail: string!",
      "REST Booking.history: [BookingHistoryEntry!]",
      "REST Booking.passengers: [Passenger!]!",
      "REST Booking.userId: string!",
      "REST Cancellation.status: cancelled!",
      "REST Flight.id: integer!",
      "REST FlightChange.type: flight.cancelled|flight.changed!",
      "REST Refund.method: original_payment_method!",
      "REST Refund.percent: integer!",
      "REST Refund.status: none|partial|pending|succeeded!",
    ]);
  });

  test("operations, with the same arguments", () => {
    const pairs = Object.entries(operations).map(([field, operation]) => {
      const [method = "", path = ""] = operation.split(" ");
      return { field, operation: document.paths[path]?.[method] ?? {} };
    });
    const rest = pairs.flatMap(({ field, operation }) => restArguments(field, operation));
    const other = pairs.flatMap(({ field }) =>
      unpaged(rootFields.get(field)?.args ?? [], paging.graphql).map((each) =>
        argumentLine(field, each),
      ),
    );
    expect(differences(rest, other)).toEqual([
      "GraphQL bookings.payment: string",
      "GraphQL correctPassenger.position: integer!",
      "GraphQL recordRefund.input: RecordRefundInput",
      // Enum values of GraphQL have no hyphens.
      "REST bookings.payment: at-booking|paid|problem|refund-due|refunded|unpaid",
      "REST correctPassenger.position: string!",
      "REST recordRefund.input: RecordRefundInput!",
    ]);
    const onlyInGraphql = [...rootFields.keys()].filter((field) => !(field in operations));
    // `flights` lists all flights; `me` is GET /v1/users/{id}.
    expect(onlyInGraphql.toSorted()).toEqual(["flights", "me", "node", "nodes"]);
  });
});
