import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { explain, type Known } from "../../../src/inbound/rejections/explain.ts";
import type { RejectedRequest } from "../../../src/inbound/rejections/explanation.ts";
import { causes } from "../../../src/inbound/rejections/explanation.ts";
import { signatureHeaders, type SignatureScheme } from "../../../src/inbound/signatures/scheme.ts";
import { providerOf } from "../../support/app.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { schemes } from "../signatures/schemes.ts";
import { requestOf, signer } from "../signatures/suite/signer.ts";

import { nestedJson } from "./hostile-bodies.ts";

const secret = "a secret of twenty-odd characters";
const current = { current: secret, previous: "the one before it" };
const text = '{"name":"Größe","path":"a/b","items":[1,2],"none":null}';
const receivedAtMs = Date.UTC(2026, 10, 21, 9);
const nowSeconds = receivedAtMs / 1_000;
const others: Known["others"] = [
  { displayName: "Another", secrets: { current: "not this", previous: "but this one" } },
];

type Algorithm = "sha1" | "sha256" | "sha512";
type Encoding = "hex" | "base64" | "base64url";
type Made = { key?: string | Uint8Array; by?: Algorithm; as?: Encoding };

/** An HMAC made with node:crypto, not with the engine under test. */
const mac = (
  body: string | Uint8Array,
  { key = secret, by = "sha256", as = "base64" }: Made = {},
) => createHmac(by, key).update(body).digest(as);

/** The explanation of a provider's delivery. */
function explained(
  id: string,
  header: string | null,
  body: string | Uint8Array = text,
  { secrets = current, ...fields }: Partial<RejectedRequest> & { secrets?: Known["secrets"] } = {},
  signature = providerOf(id).signature,
) {
  const provider = { ...providerOf(id), signature };
  const headers = new Headers(
    header === null ? {} : { [signatureHeaders(provider.signature)[0] ?? ""]: header },
  );
  const bytes = Buffer.from(body);
  const request = { method: "POST", url: "", headers, bytes, receivedAtMs };
  const rejected = { reason: "wrong-signature", ...request } as const;
  return explain(
    { provider, secrets, others },
    { ...rejected, bodyBytes: bytes.length, ...fields },
  );
}

const tasks = "task_tracker"; // base64 of SHA-256
const inbox = "shared_inbox"; // base64 of SHA-1, raw or compact
const deploys = "deploy_platform"; // hex of SHA-1
const code = "code_host"; // hex of SHA-256 after "sha256="
const payments = "payment_processor"; // hex of SHA-256 over time and body

/** A delivery of a service that signs the URL, received behind a proxy. */
function ofSquare(signedUrl: string) {
  const square = schemes["square"];
  const headers = new Headers({
    "x-square-hmacsha256-signature": mac(`${signedUrl}${text}`),
    "x-forwarded-host": "hooks.example.com",
  });
  const url = "http://10.0.0.1:3111/webhooks/square";
  // The URL as it is would verify.
  const received = signedUrl === url ? url.replace("http:", "https:") : url;
  return explained(tasks, null, text, { headers, url: received }, square);
}

function ofSendgrid() {
  const sendgrid = schemes["sendgrid"];
  if (sendgrid === undefined) throw new Error("No such scheme");
  const by = signer(sendgrid);
  const secrets = by.secrets("today");
  const {
    headers,
    bytes,
    receivedAtMs: atMs,
  } = requestOf(by, {
    body: Buffer.from(`${text}\n`),
    header: by.header(Buffer.from(text), { secret: "today" }),
  });
  return explained(tasks, null, bytes, { headers, receivedAtMs: atMs, secrets }, sendgrid);
}

/** At least one row per cause: the expected cause, a label, and the explained delivery. */
const rows: readonly (readonly [string, string, () => ReturnType<typeof explained>])[] = [
  ["verifies-now", "set since", () => explained(tasks, mac(text))],
  ["previous-secret", "accepted", () => explained(tasks, mac(text, { key: "the one before it" }))],
  ["trailing-newline-added", "LF", () => explained(tasks, mac(text), `${text}\n`)],
  ["trailing-newline-added", "CRLF", () => explained(tasks, mac(text), `${text}\r\n`)],
  [
    "trailing-newline-added",
    "by the previous secret",
    () => explained(tasks, mac(text, { key: "the one before it" }), `${text}\n`),
  ],
  [
    "trailing-newline-added",
    "after the time",
    () =>
      explained(
        payments,
        `t=${nowSeconds},v1=${mac(`${nowSeconds}.${text}`, { as: "hex" })}`,
        `${text}\n`,
      ),
  ],
  ["trailing-newline-lost", "LF", () => explained(tasks, mac(`${text}\n`))],
  ["trailing-newline-lost", "CRLF", () => explained(tasks, mac(`${text}\r\n`))],
  ["line-endings-changed", "to CRLF", () => explained(tasks, mac("{\n}"), "{\r\n}")],
  ["line-endings-changed", "to LF", () => explained(tasks, mac("{\r\n}"), "{\n}")],
  [
    "body-reformatted",
    "compact before",
    () => explained(tasks, mac(text), JSON.stringify(JSON.parse(text), null, 2)),
  ],
  [
    "body-reformatted",
    "numbers and escapes as sent",
    () => explained(tasks, mac('{"a":1.0,"b":"\\u00f6"}'), '{ "a": 1.0, "b": "\\u00f6" }'),
  ],
  [
    "body-reformatted",
    "indented before",
    () => explained(tasks, mac(JSON.stringify(JSON.parse(text), null, 2))),
  ],
  [
    "body-reformatted",
    "as Python prints",
    () =>
      explained(
        tasks,
        mac('{"name": "Gr\\u00f6\\u00dfe", "path": "a/b", "items": [1, 2], "none": null}'),
      ),
  ],
  [
    "body-reformatted",
    "as PHP prints",
    () =>
      explained(
        tasks,
        mac('{"name":"Gr\\u00f6\\u00dfe","path":"a\\/b","items":[1,2],"none":null}'),
      ),
  ],
  ["hex-for-base64", "right", () => explained(tasks, mac(text, { as: "hex" }))],
  ["hex-for-base64", "wrong", () => explained(tasks, mac("other", { as: "hex" }))],
  ["base64-for-hex", "right", () => explained(deploys, mac(text, { by: "sha1" }))],
  ["base64-for-hex", "after a prefix", () => explained(code, `sha256=${mac(text)}`)],
  [
    "upper-case-hex",
    "right",
    () => explained(deploys, mac(text, { by: "sha1", as: "hex" }).toUpperCase()),
  ],
  ["missing-prefix", "right", () => explained(code, mac(text, { as: "hex" }))],
  ["missing-prefix", "wrong", () => explained(code, mac("other", { as: "hex" }))],
  [
    "malformed-signature",
    "base64url",
    () => explained(tasks, mac(textOfUrlSafe, { as: "base64url" }), textOfUrlSafe),
  ],
  [
    "malformed-signature",
    "of no length",
    () => explained(tasks, "00ff", text, { reason: "malformed-signature" }),
  ],
  ["other-algorithm", "SHA-256 for SHA-1", () => explained(deploys, mac(text, { as: "hex" }))],
  [
    "other-algorithm",
    "SHA-1 under its own prefix",
    () => explained(code, `sha1=${mac(text, { by: "sha1", as: "hex" })}`),
  ],
  ["other-algorithm", "SHA-512", () => explained(tasks, mac(text, { by: "sha512" }))],
  [
    "other-algorithm",
    "over compact JSON",
    () => explained(inbox, mac(text), JSON.stringify(JSON.parse(text), null, 2)),
  ],
  [
    "secret-white-space",
    "here",
    () =>
      explained(tasks, mac(text), text, { secrets: { current: ` ${secret}\n`, previous: null } }),
  ],
  ["secret-white-space", "there", () => explained(tasks, mac(text, { key: `${secret}\n` }))],
  [
    "secret-encoding",
    "hex",
    () =>
      explained(tasks, mac(text, { key: Buffer.from("00112233445566ff", "hex") }), text, {
        secrets: { current: "00112233445566ff", previous: null },
      }),
  ],
  [
    "secret-encoding",
    "base64",
    () =>
      explained(tasks, mac(text, { key: Buffer.from("c2VjcmV0+/8=", "base64") }), text, {
        secrets: { current: "c2VjcmV0+/8=", previous: null },
      }),
  ],
  [
    "secret-encoding",
    "whsec_",
    () =>
      explained(tasks, mac(text, { key: Buffer.from("c2VjcmV0", "base64") }), text, {
        secrets: { current: "whsec_c2VjcmV0", previous: null },
      }),
  ],
  ["secret-of-another-provider", "current", () => explained(tasks, mac(text, { key: "not this" }))],
  [
    "secret-of-another-provider",
    "previous",
    () => explained(tasks, mac(text, { key: "but this one" })),
  ],
  [
    "stale-timestamp",
    "too old",
    () =>
      explained(payments, `t=1000,v1=${mac(`1000.${text}`, { as: "hex" })}`, text, {
        reason: "stale-timestamp",
        receivedAtMs: 5_000_400,
      }),
  ],
  [
    "missing-signature",
    "none",
    () => explained(tasks, null, text, { reason: "missing-signature" }),
  ],
  [
    "several-signatures",
    "two",
    () => explained(tasks, `${mac(text)}, x`, text, { reason: "several-signatures" }),
  ],
  [
    "missing-timestamp",
    "none",
    () => explained(payments, "v1=00", text, { reason: "missing-timestamp" }),
  ],
  [
    "unsupported-scheme",
    "another kind",
    () => explained(inbox, "x", text, { reason: "unsupported-scheme" }),
  ],
  [
    "body-too-large",
    "6 MiB",
    () =>
      explained(tasks, mac(text), text, {
        reason: "body-too-large",
        bytes: null,
        bodyBytes: 6 * 2 ** 20,
      }),
  ],
  [
    "too-many-items",
    "6,000 events",
    () => explained(tasks, mac(text), text, { reason: "too-many-items" }),
  ],
  [
    "unsupported-encoding",
    "gzip",
    () => explained(tasks, mac(text), text, { reason: "unsupported-encoding", bytes: null }),
  ],
  [
    "unknown-provider",
    "no provider",
    () => explained(tasks, mac(text), text, { reason: "unknown-provider", bytes: null }),
  ],
  ["no-secret", "none now", () => explained(tasks, mac(text), text, { secrets: null })],
  ["body-not-kept", "too large", () => explained(tasks, mac(text), text, { bytes: null })],
  ["url-changed", "another host", () => ofSquare("https://hooks.example.com/webhooks/square")],
  ["url-changed", "http", () => ofSquare("http://10.0.0.1:3111/webhooks/square")],
  ["url-changed", "a slash", () => ofSquare("https://10.0.0.1:3111/webhooks/square/")],
  [
    "missing-signed-value",
    "no id",
    () =>
      explained(
        tasks,
        "v1,a",
        text,
        { reason: "missing-signed-value" },
        schemes["standard webhooks"],
      ),
  ],
  [
    "untrusted-key",
    "another host",
    () => explained(tasks, "a", text, { reason: "untrusted-key" }, schemes["paypal"]),
  ],
  ["trailing-newline-added", "to what a public key verifies", ofSendgrid],
  ["unknown", "another secret", () => explained(tasks, mac(text, { key: "who knows" }))],
  ["unknown", "another body", () => explained(tasks, mac("another body"))],
  ["unknown", "an empty body", () => explained(tasks, mac(text), "")],
];

/** A body whose MAC differs between base64 and its URL-safe form. */
const textOfUrlSafe =
  Array.from({ length: 99 }, (_, n) => `{"n":${n}}`).find((body) => /[+/]/.test(mac(body))) ?? "";

describe("explain", () => {
  test.each(rows)("%s: %s", async (cause, _, run) => {
    const { cause: found, detail } = await run();
    expect(found as string).toBe(cause);
    expect(detail).toMatch(/^[A-Z].{20,}/);
  });

  test("has a test for each cause", () => {
    expect(causes.filter((cause) => !rows.some(([tested]) => tested === cause))).toEqual([]);
  });

  test("states by how many seconds a time is too early or too late", async () => {
    const sent = (t: number) => `t=${t},v1=${mac(`${t}.${text}`, { as: "hex" })}`;
    expect((await explained(payments, sent(nowSeconds - 4_000))).detail).toContain(
      "made 4000 s before the webhook was received; at most 300 s are allowed",
    );
    expect((await explained(payments, sent(nowSeconds + 301))).detail).toContain(
      "made 301 s after",
    );
  });

  test("does not blame the secret if the program may have changed", async () => {
    const { detail } = await explained(
      payments,
      `t=${nowSeconds},v1=${mac(`${nowSeconds}.${text}`, { as: "hex" })}`,
    );
    expect(detail).toStartWith("The webhook verifies with the current configuration");
  });

  test("says how to create the supported kind of webhook", async () => {
    const { detail } = await explained(inbox, mac(text), text, { reason: "unsupported-scheme" });
    expect(detail).toEndWith(
      'Set up the kind that signs with x-inbox-signature or x-front-signature. Use a rule with the action "trigger a webhook".',
    );
  });

  test("names the other provider whose secret matches", async () => {
    expect((await explained(tasks, mac(text, { key: "not this" }))).detail).toContain(
      "the secret of Another",
    );
  });

  test("lists what is ruled out for an unknown cause, other providers only if there are any", async () => {
    const { detail } = await explained(tasks, mac("another body"));
    expect(detail).toStartWith(
      "The webhook was signed with another secret, or the body was changed in transit. Ruled out: a line break",
    );
    expect(detail).toContain("the secrets of the other providers");
    const rejected = {
      reason: "wrong-signature",
      method: "POST",
      url: "",
      headers: new Headers({
        [signatureHeaders(providerOf(tasks).signature)[0] ?? ""]: mac("another body"),
      }),
      bytes: Buffer.from(text),
      bodyBytes: text.length,
      receivedAtMs,
    } as const;
    const alone = await explain(
      { provider: providerOf(tasks), secrets: current, others: [] },
      rejected,
    );
    expect(alone.detail).toContain("Ruled out:");
    expect(alone.detail).not.toContain("other providers");
  });

  test("reveals no secret and no valid signature", async () => {
    const explanations = await Promise.all([
      ...rows.map(([, , run]) => run()),
      explained(code, mac("other", { as: "hex" })),
    ]);
    const secrets = [secret, "the one before it", "not this", "but this one", "c2VjcmV0"];
    const right = (["hex", "base64"] as const).flatMap((as) =>
      (["sha1", "sha256"] as const).map((by) => mac(text, { by, as })),
    );
    for (const { detail } of explanations) {
      for (const word of [...secrets, ...right]) expect(detail).not.toContain(word);
    }
  });

  test("handles the largest stored bodies, deeply nested or not JSON", async () => {
    const bodies = [
      "[".repeat(262_144),
      nestedJson(10_000, ""),
      nestedJson(16, "1,".repeat(131_000)),
      `"${"[".repeat(262_000)}"`,
      `"${"\\".repeat(131_000)}`,
      "x".repeat(262_144),
    ];
    for (const body of bodies)
      expect((await explained(tasks, mac("other"), body)).cause).toBe("unknown");
  });

  test("takes bounded time for hundreds of signatures in one header", async () => {
    const body = nestedJson(16, "1,".repeat(131_000));
    const explain = (signatures: number) => () => {
      const claims = Array.from({ length: signatures }, (_, n) => `v1=${`${n}`.padStart(64, "0")}`);
      const reason = "malformed-signature";
      return explained(payments, [`t=${nowSeconds}`, ...claims].join(), body, { reason });
    };
    expect(await timesAsLong(explain(2), explain(200), 4)).toBeLessThanOrEqual(4);
  });
});

test("other requests run between two tries", async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect((await explained(tasks, mac("another text"))).cause).toBe("unknown");
  isOver = true;
  // Each form of the body, and each other secret.
  expect(turns).toBeGreaterThanOrEqual(12 + others.length);
});

const weak: readonly (readonly [scheme: SignatureScheme, sent: string, advice: string])[] = [
  [
    { kind: "shared-secret", from: "header.x-token" },
    "another secret",
    "is not the configured one",
  ],
  [
    { kind: "jwt", from: "header.x-token", algorithms: ["HS256"], bodyHash: "none" },
    "eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
    "PUBLIC_URL",
  ],
];
test.each(weak)("a proof that covers no body is explained: %j", async (scheme, sent, advice) => {
  const { cause, detail } = await explained(tasks, sent, text, {}, scheme);
  expect([cause, detail]).toEqual(["unknown", expect.stringContaining(advice)]);
});
