import { createHmac } from "node:crypto";

import { compactReference } from "./compact.ts";
import { nowSeconds, secrets, type SignedCase } from "./signed-case.ts";

/** A kind of delivery that we judge otherwise than a reference does, on purpose. */
export interface Disagreement {
  readonly with: string;
  readonly ours: "accepts" | "refuses";
  readonly because: string;
  readonly explains: (tried: SignedCase) => boolean;
  /** One that shows it: the tests hold that it is judged differently, for this reason. */
  readonly example: SignedCase;
}

const mac = (algorithm: string, ...texts: readonly (string | Uint8Array)[]): Buffer => {
  const hmac = createHmac(algorithm, secrets.current);
  for (const text of texts) hmac.update(text);
  return hmac.digest();
};
const plain = Buffer.from('{"a":1}');
const spaced = Buffer.from('{ "a": 1 }');
const notUtf8 = Buffer.from([0x22, 0xff, 0x22]);
const isUtf8 = (bytes: Uint8Array): boolean =>
  Buffer.from(Buffer.from(bytes).toString()).equals(bytes);
/** Bytes that read as U+FFFD: signed as that, they are another body. */
const replaced = Buffer.from(notUtf8.toString());

const codeHost = (header: string, body: Uint8Array = plain) => ({
  provider: "code_host",
  body,
  header,
});
const taskTracker = (header: string) => ({ provider: "task_tracker", body: plain, header });
const sharedInbox = (signed: Uint8Array, body: Uint8Array) => ({
  provider: "shared_inbox",
  body,
  header: mac("sha1", signed).toString("base64"),
});
const payment = (header: string, body: Uint8Array = plain) => ({
  provider: "payment_processor",
  body,
  header,
});
const v1 = (time: number | string, body: Uint8Array = plain): string =>
  `v1=${mac("sha256", `${time}.`, body).toString("hex")}`;

const canonicalHex = /^(?:sha256=)?[0-9a-f]+$/;
const isCanonicalBase64 = (text: string): boolean =>
  Buffer.from(text, "base64").toString("base64") === text;
const hexMac = mac("sha256", plain).toString("hex");
const base64Mac = mac("sha256", plain).toString("base64");
const timesIn = ({ header }: SignedCase): string[] => header.match(/(?:^|,)[ \t]*t=[^,]*/g) ?? [];

export const disagreements: readonly Disagreement[] = [
  {
    with: "@octokit/webhooks-methods",
    ours: "refuses",
    because: "it verifies text: bytes that are no UTF-8 are the same to it as U+FFFD",
    explains: ({ body }) => !isUtf8(body),
    example: codeHost(`sha256=${mac("sha256", replaced).toString("hex")}`, notUtf8),
  },
  {
    with: "@octokit/webhooks-methods",
    ours: "accepts",
    because: "we verify the bytes as sent, also when they are no UTF-8",
    explains: ({ body }) => !isUtf8(body),
    example: codeHost(`sha256=${mac("sha256", notUtf8).toString("hex")}`, notUtf8),
  },
  {
    with: "@octokit/webhooks-methods",
    ours: "accepts",
    because: "it throws on an empty body; signed, it is as good as any other",
    explains: ({ body }) => body.length === 0,
    example: codeHost(`sha256=${mac("sha256", "").toString("hex")}`, new Uint8Array()),
  },
  {
    with: "decoded hex",
    ours: "refuses",
    because: "one signature has one spelling: lower-case digits, and nothing else around them",
    explains: ({ header }) => !canonicalHex.test(header),
    example: codeHost(`sha256=${hexMac.toUpperCase()}`),
  },
  {
    with: "decoded hex",
    ours: "refuses",
    because: "an odd digit at the end is dropped by the decoder, not by us",
    explains: ({ header }) => header.replace("sha256=", "").length % 2 === 1,
    example: codeHost(`sha256=${hexMac}0`),
  },
  {
    with: "decoded base64",
    ours: "refuses",
    because:
      "one signature has one spelling: the standard alphabet, padded, no stray bits (RFC 4648)",
    explains: ({ header }) => !isCanonicalBase64(header),
    example: taskTracker(base64Mac.replaceAll("=", "")),
  },
  {
    with: "JSON.stringify",
    ours: "accepts",
    because: "the raw bytes as they were signed, white space or no JSON at all included",
    explains: ({ body, header }) => isSignedOver(body, header),
    example: sharedInbox(spaced, spaced),
  },
  {
    with: "JSON.stringify",
    ours: "accepts",
    because:
      "white space is taken out token for token: numbers and letters stay as they were written",
    explains: ({ body, header }) => isSignedOver(compactReference(body), header),
    example: sharedInbox(Buffer.from("[1.0]"), Buffer.from("[ 1.0]")),
  },
  {
    with: "JSON.stringify",
    ours: "refuses",
    because:
      "what was parsed and printed again is not what was sent: two bodies could share a signature",
    explains: ({ body }) =>
      !isUtf8(body) ||
      JSON.stringify(JSON.parse(Buffer.from(body).toString())) !==
        Buffer.from(compactReference(body)).toString(),
    example: sharedInbox(Buffer.from("[1]"), Buffer.from("[1.0]")),
  },
  {
    with: "stripe-node",
    ours: "refuses",
    because: "a time in the future is as stale as one in the past",
    explains: (tried) =>
      timesIn(tried).some(
        (item) => Number.parseInt(item.replace(/^.*t=/, ""), 10) > nowSeconds + 300,
      ),
    example: payment(`t=${nowSeconds + 301},${v1(nowSeconds + 301)}`),
  },
  {
    with: "stripe-node",
    ours: "refuses",
    because: "with two times nobody can tell which one is signed",
    explains: (tried) => timesIn(tried).length > 1,
    example: payment(`t=1,t=${nowSeconds},${v1(nowSeconds)}`),
  },
  {
    with: "stripe-node",
    ours: "refuses",
    because: "a time is digits; it reads those that a text begins with",
    explains: (tried) => timesIn(tried).some((item) => !/^,?t=(?:[1-9]\d*|0)$/.test(item)),
    example: payment(`t=${nowSeconds}x,${v1(nowSeconds)}`),
  },
  {
    with: "stripe-node",
    ours: "accepts",
    because: "the time is signed as it was written, a zero in front included",
    explains: (tried) => timesIn(tried).some((item) => /t=0\d/.test(item)),
    example: payment(`t=0${nowSeconds},${v1(`0${nowSeconds}`)}`),
  },
  {
    with: "stripe-node",
    ours: "refuses",
    because: "more than eight signatures are not looked at",
    explains: ({ header }) => header.split("v1=").length - 1 > 8,
    example: payment(`t=${nowSeconds},${v1(nowSeconds)}${",v1=0".repeat(8)}`),
  },
  {
    with: "stripe-node",
    ours: "refuses",
    because: "a second = is no part of a signature; it leaves out what follows",
    explains: ({ header }) => /v1=[0-9a-f]{64}=/.test(header),
    example: payment(`t=${nowSeconds},${v1(nowSeconds)}=x`),
  },
  {
    with: "stripe-node",
    ours: "accepts",
    because:
      "white space around commas: HTTP lets proxies join and fold lists (RFC 9110 section 5.6.1)",
    explains: ({ header }) => /[ \t],|,[ \t]/.test(header),
    example: payment(`t=${nowSeconds}, ${v1(nowSeconds)}`),
  },
  {
    with: "stripe-node",
    ours: "refuses",
    because: "it verifies text: bytes that are no UTF-8 are the same to it as U+FFFD",
    explains: ({ body }) => !isUtf8(body),
    example: payment(`t=${nowSeconds},${v1(nowSeconds, replaced)}`, notUtf8),
  },
  {
    with: "stripe-node",
    ours: "accepts",
    because: "we verify the bytes as sent, also when they are no UTF-8",
    explains: ({ body }) => !isUtf8(body),
    example: payment(`t=${nowSeconds},${v1(nowSeconds, notUtf8)}`, notUtf8),
  },
];

function isSignedOver(text: Uint8Array, header: string): boolean {
  return [secrets.current, secrets.previous].some(
    (secret) => createHmac("sha1", secret).update(text).digest("base64") === header,
  );
}
