import { beforeEach, describe, expect, test } from "bun:test";

import type { Role } from "../../../src/base/context.ts";
import type { DestinationInput } from "../../../src/outbound/destinations/destination-input.ts";
import { operatorGateway } from "../../../src/outbound/model/destination.ts";
import { json, until } from "../../support/app.ts";
import { failure } from "../../support/failure.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { gatewayEnv, never, type Received, type testGateway } from "../../support/gateway.ts";
import { contextOf, timelineOf } from "../../support/operator.ts";
import { payer } from "../../support/payments.ts";
import { resources } from "../../support/resources.ts";
import { appPerTest } from "../../support/running-app.ts";
import { requireSigned } from "../../support/signed-message.ts";

const taken = resources();

const app = appPerTest({ DESTINATIONS_ALLOW_PRIVATE: "true" });
let destinations: typeof app.services.destinations;
beforeEach(() => {
  destinations = app.services.destinations;
});

const receiver = (...args: Parameters<typeof testGateway>) => taken.gateway(...args);
const bodyOf = (received?: Received) => JSON.parse(received?.body ?? "null");

const as = (role: Role, id = `test-${role}`) => contextOf(id, role);
const admin = as("admin");

const input = (name: string, url: string, fields: Partial<DestinationInput> = {}) =>
  ({ name, url, format: "json", ...fields }) as const;

describe("an event", () => {
  test("reaches every destination whose filter it matches", async () => {
    const [all, failures, others] = [receiver(), receiver(), receiver()];
    await destinations.create(admin, input("all", all.url));
    const filter = 'event.type == "deploy.error"';
    await destinations.create(admin, input("failures", failures.url, { filter, format: "slack" }));
    await destinations.create(
      admin,
      input("others", others.url, { filter: 'event.provider == "code_host"' }),
    );
    await app.deliverSample("deploy_platform", "deploy.error");
    await app.deliverSample("deploy_platform", "deploy.succeeded");
    await until(() => all.received.length === 2 && failures.received.length === 1);
    expect(bodyOf(failures.received[0])).toHaveProperty("attachments");
    expect(others.received).toEqual([]);
    await until(async () => {
      const page = await json(await app.as("operator", "/v1/notifications?status=pending"));
      return JSON.stringify(page["data"]) === "[]";
    });
  });

  test("shows what became of it at each destination, and why a filter did not match", async () => {
    const all = receiver();
    await destinations.create(admin, input("all", all.url));
    const filter = 'event.provider == "task_tracker" && event.severity == "error"';
    await destinations.create(admin, input("errors", receiver().url, { filter }));
    await destinations.create(as("user", "ada"), input("hers", receiver().url));
    const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
    const deliveries = async () => {
      const { notifications } = await json(await app.as("operator", `/v1/events/${String(id)}`));
      return Object(notifications)[0].deliveries as unknown[];
    };
    await until(async () => JSON.stringify(await deliveries()).includes('"delivered"'));
    expect(await deliveries()).toMatchObject([
      { destination: "all", status: "delivered", attemptCount: 1, filtered: null },
      {
        destination: "errors",
        status: "filtered",
        filtered: { clause: 'event.severity == "error"', values: { "event.severity": "success" } },
      },
    ]);
  });

  test("is not delayed by a destination that hangs or fails", async () => {
    const good = receiver();
    const hanging = receiver(never);
    const failing = receiver(() => new Response("no", { status: 500 }));
    await destinations.create(admin, input("hanging", hanging.url));
    await destinations.create(admin, input("failing", failing.url));
    await destinations.create(admin, input("good", good.url));
    for (let n = 0; n < 50; n += 1) await app.deliverSample("task_tracker", "task.completed");
    await until(() => good.received.length === 50);
    expect(hanging.received.length).toBeLessThanOrEqual(8);
  });

  test("waits while its destination is paused, and goes out in order afterwards", async () => {
    const [slow, other] = [receiver(), receiver()];
    await destinations.create(admin, input("other", other.url));
    const { made: destination } = await destinations.create(
      admin,
      input("slow", slow.url, { orderBy: "event.provider" }),
    );
    await destinations.setState(admin, destination.id, "paused");
    const ids: unknown[] = [];
    for (let n = 0; n < 10; n += 1) {
      const response = await app.deliverSample("task_tracker", "task.completed");
      ids.push((await json(response))["id"]);
    }
    await until(() => other.received.length === 10);
    expect(slow.received).toEqual([]);
    await destinations.setState(admin, destination.id, "active");
    await until(() => slow.received.length === 10);
    expect(slow.received.map(bodyOf)).toMatchObject(ids.map((id) => ({ data: { event: { id } } })));
  });

  test("does not exceed the rate of its destination", async () => {
    const limited = receiver();
    await destinations.create(admin, input("limited", limited.url, { ratePerSecond: 5 }));
    for (let n = 0; n < 20; n += 1) await app.deliverSample("task_tracker", "task.completed");
    const sent = () => limited.received.length;
    for (const count of [5, 10, 15, 20]) {
      let [before, sinceMs] = [sent(), performance.now()];
      await until(() => {
        const now = performance.now();
        if (sent() !== before) [before, sinceMs] = [sent(), now];
        // Only while nothing is on its way: those of one second would have different times otherwise.
        else if (now - sinceMs > 50) {
          app.clock.advance(100);
          sinceMs = now;
        }
        return sent() >= count;
      });
      app.clock.advance(500);
      // Wakes the queue, which may not send more within the second.
      await app.deliverSample("task_tracker", "task.completed");
      expect(sent()).toBe(count);
    }
  });
});

describe("a destination", () => {
  test("signs with both secrets for a day after a rotation", async () => {
    const signed = receiver();
    const { made: destination } = await destinations.create(admin, input("signed", signed.url));
    const signatures = async () => {
      const before = signed.received.length;
      await app.deliverSample("task_tracker", "task.completed");
      await until(() => signed.received.length > before);
      return signed.received.at(-1)?.headers["webhook-signature"]?.split(" ").length;
    };
    expect(await signatures()).toBe(1);
    await destinations.rotate(admin, destination.id);
    expect(await signatures()).toBe(2);
    app.clock.jump(24 * 3_600_000);
    expect(await signatures()).toBe(1);
  });

  test("of a user has a public address, also where those of operators may be private", async () => {
    await app.restart({ DESTINATIONS_ALLOW_PRIVATE: "operators" });
    destinations = app.services.destinations;
    const { url } = receiver();
    await destinations.create(admin, input("a", url));
    const ada = as("user", "ada");
    const refused = { code: "validation-failed", extras: { errors: [{ pointer: "/url" }] } };
    expect(await failure(destinations.create(ada, input("b", url)))).toMatchObject(refused);
    const { made } = await destinations.create(ada, input("b", "https://example.com/"));
    for (const ctx of [ada, admin]) {
      expect(await failure(destinations.update(ctx, made.id, { url }))).toMatchObject(refused);
    }
  });

  test("is removed with its deliveries", async () => {
    const gone = receiver(() => new Response(null, { status: 500 }));
    const { made: destination } = await destinations.create(admin, input("gone", gone.url));
    await app.deliverSample("task_tracker", "task.completed");
    await until(async () => {
      const page = await json(await app.as("operator", "/v1/notifications?status=retrying"));
      return Array.isArray(page["data"]) && page["data"].length === 1;
    });
    await destinations.remove(admin, destination.id);
    expect(await failure(destinations.read(admin, destination.id))).toMatchObject({
      code: "not-found",
    });
    await until(async () => {
      const page = await json(await app.as("operator", "/v1/notifications?status=delivered"));
      return Array.isArray(page["data"]) && page["data"].length === 1;
    });
  });

  test("leaves its events readable when it is removed during an attempt", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    const gone = receiver(() => promise);
    const { made } = await destinations.create(admin, input("gone", gone.url));
    const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
    await until(() => gone.received.length === 1);
    await destinations.remove(admin, made.id);
    resolve(new Response(null, { status: 500 }));
    const failed = 'attempts_total{destination="gone",outcome="failed"} 1';
    await until(async () => (await (await app.fetch("/metrics")).text()).includes(failed));
    const [notification] = await timelineOf(app, id);
    expect(notification).toMatchObject({ status: "delivered", attempts: [] });
  });
});

describe("a change", () => {
  test("of the format drops a secret of the other kind, and a secret of one's own is refused", async () => {
    const target = receiver();
    const { made } = await destinations.create(admin, input("a", target.url));
    const toPagerduty = destinations.update(admin, made.id, { format: "pagerduty" });
    expect(await failure(toPagerduty)).toMatchObject({
      extras: { errors: [{ pointer: "/secret" }] },
    });
    expect(await failure(destinations.update(admin, made.id, { secret: "abc" }))).toMatchObject({
      extras: { errors: [{ pointer: "/secret" }] },
    });
    await destinations.update(admin, made.id, { format: "pagerduty", secret: "routing" });
    await app.deliverSample("deploy_platform", "deploy.error");
    await until(() => target.received.length === 1);
    expect(bodyOf(target.received[0])).toMatchObject({ routing_key: "routing" });
  });

  test("of the URL keeps the secret that signs", async () => {
    const target = receiver();
    const { made } = await destinations.create(admin, input("a", receiver().url));
    await destinations.update(admin, made.id, { url: target.url });
    await app.deliverSample("deploy_platform", "deploy.error");
    await until(() => target.received.length === 1);
    for (const request of target.received) requireSigned(request, String(made.secret));
  });

  test("of the format from mail to json sends by HTTP", async () => {
    const target = receiver();
    const address = `smtp://127.0.0.1:${new URL(target.url).port}/?from=a@example.com&to=b@example.com`;
    const { made } = await destinations.create(admin, input("a", address, { format: "email" }));
    expect(made.transport).toBe("smtp");
    const changed = { format: "json", url: target.url };
    expect(await destinations.update(admin, made.id, changed)).toMatchObject({ transport: "http" });
  });

  test("does not undo a concurrent one", async () => {
    const { made } = await destinations.create(admin, input("a", receiver().url));
    const changes = [
      destinations.rotate(admin, made.id),
      destinations.setState(admin, made.id, "paused"),
      destinations.update(admin, made.id, { filter: "true" }),
    ];
    const ends = await Promise.allSettled(changes);
    const failed = ends.filter(({ status }) => status === "rejected");
    expect(failed).toMatchObject(failed.map(() => ({ reason: { code: "unavailable" } })));
    const last = await destinations.read(admin, made.id);
    expect(last.state === "paused").toBe(ends[1]?.status === "fulfilled");
    expect(last.filter === "true").toBe(ends[2]?.status === "fulfilled");
  });
});

describe("the operator gateway", () => {
  test("keeps its name, and its filter can be changed although it is private", async () => {
    const gateway = receiver();
    const named = input(operatorGateway.name, gateway.url);
    const made = destinations.create(as("user", "ada"), named);
    expect(await failure(made)).toMatchObject({ extras: { errors: [{ pointer: "/name" }] } });

    await app.restart({ DESTINATIONS_ALLOW_PRIVATE: "false", ...gateway.env });
    const changed = { filter: 'event.provider == "code_host"' };
    expect(
      await app.services.destinations.update(admin, operatorGateway.id, changed),
    ).toMatchObject(changed);
    await app.deliverSample("task_tracker", "task.completed");
    await app.deliverSample("code_host", "package.published");
    await until(() => gateway.received.length === 1);
    expect(bodyOf(gateway.received[0])).toMatchObject({ source: "/webhooks/code_host" });
  });

  test.each([
    ["a removal", "/name", () => destinations.remove(admin, operatorGateway.id)],
    ["a rotation", "/secret", () => destinations.rotate(admin, operatorGateway.id)],
    ...["name", "format", "transport", "url", "secret"].map(
      (field) =>
        [
          `another ${field}`,
          `/${field}`,
          () => destinations.update(admin, operatorGateway.id, { [field]: "json" }),
        ] as const,
    ),
  ] as const)("refuses %s: its settings define it", async (_, pointer, act) => {
    await app.restart({ ...receiver().env });
    destinations = app.services.destinations;
    expect(await failure(act())).toMatchObject({ extras: { errors: [{ pointer }] } });
  });

  test("can be changed although its port is one that other destinations may not have", async () => {
    await app.restart({
      DESTINATIONS_ALLOW_PRIVATE: "true",
      ...gatewayEnv("http://127.0.0.1:81/"),
    });
    const changed = { maxConcurrent: 3 };
    expect(
      await app.services.destinations.update(admin, operatorGateway.id, changed),
    ).toMatchObject(changed);
  });
});

test("a disabled destination receives nothing, also not what waited", async () => {
  const target = receiver();
  const { made } = await destinations.create(admin, input("a", target.url));
  await destinations.setState(admin, made.id, "paused");
  await app.deliverSample("task_tracker", "task.completed");
  await destinations.setState(admin, made.id, "disabled");
  await app.deliverSample("task_tracker", "task.completed");
  await destinations.setState(admin, made.id, "active");
  await until(() => target.received.length === 1);
  await app.deliverSample("code_host", "package.published");
  await until(() => target.received.length === 2);
});

describe("a user's destination", () => {
  test("receives the events of the user's bookings, and no others", async () => {
    const [mine, everything] = [receiver(), receiver()];
    await destinations.create(as("user", "ada"), input("mine", mine.url));
    await destinations.create(admin, input("everything", everything.url));
    const flight = await addFlight(app);
    const book = (bearer: string) =>
      app.as("user", "/v1/api/bookings", post({ ...bookingBody(flight.id), hold: true }), bearer);
    const { bookingId } = await json(await book("ada"));
    await book("bob");
    await app.deliverSample("task_tracker", "task.completed");
    // Money that does not fit a booking is for operators only.
    await payer(app)("payment_intent.succeeded", { booking: bookingId, amount: 1 });
    await until(() => everything.received.length === 5 && mine.received.length > 0);
    expect(mine.received).toHaveLength(1);
    expect(bodyOf(mine.received[0])).toMatchObject({
      type: "bookings.booking.held",
      data: { event: { data: { bookingId } } },
    });
  });

  test("is not seen or changed by other users", async () => {
    const { made } = await destinations.create(as("user", "ada"), input("mine", receiver().url));
    const bob = as("user", "bob");
    for (const act of [
      () => destinations.read(bob, made.id),
      () => destinations.update(bob, made.id, { name: "his" }),
      () => destinations.rotate(bob, made.id),
      () => destinations.remove(bob, made.id),
    ]) {
      expect(await failure(act())).toMatchObject({ code: "not-found" });
    }
  });
});
