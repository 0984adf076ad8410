import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

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
  "cli/checks/secrets.ts: if (secret.trim() !== secret) {",
  // The command line stores a new secret.
  'config/secrets.ts: if (before !== "" && before !== secret) writePrivately(previous.file, before);',
  // The start checks whether two providers have the same secret.
  "config/secrets.ts: .filter((other) => one.secret !== undefined && other.secret === one.secret)",
  // An operator diagnoses a rejected delivery.
  "gateway/diagnosis/explain.ts: return known.equals(mac);",
  // Looks up a fingerprint that Skyhook computed. Clients do not send fingerprints.
  "gateway/statistics/rotation.ts: const useOf = (fingerprint: string) => uses.find(({ secret }) => secret === fingerprint);",
];

describe("secrets, signatures and tokens", () => {
  test("are never compared by === [API2-9]", () => {
    const found = lines
      .filter(({ file }) => !file.startsWith("flights/build-"))
      .filter(({ line }) => !/^(?:\/\/|\*|\/\*)/.test(line) && comparesSecrets(line))
      .map(({ file, line }) => `${file}: ${line}`);
    expect(found).toEqual(harmless);
  });

  test("are compared by timingSafeEqual in three files [TIME-1]", () => {
    const users = lines.filter(({ line }) => /\btimingSafeEqual\(/.test(line));
    expect(users.map(({ file }) => file)).toEqual([
      "gateway/signatures/signature.ts",
      "identity/auth/clients.ts",
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
