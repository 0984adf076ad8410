import { afterAll, beforeAll, expect, test } from "bun:test";

import { at } from "../../../src/base/payload.ts";
import { ownEventTypes } from "../../../src/booking/events/event-types.ts";
import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { json } from "../../support/app.ts";
import { commandLine } from "../../support/cli.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";

const { skyhook } = commandLine();

let served: ServedApp;
let env: Record<string, string>;
const ids: string[] = [];
beforeAll(async () => {
  served = await serveApp();
  const { app } = served;
  const token = await app.services.tokens.mint({ id: "op", roles: ["operator"] }, 3_600);
  env = { OPERATOR_TOKEN: token };
  for (const [provider, event] of [
    ["task_tracker", "task.completed"],
    ["deploy_platform", "deploy.error"],
    ["deploy_platform", "deploy.succeeded"],
  ] as const) {
    app.clock.advance(60_000);
    ids.push(String((await json(await app.deliverSample(provider, event)))["id"]));
  }
});
afterAll(() => served.stop());

const run = (...args: string[]) => skyhook(["events", ...args, "--server", served.url], { env });
/** The ids of the events that the command prints with --json. */
async function found(...args: string[]): Promise<string[]> {
  const { out } = await run("--json", ...args);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { id }: { readonly id: string } = Object(JSON.parse(line));
      return id;
    });
}

test("skyhook events prints a table, newest first", async () => {
  const { code, out, err } = await run();
  expect([code, err]).toEqual([0, ""]);
  const [head = "", first = "", ...rest] = out.trimEnd().split("\n");
  expect(head).toMatch(/^received +delivery +provider +type +title +id$/);
  expect(first).toMatch(/^2026-11-21T09:03:00.000Z +delivered +deploy_platform +deploy.succeeded /);
  expect(first).toEndWith(ids[2] ?? "no id");
  expect(rest).toHaveLength(2);
});

test("skyhook events filters and prints JSON lines", async () => {
  expect(await found()).toEqual(ids.toReversed());
  expect(await found("--limit", "1")).toEqual(ids.slice(2));
  expect(await found("--type", "deploy.*")).toEqual([ids[2] ?? "", ids[1] ?? ""]);
  expect(await found("--provider", "Vercel")).toEqual([ids[2] ?? "", ids[1] ?? ""]);
  expect(await found("--provider", "task_tracker", "--q", "task*")).toEqual(ids.slice(0, 1));
  expect(await found("--from", "2026-11-21T09:02:00Z", "--to", "2026-11-21T09:03:00Z")).toEqual([
    ids[1] ?? "",
  ]);
  expect(
    await found("--from", "2026-11-21T10:02:00+01:00", "--to", "2026-11-21T09:03:00Z"),
  ).toEqual([ids[1] ?? ""]);
  expect(await found("--delivery", "dead")).toEqual([]);
  expect(await run("--destination", "slak")).toMatchObject({
    code: 1,
    err: expect.stringContaining("No destination of the operators has this name or id"),
  });
  expect(await run("--delivery", "none")).toMatchObject({
    code: 0,
    out: "",
    err: "No events found.\n",
  });
});

test("skyhook events <id> prints the timeline of one event", async () => {
  const [, id = ""] = ids;
  const { code, out } = await run(id);
  expect(code).toBe(0);
  expect(out).toMatch(/^id +evt_.*\nprovider +deploy_platform\ntype +deploy.error\n/);
  expect(out).toMatch(/\n2026-11-21T09:02:00.000Z +received\n.* +error notification ntf_\w+: /);
  expect(JSON.parse((await run(id, "--json")).out)).toMatchObject({ id, receipt: {} });
  expect(await run("evt_0")).toMatchObject({ code: 1 });
  expect(await run(id, "--type", "x")).toMatchObject({ code: 2 });
});

test("skyhook rejections prints the causes, and explains one", async () => {
  const sent = { method: "POST", body: '{"event":"push"}' };
  await fetch(`${served.url}/webhooks/code_host`, sent);
  const rejections = (...args: string[]) =>
    skyhook(["rejections", ...args, "--server", served.url], { env });
  const { out } = await rejections("--provider", "github");
  expect(out).toMatch(/^received +provider +type +reason +cause +id\n/);
  const [, id = ""] = /missing-signature +missing-signature +(rej_\w+)\n$/.exec(out) ?? [];
  expect((await rejections(id)).out).toMatch(/\ncause +missing-signature\n\n\w/);
  expect(JSON.parse((await rejections("--json")).out)).toMatchObject({ id });
  expect(await rejections("--provider", "stripe")).toMatchObject({
    out: "",
    err: "No rejections found.\n",
  });
});

test("skyhook events reports what it cannot read", async () => {
  expect(await run("--delivery", "lost")).toMatchObject({ code: 2 });
  expect(await run("--limit", "0")).toMatchObject({ code: 2 });
  for (const name of ["--from", "--to"]) {
    expect(await run(name, "yesterday")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Write a duration like 2h, or an instant like"),
    });
  }
  expect(await run("--from", "2026-11-21T09:00:01Z", "--to", "2026-11-21T09:00:00Z")).toMatchObject(
    {
      code: 1,
      err: expect.stringContaining("to: Must not be before from"),
    },
  );
  const user = await served.app.services.tokens.mint({ id: "u", roles: ["user"] }, 3_600);
  expect(
    await skyhook(["events", "--server", served.url], { env: { OPERATOR_TOKEN: user } }),
  ).toMatchObject({
    code: 1,
    err: "skyhook: The server answers 403 insufficient-scope: This requires the role operator or admin. Set OPERATOR_TOKEN to a valid operator's token.\n",
  });
});

test("skyhook events types lists every event of every provider, and Skyhook's own", async () => {
  const { out } = await skyhook(["events", "types", "--json"]);
  const lines = out.trimEnd().split("\n");
  const shown = lines.map((line): unknown => JSON.parse(line));
  const types = [
    ...catalogue.flatMap(({ id, samples }) => Object.keys(samples).map((type) => `${id}.${type}`)),
    ...ownEventTypes.map((type) => `bookings.${type}`),
  ];
  expect(types.length).toBeGreaterThan(40);
  const isShown = (type: string) =>
    shown.some((each) => at(each, "name") === type && Array.isArray(at(each, "data")));
  expect(types.filter((type) => !isShown(type))).toEqual([]);
});
