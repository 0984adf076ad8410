import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../../support/program.ts";

describe("skyhook keys", () => {
  const folder = temporaryFolder();
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({ cwd: folder });
  });
  afterAll(async () => {
    await server.stop();
    removeFolder(folder);
  });

  test("prints a key alone, lists it without the secret, and revokes it", async () => {
    const none = await runSkyhook(["keys", "--actor", "nobody"], server);
    expect(none.err).toBe("No keys found.\n");
    const words = ["keys", "create", "Nightly export", "--role", "operator", "--days", "30"];
    const made = await runSkyhook(words, server);
    expect(made.out).toMatch(/^skyhook_key_[\w-]{43}\n$/);
    const id = /keys revoke (ses_[0-9a-f]+)/.exec(made.err)?.[1] ?? "";
    expect(made.err).not.toContain("skyhook_key_");
    const headers = { authorization: `Bearer ${made.out.trim()}` };
    expect((await fetch(`${server.url}/v1/events`, { headers })).status).toBe(200);
    const list = (await runSkyhook(["keys"], server)).out;
    expect(list).toMatch(new RegExp(`${id} +Nightly export +operator +skyhook-cli `));
    expect(list).not.toContain("skyhook_key_");
    const ended = await runSkyhook(["keys", "revoke", id], server);
    expect([ended.code, ended.out]).toEqual([0, `revoked ${id}\n`]);
    expect((await fetch(`${server.url}/v1/events`, { headers })).status).toBe(401);
    const again = await runSkyhook(["keys", "revoke", id], server);
    expect([again.code, again.err]).toEqual([
      1,
      expect.stringContaining("You have no API key with this id"),
    ]);
  });

  test.each(["skyhook_key_", "skyhook_mcp_"])("token explain names a %s…", async (prefix) => {
    const given = prefix + "a".repeat(43);
    const explained = await runSkyhook(["token", "explain"], { ...server, input: given });
    expect([explained.code, explained.out]).toEqual([1, ""]);
    expect(explained.err).toMatch(/^skyhook: It is an API key or an agent's .*skyhook sessions\n$/);
    expect(explained.err).not.toContain(given);
  });

  test("makes one with the role admin, and lists it as JSON", async () => {
    const made = await runSkyhook(["keys", "create", "x", "--role", "admin"], server);
    expect(made.out).toMatch(/^skyhook_key_/);
    const list = await runSkyhook(["keys", "--actor", "skyhook-cli", "--json"], server);
    expect(JSON.parse(list.out)).toMatchObject({ name: "x", roles: ["admin"] });
  });

  test.each([
    [["--role", "root"], "--role"],
    [["--days", "366"], "--days"],
  ])("refuses %j", async (options, named) => {
    const { code, err } = await runSkyhook(["keys", "create", "x", ...options], server);
    expect([code, err]).toEqual([2, expect.stringContaining(named)]);
  });
});
