import { expect, test } from "bun:test";

import fc from "fast-check";

import { sign, verifier } from "../../../../src/gateway/signatures/signature.ts";

import {
  flipped,
  now,
  outcomeOf,
  plain,
  rotating,
  type Signer,
  today,
  yesterday,
} from "./signer.ts";
import { runs } from "../../../support/runs.ts";

export function verifierTests({ scheme, header, headerName, timestamped }: Signer): void {
  test("cannot be created with an empty current secret", () => {
    expect(() => verifier(scheme, { current: "", previous: null })).toThrow("current");
    expect(() => verifier(scheme, { current: "", previous: yesterday })).toThrow("current");
  });

  test("cannot be created with an empty previous secret", () => {
    expect(() => verifier(scheme, { current: today, previous: "" })).toThrow("previous");
  });

  test("verifies many requests", () => {
    const verify = verifier(scheme, rotating);
    const outcomes = [today, "wrong", yesterday, today].map((secret) => {
      const headers = new Headers({ [headerName]: header(plain, { secret }) });
      const result = verify({ headers, bytes: plain, receivedAtMs: now * 1_000 });
      return "rejection" in result ? result.rejection : result.verified.signedWith;
    });
    expect(outcomes).toEqual(["current", "wrong-signature", "previous", "current"]);
  });

  test("sign returns the header that the provider sends", () => {
    expect(sign(scheme, today, plain, now * 1_000 + 999)).toBe(header(plain));
    expect(sign(scheme, today, new Uint8Array(), now * 1_000)).toBe(header(new Uint8Array()));
    expect(header(plain).startsWith(timestamped ? `t=${now},v1=` : (scheme.prefix ?? ""))).toBe(
      true,
    );
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
    fc.assert(
      fc.property(headerText, bytes(), fc.double(), (header, body, receivedAtMs) => {
        const outcome = outcomeOf(by, { header, body, receivedAtMs, secrets: rotating });
        expect(outcome).toMatch(/-(signature|signatures|timestamp)$/);
      }),
    );
  });

  test("rejects random MACs as wrong signatures", () => {
    const anyMac = fc.uint8Array({ minLength: size, maxLength: size });
    fc.assert(
      fc.property(anyMac, bytes(), (mac, body) => {
        const header = by.value(by.encode(Buffer.from(mac)));
        expect(outcomeOf(by, { header, body, secrets: rotating })).toBe("wrong-signature");
      }),
    );
  });

  test("accepts an edited header only if it still contains the whole signature", () => {
    const right = by.header(plain);
    const at = fc.nat(right.length);
    fc.assert(
      fc.property(at, fc.nat(3), headerText, (start, removed, inserted) => {
        const header = right.slice(0, start) + inserted + right.slice(start + removed);
        const outcome = outcomeOf(by, { header });
        // A list may hold other items; a single signature may only have white space around it.
        const intact = by.timestamped
          ? header.includes(by.encoded(plain)) && header.includes(`t=${now}`)
          : new Headers({ value: header }).get("value") === right;
        if (!intact) expect(outcome).not.toBe("current");
        else if (!by.timestamped) expect(outcome).toBe("current");
      }),
      { numRuns: runs(500) },
    );
  });

  test("rejects a body with one bit flipped", () => {
    fc.assert(
      fc.property(bytes(1), fc.nat(), fc.nat(7), (body, position, bit) => {
        const header = by.header(body);
        const altered = flipped(body, position % body.length, bit);
        expect(outcomeOf(by, { header, body })).toBe("current");
        expect(outcomeOf(by, { header, body: altered })).toBe("wrong-signature");
      }),
    );
  });

  test("rejects a signature with one bit flipped", () => {
    fc.assert(
      fc.property(bytes(), fc.nat(size - 1), fc.nat(7), (body, position, bit) => {
        const header = by.value(by.encode(flipped(by.mac(body), position, bit)));
        expect(outcomeOf(by, { header, body })).toBe("wrong-signature");
      }),
    );
  });

  test("accepts what sign signed, only with the same secret", () => {
    const secret = fc.string({ unit: "binary", minLength: 1 });
    fc.assert(
      fc.property(secret, bytes(), (current, body) => {
        const header = sign(by.scheme, current, body, now * 1_000);
        const secrets = { current, previous: null };
        expect(outcomeOf(by, { header, body, secrets })).toBe("current");
        const rotated = { current: `${current}x`, previous: current };
        expect(outcomeOf(by, { header, body, secrets: rotated })).toBe("previous");
      }),
    );
  });
}
