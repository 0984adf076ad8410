import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../../support/program.ts";

describe("skyhook sessions", () => {
  const folder = temporaryFolder();
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({ cwd: folder });
  });
  afterAll(async () => {
    await server.stop();
    removeFolder(folder);
  });

  test("lists a sign-in to the console, and ends it", async () => {
    expect((await runSkyhook(["sessions"], server)).err).toBe("No sessions found.\n");
    const link = (
      await runSkyhook(["console", "--role", "admin", "--name", " Ada "], server)
    ).out.trim();
    const opened = await fetch(`${server.url}/v1/auth/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-skyhook-console": "1" },
      body: JSON.stringify({ code: link.split("#code=")[1] }),
    });
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    const list = (await runSkyhook(["sessions"], server)).out;
    const id = /ses_[0-9a-f]+/.exec(list)?.[0] ?? "";
    expect(list).toMatch(/ console:Ada +admin /);
    const ended = await runSkyhook(["sessions", "revoke", id], server);
    expect([ended.code, ended.out]).toEqual([0, `ended ${id}\n`]);
    const after = await fetch(`${server.url}/v1/auth/session`, { headers: { cookie } });
    expect(after.status).toBe(401);
    const again = await runSkyhook(["sessions", "revoke", id], server);
    expect(again.code).toBe(1);
    expect(again.err).toContain("No session has this id");
  });
});
