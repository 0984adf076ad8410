import { describe, expect, test } from "bun:test";

import * as octokit from "@octokit/webhooks-methods";
import fc from "fast-check";

import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { codeHost } from "../../../src/inbound/providers/code_host.ts";
import {
  catalogueFile,
  catalogueFiles,
} from "../../../src/inbound/providers/files/catalogue-files.ts";
import { compactJson } from "../../../src/inbound/signatures/compact-json.ts";
import type { SignatureScheme } from "../../../src/inbound/signatures/scheme.ts";
import { signatureHeaders, signsCompactJson } from "../../../src/inbound/signatures/scheme.ts";
import { sign } from "../../../src/inbound/signatures/sign.ts";
import { verifier } from "../../../src/inbound/signatures/signature.ts";
import type {
  SecretRole,
  SignatureRejection,
} from "../../../src/inbound/signatures/signed-request.ts";
import { forAll, forAllAsync, runs } from "../../support/runs.ts";
import { notInstalled, skips } from "../../support/skips.ts";

import { schemes } from "./schemes.ts";
import { signatureSuite, wrongRows } from "./suite.ts";
import { signsAnyBody } from "./suite/sections.ts";

// Takes seconds: some hundred attempts for each of sixty schemes, and key pairs of RSA.
for (const { id, signature } of catalogue) {
  if (signsAnyBody(signature)) signatureSuite(id, signature);
}
for (const [name, scheme] of Object.entries(schemes)) signatureSuite(name, scheme);

test.each(Object.entries(catalogueFiles))("the scheme of %s conforms", (_, text) => {
  const { signature } = catalogueFile(text);
  if (signsAnyBody(signature)) expect(wrongRows(signature)).toEqual([]);
});

const now = 1_763_716_364;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function outcomeOf(
  scheme: SignatureScheme,
  secret: string,
  body: Uint8Array,
  header: string,
): SecretRole | SignatureRejection {
  const headers = new Headers([[signatureHeaders(scheme)[0] ?? "", header]]);
  const verify = verifier(scheme, { current: secret, previous: null });
  const result = verify({
    method: "POST",
    url: "",
    headers,
    bytes: body,
    receivedAtMs: now * 1_000,
  });
  if (result instanceof Promise) throw new Error("The verifier is not synchronous");
  return "rejection" in result ? result.rejection : result.verified.signedWith;
}

describe.skipIf(skips(notInstalled("openssl")))("signatures made by openssl", () => {
  for (const { id, signature: scheme } of catalogue) {
    test(`${id} accepts them over any bytes`, async () => {
      const body = fc.uint8Array({ maxLength: 5_000, size: "max" });
      await forAllAsync(runs(10), [anySecret, body], async (secret, bytes) => {
        const header = await opensslHeader(scheme, secret, bytes);
        expect(outcomeOf(scheme, secret, bytes, header)).toBe("current");
      });
    });

    test(`${id} makes the same signatures`, async () => {
      await forAllAsync(runs(10), [anySecret, anyJson], async (secret, value) => {
        const sent = utf8(JSON.stringify(value, null, 2));
        const compact = signsCompactJson(scheme);
        const signed = compact ? utf8(JSON.stringify(value)) : sent;
        const header = await opensslHeader(scheme, secret, signed);
        expect(sign(scheme, secret, sent, now * 1_000)).toBe(header);
        expect(outcomeOf(scheme, secret, sent, header)).toBe("current");
      });
    });
  }
});

async function opensslHeader(
  scheme: SignatureScheme,
  secret: string,
  body: Uint8Array,
): Promise<string> {
  if (scheme.kind !== "hmac") throw new Error("openssl makes HMACs here");
  const timestamped = scheme.timestamp !== undefined;
  const key = `hexkey:${Buffer.from(secret).toString("hex")}`;
  const options = [`-${scheme.algorithm}`, "-mac", "HMAC", "-macopt", key, "-binary"];
  const text = timestamped ? Buffer.concat([utf8(`${now}.`), body]) : body;
  const child = Bun.spawn(["openssl", "dgst", ...options], { stdin: text, stdout: "pipe" });
  const bytes = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const mac = bytes.toString(scheme.encoding === "base64" ? "base64" : "hex");
  expect(await child.exited).toBe(0);
  return timestamped ? `t=${now},v1=${mac}` : `${scheme.prefix ?? ""}${mac}`;
}

describe("code_host and @octokit/webhooks-methods", () => {
  const scheme = codeHost.signature;
  const body = fc.string({ unit: "binary", minLength: 1 });

  test("verifies the example in GitHub's documentation", () => {
    const secret = "It's a Secret to Everybody";
    const known = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    expect(sign(scheme, secret, utf8("Hello, World!"), 0)).toBe(known);
    expect(outcomeOf(scheme, secret, utf8("Hello, World!"), known)).toBe("current");
    expect(outcomeOf(scheme, secret, utf8("Hello, World?"), known)).toBe("wrong-signature");
  });

  test("Skyhook accepts what octokit signs", async () => {
    await forAllAsync(100, [anySecret, body], async (secret, text) => {
      const header = await octokit.sign(secret, text);
      expect(outcomeOf(scheme, secret, utf8(text), header)).toBe("current");
      expect(outcomeOf(scheme, `${secret}x`, utf8(text), header)).toBe("wrong-signature");
    });
  });

  test("octokit accepts what Skyhook signs", async () => {
    await forAllAsync(100, [anySecret, body], async (secret, text) => {
      const header = sign(scheme, secret, utf8(text), 0);
      expect(await octokit.verify(secret, text, header)).toBe(true);
      expect(await octokit.verify(`${secret}x`, text, header)).toBe(false);
    });
  });
});

describe("compact JSON", () => {
  const compactText = (text: string): string =>
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(compactJson(utf8(text)));
  const whiteSpace = fc.string({ unit: fc.constantFrom(" ", "\t", "\r", "\n"), maxLength: 10 });
  const indent = fc.oneof(fc.nat(10), whiteSpace);

  test("equals the output of JSON.stringify for any formatting", () => {
    forAll(runs(500), [anyJson, indent, whiteSpace], (value, space, around) => {
      const pretty = around + JSON.stringify(value, null, space) + around;
      expect(compactText(pretty)).toBe(JSON.stringify(value));
    });
  });

  test("does not change when compacted again, for any bytes", () => {
    const jsonBytes = fc.constantFrom(...utf8('"\\ \n\t\r{}[]:,a'));
    const anyBytes = fc.oneof(
      fc.uint8Array(),
      fc.array(jsonBytes).map((list) => Uint8Array.from(list)),
    );
    forAll(runs(1_000), [anyBytes], (bytes) => {
      const before = Uint8Array.from(bytes);
      const once = compactJson(bytes);
      expect(Buffer.compare(compactJson(once), once)).toBe(0);
      expect(Buffer.compare(bytes, before)).toBe(0);
      // Only white space is removed, and nothing is added.
      expect(withoutWhiteSpace(once)).toEqual(withoutWhiteSpace(bytes));
    });
  });
});

const withoutWhiteSpace = (bytes: Uint8Array): number[] =>
  [...bytes].filter((byte) => ![0x20, 0x09, 0x0a, 0x0d].includes(byte));
const anySecret = fc.string({ unit: "binary", minLength: 1, maxLength: 100, size: "max" });
/** JSON that is hard to parse: quotes, escapes and white space within strings. */
const anyJson = fc.jsonValue({
  stringUnit: fc.constantFrom(...Array.from('"\\ \n\t/{:,a\u00e9\u{1f6eb}')),
});
