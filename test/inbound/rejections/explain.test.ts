import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { causes } from "../../../src/inbound/rejections/causes.ts";
import { explain, type Known } from "../../../src/inbound/rejections/explain.ts";
import type { RejectedRequest } from "../../../src/inbound/rejections/explanation.ts";
import { signatureHeaders, type SignatureScheme } from "../../../src/inbound/signatures/scheme.ts";
import { providerOf } from "../../support/app.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { turns } from "../../support/turns.ts";
import { schemeOf } from "../signatures/schemes.ts";
import { requestOf, signer } from "../signatures/suite/signer.ts";

import { nestedJson } from "./hostile-bodies.ts";

const secret = "a secret of twenty-odd characters";
const current = { current: secret, previous: "the one before it" };
const text = '{"name":"Größe","path":"a/b","items":[1,2],"none":null}';
const receivedAtMs = Date.UTC(2026, 10, 21, 9);
const nowSeconds = receivedAtMs / 1_000;
type Given = Partial<RejectedRequest> & Partial<Pick<Known, "secrets" | "others">>;
const someOthers: Known["others"] = [
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
  { secrets = current, others = someOthers, ...fields }: Given = {},
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

type Explained = Parameters<typeof explained>;

const tasks = "task_tracker"; // base64 of SHA-256
const inbox = "shared_inbox"; // base64 of SHA-1, raw or compact
const deploys = "deploy_platform"; // hex of SHA-1
const code = "code_host"; // hex of SHA-256 after "sha256="
const payments = "payment_processor"; // hex of SHA-256 over time and body

/** A delivery of a service that signs the URL, received behind a proxy. */
function ofSquare(signedUrl: string): Explained {
  const square = schemeOf("square");
  const headers = new Headers({
    "x-square-hmacsha256-signature": mac(`${signedUrl}${text}`),
    "x-forwarded-host": "hooks.example.com",
  });
  const url = "http://10.0.0.1:3111/webhooks/square";
  // The URL as it is would verify.
  const received = signedUrl === url ? url.replace("http:", "https:") : url;
  return [tasks, null, text, { headers, url: received }, square];
}

function ofSendgrid(): Explained {
  const sendgrid = schemeOf("sendgrid");
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
  return [tasks, null, bytes, { headers, receivedAtMs: atMs, secrets }, sendgrid];
}

/** A body whose MAC differs between base64 and its URL-safe form. */
const urlSafe =
  Array.from({ length: 99 }, (_, n) => `{"n":${n}}`).find((body) => /[+/]/.test(mac(body))) ?? "";

const right = mac(text);
const sha1 = mac(text, { by: "sha1", as: "hex" });
const old = mac(text, { key: current.previous });
const pretty = JSON.stringify(JSON.parse(text), null, 2);
const only = (secret: string) => ({ secrets: { current: secret, previous: null } });
/** A header that signs a time with the body. */
const timed = (seconds: number) => `t=${seconds},v1=${mac(`${seconds}.${text}`, { as: "hex" })}`;

/** Without a check of the signature, or with one that says so much. */
const rejectedFor = (
  reason: RejectedRequest["reason"],
  { header = right, id = tasks, ...fields }: Given & { header?: string | null; id?: string } = {},
): Explained => [id, header, text, { reason, ...fields }];
/** Signed by a scheme of the catalogue. */
const signedBy = (
  service: string,
  header: string,
  reason: RejectedRequest["reason"],
): Explained => [tasks, header, text, { reason }, schemeOf(service)];
/** Signed with the bytes that a text encodes, while `secret` is the text. */
const decoded = (key: string, encoding: "hex" | "base64", secret = key): Explained => [
  tasks,
  mac(text, { key: Buffer.from(key, encoding) }),
  text,
  only(secret),
];
const tooOld = { id: payments, header: timed(1_000), receivedAtMs: 5_000_400 };
const tooLarge = { bytes: null, bodyBytes: 6 * 2 ** 20 };
const ofPython = '{"name": "Gr\\u00f6\\u00dfe", "path": "a/b", "items": [1, 2], "none": null}';
const ofPhp = '{"name":"Gr\\u00f6\\u00dfe","path":"a\\/b","items":[1,2],"none":null}';
const [escapes, spaced] = ['{"a":1.0,"b":"\\u00f6"}', '{ "a": 1.0, "b": "\\u00f6" }'];

/** At least one row per cause: the expected cause, a label, and the delivery. */
const rows: readonly (readonly [string, string, ...Explained])[] = [
  ["verifies-now", "set since", tasks, right],
  ["previous-secret", "accepted", tasks, old],
  ["trailing-newline-added", "LF", tasks, right, `${text}\n`],
  ["trailing-newline-added", "CRLF", tasks, right, `${text}\r\n`],
  ["trailing-newline-added", "by the previous secret", tasks, old, `${text}\n`],
  ["trailing-newline-added", "after the time", payments, timed(nowSeconds), `${text}\n`],
  ["trailing-newline-lost", "LF", tasks, mac(`${text}\n`)],
  ["trailing-newline-lost", "CRLF", tasks, mac(`${text}\r\n`)],
  ["line-endings-changed", "to CRLF", tasks, mac("{\n}"), "{\r\n}"],
  ["line-endings-changed", "to LF", tasks, mac("{\r\n}"), "{\n}"],
  ["body-reformatted", "compact before", tasks, right, pretty],
  ["body-reformatted", "numbers and escapes as sent", tasks, mac(escapes), spaced],
  ["body-reformatted", "indented before", tasks, mac(pretty)],
  ["body-reformatted", "as Python prints", tasks, mac(ofPython)],
  ["body-reformatted", "as PHP prints", tasks, mac(ofPhp)],
  ["hex-for-base64", "right", tasks, mac(text, { as: "hex" })],
  ["hex-for-base64", "wrong", tasks, mac("other", { as: "hex" })],
  ["base64-for-hex", "right", deploys, mac(text, { by: "sha1" })],
  ["base64-for-hex", "after a prefix", code, `sha256=${right}`],
  ["upper-case-hex", "right", deploys, sha1.toUpperCase()],
  ["missing-prefix", "right", code, mac(text, { as: "hex" })],
  ["missing-prefix", "wrong", code, mac("other", { as: "hex" })],
  ["malformed-signature", "base64url", tasks, mac(urlSafe, { as: "base64url" }), urlSafe],
  [
    "malformed-signature",
    "of no length",
    ...rejectedFor("malformed-signature", { header: "00ff" }),
  ],
  ["other-algorithm", "SHA-256 for SHA-1", deploys, mac(text, { as: "hex" })],
  ["other-algorithm", "SHA-1 under its own prefix", code, `sha1=${sha1}`],
  ["other-algorithm", "SHA-512", tasks, mac(text, { by: "sha512" })],
  ["other-algorithm", "over compact JSON", inbox, right, pretty],
  ["secret-white-space", "here", tasks, right, text, only(` ${secret}\n`)],
  ["secret-white-space", "there", tasks, mac(text, { key: `${secret}\n` })],
  ["secret-encoding", "hex", ...decoded("00112233445566ff", "hex")],
  ["secret-encoding", "base64", ...decoded("c2VjcmV0+/8=", "base64")],
  ["secret-encoding", "whsec_", ...decoded("c2VjcmV0", "base64", "whsec_c2VjcmV0")],
  ["secret-of-another-provider", "current", tasks, mac(text, { key: "not this" })],
  ["secret-of-another-provider", "previous", tasks, mac(text, { key: "but this one" })],
  ["stale-timestamp", "too old", ...rejectedFor("stale-timestamp", tooOld)],
  ["missing-signature", "none", ...rejectedFor("missing-signature", { header: null })],
  ["several-signatures", "two", ...rejectedFor("several-signatures", { header: `${right}, x` })],
  ["missing-timestamp", "none", payments, "v1=00", text, { reason: "missing-timestamp" }],
  ["unsupported-scheme", "another kind", inbox, "x", text, { reason: "unsupported-scheme" }],
  ["body-too-large", "6 MiB", ...rejectedFor("body-too-large", tooLarge)],
  ["too-many-items", "6,000 events", ...rejectedFor("too-many-items")],
  ["unsupported-encoding", "gzip", ...rejectedFor("unsupported-encoding", { bytes: null })],
  ["unknown-provider", "no provider", ...rejectedFor("unknown-provider", { bytes: null })],
  ["no-secret", "none now", tasks, right, text, { secrets: null }],
  ["body-not-kept", "too large", tasks, right, text, { bytes: null }],
  ["url-changed", "another host", ...ofSquare("https://hooks.example.com/webhooks/square")],
  ["url-changed", "http", ...ofSquare("http://10.0.0.1:3111/webhooks/square")],
  ["url-changed", "a slash", ...ofSquare("https://10.0.0.1:3111/webhooks/square/")],
  [
    "missing-signed-value",
    "no id",
    ...signedBy("standard_webhooks", "v1,a", "missing-signed-value"),
  ],
  ["untrusted-key", "another host", ...signedBy("paypal", "a", "untrusted-key")],
  ["trailing-newline-added", "to what a public key verifies", ...ofSendgrid()],
  ["unknown", "another secret", tasks, mac(text, { key: "who knows" })],
  ["unknown", "another body", tasks, mac("another body")],
  ["unknown", "an empty body", tasks, right, ""],
];

describe("explain", () => {
  test.each(rows.map(([cause, label, ...given]) => ({ cause, label, given })))(
    "$cause: $label",
    async ({ cause, given }) => {
      const { cause: found, detail } = await explained(...given);
      expect(found as string).toBe(cause);
      expect(detail).toMatch(/^[A-Z].{20,}/);
    },
  );

  test("has a test for each cause", () => {
    expect(causes.filter((cause) => !rows.some(([tested]) => tested === cause))).toEqual([]);
  });

  test("states by how many seconds a time is too early or too late", async () => {
    expect((await explained(payments, timed(nowSeconds - 4_000))).detail).toContain(
      "made 4000 s before the webhook was received; at most 300 s are allowed",
    );
    expect((await explained(payments, timed(nowSeconds + 301))).detail).toContain(
      "made 301 s after",
    );
  });

  test("does not blame the secret if the program may have changed", async () => {
    const { detail } = await explained(payments, timed(nowSeconds));
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
    const alone = await explained(tasks, mac("another body"), text, { others: [] });
    expect(alone.detail).toContain("Ruled out:");
    expect(alone.detail).not.toContain("other providers");
  });

  test("reveals no secret and no valid signature", async () => {
    const explanations = await Promise.all([
      ...rows.map(([, , ...given]) => explained(...given)),
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
  using turn = turns();
  expect((await explained(tasks, mac("another text"))).cause).toBe("unknown");
  // Each form of the body, and each other secret.
  expect(turn.now()).toBeGreaterThanOrEqual(12 + someOthers.length);
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

test.each([
  [undefined, "ts=<unix seconds>"],
  ["milliseconds", "ts=<unix milliseconds>"],
  ["iso8601", "ts=<ISO 8601 time>"],
] as const)("says in which unit the time is expected: %j", async (unit, form) => {
  const scheme = {
    kind: "hmac",
    algorithm: "sha256",
    encoding: "hex",
    from: "header.x-signature",
    items: { separator: ";", signature: "h1=" },
    signs: "{timestamp}:{body}",
    timestamp: { item: "ts=", toleranceSeconds: 60, ...(unit && { unit }) },
  } as const;
  for (const reason of ["malformed-signature", "missing-timestamp"] as const) {
    const { detail } = await explained(tasks, "h1=", text, { reason }, scheme);
    expect(detail).toContain(form);
  }
});
