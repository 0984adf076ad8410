import { createPrivateKey } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

import type { JSONWebKeySet } from "jose";

import { catalogue, providerById } from "../../../src/inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../src/inbound/providers/files/file-provider.ts";
import type { ProviderFile } from "../../../src/inbound/providers/files/provider-file.schema.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import type { Provider } from "../../../src/inbound/providers/provider.ts";
import {
  developmentSecret,
  newKeyPair,
} from "../../../src/inbound/signatures/development-secret.ts";
import type { SigningKey } from "../../../src/inbound/signatures/keys.ts";
import { authority, certificateFor } from "../../support/certificates.ts";
import { startIn } from "../../support/load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "../../support/program.ts";

/** The URL of the server as the vendors know it. */
export const publicUrl = "https://hooks.example.com";

/** A vendor: how it is described, and what it signs with. */
export interface Vendor {
  readonly provider: Provider;
  /** Null for a built-in provider. */
  readonly file: ProviderFile | null;
  readonly key: SigningKey;
}

/** A server with vendors, and what some of them publish. */
export interface Vendors extends AsyncDisposable {
  readonly server: RunningServer;
  readonly all: ReadonlyMap<string, Vendor>;
  /** Of Plaid. */
  readonly jwks: JSONWebKeySet;
  /** Of AWS. */
  readonly certificateUrl: string;
}

export async function startVendors(ids: readonly string[]): Promise<Vendors> {
  const folder = temporaryFolder();
  const published = await publish(folder);
  const all = new Map(ids.map((id) => [id, vendor(id, published)]));
  const providers = join(folder, "providers");
  mkdirSync(providers);
  for (const [id, { file }] of all) {
    if (file !== null) writeFileSync(join(providers, `${id}.json`), JSON.stringify(file));
  }
  const secrets = [...all].map(
    ([id, { key }]) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, key.secret] as const,
  );
  const builtIn = catalogue.filter(({ id }) => all.has(id));
  const server = await startIn(folder, {
    ...Object.fromEntries(secrets),
    PUBLIC_URL: publicUrl,
    PROVIDERS_DIR: providers,
    WEBHOOK_PROVIDERS: builtIn.map(({ id }) => id).join(","),
    DESTINATIONS_ALLOW_PRIVATE: "operators",
    // Rejections are limited by address: each vendor has its own.
    TRUSTED_PROXY_HOPS: "1",
  });
  return {
    server,
    all,
    ...published,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await published.stop();
      removeFolder(folder);
    },
  };
}

type Published = Awaited<ReturnType<typeof publish>>;

/** Publishes keys: by http for the server, and by https for the package of SNS, which reads nothing else. */
async function publish(folder: string) {
  const ca = await authority(folder, "authority");
  const { certificate, key } = await certificateFor(folder, "localhost", ca);
  setDefaultCACertificates([...getCACertificates(), readFileSync(ca.certificate, "utf8")]);
  const tls = { cert: readFileSync(certificate, "utf8"), key: readFileSync(key, "utf8") };
  const plaid = newKeyPair("ecdsa-p256");
  const jwk = { ...plaid.publicKey.export({ format: "jwk" }), kty: "EC" };
  const fetch = ({ url }: Request) =>
    url.endsWith(".pem") ? new Response(tls.cert) : Response.json({ key: jwk });
  const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  const https = Bun.serve({ port: 0, hostname: "localhost", tls, fetch });
  return {
    jwks: { keys: [jwk] },
    certificateUrl: `https://localhost:${https.port}/a.pem`,
    plaid: {
      url: `${http.url.origin}/key`,
      key: { secret: "client:a secret", privateKey: plaid.privateKey },
    },
    // The certificate of the server signs messages as well.
    aws_sns: {
      url: `${http.url.origin}/a.pem`,
      key: {
        secret: "arn:aws:sns:us-west-2:123456789012:MyTopic",
        privateKey: createPrivateKey(tls.key),
      },
    },
    stop: () => Promise.all([http.stop(true), https.stop(true)]),
  };
}

function vendor(id: string, published: Published): Vendor {
  const text = catalogueFiles[id];
  if (text === undefined) {
    const provider = providerById(id);
    if (provider === undefined) throw new Error(`There is no provider ${id}`);
    return { provider, file: null, key: signingKey(provider) };
  }
  const file = readProviderFile(`${id}.yaml`, text);
  if (id === "plaid" || id === "aws_sns") {
    const { url, key } = published[id];
    return withKey(id, keyFrom(file, url), key);
  }
  return withKey(id, file, signingKey(file));
}

const withKey = (id: string, file: ProviderFile, key: SigningKey): Vendor => ({
  provider: fileProvider(id, `${id}.json`, file),
  file,
  key,
});

/** The file with another URL of the key. */
function keyFrom(file: ProviderFile, url: string): ProviderFile {
  const { signature } = file;
  if (!("key" in signature) || signature.key === undefined) throw new Error("It has no key");
  const { from: _, hosts: __, path: ___, ...key } = signature.key;
  return { ...file, signature: { ...signature, key: { ...key, url } } };
}

/** A key that signs; its secret is what the vendor shows, in the form that its package reads. */
function signingKey({
  signature: scheme,
  secretPrefix,
}: Pick<Provider, "signature"> & { readonly secretPrefix?: string | undefined }): SigningKey {
  if (scheme.kind !== "ecdsa-p256" && scheme.kind !== "ed25519") {
    return { secret: developmentSecret(scheme, secretPrefix)?.secret ?? "" };
  }
  const { publicKey, privateKey } = newKeyPair(scheme.kind);
  const der = publicKey.export({ format: "der", type: "spki" });
  // RFC 8410: the last 32 bytes are the key itself.
  const isRaw = scheme.kind === "ed25519";
  return { secret: isRaw ? der.subarray(-32).toString("hex") : der.toString("base64"), privateKey };
}
