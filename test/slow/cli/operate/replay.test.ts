import { describe, expect, test } from "bun:test";

import { itemsAt, textAt } from "../../../../src/base/payload.ts";
import { signatureHeaders } from "../../../../src/inbound/signatures/scheme.ts";
import { sign } from "../../../../src/inbound/signatures/sign.ts";
import { providerOf, until } from "../../../support/app.ts";
import { allSecrets, answerIn, besideServer, oneLine, secretOf } from "../../../support/cli.ts";
import { testGateway } from "../../../support/gateway.ts";

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

  test("replays an event of the largest size, and doctor reports its failure", async () => {
    const gateway = testGateway(() => new Response(null, { status: 500 }));
    const own = await serve({ env: { ...allSecrets, ...gateway.env } });
    try {
      const { signature, samples } = providerOf("code_host");
      const made = samples["package.published"]?.({ id: crypto.randomUUID(), now: new Date() });
      const body = Buffer.from(JSON.stringify({ ...made?.body, pad: "x".repeat(9 * 2 ** 20) }));
      const signed = sign(signature, secretOf("code_host"), body, Date.now());
      const headers = { ...made?.headers, [signatureHeaders(signature)[0] ?? ""]: signed };
      const url = `${own.url}/webhooks/code_host`;
      const received: unknown = await (await fetch(url, { method: "POST", headers, body })).json();
      await until(async () => (await skyhook(["doctor"], own)).out.includes("1 retrying"));
      const { out, err, code } = await skyhook(["replay", textAt(received, "id") ?? ""], own);
      expect(out).toContain("package.published");
      expect([err, code]).toEqual(["", 0]);
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
      skyhook(["replay", "evt_0", "--server", "http://127.0.0.1:1"], { cwd: running().cwd }),
    ]);
    expect(missing.err).toBe(
      oneLine(
        "The server answers 404 not-found: No event with this id exists, or it was deleted by retention.",
      ),
    );
    expect(keyless.err).toContain("./data contains no signing key");
    expect(strange.err).toContain("use the server's DATA_DIR or JWT_SECRET");
    expect(alone.err).toContain("cannot be reached");
    for (const { code, out } of [missing, keyless, strange, alone])
      expect([out, code]).toEqual(["", 1]);
  });
});
