import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { jsonWith, testSecret } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
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

  test("admins try another secret, which appears in no answer", async () => {
    const secret = "the secret of the provider's form";
    const body = '{"event_name":"ping"}';
    const signature = createHmac("sha256", secret).update(body).digest("base64");
    const { listed: item } = await rejected(body, { "x-tasktracker-hmac-sha256": signature });
    const attempt = async (given: string, role: "admin" | "operator" = "admin") => {
      const path = `/v1/rejections/${String(item["id"])}/try-secret`;
      const response = await app.as(role, path, post({ secret: given }));
      const text = await response.text();
      expect(text).not.toContain(given);
      return [response.status, JSON.parse(text).cause ?? JSON.parse(text).code];
    };
    expect(await attempt(secret, "operator")).toEqual([403, "insufficient-scope"]);
    expect(await attempt(secret)).toEqual([200, "verifies-now"]);
    expect(await attempt(` ${secret}\n`)).toEqual([200, "secret-white-space"]);
    expect(await attempt("some-other-value")).toEqual([200, "unknown"]);
    for (let made = 3; made < 20; made += 1) await attempt("some-other-value");
    expect(await attempt(secret)).toEqual([429, "too-many-tests"]);
  });

  test("returns 404 for an unknown id", async () => {
    for (const id of ["rej_0", "evt_1", "rej_%00", "x"]) {
      const response = await app.as("operator", `/v1/rejections/${id}`);
      expect(await jsonWith(response, 404)).toMatchObject({ code: "not-found" });
    }
  });
});
