import { afterAll, beforeAll, expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import { commandLine } from "../../support/cli.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";

const { skyhook, newFolder } = commandLine();

let served: ServedApp;
let status = 200;
const target = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response(null, { status }),
});
beforeAll(async () => {
  served = await serveApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
});
afterAll(async () => {
  await served.stop();
  await target.stop(true);
});

test("skyhook destination adds, lists, tests, pauses and removes a destination", async () => {
  const cwd = newFolder();
  const run = (...args: string[]) =>
    skyhook(["destination", ...args, "--server", served.url], {
      cwd,
      env: { ADMIN_TOKEN: served.token },
    });

  expect((await run()).err).toContain("No destinations found.");
  const to = `http://127.0.0.1:${target.port}/hunter2`;
  const added = await run("add", "deploys", "--url", to, "--filter", 'event.severity == "error"');
  expect(added).toMatchObject({
    code: 0,
    err: "Store the secret now: it cannot be shown again.\n",
  });
  expect(added.out).toMatch(/created deploys \(dst_[0-9a-f]{32}\)\nsecret=whsec_.{44}\nTest it: /);
  expect((await run()).out).toMatch(
    /deploys +json +http +active +- +0 +event\.severity == "error" +http:/,
  );

  expect((await run("test", "deploys")).out).toMatch(/delivered to deploys \(HTTP 200, \d+ ms\)/);
  status = 500;
  expect(await run("test", "deploys")).toMatchObject({
    code: 1,
    err: expect.stringContaining("deploys did not accept the test: HTTP 500"),
  });
  expect((await run("pause", "deploys")).out).toBe("paused deploys\n");
  expect((await run("deploys")).out).toContain('"state": "paused"');
  expect((await run("resume", "deploys")).out).toBe("resumed deploys\n");
  expect((await run("rotate", "deploys")).out).toMatch(/^secret=whsec_/);
  expect((await run("retry", "deploys")).out).toBe("0 deliveries will be sent again\n");
  await Promise.all(
    Array.from({ length: 10 }, () => served.app.deliverSample("deploy_platform", "deploy.error")),
  );
  await until(async () => (await run()).out.match(/active +\d{4}-/) !== null);
  expect((await run("remove", "deploys")).out).toBe("removed deploys\n");
  expect(await run("deploys")).toMatchObject({
    code: 1,
    err: expect.stringContaining("There is no destination deploys"),
  });
  const shown = [added.out.replace(to, ""), (await run()).out].join("");
  expect(shown).not.toContain("hunter2");
});

test("skyhook destination add does not create a destination of the person behind OPERATOR_TOKEN", async () => {
  const { tokens } = served.app.services;
  const operator = await tokens.mint({ id: "ada", roles: ["operator"] }, 3_600);
  const to = `http://127.0.0.1:${target.port}/`;
  expect(
    await skyhook(["destination", "add", "mine", "--url", to, "--server", served.url], {
      cwd: newFolder(),
      env: { OPERATOR_TOKEN: operator },
    }),
  ).toMatchObject({ code: 1, err: expect.stringContaining("set ADMIN_TOKEN to an admin's token") });
});

test("skyhook destination add names what is wrong", async () => {
  const cwd = newFolder();
  const run = (...args: string[]) =>
    skyhook(["destination", "add", ...args, "--server", served.url], {
      cwd,
      env: { ADMIN_TOKEN: served.token },
    });
  expect(await run("bad", "--url", "ftp://a", "--secret", "x")).toMatchObject({
    code: 1,
    err: expect.stringContaining("The URL must start with https://; Only pagerduty"),
  });
  const filter = await run(
    "bad",
    "--url",
    `http://127.0.0.1:${target.port}/`,
    "--filter",
    "event.typ == 'x'",
  );
  expect(filter.err).toContain("Did you mean event.type?");
  expect(await run("bad", "--url", "https://a.example", "--format", "fax")).toMatchObject({
    code: 2,
  });
});
