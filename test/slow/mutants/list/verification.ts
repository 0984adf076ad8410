import type { Mutant } from "../mutant.ts";

export const verification: readonly Mutant[] = [
  // Only signed deliveries are accepted.
  {
    name: "comparison-always-true",
    breaks: "a signature that is wrong by one bit is rejected",
    changes: [
      [
        "src/inbound/signatures/constant-time.ts",
        "one.length === other.length && crypto.timingSafeEqual(one, other)",
        "one.length === other.length",
      ],
    ],
    noticedBy: [
      "test/inbound/signatures/signature.test.ts",
      "rejects a signature with one bit flipped",
    ],
  },
  {
    name: "comparison-with-early-exit",
    breaks: "signatures are compared in constant time",
    changes: [
      [
        "src/inbound/signatures/constant-time.ts",
        "crypto.timingSafeEqual(one, other)",
        "one.every((byte, index) => byte === other[index])",
      ],
    ],
    noticedBy: [
      "test/security/secret-comparisons.test.ts",
      "a signature is compared in full, with every secret, wherever it is wrong",
    ],
  },
  {
    name: "comparison-skipped-early",
    breaks: "no signature is ruled out before the comparison in constant time",
    changes: [
      [
        "src/inbound/signatures/constant-time.ts",
        "crypto.timingSafeEqual(one, other)",
        "one[0] === other[0] && crypto.timingSafeEqual(one, other)",
      ],
    ],
    noticedBy: [
      "test/security/secret-comparisons.test.ts",
      "a signature is compared in full, with every secret, wherever it is wrong",
    ],
  },
  {
    name: "comparison-ends-at-match",
    breaks: "the time does not tell which secret matches",
    changes: [
      [
        "src/inbound/signatures/signature.ts",
        "for (const { role, secret, matches } of keys) {",
        `for (const { role, secret, matches } of keys) {
      if (match !== null) break;`,
      ],
    ],
    noticedBy: [
      "test/security/secret-comparisons.test.ts",
      "a signature is compared in full, with every secret, wherever it is wrong",
    ],
  },
  {
    name: "sent-secret-compared-directly",
    breaks: "secrets that are sent with a delivery are compared in constant time too",
    changes: [
      [
        "src/inbound/signatures/shared-secret.ts",
        "sameText(found.sent, secret)",
        "found.sent === secret",
      ],
    ],
    noticedBy: ["test/security/secret-comparisons.test.ts", "are never compared by === [API2-9]"],
  },
  {
    name: "old-signatures-accepted",
    breaks: "a signed time that is too old is rejected",
    changes: [
      [
        "src/inbound/signatures/signed-time.ts",
        "ageSeconds <= toleranceSeconds && -ageSeconds",
        "-ageSeconds",
      ],
    ],
    noticedBy: ["test/inbound/signatures/signature.test.ts", "1 s too old: stale-timestamp"],
  },
  {
    name: "future-signatures-accepted",
    breaks: "a signed time that is too far ahead is rejected",
    changes: [
      [
        "src/inbound/signatures/signed-time.ts",
        "-ageSeconds <= aheadSeconds(toleranceSeconds)",
        "true",
      ],
    ],
    noticedBy: ["test/inbound/signatures/signature.test.ts", "1 s too far ahead: stale-timestamp"],
  },
  {
    name: "tolerance-counts-into-the-future",
    breaks: "no file accepts a time more than 300 s ahead",
    changes: [
      [
        "src/inbound/signatures/signed-time.ts",
        "Math.min(toleranceSeconds, maxAheadSeconds)",
        "toleranceSeconds",
      ],
    ],
    noticedBy: ["test/inbound/signatures/signature.test.ts", "1 s too far ahead: stale-timestamp"],
  },
  {
    name: "tolerance-in-fractions",
    breaks: "a time is compared in whole seconds",
    changes: [
      [
        "src/inbound/signatures/signed-time.ts",
        "Math.floor(nowMs / 1_000) - Math.floor(signedAtMs / 1_000)",
        "(nowMs - signedAtMs) / 1_000",
      ],
    ],
    noticedBy: [
      "test/inbound/signatures/signature.test.ts",
      "received in the middle of a second: current",
    ],
  },
  {
    name: "body-reserialised",
    breaks: "the signature is over exactly the bytes that were sent",
    changes: [
      [
        "src/inbound/receive/receive.ts",
        "return await delivery.readBody(maxBodyBytes);",
        `const sent = Buffer.from(await delivery.readBody(maxBodyBytes));
    try {
      return Buffer.from(JSON.stringify(JSON.parse(sent.toString())));
    } catch {
      return sent;
    }`,
      ],
    ],
    noticedBy: [
      "test/inbound/receive/receive.test.ts",
      "is verified and stored as the bytes that were sent",
    ],
  },
  {
    name: "empty-secret-verifies",
    breaks: "the engine refuses an empty secret",
    changes: [
      [
        "src/inbound/signatures/signature.ts",
        `if (secret === "") throw`,
        `if (secret === "\\0") throw`,
      ],
    ],
    noticedBy: [
      "test/inbound/signatures/signature.test.ts",
      "cannot be created with an empty current secret",
    ],
  },
  {
    name: "empty-secret-configured",
    breaks: "an empty secret stops the start",
    changes: [
      [
        "src/config/secret-file.ts",
        `if (secret.trim() === "") throw`,
        `if (secret === "\\0") throw`,
      ],
    ],
    noticedBy: [
      "test/config/config.test.ts",
      "that are empty are an error, so that nobody can sign with an empty secret [API8-10]",
    ],
  },
  {
    name: "body-limit-not-counted",
    breaks: "a body is counted while it streams in",
    changes: [["src/web/rest/body.ts", "if (end > maxBytes) throw tooLarge(maxBytes);", ""]],
    noticedBy: [
      "test/inbound/receive/receive.test.ts",
      "aborts an oversized body without Content-Length while it streams in [API4-1]",
    ],
  },
  {
    name: "secrets-in-stored-headers",
    breaks: "signatures and tokens in headers are not stored",
    changes: [
      [
        "src/event/stored-headers.ts",
        "if (!plainHeaders.has(name) && !readHeaders.includes(name)) continue;",
        "void readHeaders;",
      ],
    ],
    noticedBy: [
      "test/inbound/rejections/rejection-details.test.ts",
      "returns the received data and why it was rejected, but no signature",
    ],
  },
  {
    name: "rejections-fill-the-disk",
    breaks: "anybody's rejections fill no disk",
    changes: [
      [
        "src/inbound/rejections/rejections.ts",
        "if (bytes === null && !withoutBody.fail(delivery.address)) return;",
        "",
      ],
    ],
    noticedBy: [
      "test/inbound/receive/receive.test.ts",
      "stores at most 20 rejections a minute per address",
    ],
  },

  // Failed attempts are limited.
  {
    name: "limiter-counts-nothing",
    breaks: "an address is blocked after 20 failures",
    changes: [["src/identity/limiter.ts", "window.failures += 1;", ""]],
    noticedBy: [
      "test/inbound/receive/receive.test.ts",
      "returns 429 after 20 failures from an address until the minute has passed",
    ],
  },
  {
    name: "limiter-counts-successes",
    breaks: "verified deliveries are no failures",
    changes: [
      [
        "src/inbound/receive/receive.ts",
        `if ("verified" in result) {`,
        `if ("verified" in result) {
    limiter.fail(address);`,
      ],
    ],
    noticedBy: [
      "test/inbound/receive/receive.test.ts",
      "does not count unknown providers, wrong methods and unreadable bodies",
    ],
  },
  {
    name: "limiter-counts-granted-tokens",
    breaks: "granted tokens are no failures",
    changes: [
      [
        "src/identity/auth/auth.rest.ts",
        "return await clients.grant(id, secret);",
        `limiter.fail(address);
          return await clients.grant(id, secret);`,
      ],
    ],
    noticedBy: [
      "test/identity/auth/auth.test.ts",
      "does not count malformed requests, successes or invalid bearer tokens",
    ],
  },
  {
    name: "forged-address-believed",
    breaks: "a client cannot choose the address that it is counted by",
    changes: [["src/web/rest/client-address.ts", `.split(",").slice(-hops)`, `.split(",")`]],
    noticedBy: [
      "test/inbound/receive/receive.test.ts",
      "ignores X-Forwarded-For entries beyond the trusted proxies [API10-4]",
    ],
  },
];
