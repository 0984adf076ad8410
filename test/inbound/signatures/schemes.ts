import {
  catalogueFile,
  catalogueFiles,
} from "../../../src/inbound/providers/files/catalogue-files.ts";
import type { TextScheme } from "../../../src/inbound/signatures/scheme.schema.ts";
import { isTextScheme } from "../../../src/inbound/signatures/scheme.ts";

/** The scheme of a service in the catalogue. */
export function schemeOf(service: string): TextScheme {
  const { signature } = catalogueFile(catalogueFiles[service] ?? "");
  if (!isTextScheme(signature)) throw new Error(`${service} signs no text`);
  return signature;
}

const services = `slack paddle pagerduty paystack zendesk hubspot square discord sendgrid
  paypal`.split(/\s+/);

/** Schemes of real services, and one for each other value that a scheme can have. */
export const schemes: Readonly<Record<string, TextScheme>> = {
  ...Object.fromEntries(services.map((service) => [service, schemeOf(service)])),
  "standard webhooks under two names": {
    ...schemeOf("standard_webhooks"),
    from: ["header.webhook-signature", "header.svix-signature"],
  },
  "upper case, SHA-384, a base64 secret": {
    kind: "hmac",
    algorithm: "sha384",
    encoding: "hex-upper",
    secretEncoding: "base64",
    from: "header.x-signature",
    signs: "{path}|{{{header.x-topic}}}|{query.token}|{bodySha256}",
  },
  "any case, SHA-1, a hex secret": {
    kind: "hmac",
    algorithm: "sha1",
    encoding: "hex-any-case",
    secretEncoding: "hex",
    from: "header.x-signature",
    prefix: "sha1=",
    signs: "{body}",
  },
  base64url: {
    kind: "hmac",
    algorithm: "sha256",
    encoding: "base64url",
    from: "header.x-signature",
    signs: "{body}",
  },
  "ECDSA with a fixed size": {
    kind: "ecdsa-p256",
    format: "ieee-p1363",
    encoding: "base64url",
    from: "header.x-signature",
    signs: "{body}",
  },
  "RSA-PSS": {
    kind: "rsa-pss",
    algorithm: "sha512",
    encoding: "base64",
    from: "header.x-signature",
    signs: "{body}",
  },
  "a published key and an account": {
    kind: "ecdsa-p256",
    format: "der",
    encoding: "base64",
    from: "header.x-signature",
    signs: "{header.x-account}{body}",
    secretAt: "header.x-account",
    key: { url: "https://example.com/key", format: "public-key" },
  },
};
