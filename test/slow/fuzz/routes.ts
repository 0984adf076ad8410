import fc from "fast-check";

import { hostileBody } from "./json.ts";
import { anyRole, type FuzzRequest } from "./request.ts";
import { requestTarget } from "./target.ts";
import { hostileSegment } from "./text.ts";

const hole = "*";
/** Every route there is; a hole is filled with what stands for a thing that exists, or anything else. */
const routes = [
  "/",
  "/livez",
  "/readyz",
  "/metrics",
  "/problems/*",
  "/webhooks/*",
  "/v1/rejections",
  "/v1/users",
  "/v1/users/*",
  "/v1/api/flights",
  "/v1/api/flights/*",
  "/v1/api/bookings",
  "/v1/api/bookings/*",
  "/v1/api/bookings/*/cancellation",
  "/v1/auth/token",
  "/v1/events",
  "/v1/events/feed",
  "/v1/events/*",
  "/v1/events/*/replay",
  "/v1/notifications",
  "/v1/feed",
  "/graphql",
  "/graphql/playground/*",
  "/swagger",
  "/swagger/*",
  "/*",
  "/v1/*/*",
];

const segment = fc.oneof(
  fc.constantFrom("{flight}", "{booking}", "{user}", "{event}", "task_tracker", "no-seats"),
  hostileSegment,
);

const requests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    method: fc.constantFrom("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "PURGE"),
    route: fc.constantFrom(...routes),
    fillings: fc.tuple(segment, segment),
    slash: fc.constantFrom("", "", "", "/", "?", "#", "//"),
    as: anyRole,
    body: fc.option(hostileBody),
  })
  .map(({ method, route, fillings, slash, as, body }) => ({
    method,
    path: fillings.reduce((path, filling) => path.replace(hole, () => filling), route) + slash,
    headers: [["content-type", "application/json"]],
    as,
    body: method === "GET" || method === "HEAD" ? null : body,
  }));

export const paths = requestTarget({
  name: "paths",
  about: "every method at every route, with anything for its parameters",
  shortRuns: 150,
  requests,
});
