import { Type } from "@sinclair/typebox";

import { bookingsProvider } from "../../booking/booking-words.ts";
import { severities } from "../../event/new-notification.ts";
import type { DescribedEvent } from "../../events/described-event.ts";
import { schemasOf } from "../../events/event-schemas.ts";
import { word } from "../../web/schema.ts";

/** A type of event that agents can follow. */
export interface EventType {
  /** `code_host.workflow_run.failed` */
  readonly name: string;
  readonly provider: string;
  readonly type: string;
  readonly described: DescribedEvent;
}

/** Those of the catalogue that are not about bookings, which have passengers. */
export function eventTypes(catalogue: readonly DescribedEvent[]): readonly EventType[] {
  return catalogue.flatMap((described) => {
    const { provider, type: own } = described.event;
    if (provider === bookingsProvider) return [];
    const types = (described.others ?? [own]).filter((type) => type !== "*");
    return types.map((type) => ({ name: `${provider}.${type}`, provider, type, described }));
  });
}

/** What a subscription or poll can ask for. */
export const argumentsSchema = Type.Object(
  {
    severity: Type.Optional(
      Type.Array(word(severities), {
        description: "Only notifications of these severities. Default: any.",
        minItems: 1,
        maxItems: severities.length,
        uniqueItems: true,
      }),
    ),
    subject: Type.Optional(
      Type.String({
        description: "Only events about this resource.",
        minLength: 1,
        maxLength: 200,
      }),
    ),
  },
  { additionalProperties: false },
);

/** How `events/list` describes it. `data` of each occurrence fits `payloadSchema`. */
export function descriptor({ name, described }: EventType) {
  const { summary, json } = schemasOf(described);
  const { properties }: { properties?: { data?: unknown } } = json.schema;
  return {
    name,
    description: described.others === undefined ? `Such as: ${summary}` : summary,
    delivery: ["poll", "webhook"],
    inputSchema: argumentsSchema,
    payloadSchema: properties?.data,
  };
}
