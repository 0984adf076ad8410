import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { catalogueFiles } from "../../src/inbound/providers/files/catalogue-files.ts";
import { readProvider } from "../../src/inbound/providers/files/folder.ts";
import type { Provider, Sample } from "../../src/inbound/providers/provider.ts";
import { signedSample } from "../../src/inbound/providers/signed-sample.ts";
import {
  developmentSecret,
  signingKeyWith,
} from "../../src/inbound/signatures/development-secret.ts";
import type { SigningKey } from "../../src/inbound/signatures/keys.ts";

import type { TestApp } from "./app.ts";

const publicUrl = "https://hooks.example.com";

/** A new key of a provider. Throws if only the service itself can sign. */
export function keyOf({ id, signature, secretPrefix }: Provider): SigningKey {
  const made = developmentSecret(signature, secretPrefix);
  if (made === null) throw new Error(`Only ${id} itself can sign`);
  return signingKeyWith({ ...made, secret: made.secret.trim() });
}

/** What a service sends: the name of a sample, a sample, or its content. */
export type Content = string | Sample | ReturnType<Sample>;

/** A content signed as its service does, at a time so many seconds from now. */
function signedRequest(
  { clock }: Pick<TestApp, "clock">,
  provider: Provider,
  key: SigningKey,
  content: Content,
  seconds = 0,
) {
  const given = typeof content === "object" ? () => content : content;
  const sample = typeof given === "string" ? provider.samples[given] : given;
  if (sample === undefined) throw new Error(`${provider.id} has no such sample`);
  const fresh = { id: crypto.randomUUID(), now: new Date(clock.now()) };
  const path = `/webhooks/${provider.id}`;
  const options = { signedAtMs: clock.now() + seconds * 1_000, url: publicUrl + path };
  const { headers, bytes, urlEnd } = signedSample(provider, sample, key, fresh, options);
  return { path: path + urlEnd, init: { method: "POST", headers, body: bytes } };
}

/** Posts what `signedRequest` makes. */
export function postSigned(app: TestApp, ...given: Sent): Promise<Response> {
  const { path, init } = signedRequest(app, ...given);
  return app.fetch(path, init);
}
type Sent = Parameters<typeof signedRequest> extends [unknown, ...infer Rest] ? Rest : never;

/** The settings with which a server reads the providers in a folder, by their secrets. */
export const settingsFor = (folder: string, secrets: Iterable<readonly [string, string]>) => ({
  PROVIDERS_DIR: folder,
  PUBLIC_URL: publicUrl,
  ...Object.fromEntries(
    Array.from(secrets, ([id, secret]) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, secret]),
  ),
});

/** Providers of the catalogue and of other files, in a folder. Each has its own new secret, unless one is given for all. */
export function fileProviders(
  folder: string,
  ids: readonly string[],
  files: Readonly<Record<string, string>> = {},
  secret?: string,
) {
  const keys = new Map<string, readonly [Provider, SigningKey]>();
  const ofCatalogue = ids.map((id) => [id, catalogueFiles[id] ?? ""] as const);
  for (const [id, text] of [...ofCatalogue, ...Object.entries(files)]) {
    const file = join(folder, `${id}.yaml`);
    writeFileSync(file, text);
    const provider = readProvider(id, file);
    keys.set(id, [provider, secret === undefined ? keyOf(provider) : { secret }]);
  }
  const sent = (id: string, content: Content, seconds = 0): Sent => {
    const [provider, key] = keys.get(id) ?? [];
    if (provider === undefined || key === undefined) throw new Error(`There is no ${id}`);
    return [provider, key, content, seconds];
  };
  return {
    env: settingsFor(
      folder,
      Array.from(keys, ([id, [, key]]) => [id, key.secret] as const),
    ),
    secretOf: (id: string) => keys.get(id)?.[1].secret ?? "",
    /** The options of a request. */
    request: (app: TestApp, ...given: Parameters<typeof sent>) =>
      signedRequest(app, ...sent(...given)).init,
    post: (app: TestApp, ...given: Parameters<typeof sent>) => postSigned(app, ...sent(...given)),
  };
}
