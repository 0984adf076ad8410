import { expect, test } from "bun:test";

import fc from "fast-check";

import { oneOrMore } from "../../../../src/base/place.ts";
import { signedHeaders } from "../../../../src/inbound/signatures/sign.ts";
import { verifier } from "../../../../src/inbound/signatures/signature.ts";
import { forAll, runs } from "../../../support/runs.ts";

import {
  flipped,
  isExpected,
  now,
  outcomeOf,
  plain,
  requestOf,
  type Signer,
  today,
  yesterday,
} from "./signer.ts";

export function verifierTests(by: Signer): void {
  const { scheme, keys } = by;
  test("cannot be created with an empty current secret", () => {
    expect(() => verifier(scheme, { current: "", previous: null })).toThrow("current");
    expect(() => verifier(scheme, { current: "", previous: yesterday })).toThrow("current");
  });

  test("cannot be created with an empty previous secret", () => {
    const { current } = by.secrets(today);
    expect(() => verifier(scheme, { current, previous: "" })).toThrow("previous");
  });

  test("verifies many requests", () => {
    const isOfService = scheme.kind !== "hmac" && scheme.key !== undefined;
    if (isOfService) return;
    const verify = verifier(scheme, by.secrets(today, yesterday), keys.store);
    const outcomes = [today, "wrong", yesterday, today].map((secret) => {
      const result = verify(requestOf(by, { header: by.header(plain, { secret }) }));
      if (result instanceof Promise) throw new Error("The verifier is not synchronous");
      return "rejection" in result ? result.rejection : result.verified.signedWith;
    });
    expect(outcomes).toEqual(["current", "wrong-signature", "previous", "current"]);
  });

  test("signing makes the headers that the provider sends", () => {
    for (const body of [plain, new Uint8Array()]) {
      const request = { method: "POST", url: by.url, headers: by.signedHeaders, bytes: body };
      const made = signedHeaders(scheme, keys.of(today), request, now * 1_000);
      const { [by.headerName]: header = "", ...others } = made;
      const time = others[oneOrMore(scheme.timestamp?.from)[0]?.replace("header.", "") ?? ""];
      expect(outcomeOf(by, { body, header, ...(time !== undefined && { time }) })).toBe("current");
      // Other algorithms sign with a random number.
      if (["hmac", "ed25519", "rsa-pkcs1"].includes(scheme.kind))
        expect(header).toBe(by.header(body));
    }
  });
}

const bytes = (minLength = 0) => fc.uint8Array({ minLength, maxLength: 200 });
/** The characters that `Headers` accepts: Latin-1 without NUL, CR and LF. */
const headerCharacter = fc
  .integer({ min: 1, max: 0xff })
  .filter((code) => code !== 0x0a && code !== 0x0d)
  .map((code) => String.fromCharCode(code));
const headerText = fc.oneof(
  fc.string({ unit: headerCharacter, maxLength: 200 }),
  fc.string({ unit: fc.constantFrom("t", "=", "v", "1", ",", " ", "a", "+", "/"), maxLength: 200 }),
);

export function properties(by: Signer): void {
  const size = by.mac(plain).length;

  test("rejects random headers and never throws", () => {
    forAll(100, [headerText, bytes(), fc.double()], (header, body, receivedAtMs) => {
      const outcome = outcomeOf(by, {
        header,
        body,
        receivedAtMs,
        secrets: by.secrets(today, yesterday),
      });
      expect(outcome).toMatch(/-(signature|signatures|timestamp)$/);
    });
  });

  test("rejects random MACs as wrong signatures", () => {
    const anyMac = fc.uint8Array({ minLength: size, maxLength: size });
    forAll(100, [anyMac, bytes()], (mac, body) => {
      const header = by.value(by.encode(Buffer.from(mac)));
      const outcome = outcomeOf(by, { header, body, secrets: by.secrets(today, yesterday) });
      expect(isExpected(by.isExact ? "wrong-signature" : "rejected", outcome)).toBe(true);
    });
  });

  test("accepts an edited header only if it still contains the whole signature", () => {
    // An edit may change the case of a digit.
    if (by.scheme.encoding === "hex-any-case") return;
    const signature = by.encoded(plain);
    const right = by.value(signature);
    const at = fc.nat(right.length);
    forAll(runs(500), [at, fc.nat(3), headerText], (start, removed, inserted) => {
      const header = right.slice(0, start) + inserted + right.slice(start + removed);
      const outcome = outcomeOf(by, { header });
      // A list may hold other items; a single signature may only have white space around it.
      const intact = by.listed
        ? header.includes(signature) && (!by.timestamped || header.includes(by.timeOf(now)))
        : new Headers({ value: header }).get("value") === right;
      if (!intact) expect(outcome).not.toBe("current");
      else if (!by.listed) expect(outcome).toBe("current");
    });
  });

  test("rejects a body with one bit flipped", () => {
    forAll(100, [bytes(1), fc.nat(), fc.nat(7)], (body, position, bit) => {
      const header = by.header(body);
      const altered = flipped(body, position % body.length, bit);
      expect(outcomeOf(by, { header, body })).toBe("current");
      const expected = by.coversBody ? "wrong-signature" : "current";
      expect(outcomeOf(by, { header, body: altered })).toBe(expected);
    });
  });

  test("rejects a signature with one bit flipped", () => {
    forAll(100, [bytes(), fc.nat(size - 1), fc.nat(7)], (body, position, bit) => {
      const made = by.mac(body);
      const header = by.value(by.encode(flipped(made, position % made.length, bit)));
      const expected = by.isExact ? "wrong-signature" : "rejected";
      expect(isExpected(expected, outcomeOf(by, { header, body }))).toBe(true);
    });
  });

  test("accepts what any secret signed, only with the same secret", () => {
    const { scheme } = by;
    if (scheme.kind !== "hmac" || (scheme.secretEncoding ?? "text") !== "text") return;
    const secret = fc.string({ unit: "binary", minLength: 1 });
    forAll(100, [secret, bytes()], (current, body) => {
      const request = { method: "POST", url: by.url, headers: by.signedHeaders, bytes: body };
      const made = signedHeaders(scheme, { secret: current }, request, now * 1_000);
      const header = made[by.headerName] ?? "";
      const secrets = { current, previous: null };
      expect(outcomeOf(by, { header, body, secrets })).toBe("current");
      const rotated = { current: `${current}x`, previous: current };
      expect(outcomeOf(by, { header, body, secrets: rotated })).toBe("previous");
    });
  });
}
