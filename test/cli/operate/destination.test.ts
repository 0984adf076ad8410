import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";

import { json, until } from "../../support/app.ts";
import { commandLine } from "../../support/cli.ts";
import { post } from "../../support/flights.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";
import { serving } from "../../support/serving.ts";
import { transcripts } from "../../support/transcript.ts";

const { skyhook, newFolder } = commandLine();

let served: ServedApp;
let status: number;
const target = serving(() => new Response(null, { status }));
beforeEach(async () => {
  status = 200;
  served = await serveApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
});
afterEach(() => served.stop());
afterAll(() => target[Symbol.asyncDispose]());

const env = () => ({
  ADMIN_TOKEN: served.token,
  HOOK: "http://127.0.0.1:1099/hunter2",
  CLIENT_SECRET: "hunter2",
});
const create = (name: string, url: string, bearer: string) =>
  served.app.as("user", "/v1/destinations", post({ name, format: "json", url }), bearer);

transcripts(import.meta.dir, "destinations.txt", async () => ({
  cwd: newFolder(),
  env: env(),
  names: {
    SERVER: served.url,
    TARGET: target.url.origin,
    OPERATOR: await served.app.services.tokens.mint({ id: "ada", roles: ["operator"] }, 3_600),
  },
  never: /hunter2/,
}));

transcripts(import.meta.dir, "apply.txt", async () => {
  const { id } = await json(await create("hers", target.url.href, "ada"));
  return {
    cwd: newFolder(),
    env: env(),
    names: { SERVER: served.url, HERS: String(id) },
    never: /hunter2/,
  };
});

const run = (...args: string[]) =>
  skyhook(["destination", ...args, "--server", served.url], { cwd: newFolder(), env: env() });

test("skyhook destination shows a failed test, and until when it is suspended", async () => {
  await run("add", "failing", "--url", target.url.href);
  status = 500;
  expect(await run("test", "failing")).toMatchObject({
    code: 1,
    err: expect.stringContaining("failing did not accept the test: HTTP 500"),
  });
  await Promise.all(
    Array.from({ length: 10 }, () => served.app.deliverSample("deploy_platform", "deploy.error")),
  );
  await until(async () => (await run()).out.match(/active +\d{4}-/) !== null);
});

test("skyhook destination names users who have the same one", async () => {
  await create("theirs", target.url.href, "ada");
  await create("theirs", target.url.href, "bob");
  expect(await run("theirs")).toMatchObject({
    code: 1,
    err: expect.stringContaining("2 users have a destination theirs. Name one by its id: "),
  });
});
