import type { Static } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../../db/table.ts";
import {
  count,
  flag,
  instant,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../../web/schema.ts";
import { formatNames } from "../formats/formats.ts";
import { type AddressRules, type PrivateAllowed, rulesFor } from "../transports/address.ts";
import { transportNames } from "../transports/transports.ts";

import { destinationStates } from "./destination-fields.ts";
import { usualRetryDelays } from "./retry-delays.ts";

export type DestinationState = (typeof destinationStates)[number];

/** Why Skyhook disables a destination by itself. */
export const goneReason = "the destination answered 410 Gone";
export const failedReason = (days: number) => `the destination failed for ${days} days`;

export const destinationSchema = resource(
  "Destination",
  "Where notifications are sent, which ones, and how fast.",
  {
    id: prefixedId("dst_", "The destination's id."),
    name: personal("text", text("Unique among the destinations of its owner.", "deploys")),
    ownerId: personal(
      "pseudonym",
      nullable(text("The user whose booking events it receives; null for the operators'.")),
    ),
    format: word(formatNames, "Format of its messages."),
    transport: word(transportNames, "What carries its messages."),
    url: personal("text", text("The URL without its secret parts.", "https://hooks.slack.com/…")),
    filter: personal(
      "text",
      nullable(text("The expression that an event must match.", 'event.severity == "error"')),
    ),
    orderBy: personal(
      "none",
      nullable(
        text("The field by which deliveries keep their order; null for none.", "event.subject"),
      ),
    ),
    ratePerSecond: nullable(count("Deliveries per second; null for no limit.", 5)),
    maxConcurrent: count("Deliveries at the same time, per process.", 8),
    retryDelays: personal(
      "none",
      nullable(text(`Delays before retries; null for ${usualRetryDelays}.`, "10s 1m 10m 1h")),
    ),
    batchMaxItems: nullable(count("Most deliveries in one message; null: one at a time.", 100)),
    batchMaxWaitMs: nullable(
      count("How long a batch waits to be full, in milliseconds; null for 1000.", 500),
    ),
    headerNames: personal(
      "text",
      nullable(text("The names of its own headers; their values are secret.")),
    ),
    tokenUrl: personal(
      "text",
      nullable(
        text("The token server, without its secret parts; null for none.", "https://auth…/…"),
      ),
    ),
    template: personal(
      "text",
      nullable(text("The template of its messages' bodies; null for the usual body.")),
    ),
    alerts: flag("Whether it receives alerts about Skyhook itself."),
    state: word(destinationStates, "`paused`: deliveries wait. `disabled`: none are stored."),
    disabledReason: personal(
      "none",
      nullable(
        text("Why Skyhook disabled it; null otherwise.", "the destination answered 410 Gone"),
      ),
    ),
    createdAt: instant("Time of creation."),
    updatedAt: instant("When it last changed."),
    failures: count("Failed attempts since the last success.", 0),
    failingSince: nullable(instant(), "When the first of these failed; null without."),
    openUntil: nullable(
      instant(),
      "Set after ten failures in a row: until then nothing is sent, then one probe at a time.",
    ),
  },
);

export interface Destination extends Static<typeof destinationSchema> {}

/**
 * What logs and alerts call a destination: the name of the operators', and the id of a user's, because another user may
 * have chosen the same name.
 */
export function nameInLogs({ id, name, ownerId }: Pick<Destination, "id" | "name" | "ownerId">) {
  return ownerId === null ? name : id;
}

/** The fields that decide whether a destination receives deliveries now, and whether it is disabled. */
export type Health = Pick<Destination, "failures" | "openUntil" | "failingSince">;

export function isSameHealth(one: Health, other: Health): boolean {
  return (
    one.failures === other.failures &&
    one.openUntil?.getTime() === other.openUntil?.getTime() &&
    one.failingSince?.getTime() === other.failingSince?.getTime()
  );
}

export const destinationsTable = defineTable("destinations", {
  /** Stands for it in deliveries: the id is five times as long. Never used twice. */
  number: "bigint",
  ...destinationSchema.properties,
  /** The whole address and the secrets, sealed; see `destination-secrets.ts`. */
  sealed: "bytes: secret",
});

type Columns = Stored<typeof destinationsTable>;

/** What is stored of a destination. The database numbers it. */
export interface StoredDestination extends Omit<Columns, "number"> {}

/** A destination with its number, without its secrets. */
export interface NumberedDestination extends Omit<Columns, "sealed"> {}

/** The destination of the settings OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET. */
export const operatorGateway = {
  id: "dst_00000000000000000000000000000000",
  name: "operator-gateway",
} as const;

/** Which addresses a destination may have. The operators' own setting may name a private one. */
export function rulesOf(
  { id, ownerId }: Pick<Destination, "id" | "ownerId">,
  allowed: PrivateAllowed,
): AddressRules {
  return id === operatorGateway.id ? { allowsPrivate: true } : rulesFor(allowed, ownerId);
}
