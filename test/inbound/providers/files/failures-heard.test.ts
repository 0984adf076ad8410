import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Severity } from "../../../../src/event/new-notification.ts";
import { json } from "../../../support/app.ts";
import { folderForTests } from "../../../support/folder.ts";
import { appForAll } from "../../../support/running-app.ts";
import { fileProviders } from "../../../support/signed-request.ts";

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

const ids = new Set(failures.map(({ provider }) => provider));
const { env, post } = fileProviders(folderForTests(), [...ids]);
const app = appForAll(env);

test.each(failures)(
  "$provider notifies with severity $severity of $body $headers",
  async ({ provider, severity, body, headers = {} }) => {
    const content = { headers: { ...headers }, body: Object(body) };
    const answer = await json(await post(app, provider, content));
    expect(answer).toMatchObject({ status: "accepted" });
    const { data } = await json(await app.as("operator", "/v1/notifications?limit=1"));
    expect(data).toMatchObject([{ severity }]);
  },
);
