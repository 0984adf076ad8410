import type { ManualClock } from "./clock.ts";
import { startApp, type TestApp } from "./app.ts";

/** The two ways a GraphQL request is answered; every GraphQL test runs on both. */
export const ways = ["the fast path", "yoga"] as const;
export type Way = (typeof ways)[number];

const settings = {
  "the fast path": { fastPath: true, compileAfterRuns: 0 },
  yoga: { fastPath: false, compileAfterRuns: Infinity },
} as const;

/** The whole service with GraphQL answered in one of its ways. */
export function startOn(
  way: Way,
  env: Record<string, string | undefined> = {},
  clock?: ManualClock,
): Promise<TestApp> {
  return startApp(env, clock, { graphql: settings[way] });
}
