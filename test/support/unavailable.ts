import { expect } from "bun:test";

import { json } from "./app.ts";
import { delivery } from "./load.ts";
import type { RunningServer } from "./program.ts";

export const statusOf = async ({ url }: RunningServer, path: string) =>
  (await fetch(`${url}${path}`)).status;

/** Expects 503 with Retry-After for a delivery that cannot be stored. */
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
