import { defineTable } from "../db/table.ts";

import type { FormatName } from "./formats/formats.ts";

/** `paused`: deliveries wait. `disabled`: no deliveries are stored. */
export const destinationStates = ["active", "paused", "disabled"] as const;
export type DestinationState = (typeof destinationStates)[number];

/** Why Skyhook disables a destination by itself. */
export const goneReason = "the destination answered 410 Gone";

/** Where notifications are sent, which ones, and how fast. */
export interface Destination {
  /** `dst_` and a UUIDv7. */
  readonly id: `dst_${string}`;
  /** Unique among the destinations of its owner. */
  readonly name: string;
  /** The user whose booking events it receives; null for a destination of the operators. */
  readonly ownerId: string | null;
  readonly format: FormatName;
  /** The address without its secret parts. */
  readonly address: string;
  /** An expression that an event must match; null for all events. */
  readonly filter: string | null;
  /** The field of an event by which deliveries keep their order, such as `event.subject`; null for none. */
  readonly orderBy: string | null;
  /** Deliveries per second; null for no limit. */
  readonly ratePerSecond: number | null;
  /** Deliveries at the same time, per process. */
  readonly maxConcurrent: number;
  /** Whether it receives alerts about Skyhook itself, such as dead letters of other destinations. */
  readonly alerts: boolean;
  readonly state: DestinationState;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Failed attempts since the last success. */
  readonly failures: number;
  /** The circuit is open until then: after many failures, only probes are sent. Null: closed. */
  readonly openUntil: Date | null;
}

/**
 * What logs, alerts and the audit list call a destination: the name of the operators', and the id of a user's,
 * because another user may have chosen the same name.
 */
export function nameInLogs({ id, name, ownerId }: Pick<Destination, "id" | "name" | "ownerId">) {
  return ownerId === null ? name : id;
}

/** What decides whether anything is sent to a destination now. */
export type Health = Pick<Destination, "failures" | "openUntil">;

export function isSameHealth(one: Health, other: Health): boolean {
  return one.failures === other.failures && one.openUntil?.getTime() === other.openUntil?.getTime();
}

/** A destination as stored. */
export interface StoredDestination extends Destination {
  /** The whole address and the secrets, sealed; see `destination-secrets.ts`. */
  readonly sealed: Uint8Array;
}

export const destinationsTable = defineTable<StoredDestination>("destinations", {
  id: "text",
  name: "text",
  ownerId: "text or null",
  format: "text",
  address: "text",
  filter: "text or null",
  orderBy: "text or null",
  ratePerSecond: "integer or null",
  maxConcurrent: "integer",
  alerts: "boolean",
  state: "text",
  createdAt: "instant",
  updatedAt: "instant",
  failures: "integer",
  openUntil: "instant or null",
  sealed: "bytes",
});

/** The destination of the settings OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET. */
export const operatorGateway = {
  id: "dst_00000000000000000000000000000000",
  name: "operator-gateway",
} as const;
