import { expect, test } from "bun:test";

import { Webhook } from "standardwebhooks";

import { verifyAs } from "../../src/client/verify.ts";
import { makeSecret } from "../../src/outbound/formats/standard-webhooks.ts";

const [current, previous, wrong] = [makeSecret(), makeSecret(), makeSecret()];
const body = '{"type":"a"}';

/** The headers of a message that was signed some seconds ago. */
function signed(secondsAgo = 0, prefix = ""): Readonly<Record<string, string>> {
  const at = new Date(Date.now() - secondsAgo * 1_000);
  return {
    [`${prefix}webhook-id`]: "ntf_1",
    [`${prefix}webhook-timestamp`]: String(Math.floor(at.getTime() / 1_000)),
    [`${prefix}webhook-signature`]: new Webhook(current).sign("ntf_1", at, body),
  };
}

test.each([
  ["its secret", signed(), current, {}],
  ["headers of fetch", new Headers(signed()), [current], {}],
  ["one of two secrets, in any order", signed(), [current, previous], {}],
  ["one of two secrets, in any order", signed(), [previous, current], {}],
  ["the headers of another format", signed(0, "skyhook-"), current, { prefix: "skyhook-" }],
])("a webhook is verified with %s", (_, headers, secrets, options) => {
  expect(verifyAs<unknown>(body, headers, secrets, options)).toEqual({ type: "a" });
});

test.each([
  ["another secret", body, signed(), [previous, wrong]],
  ["no secret", body, signed(), []],
  ["another body", `${body} `, signed(), current],
  ["a time six minutes ago", body, signed(360), current],
  ["a time six minutes ahead", body, signed(-360), current],
  ["no signature", body, { ...signed(), "webhook-signature": undefined }, current],
  ["two signature headers", body, { ...signed(), "webhook-signature": ["a", "b"] }, current],
  ["the headers of another format", body, signed(0, "skyhook-"), current],
])("a webhook is refused with %s", (_, sent, headers, secrets) => {
  expect(() => verifyAs(sent, headers, secrets)).toThrow();
});
