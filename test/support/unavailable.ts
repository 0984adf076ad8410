import { expect } from "bun:test";

import { json } from "./app.ts";
import { delivery } from "./load.ts";
import type { RunningServer } from "./program.ts";

export const statusOf = async ({ url }: RunningServer, path: string) =>
  (await fetch(`${url}${path}`)).status;

/** A delivery that the database cannot take: 503, and when to come back. */
export async function expectUnavailable(
  { url }: RunningServer,
  number: number,
  padding = 0,
): Promise<void> {
  const response = await fetch(`${url}/webhooks/task_tracker`, delivery(number, padding));
  expect(response.status).toBe(503);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await json(response)).toMatchObject({ code: "unavailable" });
}
