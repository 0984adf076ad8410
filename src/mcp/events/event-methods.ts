import {
  fromJsonSchema,
  type McpServer,
  ProtocolError,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type Static, type TSchema, Type } from "@sinclair/typebox";

import { foreignCursor } from "../../base/cursor.ts";
import { AppError } from "../../base/errors.ts";
import {
  type SubscriptionKey,
  SubscriptionRefused,
} from "../../outbound/subscriptions/subscription.ts";
import { nullable } from "../../web/schema.ts";
import type { Agent, AgentServices } from "../tool.ts";

import { argumentsSchema, descriptor, type EventType, eventTypes } from "./event-types.ts";
import { errorCodes, methods, nextPollMs } from "./words.ts";

const pageSize = 10;
const maxPolled = 50;

const named = {
  name: Type.String({ maxLength: 200 }),
  arguments: Type.Optional(argumentsSchema),
};
const cursor = Type.Optional(nullable(Type.String({ maxLength: 100 })));
const address = Type.String({ maxLength: 2_048 });
const milliseconds = (minimum: number) => Type.Optional(nullable(Type.Integer({ minimum })));

const paramsOf = <Schema extends TSchema>(schema: Schema) => fromJsonSchema<Static<Schema>>(schema);

const listParams = paramsOf(Type.Object({ cursor }));
const pollParams = paramsOf(
  Type.Object({
    ...named,
    cursor,
    maxAgeMs: milliseconds(0),
    maxEvents: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
);
const subscribeParams = paramsOf(
  Type.Object({
    ...named,
    delivery: Type.Object({
      mode: Type.String({ maxLength: 20 }),
      url: Type.Optional(address),
      secret: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    cursor,
    maxAgeMs: milliseconds(0),
    ttlMs: milliseconds(1),
  }),
);
const unsubscribeParams = paramsOf(
  Type.Object({ ...named, delivery: Type.Object({ url: address }) }),
);

interface Named {
  readonly name: string;
  readonly arguments?: Static<typeof argumentsSchema>;
}

/** Adds the methods of MCP Events to a server. */
export function addEventMethods(
  server: McpServer,
  services: AgentServices,
  agentOf: (ctx: ServerContext) => Agent,
): void {
  const { subscriptions, eventPolls, clock } = services;
  const types = () => eventTypes(services.eventCatalogue());

  function typeNamed(name: string): EventType {
    const found = types().find((each) => each.name === name);
    if (found !== undefined) return found;
    throw new ProtocolError(
      errorCodes.notFound,
      "No event has this name. events/list has all names.",
      { kind: "event" },
    );
  }

  /** Makes a call of an agent. Turns what the services throw into the errors of the protocol. */
  const calling = <Result>(ctx: ServerContext, work: (agent: Agent) => Promise<Result> | Result) =>
    refusing(async () => work(agentOf(ctx)));

  /** What a subscription and its end have in common. */
  function keyOf(given: Named, url: string, { subscriber }: Agent): SubscriptionKey {
    const { provider, type } = typeNamed(given.name);
    const { severity = null, subject = null } = given.arguments ?? {};
    return { subscriber, url, provider, type, severity, subject };
  }

  server.server.setRequestHandler(methods.list, { params: listParams }, ({ cursor: from }, ctx) =>
    calling(ctx, () => {
      const start = from === undefined || from === null ? 0 : Number(from);
      if (!Number.isSafeInteger(start) || start < 0) throw foreignCursor();
      const all = types();
      const end = start + pageSize;
      return {
        events: all.slice(start, end).map(descriptor),
        ...(end < all.length && { nextCursor: String(end) }),
      };
    }),
  );

  server.server.setRequestHandler(methods.poll, { params: pollParams }, async (given, ctx) => {
    const { provider, type } = typeNamed(given.name);
    const { severity = null, subject = null } = given.arguments ?? {};
    const { maxAgeMs = null, cursor: after = null, maxEvents = maxPolled } = given;
    const since = maxAgeMs === null ? null : new Date(Math.max(0, clock.now() - maxAgeMs));
    const limit = Math.min(maxEvents, maxPolled);
    const read = { after, since, limit };
    const filter = { provider, type, severity, subject };
    const polled = await calling(ctx, (agent) => eventPolls.read(agent, filter, read));
    return { ...polled, nextPollMs: polled.hasMore ? 0 : nextPollMs };
  });

  server.server.setRequestHandler(
    methods.subscribe,
    { params: subscribeParams },
    async ({ delivery, ttlMs, ...given }, ctx) => {
      const { mode, url = "", secret = "" } = delivery;
      if (mode !== "webhook") {
        const detail =
          "Subscriptions are delivered by webhook. Without an address, use events/poll.";
        const data = { feature: "delivery.mode", value: mode };
        throw new ProtocolError(errorCodes.unsupported, detail, data);
      }
      const subscribed = await calling(ctx, (agent) =>
        subscriptions.subscribe(agent, { ...keyOf(given, url, agent), secret, ttlMs }),
      );
      const { id, refreshBefore, deliveryStatus } = subscribed;
      return {
        id,
        refreshBefore: refreshBefore.toISOString(),
        cursor: null,
        // Deliveries begin now: what happened after the given cursor can be polled.
        truncated: deliveryStatus === null && (given.cursor ?? null) !== null,
        ...(deliveryStatus !== null && { deliveryStatus }),
      };
    },
  );

  server.server.setRequestHandler(
    methods.unsubscribe,
    { params: unsubscribeParams },
    async ({ delivery, ...given }, ctx) => {
      await calling(ctx, (agent) =>
        subscriptions.unsubscribe(agent, keyOf(given, delivery.url, agent)),
      );
      return {};
    },
  );
}

const codes = {
  arguments: errorCodes.invalidParams,
  "not-found": errorCodes.notFound,
  limit: errorCodes.exhausted,
  callback: errorCodes.callback,
} as const;

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SubscriptionRefused) {
      throw new ProtocolError(codes[error.kind], error.message, error.data);
    }
    if (!(error instanceof AppError) || error.code === "internal") throw error;
    const { quota } = error.extras;
    if (quota !== undefined) {
      const data = { limit: quota.name, max: quota.limit };
      throw new ProtocolError(errorCodes.exhausted, error.detail, data);
    }
    throw new ProtocolError(errorCodes.invalidParams, `${error.code}: ${error.detail}`);
  }
}
