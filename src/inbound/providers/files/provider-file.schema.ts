import { type Static, Type } from "@sinclair/typebox";

import { nameRule } from "../../../base/name.ts";
import { templateSchema as template } from "../../../base/template.ts";
import { severities } from "../../../event/new-notification.ts";
import { nameSchema } from "../../../identity/users/fields.ts";
import { serviceCategories } from "../../model/service-categories.ts";
import { schemeSchema } from "../../signatures/scheme.schema.ts";
import { eventPlaceSchema, words } from "../../signatures/signed-text.schema.ts";

import { conditionSchema, handshakeSchema } from "./handshake.schema.ts";

const strict = { additionalProperties: false } as const;

const places = (description: string) =>
  Type.Union([eventPlaceSchema, Type.Array(eventPlaceSchema, { minItems: 1, maxItems: 16 })], {
    description,
  });

const severity = Type.Union(
  severities.map((value) => Type.Literal(value)),
  { description: "How severe the notification is." },
);

/** The events of a large service; each costs some kilobytes of memory. */
const maxEvents = 500;

/** What operators see of an event. `events` can replace each of them for one event. */
const description = {
  title: Type.Optional(template("One line for operators. Default: the type and the delivery id.")),
  text: Type.Optional(template("The second line. Default: the actor and the subject.")),
  url: Type.Optional(
    template("A link. Only http and https. Values after fixed text are percent-encoded.", "url"),
  ),
  actor: Type.Optional(template("Who caused the event.")),
  subject: Type.Optional(template("The stable id of the object, as `order/{/order/id}`.")),
  occurredAt: Type.Optional(
    places(
      "The time of the event: ISO 8601, or seconds or milliseconds since 1970. Default: the time of receipt.",
    ),
  ),
  severity: Type.Optional(
    Type.Union([
      severity,
      Type.Object(
        {
          from: eventPlaceSchema,
          is: Type.Record(Type.String({ maxLength: 100 }), severity, {
            description: "The severity for each value.",
          }),
          otherwise: severity,
        },
        { ...strict, description: "The severity by a value of the payload." },
      ),
    ]),
  ),
  data: Type.Optional(
    Type.Record(
      Type.String({ pattern: "^[a-zA-Z][a-zA-Z0-9]{0,39}$" }),
      template("A field to copy out."),
      { maxProperties: 11, description: "Fields for the operators' gateway, by name." },
    ),
  ),
  bookingReference: Type.Optional(
    Type.String({
      pattern: "^/.{1,200}$",
      description: "The JSON pointer to the reference of a booking that the event is about.",
    }),
  ),
};

const event = Type.Object(
  {
    type: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_.:-]{1,80}$",
        description: "Skyhook's name of the event. Default: the service's name.",
      }),
    ),
    notify: Type.Optional(
      Type.Literal(false, { description: "Stored as `ignored`: operators are not notified." }),
    ),
    ...description,
  },
  strict,
);

const pointer = (description: string) => Type.String({ pattern: "^/.{1,200}$", description });

/** One place for all events, or one for each kind. */
const pointers = (description: string) =>
  Type.Union(
    [
      pointer(description),
      Type.Object(
        {
          paid: Type.Optional(pointer("For payments.")),
          failed: Type.Optional(pointer("For failed payments.")),
          refunded: Type.Optional(pointer("For refunds.")),
          refund_failed: Type.Optional(pointer("For refunds that failed.")),
        },
        strict,
      ),
    ],
    { description },
  );

const payment = Type.Object(
  {
    kinds: Type.Record(
      Type.String({ minLength: 1, maxLength: 100 }),
      Type.Union([
        Type.Literal("paid"),
        Type.Literal("failed"),
        Type.Literal("refunded"),
        Type.Literal("refund_failed"),
      ]),
      {
        minProperties: 1,
        maxProperties: 20,
        description: "The events about payments, by the service's name.",
      },
    ),
    amount: pointers(
      "The JSON pointer to the amount. For refunds, to the sum of all refunds of the payment; for one that failed, to its own.",
    ),
    currency: pointer("The JSON pointer to the currency, an ISO 4217 code."),
    id: Type.Optional(
      pointers(
        "The JSON pointer to the id of the payment. A payment and its refunds have the same.",
      ),
    ),
    refund: Type.Optional(pointer("The JSON pointer to the id of a refund that failed.")),
    unit: Type.Optional(
      Type.Union([Type.Literal("minor"), Type.Literal("major")], {
        description:
          "`minor`: whole numbers of cents. `major`: decimals such as `12.50`, as numbers or texts. Default: `minor`.",
      }),
    ),
    test: Type.Optional(
      Type.Object(
        {
          at: pointer("The JSON pointer to the mark."),
          is: Type.Union([Type.String({ maxLength: 100 }), Type.Boolean()], {
            description: "Its value in events about tests.",
          }),
        },
        {
          ...strict,
          description:
            "How events about test payments are marked. They change bookings only with `PAYMENT_PROCESSOR_TEST_MODE=true`.",
        },
      ),
    ),
  },
  {
    ...strict,
    description: "The events that pay for bookings, or refund them. Needs `bookingReference`.",
  },
);

const items = Type.String({ maxLength: 200 });

const sample = Type.Object(
  {
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    query: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 200 }), {
        description: "What the service adds to the URL.",
      }),
    ),
    body: Type.Union([
      Type.Record(Type.String(), Type.Unknown()),
      Type.Array(Type.Unknown()),
      Type.String({ maxLength: 10_000 }),
    ]),
  },
  {
    ...strict,
    description:
      "A delivery. In texts, `{id}` becomes a new UUID and `{now}` the time (ISO 8601); a text that is only `{seconds}` or `{milliseconds}` becomes a number.",
  },
);

/** A provider as a file. The file's name is the provider's id. */
export const providerFileSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "For editors; ignored." })),
    displayName: nameSchema(60, "Task Tracker", `The name for people: ${nameRule(60)}.`),
    docs: Type.Optional(
      Type.String({ pattern: "^https://", maxLength: 300, description: "The service's own page." }),
    ),
    setUp: Type.Optional(
      Type.String({ maxLength: 500, description: "How to create the webhook at the service." }),
    ),
    settings: Type.Optional(
      Type.String({
        pattern: "^https://",
        maxLength: 300,
        description: "The service's own page on which its webhooks or apps are set up.",
      }),
    ),
    category: Type.Optional(
      Type.Union(
        serviceCategories.map((name) => Type.Literal(name)),
        { description: "What the service is for: its place in the catalogue." },
      ),
    ),
    checkedWith: Type.Optional(
      Type.String({
        maxLength: 300,
        description:
          "What the scheme was checked against, as `@slack/bolt 4.2`, or that it was not.",
      }),
    ),
    maxBodyBytes: Type.Optional(
      Type.Integer({
        minimum: 1_024,
        maximum: 25 * 1024 * 1024,
        description: "The maximum body size. Default: 1 MiB.",
      }),
    ),
    payload: Type.Optional(
      words(
        ["json", "form", "jwt", "text", "xml", "bytes"],
        "What the body is. Default: `json`, an object or an array. `text`, `xml` and `bytes` are stored and sent on as they came; templates read their text, if they have one, as `{/text}`.",
      ),
    ),
    formField: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_-]{1,40}$",
        description:
          "The field that holds the payload as JSON if the service posts a form. A form without it is itself the payload.",
      }),
    ),
    signature: schemeSchema,
    secretPrefix: Type.Optional(
      Type.String({ maxLength: 20, description: "The prefix of every secret of the service." }),
    ),
    each: Type.Optional(
      Type.Union([items, Type.Array(items, { minItems: 1, maxItems: 8 })], {
        description:
          'The JSON pointer to the array of items, if a delivery can hold several events; `""` is the payload itself, a step `*` every entry of an array. Each item becomes an event, and all pointers below are relative to it. An entry without items is an item, and so is the payload.',
      }),
    ),
    deliveryId: Type.Optional(
      places(
        "What identifies a delivery on every retry, or, with `each`, the item. Whether it is signed follows from `signature`. Default: the hash of the body or of the item.",
      ),
    ),
    retryChanges: Type.Optional(
      places(
        "What is different when the service sends the same event again: JSON pointers, or the place of the signed time. The hash that identifies an event without a signed id does not cover it. Of an item without an id it covers the texts, numbers and literals of the objects around it too: `delivery/entry/*/time` leaves one of them out.",
      ),
    ),
    decimals: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^(?:[A-Z]{3}|\\*)$" }),
        Type.Integer({ minimum: 0, maximum: 4 }),
        {
          maxProperties: 50,
          description:
            "The decimals of currencies that the service counts otherwise than ISO 4217 does. `*`: of all others.",
        },
      ),
    ),
    event: template("The service's name of the event, as `{/type}` or `{header.x-topic}`."),
    ...description,
    events: Type.Record(Type.String({ minLength: 1, maxLength: 100 }), event, {
      minProperties: 1,
      maxProperties: maxEvents,
      description:
        "The events that operators are notified of, by the service's name; all others are `ignored`. `*`: all events.",
    }),
    destinations: Type.Optional(
      Type.Array(Type.String({ pattern: "^[a-z0-9*{}.-]{1,100}$" }), {
        maxItems: 8,
        description:
          "The destinations at this service: a format such as `email`, or a host. They receive its events only if their filter names the provider. The format with the provider's own name is one of them.",
      }),
    ),
    own: Type.Optional(
      Type.Array(conditionSchema(eventPlaceSchema, "Values of an event."), {
        maxItems: 8,
        description: "What a destination of Skyhook caused: stored as `ignored`.",
      }),
    ),
    payment: Type.Optional(payment),
    handshakes: Type.Optional(Type.Array(handshakeSchema, { maxItems: 4 })),
    samples: Type.Record(Type.String({ maxLength: 100 }), sample, {
      minProperties: 1,
      maxProperties: 20,
      description: "Sample deliveries of events that operators are notified of, by name.",
    }),
  },
  { ...strict, $id: "ProviderFile", description: "A webhook provider for Skyhook." },
);

export type ProviderFile = Static<typeof providerFileSchema>;

/** The fields that one event can replace. */
export type EventFields = Static<typeof event>;
