import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";

import { json } from "../../support/app.ts";
import { commandLine } from "../../support/cli.ts";
import { post } from "../../support/flights.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";

const { skyhook, newFolder } = commandLine();

let served: ServedApp;
beforeAll(async () => {
  served = await serveApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
});
afterAll(() => served.stop());

async function applying(text: string, ...flags: string[]) {
  const cwd = newFolder();
  await Bun.write(join(cwd, "destinations.yaml"), text);
  return skyhook(["apply", "destinations.yaml", "--server", served.url, ...flags], {
    cwd,
    env: { ADMIN_TOKEN: served.token, HOOK: "http://127.0.0.1:1099/hunter2" },
  });
}

const file = (filter: string) => `destinations:
  - name: deploys
    format: json
    url: \${HOOK}
    filter: ${filter}
  - name: everything
    format: cloudevents
    url: http://127.0.0.1:1098/
    state: paused
`;

test("skyhook apply prints the difference, makes it so, and then has nothing to change", async () => {
  const dry = await applying(file('event.severity == "error"'), "--dry-run");
  expect(dry.out).toContain("+ deploys\n    url: http://127.0.0.1:1099/…\n");
  expect(dry.out).toEndWith("2 changes not made (--dry-run)\n");
  expect((await applying(file('event.severity == "error"'), "--dry-run")).out).toBe(dry.out);

  const first = await applying(file('event.severity == "error"'));
  expect(first.out).toMatch(
    /deploys secret=whsec_.*\neverything secret=whsec_.*\n2 changes made\n$/,
  );
  expect((await applying(file('event.severity == "error"'))).out).toBe("nothing to change\n");

  const second = await applying(file('event.severity == "warning"'));
  expect(second.out).toBe(
    '~ deploys\n    filter: event.severity == "error" → event.severity == "warning"\n1 change made\n',
  );
  const fewer =
    "destinations:\n  - {name: everything, format: cloudevents, url: 'http://127.0.0.1:1098/'}\n";
  expect((await applying(fewer)).out).toBe(
    "~ everything\n    state: paused → active\n1 change made\n",
  );
  expect((await applying(fewer, "--prune")).out).toBe("- deploys\n1 change made\n");
  for (const { out, err } of [dry, first, second]) expect(out + err).not.toContain("hunter2");
});

test.each([
  ["destinations:\n  - name: a\n    format: slak\n    url: x\n", "destinations.yaml:3: ", "slack"],
  ["destinations:\n  - name: a\n    format: json\n", "destinations.yaml:2: ", '"url" is missing'],
  [
    "destinations:\n  - {name: a, format: json, url: x, filtr: y}\n",
    "destinations.yaml:2: ",
    '"filter"',
  ],
  [
    "destinations:\n  - {name: a, format: json, url: '${NONE}'}\n",
    "destinations.yaml:2: ",
    "NONE is not set",
  ],
  ["destinations: [", "destinations.yaml:1: ", ""],
])("skyhook apply names what is wrong in %j", async (text, place, what) => {
  const { code, err } = await applying(text);
  expect(code).toBe(1);
  expect(err).toContain(place);
  expect(err).toContain(what);
});

test("skyhook apply says which destination the server refuses", async () => {
  const { code, err } = await applying(file("event.typ == 1"));
  expect(code).toBe(1);
  expect(err).toMatch(/^skyhook: deploys: .*Did you mean event.type\?/);
});

test("skyhook apply and skyhook destination leave users' destinations of the same name alone", async () => {
  const body = { name: "hers", format: "json", url: "http://127.0.0.1:1099/" };
  const createHers = (bearer: string) =>
    served.app.as("user", "/v1/destinations", post(body), bearer);
  const response = await createHers("ada");
  expect(response.status).toBe(201);
  const nothing = await applying("destinations: []\n", "--prune");
  expect(nothing.out).not.toContain("hers");
  const { id: hers } = await json(response);
  const same = "destinations: [{name: hers, format: json, url: 'http://127.0.0.1:1099/'}]\n";
  expect((await applying(same)).out).toContain("+ hers\n");
  const run = (...args: string[]) =>
    skyhook(["destination", ...args, "--server", served.url], {
      cwd: newFolder(),
      env: { ADMIN_TOKEN: served.token },
    });
  expect((await run("pause", "hers")).out).toBe("paused hers\n");
  expect((await run(String(hers))).out).toContain('"state": "active"');
  expect((await run("remove", "hers")).out).toBe("removed hers\n");
  // Now the name is that of one user, and then of two.
  expect((await run("hers")).out).toContain('"ownerId": "ada"');
  await createHers("bob");
  expect(await run("hers")).toMatchObject({
    code: 1,
    err: expect.stringContaining("2 users have a destination hers. Name one by its id: "),
  });
});
