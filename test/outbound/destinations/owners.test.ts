import { expect, test } from "bun:test";

import fc from "fast-check";

import { json, startApp, until } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { contextOf } from "../../support/operator.ts";
import { runs } from "../../support/runs.ts";

const users = ["ada", "bob"] as const;
type User = (typeof users)[number];

const anyUser = fc.constantFrom(...users);
/** `which`: the index of an earlier booking, event or destination of the user. */
const which = fc.nat(5);
const anyStep = fc.oneof(
  fc.record({ does: fc.constant("create" as const), user: anyUser }),
  fc.record({ does: fc.constant("book" as const), user: anyUser }),
  fc.record({ does: fc.constant("cancel" as const), user: anyUser, which }),
  fc.record({ does: fc.constantFrom("pause", "resume", "rotate", "edit"), user: anyUser, which }),
  fc.record({ does: fc.constant("replay" as const), which }),
  fc.record({ does: fc.constant("deliver" as const) }),
);
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

/** Plays steps on a new service. Returns what each user's destinations received and should have received. */
async function play(steps: readonly Step[]) {
  const app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  const received: { user: User; booking: string; type: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { data }: { data: { event: { type: string; data: { bookingId?: string } } } } =
        JSON.parse(await request.text());
      const user = users.find((name) => request.url.endsWith(`/${name}`)) ?? "bob";
      received.push({ user, booking: data.event.data.bookingId ?? "", type: data.event.type });
      return new Response();
    },
  });
  const { destinations } = app.services;
  const made: { readonly user: User; readonly id: string }[] = [];
  const bookings: { readonly user: User; readonly id: string }[] = [];
  const expected: { user: User; booking: string; type: string }[] = [];
  const expects = (user: User, booking: string, type: string) => {
    const own = made.filter((destination) => destination.user === user);
    expected.push(...own.map(() => ({ user, booking, type })));
  };
  const ofUser = <Item extends { user: User }>(
    items: readonly Item[],
    { user, which: number }: { user: User; which: number },
  ) => {
    const own = items.filter((item) => item.user === user);
    return own.at(number % Math.max(1, own.length));
  };

  async function take(step: Step, number: number): Promise<void> {
    switch (step.does) {
      case "create": {
        const { user } = step;
        if (made.filter((destination) => destination.user === user).length === 3) return;
        const url = `http://127.0.0.1:${server.port}/${user}`;
        const input = { name: `d${number}`, format: "json", url };
        const created = await destinations.create(contextOf(user, "user"), input);
        made.push({ user, id: created.made.id });
        return;
      }
      case "book": {
        const body = bookingBody(flight.id);
        const answer = await json(await app.as("user", "/v1/api/bookings", post(body), step.user));
        const id = String(answer["bookingId"]);
        bookings.push({ user: step.user, id });
        return expects(step.user, id, "booking.confirmed");
      }
      case "cancel": {
        const booking = ofUser(bookings, step);
        if (booking === undefined) return;
        const path = `/v1/api/bookings/${booking.id}`;
        const response = await app.as("user", path, { method: "DELETE" }, step.user);
        const isRepeat = cancelled.has(booking.id);
        cancelled.add(booking.id);
        if (response.ok && !isRepeat) expects(step.user, booking.id, "booking.cancelled");
        return;
      }
      case "deliver":
        await app.deliverSample("task_tracker", "task.completed");
        return;
      case "replay": {
        const page = await json(await app.as("operator", "/v1/events"));
        const events: { id: string }[] = Array.isArray(page["data"]) ? page["data"] : [];
        const event = events.at(step.which % Math.max(1, events.length));
        if (event !== undefined)
          await app.as("operator", `/v1/events/${event.id}/replay`, { method: "POST" });
        return;
      }
      default: {
        const destination = ofUser(made, step);
        if (destination === undefined) return;
        const { id } = destination;
        const [admin, user] = [contextOf("root", "admin"), contextOf(step.user, "user")];
        if (step.does === "edit") await destinations.update(admin, id, { maxConcurrent: 3 });
        else if (step.does === "rotate") await destinations.rotate(user, id);
        else await destinations.setState(user, id, step.does === "pause" ? "paused" : "active");
      }
    }
  }

  const flight = await addFlight(app, { seats: 100 });
  const cancelled = new Set<string>();
  try {
    for (const [number, step] of steps.entries()) await take(step, number);
    for (const { user, id } of made) {
      await destinations.setState(contextOf(user, "user"), id, "active");
    }
    await until(() => received.length >= expected.length);
    // One more booking of each, whose arrival shows that nothing else was on its way.
    for (const [number, user] of users.entries()) await take({ does: "book", user }, number);
    await until(() => received.length >= expected.length);
    return { received, expected, owners: bookings };
  } finally {
    await app.stop();
    await server.stop(true);
  }
}

const textOf = (items: readonly object[]) => items.map((item) => JSON.stringify(item)).toSorted();

test("a user's destinations receive every event of that user's bookings, and nothing of others", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { minLength: 10, maxLength: 25, size: "max" }),
      async (steps) => {
        const { received, expected, owners } = await play(steps);
        for (const { user, booking } of received) {
          expect(owners.find(({ id }) => id === booking)?.user).toBe(user);
        }
        expect(textOf(received)).toEqual(textOf(expected));
      },
    ),
    // Shrinking takes long, because each case waits for what does not arrive.
    { numRuns: runs(100), endOnFailure: true },
  );
});
