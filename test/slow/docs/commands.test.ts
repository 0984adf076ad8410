import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { exportJWK, generateKeyPair, SignJWT } from "jose";

import { at } from "../../../src/base/payload.ts";
import { commandBlocks, commandsOf, outputOf, pages } from "../../docs/markdown.ts";
import { until } from "../../support/app.ts";
import { bookingBody, post } from "../../support/flights.ts";
import { asOperator, authorization, deliverTo } from "../../support/load.ts";
import { ended, type RunningServer } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";

import { done, machine, type Trials } from "./machine.ts";
import { notifying } from "./notifying.ts";
import { receiving } from "./receiving.ts";
import { selling } from "./selling.ts";
import { watching } from "./watching.ts";

// The commands of docs/, as a reader would paste them: `skyhook` is the program, from its source.

const taken = resources();

/** The flights of a page, on days that are still to come. */
const onDay = (commands: string) => commands.replaceAll("2026-12-0", "2099-12-0");

const trials: Trials = {
  ...notifying,
  ...receiving,
  ...selling,
  ...watching,

  async "docs/api.md run: token"({ shell, server }, code) {
    const token = (await done(shell(`${code}echo "$TOKEN"`))).trim();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${server.url}/v1/api/bookings`, { headers })).status).toBe(200);
  },

  async "docs/api.md run: api key"({ shell }, code) {
    const answer = await done(shell(`${code}skyhook keys >&2`));
    expect(JSON.parse(answer)).toMatchObject({ data: [] });
  },

  async "docs/api.md run: query"({ shell }, code) {
    expect(JSON.parse(await done(shell(code)))).toEqual({
      data: {
        flights: {
          nodes: [{ flightId: 1, flightNumber: "SK1", price: { amount: 499.5, currency: "USD" } }],
        },
      },
    });
  },

  async "docs/api.md run: subscription"({ shell, server }, code) {
    const token = await authorization("user");
    const child = shell(`export TOKEN=${token.replace("Bearer ", "")}\n${code}`);
    let heard = "";
    void (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) heard += text;
    })();
    // Whoever books before the subscription is there is not heard of: so again, until one is.
    await until(async () => {
      if (heard.includes('"seatsAvailable":')) return true;
      expect(await book(server, token)).toBe(201);
      // There are only so many seats to sell until curl has connected.
      await Bun.sleep(200);
      return false;
    }, 15_000);
  },

  async "docs/backup.md run: rotate"({ shell, folder }, code) {
    const before = readFileSync(join(folder, "secrets/code_host_webhook_secret"), "utf8").trim();
    const rotated = await done(shell(`NEW_SECRET=the-secret-of-today\n${code}`));
    expect(rotated).toMatch(outputOf("docs/backup.md", "run: rotate"));
    for (const secret of [before, "the-secret-of-today"]) {
      const send = `skyhook send code_host package.published --secret ${secret}`;
      expect(await done(shell(send))).toStartWith("200 accepted");
    }
  },

  async "docs/operations.md run: import"({ shell }, code) {
    expect(await done(shell(onDay(code)))).toMatch(outputOf("docs/operations.md", "run: import"));
  },

  async "docs/operations.md run: import changes"({ shell }, code) {
    await done(shell(onDay(commandsOf("docs/operations.md", "run: import"))));
    const changed = await done(shell(onDay(code)));
    expect(changed).toMatch(outputOf("docs/operations.md", "run: import changes"));
  },

  async "docs/operations.md run: airports"({ shell, folder }, code) {
    const plan =
      "flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency\n" +
      "SK2,Skyhook Air,XQA,LHR,2099-01-01T23:30:00Z,2099-01-02T11:30:00Z,economy,9,499.5,USD\n";
    writeFileSync(join(folder, "flights.csv"), plan);
    const { err } = await ended(shell("skyhook import flights.csv"));
    expect(err).toContain("is not a known airport");
    expect(await done(shell(code))).toContain("1 flight imported");
  },

  async "docs/sign-in.md run: console"({ shell, server }, code) {
    const links = (await done(shell(code))).trim().split("\n");
    const pages = links.map((link) => link.replace(/#code=.+$/, ""));
    const own = `http://localhost:${new URL(server.url).port}/console`;
    expect(pages).toEqual([own, own, own, "https://hooks.example.com/console"]);
  },

  async "docs/sign-in.md run: sessions"({ shell, server }, code) {
    const [, signIn = ""] = (await done(shell("skyhook console"))).trim().split("#code=");
    const opened = await fetch(
      `${server.url}/v1/auth/session`,
      post({ code: signIn }, { "x-skyhook-console": "1" }),
    );
    expect(opened.status).toBe(200);
    const [id = ""] = /ses_[0-9a-f]{32}/.exec(await done(shell("skyhook sessions"))) ?? [];
    const [example = ""] = /ses_[0-9a-f]{32}/.exec(code) ?? [];
    await done(shell(code.replace(example, id)));
    expect(await done(shell("skyhook sessions"))).not.toContain(id);
  },

  async "docs/sign-in.md run: revoke"({ shell }, code) {
    const token = (await done(shell("skyhook token --email ada@example.com 2>/dev/null"))).trim();
    expect(await done(shell(`TOKEN=${token}\n${code}`))).toMatch(
      /^revoked\nrevoked every token of /,
    );
  },

  async "docs/sign-in.md run: explain"({ shell }, code) {
    const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
    const key = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256", use: "sig" };
    const issuer = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.json({ keys: [key] }),
    });
    taken.ends.push(() => issuer.stop(true));
    const token = await new SignJWT({ sub: "ada", iss: "https://acme.eu.auth0.com/", aud: "api" })
      .setProtectedHeader({ alg: "RS256", kid: "k", typ: "at+jwt" })
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(privateKey);
    const set = `export TOKEN=${token} JWKS_URL=${issuer.url.href} JWT_ISSUER=https://id.example.com`;
    const { out, code: status } = await ended(shell(`${set}\n${code}`));
    expect(out).toContain("✓  signature\n");
    expect(out).toMatch(
      /✗ {2}issuer +its iss is https:\/\/acme\.eu\.auth0\.com\/ +set JWT_ISSUER=https:\/\/acme\.eu\.auth0\.com\//,
    );
    expect(out).toContain("The server refuses this token.");
    expect(status).toBe(1);
  },

  async "docs/backup.md run: backup"({ shell, folder }, code) {
    const shown = outputOf("docs/backup.md", "run: backup");
    expect(await done(shell(code))).toMatch(shown);
    const day = new Date().toISOString().slice(0, 10);
    const backup = readFileSync(join(folder, `backups/skyhook-${day}.db`));
    expect(backup.subarray(0, 15).toString()).toBe("SQLite format 3");
  },

  async "docs/backup.md run: restore"({ shell, folder, server }, code) {
    expect(await deliverTo(server, 1)).toBe(200);
    const [file = ""] = /\/backups\/\S+/.exec(code) ?? [];
    await done(shell(`skyhook backup ${file}`));
    expect(await deliverTo(server, 2)).toBe(200);
    await server.stop();
    const shown = outputOf("docs/backup.md", "run: restore");
    expect(await done(shell(code))).toMatch(shown);
    const again = await taken.start(folder);
    const events: unknown = await (await asOperator(again, "/v1/events")).json();
    expect(at(events, "data")).toMatchObject([{ idempotencyKey: "task_tracker:d-1" }]);
  },
};

async function book({ url }: RunningServer, token: string): Promise<number> {
  const answer = await fetch(
    `${url}/v1/api/bookings`,
    post(bookingBody(1), { authorization: token }),
  );
  await answer.arrayBuffer();
  return answer.status;
}

const blocks = pages
  // readme.test.ts runs these.
  .filter(({ file }) => file !== "README.md")
  .flatMap(({ file, text }) => commandBlocks(text).map((block) => ({ file, ...block })))
  .filter(({ marker }) => marker?.startsWith("run: "))
  // adding-a-provider.test.ts, tasks.test.ts and operations.test.ts run these.
  .filter(
    ({ marker }) => !/^run: (?:(?:provider|stripe|slack|deploy|move)\b|rotate )/.test(marker ?? ""),
  )
  .map(({ file, marker, code }) => ({ name: `${file} ${marker}`, code }));

test.each(blocks)("$name", async ({ name, code }) => {
  const trial = trials[name];
  if (trial === undefined) throw new Error("Nobody runs this one: say what has to come of it");
  await trial(await machine(taken), code);
});
