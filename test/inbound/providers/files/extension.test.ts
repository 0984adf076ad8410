import { describe, expect, test } from "bun:test";

import { FileError } from "../../../../src/base/file-error.ts";
import { providerFrom } from "../../../../src/inbound/providers/files/folder.ts";
import { json } from "../../../support/app.ts";
import { folderForTests } from "../../../support/folder.ts";
import { listed } from "../../../support/operator.ts";
import { resources } from "../../../support/resources.ts";
import { appPerTest } from "../../../support/running-app.ts";
import { fileProviders } from "../../../support/signed-request.ts";

const pushes = `extends: code_host
events:
  push:
    type: branch.pushed
    title: "Push to {/ref}[ of {/repository/full_name}]"
    subject: "ref/{/ref}"
    data: { ref: "{/ref}", via: "{header.x-github-hook-id}" }
    severity: warning
samples: { push: { headers: { x-github-event: push }, body: { ref: refs/heads/main, commits: ["{id}"] } } }
`;
const secret = "a secret that only the two know";
const taken = resources();
const providers = fileProviders(
  folderForTests(),
  [],
  {
    code_host: pushes,
    github_acme: pushes,
    slack_eu: `extends: slack
displayName: Slack in Europe
events: { team_join: { title: "{/event/user/name} joined" } }
samples: { team_join: { body: { type: event_callback, event_id: "{id}", event: { type: team_join, user: { name: Ada } } } } }
`,
  },
  secret,
);
const app = appPerTest(providers.env);

const push = {
  headers: { "x-github-event": "push", "x-github-delivery": "d1", "x-github-hook-id": "7" },
  body: { ref: "refs/heads/main", commits: [], repository: { full_name: "acme/web" } },
};
const post = (id: string, init: RequestInit) => app.fetch(`/webhooks/${id}`, init);

describe("a file that extends a provider", () => {
  test.each(["code_host", "github_acme"])("as %s notifies of its events too", async (id) => {
    const request = providers.request(app, id, push);
    expect(await json(await post(id, request))).toMatchObject({
      status: "accepted",
      event: "branch.pushed",
      idempotencyKey: `${id}:d1`,
    });
    expect(await json(await post(id, request))).toMatchObject({ status: "duplicate" });
    expect(await listed(app, "/v1/events")).toMatchObject([
      {
        provider: id,
        title: "Push to refs/heads/main of acme/web",
        subject: "ref/refs/heads/main",
        data: { ref: "refs/heads/main", via: "7" },
      },
    ]);
    expect(await listed(app, "/v1/notifications")).toMatchObject([{ severity: "warning" }]);
    // What it had before, and what no file lists.
    expect(
      await json(await post(id, providers.request(app, id, "workflow_run.completed"))),
    ).toMatchObject({ status: "accepted", event: "workflow_run.completed" });
    expect(await listed(app, "/v1/notifications")).toHaveLength(2);
    const ping = { headers: { "x-github-event": "ping" }, body: { zen: "z", hook_id: 1 } };
    expect(await json(await post(id, providers.request(app, id, ping)))).toMatchObject({
      status: "ignored",
      event: "ping",
    });
    const setUp = await json(await app.as("admin", `/v1/providers/${id}`));
    expect(setUp["samples"]).toContain("push");
  });

  test("of the catalogue has the events of both", async () => {
    for (const [event, type] of [
      ["team_join", "team_join"],
      ["app_mention", "mention.received"],
    ] as const) {
      expect(
        await json(await post("slack_eu", providers.request(app, "slack_eu", event))),
      ).toMatchObject({ status: "accepted", event: type });
    }
    expect(JSON.stringify(await listed(app, "/v1/events"))).toContain("Ada joined");
  });

  test("changes an event that was ignored before, when it is replayed", async () => {
    const database = { DATABASE_URL: `sqlite:${taken.newFile()}` };
    const none = folderForTests();
    await app.restart({ ...providers.env, PROVIDERS_DIR: none, ...database });
    const before = await json(await post("code_host", providers.request(app, "code_host", push)));
    expect(before).toMatchObject({ status: "ignored", event: "push" });
    await app.restart({ ...providers.env, ...database });
    const path = `/v1/events/${String(before["id"])}`;
    await app.as("operator", `${path}/replay`, { method: "POST" });
    expect(await json(await app.as("operator", path))).toMatchObject({
      type: "branch.pushed",
      status: "accepted",
      notifications: [{ severity: "warning" }],
    });
  });

  const paid = "payment_intent.succeeded";
  test.each([
    ["x", "extends: nobody\nevents: { a: {} }", "There is no provider nobody, neither built in"],
    ["own", "extends: own\nevents: { a: {} }", "There is no provider own"],
    ["code_host", "displayName: A", "code_host is built in: write"],
    ["code_host", "extends: slack\nevents: { a: {} }", "code_host is built in: give the file"],
    ["x", "extends: code_host", '"events" is missing'],
    ["x", "extends: code_host\nevents: {}", "events"],
    ["x", "extends: code_host\nevents: { a: {} }\nsignature: {}", '"signature" is unknown'],
    ["x", "extends: code_host\nevents: { a: {} }\npayload: text", '"payload" is unknown'],
    ["x", "extends: code_host\nevents: { package.published: {} }", "notifies of package.published"],
    ["x", `extends: payment_processor\nevents: { ${paid}: {} }`, `notifies of ${paid} already`],
    [
      "x",
      `extends: payment_processor\nevents: { a: { type: ${paid} } }`,
      `Write another type: ${paid} is about payments`,
    ],
    ["x", "extends: code_host\nevents: { a: { title: '{/a' } }", "x.yaml:2:"],
    [
      "x",
      "extends: code_host\nevents: { a: { title: '{header.x-hub-signature-256}' } }",
      "holds the signature or the secret",
    ],
    ["x", '{ "extends": "code_host", "events": { "a": { "b": 1 } } }', '"b" is unknown'],
  ])("%s: %s is refused", (id, text, message) => {
    const read = () => providerFrom(id, `${id}.yaml`, text);
    expect(read).toThrow(FileError);
    expect(read).toThrow(message);
  });
});
