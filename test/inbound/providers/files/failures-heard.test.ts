import { expect, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Severity } from "../../../../src/event/new-notification.ts";
import { readProvider } from "../../../../src/inbound/providers/files/folder.ts";
import { signedSample } from "../../../../src/inbound/providers/signed-sample.ts";
import {
  developmentSecret,
  signingKeyWith,
} from "../../../../src/inbound/signatures/development-secret.ts";
import { json } from "../../../support/app.ts";
import { folderForTests } from "../../../support/folder.ts";
import { appForAll } from "../../../support/running-app.ts";

/** A delivery that reports a failure, and the severity of its notification. */
interface Failure {
  readonly provider: string;
  readonly severity: Severity;
  readonly body: object;
  readonly headers?: object;
}

const lines = readFileSync(join(import.meta.dir, "failures.ndjson"), "utf8")
  .trim()
  .split("\n");
const failures = lines.map((line): Failure => JSON.parse(line));

const folder = folderForTests();
const catalogue = join(import.meta.dir, "../../../../src/inbound/providers/files/catalogue");

const providers = new Map(
  [...new Set(failures.map(({ provider }) => provider))].map((id) => {
    const path = join(folder, `${id}.yaml`);
    cpSync(join(catalogue, `${id}.yaml`), path);
    const provider = readProvider(id, path);
    const made = developmentSecret(provider.signature, provider.secretPrefix);
    if (made === null) throw new Error(`Only ${id} itself can sign`);
    return [id, { provider, made }];
  }),
);
const secrets = [...providers].map(([id, { made }]) => [
  `${id.toUpperCase()}_WEBHOOK_SECRET`,
  made.secret,
]);
const publicUrl = "https://hooks.example.com";
const app = appForAll({
  PROVIDERS_DIR: folder,
  PUBLIC_URL: publicUrl,
  ...Object.fromEntries(secrets),
});

test.each(failures)(
  "$provider notifies with severity $severity of $body $headers",
  async ({ provider: id, severity, body, headers = {} }) => {
    const { provider, made } = providers.get(id) ?? {};
    if (provider === undefined || made === undefined) throw new Error(`There is no ${id}`);
    const sample = () => ({
      headers: { ...headers },
      body: Array.isArray(body) ? body : { ...body },
    });
    const fresh = { id: crypto.randomUUID(), now: new Date(app.clock.now()) };
    const url = `${publicUrl}/webhooks/${id}`;
    const signed = signedSample(provider, sample, signingKeyWith(made), fresh, { url });
    const request = { method: "POST", headers: signed.headers, body: signed.bytes };
    const answer = await json(await app.fetch(`/webhooks/${id}`, request));
    expect(answer).toMatchObject({ status: "accepted" });
    const { data } = await json(await app.as("operator", "/v1/notifications?limit=1"));
    expect(data).toMatchObject([{ severity }]);
  },
);
