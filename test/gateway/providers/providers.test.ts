import { describe, expect, test } from "bun:test";

import definitions from "@octokit/webhooks-examples";
import fc from "fast-check";

import { bookingsProvider } from "../../../src/booking/bookings/booking-event.ts";
import type { Event } from "../../../src/gateway/event.ts";
import { interpret } from "../../../src/gateway/providers/interpret.ts";
import {
  at,
  isObject,
  isoTimeAt,
  printable,
  shortHash,
  webUrl,
} from "../../../src/gateway/providers/payload.ts";
import type {
  JsonObject,
  Normalised,
  Provider,
  VerifiedDelivery,
} from "../../../src/gateway/providers/provider.ts";
import { catalogue, defaultProviders } from "../../../src/gateway/providers/catalogue.ts";
import { codeHost } from "../../../src/gateway/providers/code_host.ts";
import { deployPlatform } from "../../../src/gateway/providers/deploy_platform.ts";
import { paymentProcessor } from "../../../src/gateway/providers/payment_processor.ts";
import { sharedInbox } from "../../../src/gateway/providers/shared_inbox.ts";
import { taskTracker } from "../../../src/gateway/providers/task_tracker.ts";
import { withoutSecrets, withoutValues } from "../../../src/gateway/stored-headers.ts";

import { complete } from "../../support/complete.ts";
import { runs } from "../../support/runs.ts";

const now = new Date("2026-11-21T09:12:44.120Z");

const specified: Readonly<Record<string, readonly string[]>> = {
  task_tracker: ["comment.added", "task.completed", "task.created"],
  shared_inbox: ["message.received", "message.sent", "assignee.changed"],
  deploy_platform: ["deploy.created", "deploy.succeeded", "deploy.error", "deploy.canceled"],
  code_host: ["workflow_run.completed", "package.published"],
};

test("the four providers of the specification are registered by default", () => {
  expect(defaultProviders).toEqual(Object.keys(specified));
});

for (const [id, types] of Object.entries(specified)) {
  test(`${id} lists the events of the specification`, () => {
    const provider = catalogue.find((entry) => entry.id === id);
    expect(Object.keys(provider?.samples ?? {}).toSorted()).toEqual(types.toSorted());
  });
}

test("every provider has a unique id, which differs from that of booking events", () => {
  const ids = [...catalogue.map(({ id }) => id), bookingsProvider];
  expect(new Set(ids).size).toBe(ids.length);
});

for (const provider of catalogue) {
  describe(provider.id, () => {
    test("has an id that is valid in an environment variable, and lower-case headers", () => {
      const { id, signature, foreignHeaders = [], readHeaders = [] } = provider;
      // A shell cannot export ALARM-CLOCK_WEBHOOK_SECRET.
      expect(id).toMatch(/^[a-z][a-z_]*$/);
      expect(signature.headers).not.toBeEmpty();
      const names = [...signature.headers, ...foreignHeaders, ...readHeaders];
      expect(names).toEqual(names.map((name) => name.toLowerCase()));
    });

    test("declares the headers that it reads, so that they are stored for replays", () => {
      const read = new Set<string>();
      for (const sample of Object.values(provider.samples)) {
        const bytes = Buffer.from(JSON.stringify(sample(fresh()).body));
        interpret(provider, { bytes }, (name) => {
          read.add(name);
          return null;
        });
      }
      read.delete("content-type");
      expect([...read].toSorted()).toEqual([...(provider.readHeaders ?? [])].toSorted());
    });

    for (const [type, sample] of Object.entries(provider.samples)) {
      test(`sample ${type} becomes a complete event of that type`, () => {
        const event = normalise(provider, sample(fresh()).body, sample(fresh()).headers);
        expect(event).toMatchObject({ status: "accepted", type });
        expect(event.title.length).toBeGreaterThan(10);
        expect(event.subject).toBeString();
        expect(event.deliveryId).toBeString();
        // Some providers send whole seconds.
        expect(event.occurredAt?.getTime()).toBeWithin(now.getTime() - 999, now.getTime() + 1);
        expectBounded(event);

        const messages = messagesOf(provider, event);
        expect(messages.length).toBeGreaterThan(0);
        for (const message of messages) {
          expect(message.title).not.toBe("");
          expect(message.text).not.toBe("");
        }
        if (!complete.includes(provider.id)) return;
        expect(event.actor).toBeString();
        for (const { url } of [event, ...messages]) expect(url).toStartWith("https://");
      });

      test(`sample ${type} has a delivery id from ${provider.deliveryIdIsSigned ? "the signed body" : "a header"}`, () => {
        const { body, headers } = sample(fresh());
        const lookups = [headerOf(headers), headerOf({}), () => "any-value-at-all"];
        const ids = lookups.map(
          (header) => provider.normalise({ payload: body, header }).deliveryId,
        );
        // If the flag is true, body hashes need not be unique, so a forged id would allow a duplicate.
        expect(new Set(ids).size).toBe(provider.deliveryIdIsSigned ? 1 : ids.length);
      });

      test(`two samples ${type} of the same time differ in body and delivery id`, () => {
        const [first, second] = [sample(fresh()), sample(fresh())];
        expect(JSON.stringify(first.body)).not.toBe(JSON.stringify(second.body));
        const ids = [first, second].map(
          ({ body, headers }) => normalise(provider, body, headers).deliveryId,
        );
        expect(new Set(ids).size).toBe(2);
      });

      test(`sample ${type} has neutral headers and no signature`, () => {
        for (const name of Object.keys(sample(fresh()).headers)) {
          expect(name).not.toMatch(/todoist|front|vercel|github|hub|stripe/i);
          expect(provider.signature.headers).not.toContain(name.toLowerCase());
        }
      });
    }

    test("normalises any JSON object with any headers", () => {
      fc.assert(
        fc.property(anyObject, anyHeaders(provider), (payload, headers) => {
          expectHarmless(provider, payload, headers);
        }),
        { numRuns: runs(300) },
      );
    });

    test("normalises its samples with random values at random paths", () => {
      const bodies = Object.values(provider.samples).map((sample) => sample(fresh()));
      fc.assert(
        fc.property(
          fc.constantFrom(...bodies),
          fc.array(fc.tuple(fc.nat(), anyValue), { minLength: 1, maxLength: 4 }),
          ({ body, headers }, replacements) => {
            let mutated: unknown = body;
            for (const [pick, replacement] of replacements) {
              const paths = pathsOf(mutated);
              const path = paths[pick % Math.max(paths.length, 1)] ?? [];
              mutated = replaced(mutated, path, replacement);
            }
            if (!isObject(mutated)) return;
            expectHarmless(provider, mutated, headers);
          },
        ),
        { numRuns: runs(600) },
      );
    });

    test("normalises special keys of JavaScript, deep values and huge values", () => {
      const keys = ["__proto__", "constructor", "toString", "hasOwnProperty"];
      const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
      const huge = JSON.stringify("🦉\u202e\n".repeat(runs(1_000_000)));
      for (const value of ["null", "[]", deep, huge]) {
        for (const key of keys) expectHarmless(provider, parsed(`{"${key}":${value}}`));
        for (const sample of Object.values(provider.samples)) {
          const { body, headers } = sample(fresh());
          for (const key of Object.keys(body)) {
            expectHarmless(provider, { ...body, [key]: parsed(value) }, headers);
          }
        }
      }
    });

    for (const [type, sample] of Object.entries(provider.samples)) {
      test.each(["type", "event", "event_name"])(
        `accepts ${type} by that name in the member %s`,
        (member) => {
          const body = { ...sample(fresh()).body, event_name: "", type: "" };
          for (const payload of [{ [member]: type }, { ...body, [member]: type }]) {
            const event = normalise(provider, payload);
            expect(event).toMatchObject({ status: "accepted", type });
            expect(event.title).toMatch(/^[A-Z]\w+ [a-z]+/);
            expect(event.title).not.toMatch(/[(:]$|no name|null|undefined/);
            expectBounded(event);
            expect(messagesOf(provider, event)).not.toBeEmpty();
          }
        },
      );
    }

    test("ignores event names that are properties of every object", () => {
      for (const name of ["constructor", "__proto__", "toString"]) {
        const body = { type: name, event_name: name, action: name, object: "event" };
        expect(normalise(provider, body, { "X-CodeHost-Event": name }).status).toBe("ignored");
      }
    });
  });
}

describe("task_tracker", () => {
  const body = (type: string) => sampleBody(taskTracker, type);

  test("titles a completed recurring task", () => {
    expect(normalise(taskTracker, body("task.completed")).title).toBe(
      "Task completed (recurring): Rotate the signing keys",
    );
    const once = { ...body("task.completed"), event_data: { id: "6XR4", content: "Pay rent" } };
    expect(normalise(taskTracker, once)).toMatchObject({
      title: "Task completed: Pay rent",
      subject: "task/6XR4",
      url: "https://app.todoist.com/app/task/6XR4",
      data: { task: "Pay rent" },
    });
  });

  test("includes the due date of a new task", () => {
    expect(normalise(taskTracker, body("task.created")).title).toBe(
      "Task created: Rotate the signing keys (due every month)",
    );
  });

  test("includes the task of a comment and the comment's first line", () => {
    expect(normalise(taskTracker, body("comment.added")).title).toBe(
      "Comment on Rotate the signing keys: Done on host A, B waits",
    );
    const long = replaced(body("comment.added"), ["event_data", "content"], "\r\n One\nTwo");
    expect(normalise(taskTracker, long).data["comment"]).toBe("One");
  });

  test("a comment on a project has no task", () => {
    const comment = { id: "6XR7", posted_uid: "2671355", project_id: "6XR4H", content: "Kick-off" };
    const event = normalise(taskTracker, {
      event_name: "note:added",
      event_data: comment,
      triggered_at: "2026-11-21T09:12:44.120000Z",
    });
    expect(event).toMatchObject({
      status: "accepted",
      title: "Comment on a project: Kick-off",
      subject: "project/6XR4H",
      url: "https://app.todoist.com/app/project/6XR4H",
      actor: "2671355",
      occurredAt: now,
    });
  });

  test("ignores an unlisted event under its own name, without a task", () => {
    const event = normalise(taskTracker, { event_name: "label:added", event_data: { id: "7" } });
    expect(event).toMatchObject({ status: "ignored", type: "label:added", subject: null });
    expect(normalise(taskTracker, {})).toMatchObject({ status: "ignored", type: "unknown" });
  });
});

describe("shared_inbox", () => {
  const body = (type: string) => sampleBody(sharedInbox, type);

  test("includes sender and subject of a message", () => {
    expect(normalise(sharedInbox, body("message.received"))).toMatchObject({
      title: "Message from kim@example.net: Refund for order 77",
      actor: "kim@example.net",
      url: "https://app.frontapp.com/open/cnv_a1",
      subject: "conversation/cnv_a1",
      data: { inbox: "Support", preview: "Hello, I would like my money back for order 77" },
    });
  });

  test("maps outbound and out_reply to message.sent", () => {
    const reply = body("message.sent");
    expect(normalise(sharedInbox, reply)).toMatchObject({
      type: "message.sent",
      title: "Reply sent by ada: Refund for order 77",
    });
    expect(normalise(sharedInbox, { ...reply, type: "outbound" })).toMatchObject({
      type: "message.sent",
      title: "Message sent by ada: Refund for order 77",
    });
  });

  test("includes the assignee and the actor of an assignment, which may be a rule", () => {
    const assign = body("assignee.changed");
    expect(normalise(sharedInbox, assign)).toMatchObject({
      title: "Assigned to grace: Refund for order 77",
      actor: "ada",
      data: { assignee: "grace" },
    });
    const source = { _meta: { type: "rule" }, data: { id: "rul_1", name: "VIP to Grace" } };
    expect(normalise(sharedInbox, { ...assign, source }).actor).toBe("rule VIP to Grace");
    const api = { _meta: { type: "api" } };
    expect(normalise(sharedInbox, { ...assign, source: api }).actor).toBe("api");
  });

  test("maps an unassignment, which has no target, to assignee.changed", () => {
    const unassign = { ...body("assignee.changed"), type: "unassign", target: null };
    const event = normalise(sharedInbox, unassign);
    expect(event).toMatchObject({
      status: "accepted",
      type: "assignee.changed",
      title: "Unassigned: Refund for order 77",
      actor: "ada",
    });
    expect(event.data).not.toHaveProperty("assignee");
  });

  test("gives a preview payload, which contains only ids, a title and a link", () => {
    const preview = {
      id: "evt_2k1",
      type: "inbound",
      emitted_at: 1_763_716_364.12,
      conversation: { id: "cnv_a1", _links: { self: "https://api2.frontapp.com/…" } },
      target: { _meta: { type: "message" }, data: { id: "msg_9" } },
    };
    expect(normalise(sharedInbox, preview)).toMatchObject({
      status: "accepted",
      deliveryId: "evt_2k1",
      occurredAt: new Date(1_763_716_364_120),
      title: "Message received: conversation cnv_a1",
      url: "https://app.frontapp.com/open/cnv_a1",
      actor: null,
    });
  });

  test("ignores the event types of application webhooks", () => {
    const event = normalise(sharedInbox, { id: "evt_1", type: "inbound_received" });
    expect(event).toMatchObject({ status: "ignored", type: "inbound_received" });
  });
});

describe("deploy_platform", () => {
  const body = sampleBody(deployPlatform, "deploy.succeeded");
  const typed = (type: string) => normalise(deployPlatform, { ...body, type });
  const changed = (path: readonly string[], value: unknown) =>
    normalise(deployPlatform, replaced(body, path, value));

  test("includes project, target, commit message and branch", () => {
    const event = normalise(deployPlatform, body);
    expect(event).toMatchObject({
      title: "Deploy of web to production succeeded: Fix cart (main)",
      actor: "Ada",
      data: { branch: "main", commit: "3f2c9b7e5d1a", project: "web" },
    });
    expect(event.data["site"]).toMatch(/^https:\/\/web-[\da-f]{9}-acme\.vercel\.app\/$/);
  });

  test.each([
    ["deployment.created", "deploy.created", "info"],
    ["deployment.succeeded", "deploy.succeeded", "success"],
    ["deployment.error", "deploy.error", "error"],
    ["deployment.canceled", "deploy.canceled", "warning"],
    ["deploy.created", "deploy.created", "info"],
    ["deploy.succeeded", "deploy.succeeded", "success"],
    ["deploy.error", "deploy.error", "error"],
    ["deploy.canceled", "deploy.canceled", "warning"],
    ["deployment-ready", "deploy.succeeded", "success"],
    ["deployment-error", "deploy.error", "error"],
  ])("maps %s to %s with severity %s", (type, ours, severity) => {
    const event = typed(type);
    expect(event).toMatchObject({ status: "accepted", type: ours });
    expect(messagesOf(deployPlatform, event)).toMatchObject([{ severity }]);
  });

  test.each(["deployment", "deployment.ready", "deployment.promoted", "project.created"])(
    "%s is not listed",
    (type) => {
      expect(typed(type)).toMatchObject({ status: "ignored", type });
    },
  );

  test("reads a null target as preview, also with a null team", () => {
    expect(changed(["payload", "target"], null).title).toStartWith("Deploy of web to preview");
    expect(changed(["payload", "team"], null).status).toBe("accepted");
  });

  test.each(["gitlab", "bitbucket"])("reads the commit of %s", (host) => {
    const meta = {
      [`${host}CommitRef`]: "dev",
      [`${host}CommitMessage`]: "Fix cart\n\nAnd more",
      [`${host}CommitAuthorName`]: "Grace",
    };
    const event = changed(["payload", "deployment", "meta"], meta);
    expect(event.title).toEndWith(": Fix cart (dev)");
    expect(event.actor).toBe("Grace");
  });

  test("reads a deploy from the command line, which has a user and no commit", () => {
    const event = changed(["payload", "deployment", "meta"], {});
    expect(event).toMatchObject({
      title: "Deploy of web to production succeeded",
      actor: "usr_1",
    });
  });

  test("links to the site if there is no dashboard link and the host is valid", () => {
    const host = "web-acme.vercel.app";
    const without = replaced(body, ["payload", "links"], null);
    const siteAs = (url: string) =>
      normalise(deployPlatform, replaced(without, ["payload", "deployment", "url"], url)).url;
    expect(siteAs(host)).toBe(`https://${host}/`);
    expect(siteAs(`${host}@evil.example`)).toBeNull();
    expect(siteAs("javascript:alert(1)")).toBeNull();
  });
});

describe("code_host", () => {
  const run = sampleBody(codeHost, "workflow_run.completed");
  const published = sampleBody(codeHost, "package.published");
  const sent = (event: string | null, body: unknown) =>
    normalise(codeHost, body, event === null ? {} : { "X-GitHub-Event": event });

  test("includes workflow, branch, commit and repository of a failed run", () => {
    const event = sent("workflow_run", run);
    expect(event).toMatchObject({
      title: "CI failed on main: Fix cart (acme/web #163)",
      actor: "ada",
      data: { conclusion: "failure", commit: "3f2c9b7e5d1a", repository: "acme/web" },
    });
    expect(messagesOf(codeHost, event)).toMatchObject([
      { severity: "error", text: "by ada · 3f2c9b7e5d1a · push" },
    ]);
  });

  test.each([
    ["success", "CI passed", "success"],
    ["failure", "CI failed", "error"],
    ["timed_out", "CI timed out", "error"],
    ["cancelled", "CI was cancelled", "warning"],
    ["action_required", "CI needs action", "warning"],
    ["stale", "CI went stale", "warning"],
    ["skipped", "CI was skipped", "info"],
    ["neutral", "CI ended neutral", "info"],
    [null, "CI completed", "info"],
    ["constructor", "CI completed", "info"],
  ])("maps the conclusion %p to %p with severity %s", (conclusion, words, severity) => {
    const event = sent("workflow_run", replaced(run, ["workflow_run", "conclusion"], conclusion));
    expect(event.title).toStartWith(`${words} on main: `);
    expect(messagesOf(codeHost, event)).toMatchObject([{ severity }]);
  });

  test("includes the attempt number, and the owner of a fork in the branch", () => {
    const again = replaced(run, ["workflow_run", "run_attempt"], 2);
    expect(sent("workflow_run", again).title).toEndWith("(acme/web #163, attempt 2)");
    const fork = replaced(run, ["workflow_run", "head_repository"], { full_name: "kim/web" });
    expect(sent("workflow_run", fork).title).toStartWith("CI failed on kim:main: ");
  });

  test("includes name and version of a package", () => {
    expect(sent("package", published)).toMatchObject({
      title: "Published web@1.4.0 (npm, acme/web)",
      url: "https://github.com/acme/web/packages/7?version=1.4.0",
      actor: "ada",
      subject: "package/7",
    });
  });

  test("includes the tag of a container, or its short digest", () => {
    const digest = "sha256:3da1996a8115d7616457760d9920b815241d0a03b34cf5f04e9a0e9d8de37498";
    const container = { name: "shop", package_type: "CONTAINER", package_version: {} };
    const titleOf = (version: object) =>
      sent("package", { ...published, package: { ...container, package_version: version } }).title;
    expect(titleOf({ version: digest })).toBe(
      "Published shop@sha256:3da1996a8115 (container, acme/web)",
    );
    const tag = { name: "latest", digest };
    expect(titleOf({ version: digest, container_metadata: { tag } })).toBe(
      "Published shop:latest (container, acme/web)",
    );
  });

  test("ignores a container's times in the year 1", () => {
    const year1 = replaced(published, ["package", "updated_at"], "0001-01-01T00:00:00Z");
    expect(sent("package", year1).occurredAt).toBeNull();
  });

  test("reads the type from the signed body if the event header is missing", () => {
    expect(sent(null, run)).toMatchObject({ status: "accepted", type: "workflow_run.completed" });
    expect(sent(null, published)).toMatchObject({ status: "accepted", type: "package.published" });
    expect(sent(null, { zen: "Design for failure.", hook_id: 1 })).toMatchObject({
      status: "ignored",
      type: "ping",
    });
  });

  test.each([
    ["package", run, "workflow_run.completed"],
    ["push", run, "workflow_run.completed"],
    ["package.published", run, "workflow_run.completed"],
    ["workflow_run", published, "package.published"],
    ["registry_package", published, "package.published"],
  ])("does not let the header %s override the signed body", (event, body, type) => {
    expect(sent(event, body)).toMatchObject({ status: "accepted", type });
  });

  test.each([
    ["workflow_run", { ...run, action: "requested" }, "workflow_run.requested"],
    ["workflow_run.completed", { ...run, action: undefined }, "unknown"],
    ["package", { action: "published", security_advisory: {} }, "unknown"],
    ["repository_dispatch", { action: "package.published", sender: {} }, "unknown"],
    ["workflow_run", { action: "completed", check_run: {}, sender: {} }, "unknown"],
    ["package.published", { workflow_run: {} }, "unknown"],
    ["workflow_run", { workflow_run: {} }, "workflow_run"],
    ["workflow_run", {}, "workflow_run"],
    ["workflow_run.completed", { action: "requested" }, "workflow_run.completed.requested"],
  ])("does not let the header %s turn another body into a listed event", (event, body, type) => {
    expect(sent(event, body)).toMatchObject({ status: "ignored", type });
  });

  test.each([
    ["workflow_run", { action: "completed" }],
    ["workflow_run", { action: "completed", workflow_run: [] }],
    ["workflow_run.completed", {}],
    ["workflow_run.completed", { action: "completed", repository: { full_name: "acme/web" } }],
    ["workflow_run.completed", { workflow_run: { id: 1 } }],
    [null, { event: "workflow_run.completed" }],
    [null, { type: "workflow_run.completed", id: 1 }],
    ["push", { action: "workflow_run.completed" }],
  ])("uses the header %s for a minimal body: %j", (event, body) => {
    const normalised = sent(event, body);
    expect(normalised).toMatchObject({ status: "accepted", type: "workflow_run.completed" });
    expect(normalised.title).toStartWith("Workflow completed");
  });

  test("names an unlisted event by event and action, in printable characters", () => {
    const repository = { full_name: "acme/web", html_url: "https://github.com/acme/web" };
    expect(sent("ping", { zen: "Design for failure.", repository })).toMatchObject({
      status: "ignored",
      type: "ping",
      title: "Ignored: ping (acme/web)",
      url: "https://github.com/acme/web",
    });
    expect(sent("push", { ref: "refs/heads/main" }).type).toBe("push");
    expect(sent("issues", { action: "opened" }).type).toBe("issues.opened");
    expect(sent("<b>issues</b>", { action: "open\ned" }).type).toBe("-b-issues-b-.open-ed");
    expect(sent("x".repeat(9_000), {}).type).toHaveLength(80);
  });

  test("reads the delivery id from either header and ignores an invalid one", () => {
    const idOf = (headers: Readonly<Record<string, string>>) =>
      normalise(codeHost, run, headers).deliveryId;
    expect(idOf({ "X-CodeHost-Delivery": "d-1" })).toBe("d-1");
    expect(idOf({ "X-GitHub-Delivery": "d-2" })).toBe("d-2");
    expect(idOf({ "X-GitHub-Delivery": "x".repeat(201) })).toBeNull();
    expect(idOf({})).toBeNull();
  });

  test("accepts only the two listed events of GitHub's own examples", () => {
    let count = 0;
    const accepted = new Map<string, number>();
    for (const { name, examples } of definitions) {
      for (const example of examples) {
        const event = sent(name, example);
        expectBounded(event);
        count += 1;
        if (event.status === "ignored") continue;
        accepted.set(event.type, (accepted.get(event.type) ?? 0) + 1);
        expect(event.actor).toBeString();
        expect(event.subject).toBeString();
        expect(event.url).toStartWith("https://github.com/");
        expect(event.occurredAt).toBeDate();
      }
    }
    expect(count).toBeGreaterThan(200);
    expect([...accepted.keys()].toSorted()).toEqual([
      "package.published",
      "workflow_run.completed",
    ]);
  });

  test.each([null, "push", "package", "workflow_run", "workflow_run.completed"])(
    "does not let the header %s change any of GitHub's own examples",
    (header) => {
      for (const { name, examples } of definitions) {
        for (const example of examples) {
          const genuine = sent(name, example);
          const event = sent(header, example);
          expect(event.status).toBe(genuine.status);
          if (genuine.status === "accepted") expect(event).toEqual(genuine);
        }
      }
    },
  );

  test("gives each of GitHub's own examples the type that GitHub names", () => {
    for (const { name, examples } of definitions) {
      for (const example of examples) {
        const action = at(example, "action");
        const type = typeof action === "string" ? `${name}.${action}` : name;
        expect(sent(name, example).type).toBe(type);
      }
    }
  });
});

describe("payment_processor", () => {
  const body = (type: string) => sampleBody(paymentProcessor, type);
  const paid = (amount: unknown, currency: unknown) =>
    normalise(paymentProcessor, {
      ...body("invoice.paid"),
      data: { object: { id: "in_1", object: "invoice", amount_paid: amount, currency } },
    }).data["amount"];

  test("includes amount, customer and reason", () => {
    expect(normalise(paymentProcessor, body("payment_intent.payment_failed")).title).toBe(
      "Payment failed: EUR 42.00 · kim@example.net · Your card was declined. · test mode",
    );
    expect(normalise(paymentProcessor, body("charge.dispute.created")).title).toBe(
      "Dispute opened: EUR 42.00 · kim@example.net · fraudulent · test mode",
    );
  });

  test.each([
    [123_456, "usd", "USD 1,234.56"],
    [0, "eur", "EUR 0.00"],
    [-5, "eur", "EUR -0.05"],
    [500, "jpy", "JPY 500"],
    [5_120, "kwd", "KWD 5.120"],
    // The service's exponents for these differ from ISO 4217.
    [500, "mga", "MGA 500"],
    [500, "isk", "ISK 5.00"],
  ])("formats %d %s as %s", (amount, currency, text) => {
    expect(paid(amount, currency)).toBe(text);
  });

  test.each([
    ["12", "eur"],
    [1.5, "eur"],
    [2 ** 60, "eur"],
    [12, "euro"],
    [12, null],
    [null, "eur"],
  ])("ignores the invalid amount %p %p", (amount, currency) => {
    expect(paid(amount, currency)).toBeUndefined();
  });

  test("links to the dashboard of test data or live data", () => {
    const event = { ...body("invoice.paid"), id: "evt_1" };
    const urlOf = (livemode: boolean) => normalise(paymentProcessor, { ...event, livemode }).url;
    expect(urlOf(false)).toBe("https://dashboard.stripe.com/test/events/evt_1");
    expect(urlOf(true)).toBe("https://dashboard.stripe.com/events/evt_1");
  });

  test("uses the id of an expanded customer", () => {
    const thing = { id: "sub_1", object: "subscription", customer: { id: "cus_9" } };
    const event = normalise(paymentProcessor, {
      ...body("customer.subscription.deleted"),
      data: { object: thing },
    });
    expect(event).toMatchObject({ actor: "cus_9", subject: "subscription/sub_1" });
    expect(event.title).toStartWith("Subscription ended: sub_1 · cus_9");
  });

  test("ignores a thin event, which contains no object, even with a listed name", () => {
    const thin = {
      id: "evt_65R",
      object: "v2.core.event",
      type: "v1.billing.meter.error_report_triggered",
      created: "2026-11-21T09:12:44.120Z",
      livemode: true,
      related_object: { id: "mtr_1", type: "billing.meter" },
    };
    expect(normalise(paymentProcessor, thin)).toMatchObject({
      status: "ignored",
      type: "v1.billing.meter.error_report_triggered",
      deliveryId: "evt_65R",
      occurredAt: now,
    });
    expect(normalise(paymentProcessor, { ...thin, type: "invoice.paid" }).status).toBe("ignored");
  });

  test("ignores unlisted events", () => {
    const event = normalise(paymentProcessor, { ...body("invoice.paid"), type: "invoice.created" });
    expect(event).toMatchObject({ status: "ignored", type: "invoice.created" });
  });
});

test("only values of known harmless headers and of headers that the provider reads are stored [API10-11]", () => {
  const secrets = [
    "authorization",
    "cf-access-client-secret",
    "cf-access-jwt-assertion",
    "cookie",
    "proxy-authorization",
    "x-alarm-mac",
    "x-amz-security-token",
    "x-api-key",
    "x-auth-key",
    "x-forwarded-access-token",
    "x-goog-iap-jwt-assertion",
    "x-ms-client-principal",
    "x-vault-token",
    "x-whatever-comes-next",
  ];
  const headers = new Headers({
    ...Object.fromEntries(secrets.map((name) => [name, "hush"])),
    "user-agent": "Alarm",
    "x-alarm-id": "a".repeat(1_000),
  });
  expect(withoutSecrets(headers)).toEqual({ "user-agent": "Alarm" });
  expect(withoutSecrets(headers, ["x-alarm-id"])).toEqual({
    "user-agent": "Alarm",
    "x-alarm-id": "a".repeat(512),
  });
  expect(Object.keys(withoutValues(headers))).toEqual([...headers.keys()]);
  expect(JSON.stringify(withoutValues(headers))).not.toContain("hush");
});

describe("payload readers", () => {
  test("read only own keys [API10-9]", () => {
    expect(at({}, "constructor", "name")).toBeUndefined();
    expect(at(parsed('{"__proto__":{"a":1}}'), "a")).toBeUndefined();
    expect(at([1], "0")).toBeUndefined();
  });

  test("truncate long text at a character boundary", () => {
    expect(printable("🦉".repeat(9), 4)).toBe("🦉…");
    expect(printable("a\u0000\r\nb\u202ec\u2028 ")).toBe("a b c");
    expect(printable("\u0007\n")).toBeNull();
    expect(shortHash("3F2c9b7e5d1a48")).toBe("3F2c9b7e5d1a");
    expect(shortHash("main")).toBeNull();
  });

  test("accept only http and https URLs without user information [API10-8]", () => {
    expect(webUrl("HTTPS://Example.com/a b")).toBe("https://example.com/a%20b");
    for (const text of ["ftp://e.example/", "//e.example", "https://", "https://a@b.example/"]) {
      expect(webUrl(text)).toBeNull();
    }
    expect(webUrl(`https://e.example/${"é".repeat(1_000)}`)).toBeNull();
  });

  test("accept only times with an offset, in this century", () => {
    const time = (text: unknown) => isoTimeAt({ time: text }, "time")?.getTime();
    expect(time("2026-11-21T10:12:44.120000+01:00")).toBe(now.getTime());
    for (const text of ["2026-11-21T10:12:44", "2026-11-21", "0001-01-01T00:00:00Z", 1, null]) {
      expect(time(text)).toBeUndefined();
    }
    expect(time("2026-13-41T10:12:44Z")).toBeUndefined();
  });
});

/** Normalises a payload as the receiver does. */
function normalise(
  provider: Provider,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): Normalised {
  if (!isObject(payload)) throw new Error("A payload is an object");
  return provider.normalise({ payload, header: headerOf(headers) });
}

function headerOf(headers: Readonly<Record<string, string>>): VerifiedDelivery["header"] {
  const values = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return (...names) =>
    names.map((name) => values.get(name)).find((value) => value !== undefined) ?? null;
}

function messagesOf(provider: Provider, normalised: Normalised) {
  const event: Event = {
    ...normalised,
    id: "evt_1",
    provider: provider.id,
    idempotencyKey: "1",
    occurredAt: normalised.occurredAt ?? now,
    createdAt: now,
  };
  return provider.notify.map((notify) => notify(event)).filter((message) => message !== null);
}

function fresh() {
  return { id: crypto.randomUUID(), now };
}

function sampleBody(provider: Provider, type: string): JsonObject {
  const body = provider.samples[type]?.(fresh()).body;
  if (body === undefined) throw new Error(`${provider.id} has no sample ${type}`);
  return body;
}

/** Expects that normalising does not throw, is deterministic, and copies only bounded, printable text. */
function expectHarmless(
  provider: Provider,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const event = normalise(provider, payload, headers);
  expectBounded(event);
  expect(normalise(provider, payload, headers)).toEqual(event);
  for (const message of messagesOf(provider, event)) {
    expectPrintable(message.title, 500);
    expectPrintable(message.text, 500);
  }
}

function expectBounded(event: Normalised): void {
  expect(event.type).toMatch(/^[\w.:-]{1,80}$/);
  expect(event.title).not.toBe("");
  expectPrintable(event.title, 500);
  expectPrintable(event.actor, 500);
  expectPrintable(event.subject, 300);
  if (event.deliveryId !== null) expect(event.deliveryId).toMatch(/^[\x21-\x7e]{1,200}$/);
  if (event.url !== null) expect(event.url).toMatch(/^https?:\/\/[\x21-\x7e]{1,2040}$/);
  if (event.occurredAt !== null) expect(event.occurredAt.getTime()).toBeInteger();
  expect(Object.keys(event.data).length).toBeLessThan(12);
  for (const value of Object.values(event.data)) {
    if (typeof value === "string") expectPrintable(value, 500);
    else expect(value).toBeBoolean();
  }
}

function expectPrintable(text: string | null, maxLength: number): void {
  if (text === null) return;
  expect(text.length).toBeLessThanOrEqual(maxLength);
  expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
  expect(text.isWellFormed()).toBe(true);
}

function parsed(json: string): unknown {
  return JSON.parse(json);
}

/** Values that break naive parsers. */
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: "binary", maxLength: 700 }),
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, {}, [], [[]], [null], { id: {} }),
  fc.constantFrom("", " ", "..", "\ud800", "a\u0000b\u001b[31m\u202e", "x".repeat(100_000)),
  fc.constantFrom("https://", "https://a@b.example/", `https://e/${"é".repeat(900)}`),
);

/** Any JSON object, sometimes with an own `__proto__`. */
const anyObject: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.oneof(fc.string(), fc.constantFrom("type", "action", "__proto__")), anyValue)
  .map((object) => parsed(JSON.stringify(object)))
  .filter(isObject);

/** Any values for the headers that a provider reads. */
function anyHeaders(provider: Provider): fc.Arbitrary<Readonly<Record<string, string>>> {
  const names = Object.values(provider.samples).flatMap((sample) =>
    Object.keys(sample(fresh()).headers),
  );
  return fc.dictionary(fc.constantFrom("X-Other", ...names), fc.string({ maxLength: 700 }));
}

type Path = readonly string[];

/** The paths to all nested values of objects and arrays. */
function pathsOf(value: unknown, to: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null || to.length > 8) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...to, key];
    return [path, ...pathsOf(inner, path)];
  });
}

/** A copy with the value at a path replaced. */
function replaced(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (typeof value !== "object" || value === null) return value;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const changed = entries.map(([name, inner]) =>
    name === key ? ([name, replaced(inner, rest, replacement)] as const) : ([name, inner] as const),
  );
  return Array.isArray(value) ? changed.map(([, inner]) => inner) : Object.fromEntries(changed);
}
