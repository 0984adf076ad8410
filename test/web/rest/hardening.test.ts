import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import { sign } from "../../../src/inbound/signatures/sign.ts";
import { json, providerOf, sample, signed, testSecret } from "../../support/app.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { listed } from "../../support/operator.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { removeFolder, startServer, temporaryFolder } from "../../support/program.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();

const bookings = "/v1/api/bookings";

describe("findings of a review", () => {
  test("rejects a huge name in linear time, whatever its last character [API4-7]", async () => {
    const create = (length: number, tail: string) => async () => {
      const body = { name: `${"a".repeat(length)}${tail}`, email: "a@b.co" };
      expect((await app.as("user", "/v1/users", post(body))).status).toBe(400);
    };
    for (const tail of ["\u0001", " ", "é"]) {
      // Quadratic matching would take a hundred times as long, and 35 s.
      const times = await timesAsLong(create(25_000, tail), create(250_000, tail), 40);
      expect(times).toBeLessThanOrEqual(40);
    }
  });

  test("equal requests with the same Idempotency-Key for the last seat all return the booking", async () => {
    const { id } = await addFlight(app, { seats: 1 });
    const request = post(bookingBody(id), { "idempotency-key": "k" });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => app.as("user", bookings, request)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(await seatsLeft(app, id)).toBe(0);
  });

  test("the feed ends when its token is no longer accepted", async () => {
    const token = await app.services.tokens.mint({ id: "op", roles: ["operator"] }, 60);
    const headers = { authorization: `Bearer ${token}` };
    const stream = await app.fetch("/v1/feed", { headers });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toStartWith("retry: ");
    app.clock.advance(89_000);
    // The feed stays open while its token is still accepted.
    const again = await app.fetch("/v1/feed", { headers });
    expect(again.status).toBe(200);
    await again.body?.cancel();
    let isOver = false;
    const over = (async () => {
      while ((await reader?.read())?.done === false);
      isOver = true;
    })();
    await Bun.sleep(0);
    expect(isOver).toBe(false);
    app.clock.advance(1_000);
    await over;
    expect((await app.fetch("/v1/feed", { headers })).status).toBe(401);
  });

  test("limits the number of recorded rejections of unread bodies", async () => {
    await app.deliver("task_tracker", "{}", { secret: "wrong" });
    const headers = { "content-encoding": "gzip" };
    for (let count = 0; count < 300; count += 1) {
      await app.deliver("task_tracker", "{}", { headers });
    }
    const reasons = (await listed(app, "/v1/rejections?limit=100")).map(({ reason }) => reason);
    expect(reasons).toHaveLength(21);
    expect(reasons.at(-1)).toBe("wrong-signature");
  });

  test("a signed body with added white space is a duplicate", async () => {
    const body = `{"type":"inbound"}`;
    const first = await json(await app.deliver("shared_inbox", body));
    const { signature } = providerOf("shared_inbox");
    const mac = sign(signature, testSecret("shared_inbox"), Buffer.from(body), app.clock.now());
    for (const spaced of [` ${body}`, `${body}\n`, `\n {"type" : "inbound"}`]) {
      const init = { method: "POST", body: spaced, headers: { "x-inbox-signature": mac } };
      const again = await json(await app.fetch("/webhooks/shared_inbox", init));
      expect(again).toEqual({ ...first, status: "duplicate" });
    }
  });

  test("does not percent-decode the name of a provider", async () => {
    expect((await app.fetch("/webhooks/code%5fhost", { method: "POST" })).status).toBe(404);
  });

  test("the quote for a cancelled booking is the refund that was paid", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await app.as("user", bookings, post(bookingBody(id))));
    const at = `${bookings}/${String(bookingId)}`;
    const cancelled = await json(await app.as("user", at, { method: "DELETE" }));
    app.clock.advance(29 * 86_400_000);
    expect(await json(await app.as("user", `${at}/cancellation`))).toEqual({
      bookingId,
      quotedAt: cancelled["cancelledAt"],
      refund: cancelled["refund"],
    });
  });

  test("an IPv4 address and its IPv4-mapped IPv6 address are one client", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "1" });
    const { headers, body } = sample("task_tracker", "task.created", app.clock);
    const send = (from: string, secret?: string) =>
      app.deliver("task_tracker", JSON.stringify(body), {
        headers: { ...headers, "x-forwarded-for": from },
        ...(secret !== undefined && { secret }),
      });
    for (let count = 0; count < 20; count += 1) await send("::ffff:102:304", "wrong");
    expect((await send("1.2.3.4")).status).toBe(429);
    expect((await send("::ffff:1.2.3.4")).status).toBe(429);
    expect((await send("::ffff:102:305")).status).toBe(200);
  });
});

describe("a server on a real port", () => {
  /** Sends raw bytes and resolves with the response. */
  const raw = (url: string, text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = "";
      socket.on("data", (data) => {
        answer += data.toString();
        if (answer.includes("\r\n\r\n")) socket.destroy();
      });
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });

  test("rejects an invalid Host and a large body, and acknowledges nothing without its write-ahead log", async () => {
    const cwd = temporaryFolder();
    const env = { TASK_TRACKER_WEBHOOK_SECRET: "test-secret-of-task_tracker" };
    const server = await startServer({ cwd, env });
    for (const host of ["[::bad", "", "a b", "x:99999999"]) {
      const answer = await raw(server.url, `GET /v1/nothing HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
    }
    for (const method of ["GET", "POST"]) {
      const text = `${method} /graphql?query={me{name}} HTTP/1.1\r\nHost: [::bad\r\n`;
      const answer = await raw(server.url, `${text}Content-Length: 0\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 (200|415) /);
    }
    const old = await raw(server.url, "GET /v1/api/flights?origin=a HTTP/1.0\r\n\r\n");
    expect(old).toMatch(/^HTTP\/1\.[01] 400 [\s\S]*problem\+json/);
    const huge = "POST /webhooks/code_host HTTP/1.1\r\nHost: x\r\nContent-Length: 70000000\r\n\r\n";
    expect(await raw(server.url, huge)).toMatch(/^HTTP\/1\.1 413 [\s\S]*problem\+json/);
    rmSync(join(cwd, "data/skyhook.db-wal"));
    const request = signed("task_tracker", "{}", app.clock);
    expect((await fetch(`${server.url}/webhooks/task_tracker`, request)).status).toBe(503);
    expect(await server.stop()).toBe(0);
    removeFolder(cwd);
  });
});
