import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { jsonWith, testSecret } from "../../support/app.ts";
import { listed } from "../../support/operator.ts";
import { appPerTest } from "../../support/running-app.ts";

/** The signature of task_tracker, made with node:crypto, not with the engine under test. */
const signatureOf = (body: string | Uint8Array, provider: string) =>
  createHmac("sha256", testSecret(provider)).update(body).digest("base64");

describe("GET /v1/rejections/{id}", () => {
  const app = appPerTest();

  const rejected = async (body: string | Uint8Array, headers: Record<string, string> = {}) => {
    expect((await app.deliver("task_tracker", body, { headers })).status).toBe(401);
    const [found] = await listed(app, "/v1/rejections?limit=1");
    const response = await app.as("operator", `/v1/rejections/${String(found?.["id"])}`);
    return { listed: { ...found }, text: await response.text() };
  };

  test("returns the received data and why it was rejected, but no signature", async () => {
    const body = '{"event_name":"ping"}';
    const signature = signatureOf(body, "task_tracker");
    const headers = { "x-tasktracker-hmac-sha256": signature, "x-extra": "1" };
    const { listed: item, text: answer } = await rejected(`${body}\n`, headers);
    expect(JSON.parse(answer)).toEqual({
      ...item,
      headers: expect.objectContaining({ "content-type": "application/json", "x-extra": "" }),
      signatureHeaders: ["x-tasktracker-hmac-sha256"],
      body: `${body}\n`,
      bodyEncoding: "utf-8",
      bodyPretty: '{\n  "event_name": "ping"\n}',
      explanation: {
        cause: "trailing-newline-added",
        detail: expect.stringContaining("line break"),
      },
    });
    expect(answer).not.toContain(signature);
    expect(answer).not.toContain(testSecret("task_tracker"));
  });

  test("returns a binary body as base64 and detects the secret of another provider", async () => {
    const bytes = Buffer.from([0xff, 0x00]);
    const signature = signatureOf(bytes, "code_host");
    const { text: answer } = await rejected(bytes, { "x-tasktracker-hmac-sha256": signature });
    expect(JSON.parse(answer)).toMatchObject({
      body: "/wA=",
      bodyEncoding: "base64",
      bodyPretty: null,
      explanation: { cause: "secret-of-another-provider" },
    });
  });

  test("returns 404 for an unknown id", async () => {
    for (const id of ["rej_0", "evt_1", "rej_%00", "x"]) {
      const response = await app.as("operator", `/v1/rejections/${id}`);
      expect(await jsonWith(response, 404)).toMatchObject({ code: "not-found" });
    }
  });
});
