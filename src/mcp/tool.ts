import type { Static, TObject, TSchema } from "@sinclair/typebox";

import type { Clock } from "../base/clock.ts";
import type { Context } from "../base/context.ts";
import type { Storage } from "../db/storage.ts";
import type { Events } from "../events/events.ts";
import type { Replays } from "../events/replays.ts";
import type { Audit } from "../identity/audit/audit.ts";
import type { CallLimiter } from "../identity/limiter.ts";
import type { Allowance } from "../identity/sessions/session.ts";
import type { ProviderStatusService } from "../inbound/provider-status/provider-status.ts";
import type { Rejections } from "../inbound/rejections/rejections.ts";
import type { IssueService } from "../operations/issues/issues.ts";
import type { Statistics } from "../operations/statistics/statistics.ts";
import type { DestinationDeliveries } from "../outbound/destinations/destination-deliveries.ts";
import type { WithHealth } from "../outbound/destinations/destination-health.ts";
import type { Destinations } from "../outbound/destinations/destinations.ts";
import type { Log } from "../telemetry/log.ts";

/** What the tools of agents call. */
export interface AgentServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly storage: Pick<Storage, "all" | "atomically">;
  readonly audit: Audit;
  readonly calls: CallLimiter;
  readonly events: Events;
  readonly rejections: Rejections;
  readonly replays: Replays;
  readonly issues: IssueService;
  readonly statistics: Statistics;
  readonly providers: ProviderStatusService;
  readonly destinations: Destinations;
  readonly destinationDeliveries: DestinationDeliveries;
  readonly withHealth: WithHealth;
}

/** Who calls: an operator, what they allowed, and what their client calls itself. */
export interface Agent extends Context {
  readonly allowed: readonly Allowance[];
  /** Whose calls are limited together. */
  readonly caller: string;
  readonly client: string;
}

/** One thing that an agent can do. Clients grant permission by name, so a tool either reads or writes. */
export interface Tool<Input extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** The shape of its answer. */
  readonly output: TSchema;
  /** What an operator must have allowed; null for a tool that only reads. Without it, the tool is not there. */
  readonly needs: Allowance | null;
  /** Whether a tool that writes can undo or repeat something that people notice. */
  readonly isDestructive?: boolean;
  /** Whether a second call of a tool that writes changes nothing more. */
  readonly isIdempotent?: boolean;
  /** Throws as the services do. */
  run(services: AgentServices, agent: Agent, given: Static<Input>): Promise<object>;
}

/** Keeps the type of the input while a tool is defined. */
export function tool<Input extends TObject>(defined: Tool<Input>): Tool {
  // Guarantee: the server checks what is given against `input` before it calls `run`.
  return defined as unknown as Tool;
}
