import fc from "fast-check";

import { type FuzzRequest, get } from "./request.ts";
import { requestTarget } from "./target.ts";
import { hostileHeaderValue, hostileText } from "./text.ts";

type Header = readonly [name: string, value: string];

/** Values that mean something to one header. */
const telling: Readonly<Record<string, readonly string[]>> = {
  "content-type": [
    "application/json",
    "application/json; charset=utf-8",
    "application/json; charset=utf-16",
    "APPLICATION/JSON",
    "application/json, text/plain",
    "application/graphql",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "text/plain",
  ],
  "content-encoding": ["gzip", "identity", "br", "identity, identity", "gzip, gzip"],
  "idempotency-key": ["k1", '"k1"', '"k1', "k 1", "k,2", "x".repeat(255), "x".repeat(256)],
  accept: [
    "*/*",
    "text/html",
    "text/event-stream",
    "application/graphql-response+json;q=0.5, application/json;q=0.4",
    "application/json;q=0",
    "image/png",
    ",;q=,",
  ],
  "last-event-id": ["0", "1", "999999999999999", "-1", "1.5"],
  "if-none-match": ["*", 'W/"a"', '"a", "b"', '"'],
  origin: ["https://app.example.com", "https://evil.example", "null"],
  "access-control-request-method": ["POST", "*"],
  "access-control-request-headers": ["authorization", "x,".repeat(200)],
  "x-forwarded-for": ["1.2.3.4", "::1", "::ffff:1.2.3.4", "1.2.3.4, x", ",", "999.1.1.1"],
  "x-request-id": ["req-1", "a b", "x".repeat(64), "x".repeat(65), '"},{"'],
  "x-forwarded-proto": ["https"],
  "x-http-method-override": ["DELETE"],
  "x-skyhook-console": ["1"],
  range: ["bytes=0-1", "bytes=9-1"],
  expect: ["x"],
  cookie: ["a=b; __proto__=1"],
  "accept-encoding": ["gzip", "br;q=1, *;q=0"],
  "accept-language": ["de;q=x"],
  authorization: ["Bearer", "Bearer a b", "Basic Og==", "Bearer a.b.c", "bearer  e30.e30.e30"],
};

/** Headers of which some hold what they should not; `usual` are those of a good request. */
export const hostileHeaders = (
  names: readonly string[],
  usual: readonly Header[] = [],
): fc.Arbitrary<readonly Header[]> => fc.oneof(fc.constant(usual), spoiltHeaders(names, usual));

function spoiltHeaders(
  names: readonly string[],
  usual: readonly Header[],
): fc.Arbitrary<readonly Header[]> {
  return fc
    .array(
      fc
        .constantFrom(...names)
        .chain((name) =>
          fc.tuple(
            fc.constant(name),
            fc.oneof(
              { weight: 3, arbitrary: fc.constantFrom(...(telling[name] ?? [""])) },
              { weight: 1, arbitrary: hostileHeaderValue },
            ),
          ),
        ),
      { maxLength: 2 },
    )
    .map((chosen) => [
      ...usual.filter(([name]) => !chosen.some(([other]) => other === name)),
      ...chosen,
    ]);
}

const unknownName = hostileText.map(
  (text) => `x-${text.replaceAll(/[^A-Za-z0-9-]/g, "").slice(0, 40)}`,
);

const requests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    path: fc.constantFrom(
      "/",
      "/v1/api/flights/{flight}",
      "/v1/api/bookings",
      "/v1/events/{event}",
      "/v1/feed",
      "/v1/events/feed",
      "/graphql",
      "/graphql?query=%7Bme%7Bname%7D%7D",
      "/swagger",
      "/metrics",
      "/problems/no-seats",
    ),
    method: fc.constantFrom("GET", "GET", "GET", "HEAD", "OPTIONS"),
    as: fc.constantFrom("admin" as const, "user" as const, null),
    headers: hostileHeaders(Object.keys(telling)),
    extra: fc.array(fc.tuple(unknownName, hostileHeaderValue), { maxLength: 3 }),
  })
  .map(({ path, method, as, headers, extra }) => ({
    ...get(path, as),
    method,
    headers: [...headers, ...extra],
  }));

export const headers = requestTarget({
  name: "headers",
  about: "headers of all kinds, known and unknown",
  shortRuns: 100,
  requests,
});
