import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { itemsAt, textAt } from "../../../src/base/payload.ts";
import { signatureHeaders } from "../../../src/inbound/signatures/scheme.ts";
import { sign } from "../../../src/inbound/signatures/sign.ts";
import { providerOf, until } from "../../support/app.ts";
import { allSecrets, answerIn, besideServer, oneLine, secretOf } from "../../support/cli.ts";
import { testGateway } from "../../support/gateway.ts";
import { openedBeside } from "../../support/rows.ts";

const { beside, get, operatorToken, running, skyhook, serve } = besideServer();

describe("skyhook replay", () => {
  test("has the server notify again", async () => {
    const { id } = answerIn((await beside("send", "deploy_platform", "deploy.error")).out);
    const { out, err, code } = await beside("replay", String(id));
    expect(out).toStartWith(`replayed ${String(id)} deploy.error: Deploy of web`);
    const [made = ""] = out.match(/ntf_[0-9a-f]+/g) ?? [];
    expect(out.match(/ntf_/g)).toHaveLength(1);
    expect([err, code]).toEqual(["", 0]);
    const { body } = await get(`/v1/events/${String(id)}`, await operatorToken());
    const ids = itemsAt(body, "notifications").map((one) => textAt(one, "id"));
    expect(ids).toHaveLength(2);
    expect(ids).toContain(made);
  });

  test("has all that was not delivered sent again, and doctor tells of it before", async () => {
    let status = 500;
    const gateway = testGateway(() => new Response(null, { status }));
    const own = await serve({
      env: {
        ...allSecrets,
        ...gateway.env,
      },
    });
    try {
      for (const event of ["task.created", "task.completed"]) {
        await skyhook(["send", "task_tracker", event], own);
      }
      await until(() => gateway.received.length === 2);
      await until(async () =>
        (await skyhook(["doctor"], own)).out.includes("2 retrying, the oldest from"),
      );
      status = 200;
      const { out, err, code } = await skyhook(["replay", "--undelivered"], own);
      expect(out.match(/^replayed evt_/gm)).toHaveLength(2);
      expect(out).toEndWith("\n2 events replayed\n");
      expect([err, code]).toEqual(["", 0]);
      await until(() => gateway.received.length >= 4);
      const ids = gateway.received.map(({ headers }) => headers["webhook-id"]);
      expect(new Set(ids).size).toBe(2);
      await until(async () =>
        (await skyhook(["replay", "--undelivered"], own)).out.startsWith("all notifications are"),
      );
      expect((await skyhook(["doctor"], own)).out).toMatch(/✓ +notifications +none failed/);
    } finally {
      await own.stop();
      await gateway.stop();
    }
  });

  test("skips a deleted event, and replays one of the largest size", async () => {
    const gateway = testGateway(() => new Response(null, { status: 500 }));
    const { env } = gateway;
    const own = await serve({ env: { ...allSecrets, ...env } });
    try {
      const gone = answerIn((await skyhook(["send", "task_tracker", "task.created"], own)).out);
      const { signature, samples } = providerOf("code_host");
      const made = samples["package.published"]?.({ id: crypto.randomUUID(), now: new Date() });
      const body = Buffer.from(JSON.stringify({ ...made?.body, pad: "x".repeat(9 * 2 ** 20) }));
      const signed = sign(signature, secretOf("code_host"), body, Date.now());
      const headers = { ...made?.headers, [signatureHeaders(signature)[0] ?? ""]: signed };
      const url = `${own.url}/webhooks/code_host`;
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
      await until(async () => (await skyhook(["doctor"], own)).out.includes("2 retrying"));
      using database = openedBeside(join(own.cwd, "data/skyhook.db"));
      database.run("delete from events where id = ?", [String(gone["id"])]);
      const { out, err, code } = await skyhook(["replay", "--undelivered"], own);
      expect(out).toContain("package.published");
      expect(out).toEndWith("\n1 event replayed\n");
      expect(err).toStartWith(`not replayed ${String(gone["id"])}: The server answers 404`);
      expect(err).toEndWith("skyhook: 1 event not replayed: each is named above\n");
      expect(code).toBe(1);
    } finally {
      await own.stop();
      await gateway.stop();
    }
  });

  test("explains errors", async () => {
    const stranger = { JWT_SECRET: "another key of thirty-two bytes!", PORT: running().env.PORT };
    const [missing, keyless, strange, alone] = await Promise.all([
      beside("replay", "evt_0"),
      skyhook(["replay", "evt_0"], { env: { PORT: running().env.PORT } }),
      skyhook(["replay", "evt_0"], { env: stranger }),
      skyhook(["replay", "evt_0", "--url", "http://127.0.0.1:1"], { cwd: running().cwd }),
    ]);
    expect(missing.err).toBe(
      oneLine(
        "The server answers 404 not-found: No event with this id exists, or it was deleted by retention.",
      ),
    );
    expect(keyless.err).toContain("./data contains no signing key");
    expect(strange.err).toContain("another signing key");
    expect(alone.err).toContain("cannot be reached");
    for (const { code, out } of [missing, keyless, strange, alone])
      expect([out, code]).toEqual(["", 1]);
  });
});
