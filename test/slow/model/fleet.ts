import { until } from "../../support/app.ts";
import { at, listAt } from "../../support/graphql.ts";
import type { AsAdmin } from "../crash/fleet.ts";

import { walkRest } from "./lists.ts";
import type { Model } from "./model.ts";
import { rest, type Server } from "./server.ts";

/** An open circuit lets a probe through after this long. */
const probeMs = 31_000;
const stepMs = 1_000;
/** A margin for busy machines. */
const patienceMs = 60_000;

export const asAdmin =
  (server: Server): AsAdmin =>
  async (path, init) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${await server.mint("admin", "admin", 60)}`);
    return server.send(path, { ...init, headers });
  };

/** Heals all destinations, sends what has failed again, and compares what each has received with the model. */
export async function compareFleet(model: Model, server: Server): Promise<void> {
  const { fleet, clock } = server;
  if (fleet === null) return;
  fleet.heal();
  await fleet.resume(asAdmin(server));
  clock.advance(probeMs);
  await until(async () => {
    const events = await undeliveredEvents(server);
    for (const id of events) {
      const token = await server.mint("operator", "operator", 60);
      await rest(server, token, "POST", `/v1/events/${id}/replay?onlyUndelivered=true`);
    }
    if (events.size > 0) await Bun.sleep(20);
    clock.advance(stepMs);
    return events.size === 0;
  }, patienceMs);
  const token = await server.mint("operator", "operator", 3_600);
  const events = await walkRest(server, token, "/v1/events");
  const byId = new Map(events.map((event) => [at(event, "id"), event]));
  const rows = (await walkRest(server, token, "/v1/notifications")).map((notification) => {
    const event = byId.get(at(notification, "eventId"));
    return {
      id: at(notification, "id"),
      key: at(event, "idempotencyKey"),
      provider: at(event, "provider"),
      type: at(event, "type"),
      title: at(event, "title"),
      severity: at(notification, "severity"),
    };
  });
  fleet.check(rows, timesOf(model));
}

async function undeliveredEvents(server: Server): Promise<ReadonlySet<string>> {
  const token = await server.mint("operator", "operator", 60);
  const ids = new Set<string>();
  for (const status of ["pending", "retrying", "dead"]) {
    const path = `/v1/notifications?limit=100&status=${status}`;
    const { body } = await rest(server, token, "GET", path);
    for (const item of listAt(body, "data")) ids.add(String(at(item, "eventId")));
  }
  return ids;
}

/** Commands follow each other. What was replayed is sent again, after later events. */
function timesOf({ events }: Model) {
  return new Map(
    [...events.entries()]
      .filter(([, { notifications }]) => notifications === 1)
      .map(([index, { key }]) => [key, { askedMs: index, answeredMs: index }]),
  );
}
