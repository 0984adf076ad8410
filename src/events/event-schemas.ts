import { type TSchema, Type } from "@sinclair/typebox";

import { eventFields } from "../event/event.ts";
import { renderCloudevents, renderJson } from "../outbound/formats/json.ts";
import { notificationSchema } from "../outbound/model/notification.ts";
import { instant, text } from "../web/schema.ts";

import type { DescribedEvent } from "./described-event.ts";

/** The messages of a type of event, in the formats that describe it. */
interface EventSchemas {
  /** `code_host.pull_request.opened`: the type of a message of the format `json`. */
  readonly name: string;
  readonly summary: string;
  readonly json: MessageSchema;
  readonly cloudevents: MessageSchema;
}

interface MessageSchema {
  /** JSON Schema 2020-12. Those with an `$id` are shared by all messages. */
  readonly schema: object;
  /** Undefined for the types without a sample. */
  readonly example?: unknown;
}

const { provider: _, type: __, data: ___, ...sharedFields } = eventFields;
const { title, text: details, url, severity, createdAt } = notificationSchema.properties;

const sentEvent = Type.Object(sharedFields, {
  $id: "SentEvent",
  description: "What the events of all types have.",
});
const sentNotification = Type.Object(
  {
    notificationId: notificationSchema.properties.id,
    title,
    text: details,
    url,
    severity,
    createdAt,
  },
  { $id: "SentNotification", description: "What the notifications about all types have." },
);
const cloudEventBase = Type.Object(
  {
    specversion: Type.Literal("1.0"),
    id: eventFields.id,
    time: instant("When it happened."),
    subject: Type.Optional(text("Stable id of the resource.")),
    datacontenttype: Type.Literal("application/json"),
    idempotencykey: text("Equal for all deliveries of the event."),
    recovered: Type.Optional(Type.Literal(true)),
    traceparent: Type.Optional(text("The trace of the request that created the event.")),
    tracestate: Type.Optional(text("Its trace state.")),
  },
  { $id: "CloudEventBase", description: "What the CloudEvents of all types have." },
);

/** Beside what all types have. */
const both = (shared: TSchema, own: Readonly<Record<string, object>>) => ({
  allOf: [shared, { type: "object", required: Object.keys(own), properties: own }],
});

/** The schemas and examples of a type of event. */
export function schemasOf(described: DescribedEvent): EventSchemas {
  const { event, data, from, others } = described;
  const name = `${event.provider}.${others === undefined ? event.type : "*"}`;
  const key = others === undefined ? keyOf(name) : `${event.provider}_others`;
  const summary = others === undefined ? event.title : `Other events of ${from}`;
  const typeSchema = (prefix: string) => typeSchemaOf(others ?? [event.type], prefix);
  const fields = Object.entries(data).map(([field, schema]) => [field, Type.Optional(schema)]);
  const ofProvider = Type.Object(Object.fromEntries(fields), {
    $id: `EventData_${event.provider}`,
    description: `The fields of events of ${from}. An event has those that its payload has.`,
  });
  const own = {
    $id: `Notified_${key}`,
    ...both(sentNotification, {
      event: {
        description: "The event.",
        ...both(sentEvent, {
          provider: { const: event.provider },
          type: typeSchema(""),
          data: ofProvider,
        }),
      },
    }),
  };
  const rendering = {
    ...described,
    origin: null,
    secrets: [],
    atMs: event.createdAt.getTime(),
    template: null,
  };
  const cloudevent: Readonly<Record<string, unknown>> = Object(
    JSON.parse(renderCloudevents(rendering).body),
  );
  return {
    name,
    summary,
    json: {
      schema: {
        $id: `Event_${key}`,
        type: "object",
        description: `A message about ${name}: ${summary}`,
        required: ["type", "timestamp", "data"],
        properties: {
          type: typeSchema(`${event.provider}.`),
          timestamp: instant("When it happened."),
          data: own,
        },
      },
      ...(others === undefined && { example: JSON.parse(renderJson(rendering).body) }),
    },
    cloudevents: {
      schema: {
        $id: `CloudEvent_${key}`,
        ...both(cloudEventBase, {
          type: typeSchema(`io.skyhook.${event.provider}.`),
          source: { const: cloudevent["source"] },
          data: own,
        }),
      },
      ...(others === undefined && { example: cloudevent }),
    },
  };
}

/** Any type with the prefix, if `*` is among them. */
function typeSchemaOf(types: readonly string[], prefix: string): object {
  const [first] = types;
  if (types.includes("*")) return { type: "string", pattern: `^${prefix.replaceAll(".", "\\.")}` };
  if (types.length === 1) return { const: `${prefix}${first}` };
  return { enum: types.map((type) => `${prefix}${type}`) };
}

/** Part of the name of a schema or an operation. */
const keyOf = (name: string) => name.replaceAll(/[^A-Za-z0-9]+/g, "_");

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

/** Standard Webhooks, "Webhook headers". */
const signature = [
  header("webhook-id", "The same for every attempt.", "ntf_019377b07d4070008000000000000001"),
  header("webhook-timestamp", "The time of the attempt, in Unix seconds.", "1796116364"),
  header(
    "webhook-signature",
    "HMAC-SHA256 of id, time and body with the destination's secret (Standard Webhooks).",
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  ),
];

const response = (description: string) => ({ description });

const responses = {
  "2XX": response("It was accepted. Any other status is an error, and it is sent again."),
  410: response("The destination is disabled: nothing is sent any more."),
  413: response("The message is too large. It is not sent again; a batch is, in smaller ones."),
  429: response("It is sent again, after `Retry-After` if there is one."),
  503: response("It is sent again, after `Retry-After` if there is one."),
};

/** The `webhooks` of the OpenAPI document: one for each type of event. */
export function webhooksOf(catalogue: readonly DescribedEvent[]): Record<string, unknown> {
  return Object.fromEntries(
    catalogue.map(schemasOf).map(({ name, summary, json, cloudevents }) => [
      name,
      {
        post: {
          operationId: `on_${keyOf(name)}`,
          summary,
          tags: ["What destinations receive"],
          parameters: signature,
          requestBody: {
            required: true,
            content: { "application/json": json, "application/cloudevents+json": cloudevents },
          },
          responses,
        },
      },
    ]),
  );
}
