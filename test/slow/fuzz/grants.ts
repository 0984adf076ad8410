import fc from "fast-check";

import { hostileHeaders } from "./headers.ts";
import { encoded, hostileBody } from "./json.ts";
import type { FuzzRequest } from "./request.ts";
import { requestTarget } from "./target.ts";
import { hostileQueryValue, hostileText } from "./text.ts";
import type { Answer } from "./world.ts";

const form = fc
  .array(
    fc.tuple(
      fc.constantFrom("grant_type=client_credentials", "client_id=a", "client_secret=b", "scope"),
      hostileQueryValue,
    ),
    { maxLength: 4 },
  )
  .map((fields) => fields.map(([name, value]) => `${name}=${value}`).join("&"));

const multipart = hostileText.map(
  (text) =>
    `--x\r\nContent-Disposition: form-data; name="grant_type"; filename="${text}"\r\n\r\n${text}\r\n--x--`,
);

/** `authorization` of a client, as RFC 6749 section 2.3.1 has it or nearly. */
const basic = hostileText.map(
  (text) => ["authorization", `Basic ${Buffer.from(`a:${text}`).toString("base64")}`] as const,
);

const grantRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    headers: hostileHeaders(["content-type"], [["content-type", "application/json"]]),
    credentials: fc.option(basic),
    body: fc.oneof(encoded(form), encoded(multipart), hostileBody),
  })
  .map(({ headers, credentials, body }) => ({
    method: "POST",
    path: "/v1/auth/token",
    headers: credentials === null ? headers : [...headers, credentials],
    as: null,
    body,
  }));

/** Throws when made-up credentials got a token. */
export function expectNoToken(_: FuzzRequest, { status }: Answer): void {
  if (status === 200) throw new Error("A token was given for made-up credentials");
}

export const grants = requestTarget({
  name: "grants",
  about: "forms and multipart at POST /v1/auth/token",
  shortRuns: 100,
  requests: grantRequests,
  expect: expectNoToken,
});
