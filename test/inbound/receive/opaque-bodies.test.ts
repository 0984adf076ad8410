import { describe, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { folderForTests } from "../../support/folder.ts";
import { listed } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { appPerTest } from "../../support/running-app.ts";
import { fileProviders } from "../../support/signed-request.ts";

const secret = "0123456789abcdef0123456789abcdeF";
const file = (payload: string, signature: string, more = "") => `displayName: Carrier
payload: ${payload}
signature: ${signature}
event: "{query.event ?? header.x-event}"
title: "{/text}"
events: { moved: {}, lost: {} }
samples: { moved: { query: { event: moved }, body: "at the door" } }
${more}`;
const hmac =
  "{ kind: hmac, algorithm: sha256, from: header.x-sig, encoding: hex, signs: '{body}' }";
const files = {
  texts: file("text", hmac),
  xmls: file("xml", "{ kind: url }"),
  blobs: file("bytes", "{ kind: url }"),
  with_ids: file("text", "{ kind: url }", "deliveryId: header.x-id"),
};
const providers = fileProviders(folderForTests(), [], files, secret);
const taken = resources();
const app = appPerTest(providers.env);

const post = (path: string, body: Uint8Array | string = "", headers = {}) =>
  app.fetch(`/webhooks/${path}`, { method: "POST", body, headers });
const read = async (id: unknown) => json(await app.as("operator", `/v1/events/${String(id)}`));

describe("a body that is not parsed", () => {
  const long = "é".repeat(600);
  test.each([
    ["xmls", "<a>b</a>", "<a>b</a>"],
    ["xmls", "\uFEFF<a/>", "<a/>"],
    ["xmls", new Uint8Array([0xff, 0xfe, 0x3c, 0, 0x61, 0]), "<a"],
    ["xmls", new Uint8Array([0xfe, 0xff, 0, 0x3c, 0, 0x61]), "<a"],
    ["xmls", "a\0b\n\ud800c", "a b �c"],
    ["xmls", new Uint8Array([0x61, 0xff, 0x62]), "a�b"],
    ["xmls", long, `${long.slice(0, 499)}…`],
    ["xmls", "", undefined],
    ["blobs", "plain", "plain"],
    ["blobs", new Uint8Array([0x61, 0xff, 0]), undefined],
  ])("%s: %p is stored as it came, and its text is %p", async (id, body, text) => {
    const answer = await json(await post(`${id}/${secret}?event=moved`, body));
    expect(answer).toMatchObject({ status: "accepted", event: "moved" });
    const event = await read(answer["id"]);
    expect(Object(event["data"]).text).toBe(text);
    expect(event["title"]).toEqual(text === undefined ? "moved" : expect.any(String));
    const kept = Buffer.from(
      String(event["body"]),
      event["bodyEncoding"] === "base64" ? "base64" : "utf8",
    );
    expect(kept.equals(Buffer.from(new Uint8Array(await new Response(body).arrayBuffer())))).toBe(
      true,
    );
    const replay = await app.as("operator", `/v1/events/${String(answer["id"])}/replay`, {
      method: "POST",
    });
    expect(await json(replay)).toMatchObject({ type: "moved", title: event["title"] });
  });

  test("is found by the words of its text, and signed as any other", async () => {
    const init = providers.request(app, "texts", "moved");
    expect(await json(await app.fetch("/webhooks/texts?event=moved", init))).toMatchObject({
      status: "accepted",
    });
    expect(await listed(app, "/v1/events?q=door")).toMatchObject([{ title: "at the door" }]);
    // The query is not signed, so the name is a part of what makes a duplicate.
    const again = async (query: string) =>
      (await json(await app.fetch(`/webhooks/texts?${query}`, init)))["status"];
    expect(await again("event=moved")).toBe("duplicate");
    expect(await again("event=lost")).toBe("accepted");
    expect(await again(`event=${"x".repeat(1_025)}`)).toBe("ignored");
  });
});

describe("a secret in the URL", () => {
  test.each([
    ["xmls", 401],
    [`xmls/${secret.toLowerCase()}`, 401],
    [`xmls/${secret}x`, 401],
    [`xmls/%30${secret.slice(1)}`, 401],
    [`xmls/${secret}/x`, 401],
    [`xmls?x=/webhooks/xmls/${secret}`, 401],
    [`xmls/aaaa/b?event=/webhooks/xmls/${secret}`, 401],
    [`texts/${secret}`, 404],
    [`none/${secret}`, 404],
    [secret, 404],
    [`xmls/${secret}`, 200],
    [`xmls/${secret}/`, 200],
    [`xmls/${secret}?event=moved`, 200],
  ])("%s is answered with %d, and shown nowhere", async (path, status) => {
    const headers = { referer: `https://example.com/webhooks/xmls/${secret}` };
    const { logFd, text } = taken.log();
    await app.restart({ ...providers.env, LOG_LEVEL: "debug" }, undefined, { logFd });
    const answer = await post(path, "<a/>", headers);
    expect(answer.status).toBe(status);
    const pages = ["rejections", "events", "notifications", "providers", "issues", "audit"];
    const texts = [await answer.text(), JSON.stringify([...answer.headers]), text()];
    for (const page of pages) texts.push(await (await app.as("admin", `/v1/${page}`)).text());
    for (const kind of ["events", "rejections"]) {
      for (const { id } of await listed(app, `/v1/${kind}`))
        texts.push(await (await app.as("admin", `/v1/${kind}/${String(id)}`)).text());
    }
    texts.push(await (await app.fetch("/metrics")).text());
    expect(texts.join("\n").toLowerCase()).not.toContain(secret.toLowerCase());
  });

  test("makes equal bodies one event, unless they have ids or names of their own", async () => {
    const status = async (path: string, headers = {}) =>
      (await json(await post(path, "down", headers)))["status"];
    expect(await status(`xmls/${secret}?event=moved`)).toBe("accepted");
    expect(await status(`xmls/${secret}?event=moved`)).toBe("duplicate");
    expect(await status(`xmls/${secret}?event=lost`)).toBe("accepted");
    const url = `with_ids/${secret}?event=moved`;
    const statuses = [await status(url, { "x-id": "1" }), await status(url, { "x-id": "2" })];
    expect([...statuses, await status(url, { "x-id": "1" })]).toEqual([
      "accepted",
      "accepted",
      "duplicate",
    ]);
  });
});
