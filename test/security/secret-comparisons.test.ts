import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const source = join(import.meta.dir, "../../src");
const lines = [...new Bun.Glob("**/*.ts").scanSync(source)].toSorted().flatMap((file) =>
  readFileSync(join(source, file), "utf8")
    .split("\n")
    .map((line) => ({ file, line: line.trim() })),
);

/** Names of what must not be learned a letter at a time. */
const name = String.raw`[\w.?[\]]*(?:secret|signature|digest|hash|hmac|\bmac|token|password|jti)[\w()]*`;
const comparison = new RegExp(
  String.raw`${name} *[=!]==? |[=!]==? *${name}|Buffer\.compare|\.equals\(|localeCompare`,
  "i",
);

/** Whether a line compares a secret with more than nothing or a word of ours. */
function comparesSecrets(line: string): boolean {
  const rest = line.replaceAll(/[\w.?()]+ [=!]==? (?:true|null|undefined|"[a-z-]*")/g, "");
  return comparison.test(rest);
}

/** Compared outside a request, by no one who does not hold the secrets anyway. */
const harmless = [
  // By `doctor`: whether one has white space around it.
  "cli/checks/secrets.ts: if (secret.trim() !== secret) {",
  // At the command line, when a new secret is stored.
  'config/secrets.ts: if (before !== "" && before !== secret) writePrivately(previous.file, before);',
  // At the start: whether two providers were given one secret.
  "config/secrets.ts: .filter((other) => one.secret !== undefined && other.secret === one.secret)",
  // By an operator, who has the secrets anyway: what would make a refused delivery verify.
  "gateway/diagnosis/explain.ts: return known.equals(mac);",
  // Which of our own marks a use was noted under; nobody outside sends one.
  "gateway/statistics/rotation.ts: const useOf = (mark: string) => uses.find(({ secret }) => secret === mark);",
];

describe("secrets, signatures and tokens", () => {
  test("are compared by timingSafeEqual, and nowhere by === [API2-9]", () => {
    const found = lines
      .filter(({ file }) => !file.startsWith("flights/build-"))
      .filter(({ line }) => !/^(?:\/\/|\*|\/\*)/.test(line) && comparesSecrets(line))
      .map(({ file, line }) => `${file}: ${line}`);
    expect(found).toEqual(harmless);
  });

  test("are compared in the three places that there are [TIME-1]", () => {
    const users = lines.filter(({ line }) => /\btimingSafeEqual\(/.test(line));
    expect(users.map(({ file }) => file)).toEqual([
      "gateway/signatures/signature.ts",
      "identity/auth/clients.ts",
      "identity/idempotency/idempotent.ts",
    ]);
  });

  test("the search finds what it should", () => {
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
