import fc from "fast-check";

import { at } from "../../../src/base/payload.ts";

import { hostileHeaders } from "./headers.ts";
import { encoded, hostileBody, type Json, spoilt } from "./json.ts";
import { anyRole, type FuzzRequest, get } from "./request.ts";
import { requestTarget } from "./target.ts";
import { hostileQueryValue, hostileText } from "./text.ts";

/** A user whose address is as good as never taken. */
export const userInput: fc.Arbitrary<Json> = fc.record({
  name: fc.constantFrom("Ada", "Jos\u00e9"),
  email: fc.uuid().map((id) => `${id}@example.com`),
});

export const users = requestTarget({
  name: "users",
  about: "bodies of POST /v1/users",
  shortRuns: 250,
  requests: fc.record({
    method: fc.constant("POST"),
    path: fc.constant("/v1/users"),
    headers: hostileHeaders(
      ["content-type", "idempotency-key", "content-encoding"],
      [["content-type", "application/json"]],
    ),
    as: anyRole,
    body: encoded(spoilt(userInput)),
  }),
  async expect({ body }, { status, text }, world) {
    if (status !== 201 || body === null) return;
    const sent: unknown = JSON.parse(new TextDecoder().decode(body));
    const made: unknown = JSON.parse(text);
    const stored = await world.send(get(`/v1/users/${String(at(made, "id"))}`, "admin"));
    const name = String(at(sent, "name")).normalize("NFC").trim();
    if (at(JSON.parse(stored.text), "name") !== name) {
      throw new Error(`The name was stored as another: ${stored.text}`);
    }
  },
});

const grant: fc.Arbitrary<Json> = fc.record({
  grant_type: fc.constant("client_credentials"),
  client_id: fc.constantFrom("cl_1", "cl_019377b07d4070008000000000000001"),
  client_secret: fc.constantFrom("s", "x".repeat(5_000)),
});

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
    body: fc.oneof(encoded(spoilt(grant)), encoded(form), encoded(multipart), hostileBody),
  })
  .map(({ headers, credentials, body }) => ({
    method: "POST",
    path: "/v1/auth/token",
    headers: credentials === null ? headers : [...headers, credentials],
    as: null,
    body,
  }));

export const grants = requestTarget({
  name: "grants",
  about: "JSON, forms and multipart at POST /v1/auth/token",
  shortRuns: 100,
  requests: grantRequests,
  expect(_, { status }) {
    if (status === 200) throw new Error("A token was given for made-up credentials");
  },
});
