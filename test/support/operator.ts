import type { Role } from "../../src/base/context.ts";

import { json, type TestApp } from "./app.ts";

type Item = Record<string, unknown>;

/** A list of objects out of an answer; fails when it is none. */
export function itemsOf(value: unknown): Item[] {
  if (!Array.isArray(value)) throw new Error("Not a list");
  return value.map((item: unknown) => {
    if (typeof item !== "object" || item === null) throw new Error("Not an object");
    return { ...item };
  });
}

/** One page of a list, as a role sees it. */
export async function listed(app: TestApp, path: string, role: Role = "operator"): Promise<Item[]> {
  return itemsOf((await json(await app.as(role, path)))["data"]);
}

/** The notifications of an event with their attempts, in the order of their making. */
export async function timelineOf(app: TestApp, eventId: unknown): Promise<Item[]> {
  const event = await json(await app.as("operator", `/v1/events/${String(eventId)}`));
  return itemsOf(event["notifications"]);
}
