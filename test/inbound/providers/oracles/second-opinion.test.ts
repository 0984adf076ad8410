import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { createPublicKey, X509Certificate } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { type Recorded, recordedDeliveries } from "./recorded.ts";
import { secondOpinions, type Signed } from "./second-opinion.ts";

// The recorded deliveries confirm the second opinions, which the tests of the catalogue then rely on.

const names = readdirSync(join(import.meta.dir, "fixtures")).map((file) =>
  file.replace(/\.json$/, ""),
);

afterEach(() => {
  setSystemTime();
});

type Jwk = Readonly<Record<string, string>>;

/** The service's public key as PEM: configured, or in what it serves. */
function publicKeyOf({ provider, serves }: Recorded, secret: string): string | null {
  const [served] = Object.values(serves ?? {});
  if (typeof served === "string") return pem(new X509Certificate(served).publicKey);
  if (served !== undefined) {
    // Guarantee: Plaid serves a key in `key`, Google keys in `keys`.
    const { key, keys = [] } = served as Record<"key", Jwk> & Partial<Record<"keys", Jwk[]>>;
    return pem(createPublicKey({ key: keys[0] ?? key, format: "jwk" }));
  }
  // RFC 8410: what precedes the 32 bytes of an Ed25519 key.
  const prefix = provider === "discord" ? "302a300506032b6570032100" : "";
  const encoding = provider === "discord" ? "hex" : "base64";
  if (provider !== "discord" && provider !== "sendgrid") return null;
  const der = Buffer.concat([Buffer.from(prefix, "hex"), Buffer.from(secret, encoding)]);
  return pem(createPublicKey({ key: der, format: "der", type: "spki" }));
}

const pem = (key: ReturnType<typeof createPublicKey>) =>
  key.export({ format: "pem", type: "spki" }).toString();

test("there is a second opinion on every recorded service, and on no other", () => {
  expect(Object.keys(secondOpinions).toSorted()).toEqual(names.toSorted());
});

describe.each(names)("the second opinion on %s", (name) => {
  const recorded = recordedDeliveries(name);
  const opinion = secondOpinions[name];

  test.each(recorded.deliveries)(
    "accepts $title, and not with another secret",
    async (delivery) => {
      setSystemTime(new Date(delivery.at));
      const secret = delivery.secret ?? recorded.secret;
      const request: Signed = {
        url: delivery.url,
        headers: new Headers(delivery.headers),
        body: delivery.body,
        secret,
        publicKey: publicKeyOf(recorded, secret),
      };
      const accepts = async (given: Signed) => {
        try {
          return (await opinion?.(given)) ?? false;
        } catch {
          return false;
        }
      };
      // Of two signatures in one header, the second opinion reads none: the SDKs do.
      const isList = /,v1=.*,v1=|^v1=\w+,v1=/.test(delivery.headers["x-pagerduty-signature"] ?? "");
      expect(await accepts(request)).toBe(!isList);
      const changed = { ...request, body: `${delivery.body} `, secret: `${secret}0` };
      expect(await accepts({ ...changed, publicKey: null })).toBe(false);
    },
  );
});
