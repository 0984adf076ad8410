import { expect } from "bun:test";

import { json } from "./app.ts";

/** Expects that a request was rejected by a limit, such as `"changes";q=30;w=60`, which allows it again in `seconds`. */
export async function expectLimited(
  response: Response,
  policy: string,
  seconds: number,
  code = "too-many-requests",
): Promise<void> {
  expect(response.status).toBe(429);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "retry-after": String(seconds),
    "ratelimit-policy": policy,
    ratelimit: `${policy.replace(/;.*/, "")};r=0;t=${seconds}`,
  });
  expect(await json(response)).toMatchObject({ code });
}
