import type { Context, Role } from "../../src/base/context.ts";

import { json, type TestApp } from "./app.ts";

type Item = Record<string, unknown>;

/** Checks that a value of a response is a list of objects, and returns it. */
export function itemsOf(value: unknown): Item[] {
  if (!Array.isArray(value)) throw new Error("Not a list");
  return value.map((item: unknown) => {
    if (typeof item !== "object" || item === null) throw new Error("Not an object");
    return { ...item };
  });
}

/** Reads one page of a list with a role's token. */
export async function listed(app: TestApp, path: string, role: Role = "operator"): Promise<Item[]> {
  return itemsOf((await json(await app.as(role, path)))["data"]);
}

/** Reads the notifications of an event with their attempts, oldest first. */
export async function timelineOf(app: TestApp, eventId: unknown): Promise<Item[]> {
  const event = await json(await app.as("operator", `/v1/events/${String(eventId)}`));
  return itemsOf(event["notifications"]);
}

/** The context of a caller who is signed in for as long as a test takes. */
export const contextOf = (id: string, ...roles: readonly Role[]): Context => ({
  actor: { id, roles },
  expiresAt: new Date(8_640_000_000_000_000),
  requestId: "test",
});
