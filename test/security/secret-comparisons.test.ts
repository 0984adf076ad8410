import { describe, expect, spyOn, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { signatureHeaders } from "../../src/inbound/signatures/scheme.ts";
import { signed, startApp, testSecret } from "../support/app.ts";

const source = join(import.meta.dir, "../../src");
const lines = [...new Bun.Glob("**/*.ts").scanSync(source)].toSorted().flatMap((file) =>
  readFileSync(join(source, file), "utf8")
    .split("\n")
    .map((line) => ({ file, line: line.trim() })),
);

/** Names of values that an attacker must not learn from timing. */
const name = String.raw`[\w.?[\]]*(?:secret|signature|digest|hash|hmac|\bmac|token|password|jti)[\w()]*`;
const comparison = new RegExp(
  String.raw`${name} *[=!]==? |[=!]==? *${name}|Buffer\.compare|\.equals\(|localeCompare`,
  "i",
);

/** Whether a line compares a secret with anything but a constant. */
function comparesSecrets(line: string): boolean {
  const rest = line.replaceAll(/[\w.?()]+ [=!]==? (?:true|null|undefined|"[a-z-]*")/g, "");
  return comparison.test(rest);
}

/** Comparisons outside of requests, or by operators, who have the secrets anyway. */
const harmless = [
  // `doctor` checks for surrounding white space.
  'cli/host/checks/secrets.ts: [text !== secret, "has white space around it, which is part of the secret: remove it"],',
  // The command line or an admin stores a new secret.
  'config/secrets.ts: if (kept === "current" && before !== "" && before !== secret) {',
  // A fingerprint that Skyhook computed.
  "inbound/onboarding/provider-secrets.ts: uses.find(({ secret }) => secret === fingerprints[role])?.lastMatchedAt.getTime() ?? -Infinity;",
  // Looks up a fingerprint that Skyhook computed. Clients do not send fingerprints.
  "inbound/provider-status/rotation.ts: const useOf = (fingerprint: string) => uses.find(({ secret }) => secret === fingerprint);",
  // An operator diagnoses a rejected delivery.
  "inbound/rejections/mac-search.ts: return known.equals(mac);",
  // Sorts flights in the page of the playground.
  "web/graphql/playground.ts: return free.sort((a, b) => b.departureTime.localeCompare(a.departureTime))[0]?.flightId;",
];

describe("secrets, signatures and tokens", () => {
  test("are never compared by === [API2-9]", () => {
    const found = lines
      .filter(({ file }) => !file.startsWith("flights/build-"))
      .filter(({ line }) => !/^(?:\/\/|\*|\/\*)/.test(line) && comparesSecrets(line))
      .map(({ file, line }) => `${file}: ${line}`);
    expect(found).toEqual(harmless);
  });

  test("are compared by timingSafeEqual in two files [TIME-1]", () => {
    const users = lines.filter(({ line }) => /\btimingSafeEqual\(/.test(line));
    expect(users.map(({ file }) => file)).toEqual([
      "base/crypto.ts",
      "identity/idempotency/idempotent.ts",
    ]);
  });

  test("the search recognizes comparisons of secrets", () => {
    for (const line of [
      "if (header === signature) return true;",
      "return mac !== given;",
      "if (client.secretHash == hashOf(secret)) return;",
      "Buffer.compare(one, other) === 0",
      "expected.equals(given)",
      "token === known",
    ]) {
      expect([line, comparesSecrets(line)]).toEqual([line, true]);
    }
    for (const line of ["token !== undefined", 'secret === ""', "signature === null"]) {
      expect([line, comparesSecrets(line)]).toEqual([line, false]);
    }
  });
});

/** The HMAC at the end of a signature header. */
const macAtEnd = /(?<hex>[0-9a-f]{40,})$|(?<base64>[A-Za-z0-9+/]{27,}=)$/;

/** A signature header with the lowest bit of one byte of its HMAC flipped, and the size of that HMAC. */
function flipped(header: string, byteAt: (size: number) => number) {
  const { hex, base64 = "" } = macAtEnd.exec(header)?.groups ?? {};
  const encoding = hex === undefined ? "base64" : "hex";
  const mac = Buffer.from(hex ?? base64, encoding);
  const at = byteAt(mac.length);
  mac.writeUInt8(mac.readUInt8(at) ^ 1, at);
  return { header: header.replace(macAtEnd, mac.toString(encoding)), size: mac.length };
}

// Counts the bytes that reach the comparison. That it takes constant time is Bun's promise.
test.each(catalogue.map(({ id, signature }) => [id, signatureHeaders(signature)[0] ?? ""]))(
  "a signature is compared in full, with every secret, wherever it is wrong [TIME-3] %s",
  async (id, name) => {
    const previous = "the secret of before";
    const app = await startApp({ [`${id.toUpperCase()}_WEBHOOK_SECRET_PREVIOUS`]: previous });
    const compared = async (init: RequestInit, header: string) => {
      using spy = spyOn(crypto, "timingSafeEqual");
      const headers = new Headers(init.headers);
      headers.set(name, header);
      const { status } = await app.fetch(`/webhooks/${id}`, { ...init, headers });
      return [status, ...spy.mock.calls.map((pair) => pair.map((one) => one.byteLength))];
    };
    for (const secret of [testSecret(id), previous]) {
      const init = signed(id, "{}", app.clock, { secret });
      const header = new Headers(init.headers).get(name) ?? "";
      const [first, last] = [flipped(header, () => 0), flipped(header, (size) => size - 1)];
      const both = [1, 2].map(() => [first.size, first.size]);
      expect(await compared(init, header)).toEqual([200, ...both]);
      expect(await compared(init, first.header)).toEqual([401, ...both]);
      expect(await compared(init, last.header)).toEqual([401, ...both]);
    }
    await app.stop();
  },
);
