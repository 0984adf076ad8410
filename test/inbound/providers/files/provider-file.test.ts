import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { FileError } from "../../../../src/base/file-error.ts";
import { catalogueFiles } from "../../../../src/inbound/providers/files/catalogue-files.ts";
import { readProviderFile } from "../../../../src/inbound/providers/files/provider-file.ts";
import { thrown } from "../../../support/failure.ts";

const slack = readFileSync(join(import.meta.dir, "../../../../docs/examples/slack.yaml"), "utf8");

const messagesOf = (text: string) =>
  thrown(FileError, () => readProviderFile("slack.yaml", text))?.messages ?? [];

describe("a provider file", () => {
  test("is read as YAML and as JSON", () => {
    const file = readProviderFile("slack.yaml", slack);
    expect(file.signature).toMatchObject({ kind: "hmac", prefix: "v0=" });
    expect(readProviderFile("slack.json", JSON.stringify(file))).toEqual(file);
  });

  test.each([
    "Set-Cookie: '{query.a}'",
    "Location: '{query.a}'",
    "content-type: text/html",
    "content-type: '{query.a}'",
    "Content-Type: text/html",
    "x-accel-redirect: '{query.a}'",
    "x-content-type-options: none",
  ])("cannot have handshakes answered with the header %s [API8-17]", (header) => {
    const answer = `answer:\n      headers: { ${header} }`;
    const file = slack.replace(/answer:\n *json: .*/, answer);
    expect(file).not.toBe(slack);
    expect(messagesOf(file)).toEqual([
      expect.stringMatching(
        /^slack\.yaml:22: .*(?:is unknown|answer\.headers\.content-type must be)/,
      ),
    ]);
  });

  test.each([
    [
      "kind: hmac",
      "kind: hmak",
      'slack.yaml:8: signature.kind must be one of hmac, ed25519, ecdsa-p256, rsa-pkcs1, rsa-pss, jwt, shared-secret, basic-auth, url, not "hmak"',
    ],
    [
      "encoding: hex",
      "encoding: hexx",
      'slack.yaml:10: signature.encoding must be one of hex, hex-upper, hex-any-case, base64, base64url, not "hexx". Did you mean "hex"?',
    ],
    [
      "displayName:",
      "displayname:",
      'slack.yaml:2: "displayname" is unknown. Did you mean "displayName"?',
    ],
    [
      "severity: warning",
      "severity: warn",
      'slack.yaml:44: events.channel_archive.severity must be one of info, success, warning, error, not "warn". Did you mean "warning"?',
    ],
    ["  unit: seconds", "  unit: [", "slack.yaml:17: Flow sequence"],
    ["encoding: hex", "kind: hmac", "slack.yaml:10: Map keys must be unique"],
    [
      "toleranceSeconds: 300",
      "toleranceSeconds: 0",
      "slack.yaml:17: signature.timestamp.toleranceSeconds: expected integer to be greater or equal to 1",
    ],
  ])("with %s changed to %s says %s", (from, to, message) => {
    const messages = messagesOf(slack.replace(from, to));
    expect(messages.join("\n")).toContain(message);
    for (const line of messages) expect(line).toMatch(/^slack\.yaml:\d+: [^\n]+$/);
  });

  test.each([
    ["nothing", ""],
    ["an array", "[]"],
    ["a text", "a"],
    ["null", "null"],
    ["NUL", "\u0000"],
    ["an alias of itself", "a: &a [*a]"],
    ["a brace", "{"],
    ["300 kB", "x".repeat(300_000)],
  ])("that is %s is an error on one line", (_, text) => {
    const messages = messagesOf(text);
    expect(messages).not.toBeEmpty();
    for (const line of messages) expect(line).toMatch(/^slack\.yaml:\d+: [^\n]+$/);
  });

  test.each([
    ["keys", "k: 1\n".repeat(20_000)],
    ["commas", `[${",".repeat(200_000)}]`],
    ["open brackets", "[".repeat(200_000)],
    ["entries", "- a\n".repeat(20_000)],
  ])("with too many %s is not parsed", (_, text) => {
    expect(messagesOf(text)).toEqual([
      "slack.yaml:1: The file has too many keys and values: shorten it",
    ]);
  });

  test("with values nested too deeply says where", () => {
    const nested = (levels: number) => `body: ${"[".repeat(levels)}1${"]".repeat(levels)}`;
    const sample = (levels: number) =>
      slack.replace(/^samples:\n/m, `samples:\n  deep: { ${nested(levels)} }\n`);
    expect(messagesOf(sample(29))).toEqual([]);
    const [first] = messagesOf(sample(30));
    expect(first).toMatch(/^slack\.yaml:\d+: The value has more than 32 levels$/);
    expect(messagesOf(`a: ${"{a: ".repeat(3_000)}${"}".repeat(3_000)}`)).not.toBeEmpty();
  });

  test("says the line of each key and entry, and lists the errors of a line from left to right", () => {
    const file = `displayName: A
signature: { kind: ed25519, encoding: hex, from: header.x-a, signs: '{id}{body}', prefix: 'a,' }
deliveryId:
  - /id
  - delivery/id
event: a
events:
  404:
    severity:
      from: delivery/c
      is: {}
      otherwise: info
samples: { a: { body: { a: 1 } } }
`;
    expect(messagesOf(file)).toEqual([
      'slack.yaml:2: {id} needs "id", its place',
      expect.stringMatching(/^slack.yaml:2: A comma separates/),
      'slack.yaml:5: {delivery/id} is only for files with "each": write {/id}',
      'slack.yaml:10: {delivery/c} is only for files with "each": write {/c}',
    ]);
  });

  test("repeats no long value in an error", () => {
    const long = "x".repeat(1_000);
    const aliases = Array(90).fill("*a").join(", ");
    const messages = messagesOf(
      slack.replace("severity: warning", `title: &a ${long}\n    severity: [${aliases}]`),
    );
    expect(messages.join()).toContain("channel_archive.severity must be one of");
    for (const message of messages) expect(message.length).toBeLessThan(600);
  });

  test("lists at most 20 errors of its syntax", () => {
    expect(messagesOf(`[${",".repeat(1_000)}]`)).toHaveLength(20);
    expect(messagesOf("a: 1\n".repeat(1_000))).toHaveLength(20);
  });

  test.each([
    ["POST", "json: { a: '{/crc | hmacSha256Hex}' }"],
    ["GET", "text: '{query.crc | hmacSha256Base64}'"],
    ["GET", "{ text: ok, headers: { x-hook-secret: '{query.crc | hmacSha256Hex}' } }"],
  ])("signs nothing for a %s that does not verify: %s", (method, answer) => {
    const place = method === "GET" ? "query.crc" : "/crc";
    const form = answer.startsWith("{") ? answer : `{ ${answer} }`;
    const handshake = `method: ${method}, when: { ${place}: '*' }, answer: ${form}`;
    const base = slack.slice(0, slack.search(/^handshakes:/m));
    const rest = slack
      .slice(slack.search(/^handshakes:/m))
      .replace(/^handshakes:\n(?: .*\n)*/m, "");
    const file = (verified: string) => `${base}handshakes: [{ ${verified}${handshake} }]\n${rest}`;
    expect(messagesOf(file(""))).toEqual([]);
    expect(messagesOf(file("verified: false, "))).toEqual([
      expect.stringContaining("Only a request that verifies gets an HMAC"),
    ]);
  });

  test.each([
    ["each: events", '"events" is no JSON pointer: write "/events"'],
    ["each: /events/*", '"/events/*" names the entries: write "/events", their array'],
    ["each: []", "each"],
    ["each: /events\npayload: form", "The fields of a form are texts, not items"],
    ["payload: text\ntitle: '{/a}'", "{/a}: a body of text has only {/text}"],
    ["payload: xml\neach: /a", "A body of xml has no members: leave each, "],
    ["payload: bytes\nretryChanges: /a", "A body of bytes has no members: leave each, "],
    ["each: /events\ndeliveryId: delivery/event_id", "delivery/event_id is the same for all items"],
    ["each: /events\ndeliveryId: [/id, header.x-id]", "header.x-id is the same for all items"],
    ["subject: '{delivery/id}'", '{delivery/id} is only for files with "each": write {/id}'],
    ["severity: { from: delivery/a, is: {}, otherwise: info }", 'only for files with "each"'],
    ["deliveryId: delivery/id", 'only for files with "each"'],
    ["retryChanges: payload", '"payload" is not part of what identifies an event'],
    [
      "retryChanges: header.x-retry",
      "write a JSON pointer, or header.x-slack-request-timestamp, the signed time",
    ],
    [
      "each: /events\npayment: { kinds: { a: paid }, amount: /a, currency: /c }",
      '"payment" reads the whole payload, so it cannot be used with "each"',
    ],
  ])("with %p says %s", (lines, message) => {
    const given = new Set(lines.match(/^\w+/gm));
    const kept = slack.split("\n").filter((line) => !given.has(line.split(":")[0] ?? ""));
    expect(messagesOf(`${kept.join("\n")}\n${lines}\n`).join("\n")).toContain(message);
  });

  test("shows no secret that the body contains", () => {
    const scheme = "signature: { kind: shared-secret, from: /s }\n";
    const file = slack.replace(/^signature:\n(?: .*\n|\n)*/m, scheme);
    const shown = file.replace("{/event/user}", "{/s}");
    expect(messagesOf(file)).toEqual([]);
    expect(messagesOf(shown).join()).toContain("{/s} holds the signature or the secret");
  });

  test("names places of the whole delivery only in events", () => {
    for (const [from, to] of [
      ["header.x-slack-signature", "delivery/signature"],
      ["header.x-slack-request-timestamp", "delivery/time"],
      ["{/challenge}", "{delivery/challenge}"],
    ] as const) {
      expect(slack).toContain(from);
      expect(messagesOf(`${slack.replace(from, to)}\neach: /events\n`)).not.toBeEmpty();
    }
    const file = slack.replace("deliveryId: /event_id", "deliveryId: /id");
    expect(
      messagesOf(`${file.replace("{/event/user}", "{delivery/team ?? /a}")}\neach: ""\n`),
    ).toEqual([]);
  });

  const signing = "when: { query.a: b }, answer: { text: '{query.a | hmacSha256Hex}' }";
  test.each([
    ["{body}", "HEAD", "answer: {}", null],
    ["{body}", "GET", "answer: {}", 'Write "when": every GET'],
    ["{body}", "GET", signing, null],
    ["{timestamp}{body}", "GET", signing, "signs exactly {body}"],
    ["{body}", "POST", signing, "signs exactly {body}"],
    ["{body}", "HEAD", "when: { /a: b }, answer: {}", "A HEAD has no body"],
    ["{body}", "POST", "when: { /a: b }, stored: true, answer: {}", "leave stored out"],
  ])("that signs %s, with an unsigned %s and %s, says %p", (signs, method, rest, problem) => {
    const time = "timestamp: { from: header.x-time, toleranceSeconds: 300 }";
    const scheme = `kind: hmac, algorithm: sha256, encoding: hex, from: header.x-a, signs: '${signs}'`;
    const file = `displayName: A
signature: { ${scheme}${signs === "{body}" ? "" : `, ${time}`} }
handshakes: [{ method: ${method}, verified: false, ${rest} }]
event: a
events: { a: {} }
samples: { a: { body: { a: 1 } } }
`;
    const messages = messagesOf(file).join();
    if (problem === null) expect(messages).toBe("");
    else expect(messages).toContain(problem);
  });

  test("reads no larger payload than verification does", () => {
    const mailgun = catalogueFiles["mailgun"] ?? "";
    expect(messagesOf(mailgun)).toEqual([]);
    expect(messagesOf(mailgun.replace("maxBodyBytes: 1048576", "maxBodyBytes: 1048577"))).toEqual([
      expect.stringContaining("read only up to 1048576 bytes"),
    ]);
    expect(
      messagesOf(slack.replace("displayName:", "maxBodyBytes: 1048577\ndisplayName:")),
    ).toEqual([]);
  });

  test("with a token in the query needs a hash of the body, and has no claims as payload", () => {
    const signature = "kind: jwt, from: query.token, algorithms: [HS256]";
    const file = (more: string, body: string) =>
      `displayName: A\n${body}signature: { ${signature}${more} }\nevent: a\nevents: { a: { type: a } }\nsamples: { a: { body: { a: 1 } } }\n`;
    const hash = ", bodyHash: { claim: hash, algorithm: sha256, encoding: hex }";
    expect(messagesOf(file("", "")).join()).toContain("A token outside the body does not cover");
    expect(messagesOf(file(hash, "payload: jwt\n")).join()).toContain("go together");
    expect(messagesOf(file(hash, ""))).toEqual([]);
    expect(messagesOf(file(", bodyHash: none", ""))).toEqual([]);
    expect(messagesOf(file(", bodyHash: none", "payload: jwt\n")).join()).toContain("go together");
  });
});
