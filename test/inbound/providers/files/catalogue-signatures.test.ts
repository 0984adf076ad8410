import { describe, expect, test } from "bun:test";

import { exactText, lookup, oneOrMore, valueAt } from "../../../../src/base/place.ts";
import { catalogueFiles } from "../../../../src/inbound/providers/files/catalogue-files.ts";
import { readProviderFile } from "../../../../src/inbound/providers/files/provider-file.ts";
import { fetchedKeys } from "../../../../src/inbound/signatures/fetched-key.ts";
import type { KeyStore } from "../../../../src/inbound/signatures/key-store.ts";
import {
  headerIn,
  isTextScheme,
  isWeak,
  signaturePlaces,
  type SignatureScheme,
  signedUnder,
  signsUrl,
  toleranceOf,
} from "../../../../src/inbound/signatures/scheme.ts";
import { signature } from "../../../../src/inbound/signatures/sign.ts";
import { verifier } from "../../../../src/inbound/signatures/signature.ts";
import type { SignedRequest } from "../../../../src/inbound/signatures/signed-request.ts";
import { type Recorded, recordedDeliveries, type RecordedDelivery } from "../oracles/recorded.ts";

/** The keys that the service publishes, without a network. */
function servedKeys({ serves = {} }: Recorded, atMs: number): KeyStore {
  return {
    confirm() {},
    find(source, { url, kid }) {
      const served = serves[url];
      if (served === undefined) return null;
      const text = typeof served === "string" ? served : JSON.stringify(served);
      return fetchedKeys(source, text, kid, atMs);
    },
  };
}

describe.each(Object.entries(catalogueFiles))("%s", (name, text) => {
  const { signature: scheme } = readProviderFile(`${name}.yaml`, text);
  const recorded = recordedDeliveries(name);

  /** Whether the scheme accepts the delivery, or what rejects it. */
  async function verdict(
    delivery: RecordedDelivery,
    change: Partial<SignedRequest> = {},
    secret = delivery.secret ?? recorded.secret,
  ): Promise<string> {
    const atMs = Date.parse(delivery.at);
    // The recorded certificates are valid from the day of the recording.
    const keys = servedKeys(recorded, Date.parse("2026-12-01"));
    const verify = verifier(scheme, { current: secret, previous: null }, keys);
    const result = await verify({
      method: "POST",
      url: delivery.url,
      headers: new Headers(delivery.headers),
      bytes: Buffer.from(delivery.body),
      receivedAtMs: atMs,
      ...change,
    });
    return "verified" in result ? "verified" : result.rejection;
  }

  test.each(recorded.deliveries)("accepts $title", async (delivery) => {
    expect(await verdict(delivery)).toBe("verified");
  });

  const isSecret = ["hmac", "shared-secret", "basic-auth"].includes(scheme.kind);
  const repeatable = recorded.deliveries.filter(({ title }) => !otherUrl.test(title));
  test.each(isSecret ? repeatable : [])("signs as the service did: $title", (delivery) => {
    const { url, headers, at, body, secret = recorded.secret } = delivery;
    const source = { headers: new Headers(headers), url, payload: () => JSON.parse(body) };
    const place = signaturePlaces(scheme).find((each) => lookup(each)(source) !== undefined) ?? "";
    const header = headerIn(place);
    const own = header === null ? scheme : signedUnder(scheme, header);
    const request = { method: "POST", url, headers, bytes: Buffer.from(body) };
    const made = signature(withTimeAsSent(own), { secret }, request, Date.parse(at));
    // In a list, there are others. WorkOS sends a space after the comma.
    expect(exactText(lookup(place)(source))?.replace(", ", ",")).toContain(made.value);
  });

  test.each(recorded.deliveries)("rejects $title with a changed body", async (delivery) => {
    const changed = Buffer.from(alteredBody(name, delivery.body));
    expect(changed.toString()).not.toBe(delivery.body);
    expect(await verdict(delivery, { bytes: changed })).toBe(
      // The service signs nothing: the file says so.
      isWeak(scheme) ? "verified" : "wrong-signature",
    );
  });

  test.each(recorded.deliveries)("rejects $title with a changed signature", async (delivery) => {
    for (const place of signaturePlaces(scheme)) {
      const header = headerIn(place);
      // Of several places, a delivery has one.
      if (header !== null && delivery.headers[header] === undefined) continue;
      if (place.startsWith("query.")) {
        await expectQuerySigned(delivery, place.slice("query.".length));
        continue;
      }
      if (header === null) {
        await expectBodySigned(delivery, place.slice(1).split("/"));
        continue;
      }
      const headers = new Headers(delivery.headers);
      headers.set(header, changedInside(delivery.headers[header] ?? ""));
      expect(await verdict(delivery, { headers })).not.toBe("verified");
      headers.delete(header);
      expect(await verdict(delivery, { headers })).toBe("missing-signature");
    }
  });

  /** Changes and removes what is in the query. */
  async function expectQuerySigned(delivery: RecordedDelivery, member: string) {
    const url = new URL(delivery.url);
    url.searchParams.set(member, changedInside(url.searchParams.get(member) ?? ""));
    expect(await verdict(delivery, { url: url.href })).toBe("wrong-signature");
    url.searchParams.delete(member);
    expect(await verdict(delivery, { url: url.href })).toBe("missing-signature");
  }

  /** Changes and removes a signature in the body. */
  async function expectBodySigned(delivery: RecordedDelivery, path: readonly string[]) {
    const { body } = delivery;
    const signature = String(valueAt(JSON.parse(body), path));
    const changed = body.replace(signature, changedInside(signature));
    expect(changed).not.toBe(body);
    expect(await verdict(delivery, { bytes: Buffer.from(changed) })).toBe("wrong-signature");
    const without = body.replace(`"${path.at(-1)}"`, '"other"');
    expect(await verdict(delivery, { bytes: Buffer.from(without) })).toBe("missing-signature");
  }

  test.each(recorded.deliveries)("rejects $title with another secret", async (delivery) => {
    const secret = changedInside(delivery.secret ?? recorded.secret);
    let result: string;
    try {
      result = await verdict(delivery, {}, secret);
    } catch (error) {
      // Not every text is a point on the curve.
      result = error instanceof Error ? "no key" : "";
    }
    // Plaid's secret fetches the key, which the test serves in any case.
    if (name !== "plaid") expect(result).not.toBe("verified");
  });

  const toleranceSeconds = toleranceOf(scheme);
  const timed =
    toleranceSeconds === null
      ? []
      : recorded.deliveries.map((delivery) => ({ ...delivery, toleranceSeconds }));
  test.each(timed)(
    "rejects $title if it is old or from the future",
    async ({ toleranceSeconds: tolerance, ...delivery }) => {
      const atMs = Date.parse(delivery.at);
      for (const seconds of [-tolerance - 2, tolerance + 2]) {
        const receivedAtMs = atMs + seconds * 1_000;
        expect(await verdict(delivery, { receivedAtMs })).toBe("stale-timestamp");
      }
    },
  );

  const coversUrl = signsUrl(scheme);
  test.each(coversUrl ? recorded.deliveries : [])(
    "rejects $title to another URL",
    async (delivery) => {
      expect(await verdict(delivery, { url: `${delivery.url}?a=1` })).toBe("wrong-signature");
    },
  );
});

/** Twilio signs the URL with or without its port. We sign it as it is. */
const otherUrl = /port of its URL|standard port/;

/** Signs the time of a header as text: services write it in several ways. */
function withTimeAsSent(scheme: SignatureScheme): SignatureScheme {
  const [place = ""] = isTextScheme(scheme) ? oneOrMore(scheme.timestamp?.from) : [];
  if (headerIn(place) === null) return scheme;
  return JSON.parse(JSON.stringify(scheme).replaceAll("{timestamp}", `{${place}}`));
}

/** A body that its signature does not cover, but that is still JSON or a form. */
function alteredBody(name: string, body: string): string {
  switch (name) {
    case "mailgun":
      // Only the time and the token are signed.
      return body.replace("a8ce0e", "a8ce0f");
    case "aws_sns":
      return body.replace('"Message":"', '"Message":" ');
    default:
      return body.replace(/[a-z0-9](?=[^a-z0-9]*$)/i, (last) => (last === "0" ? "1" : "0"));
  }
}

/** Changes a letter or digit near the middle: the last one of base64 may have bits that mean nothing. */
function changedInside(text: string): string {
  const half = Math.floor(text.length / 2);
  const middle = half + text.slice(half).search(/[a-zA-Z0-9]/);
  return text.slice(0, middle) + (text[middle] === "0" ? "1" : "0") + text.slice(middle + 1);
}
