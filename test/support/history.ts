import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { signatureHeaders } from "../../src/inbound/signatures/scheme.ts";
import { sign } from "../../src/inbound/signatures/sign.ts";

import { json, providerOf, sample, testSecret } from "./app.ts";
import type { ConsoleServer, PastClock } from "./console.ts";
import { addFlight, bookingBody, post } from "./flights.ts";
import { gatewayEnv, testGateway } from "./gateway.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** An operator gateway that rejects `deploy.error` with 503 and accepts everything else. */
export const choosyGateway = () =>
  testGateway(
    (_, { body }) => new Response(null, { status: body.includes("deploy.error") ? 503 : 200 }),
  );

export const withGateway = (url: string) => ({
  ...gatewayEnv(url),
  TRUSTED_PROXY_HOPS: "1",
  TASK_TRACKER_WEBHOOK_SECRET_PREVIOUS: "the previous secret",
  CODE_HOST_WEBHOOK_SECRET_PREVIOUS: "the previous secret",
});

interface Extent {
  /** The factor by which to reduce the number of events. */
  readonly sparse: number;
  /** Number of days with departures. */
  readonly days: number;
}

/** Fills a server with a history of two days: mostly successful deliveries, and some failures. */
export async function fillWithHistory(
  { app }: ConsoleServer,
  clock: PastClock,
  { sparse, days }: Extent = { sparse: 1, days: 13 },
): Promise<void> {
  const samples = catalogue.flatMap(({ id, samples: known }) =>
    Object.keys(known)
      // So that each provider has a fair part.
      .slice(0, 8)
      .map((event) => ({ id, event })),
  );
  let turn = 0;
  for (let agoMs = 50 * hourMs; agoMs > 0; agoMs -= intervalBefore(agoMs) * sparse) {
    clock.goBack(agoMs);
    const next = samples[(turn * 7) % samples.length];
    turn += 1;
    // One provider has been silent for a day.
    if (next === undefined || (next.id === "shared_inbox" && agoMs < 26 * hourMs)) continue;
    await deliver(app, next.id, next.event);
    if (turn % 40 === 0) await Bun.sleep(25);
  }
  clock.goBack(30 * hourMs);
  await deliver(app, "code_host", "package.published", { secret: "the previous secret" });
  await deliverRejected(app, clock);
  await sell(app, clock, days);
  clock.goBack(0);
}

/** The interval to the next event: the older, the sparser. */
function intervalBefore(agoMs: number): number {
  if (agoMs > 6 * hourMs) return 11 * minuteMs;
  return agoMs > hourMs ? 3 * minuteMs : 0.45 * minuteMs;
}

type App = ConsoleServer["app"];
type Tamper = (bytes: Buffer) => Buffer;
interface DeliveryOptions {
  readonly secret?: string;
  readonly tamper?: Tamper;
}

async function deliver(
  app: App,
  id: string,
  event: string,
  { secret = testSecret(id), tamper = (bytes: Buffer) => bytes }: DeliveryOptions = {},
): Promise<void> {
  const { headers, body } = sample(id, event, app.clock);
  const bytes = Buffer.from(JSON.stringify(body));
  const { signature } = providerOf(id);
  const name = signatureHeaders(signature)[0] ?? "";
  await app.fetch(`/webhooks/${id}`, {
    method: "POST",
    body: new Uint8Array(tamper(bytes)),
    headers: {
      "content-type": "application/json",
      "x-forwarded-for": "203.0.113.24",
      ...headers,
      [name]: sign(signature, secret, bytes, app.clock.now()),
    },
  });
}

/** Deliveries that fail verification, each for a different reason. */
async function deliverRejected(app: App, clock: PastClock): Promise<void> {
  const addNewline: Tamper = (bytes) => Buffer.concat([bytes, Buffer.from("\n")]);
  const reformat: Tamper = (bytes) =>
    Buffer.from(JSON.stringify(JSON.parse(bytes.toString()), null, 2));
  const cases: readonly [number, string, string, DeliveryOptions][] = [
    [190, "deploy_platform", "deploy.created", { secret: "nobody's" }],
    [84, "task_tracker", "task.created", { secret: `${testSecret("task_tracker")} ` }],
    [52, "code_host", "workflow_run.completed", { tamper: reformat }],
    [17, "code_host", "package.published", { secret: testSecret("deploy_platform") }],
    [4, "task_tracker", "task.completed", { tamper: addNewline }],
  ];
  for (const [minutesAgo, id, event, options] of cases) {
    clock.goBack(minutesAgo * minuteMs);
    await deliver(app, id, event, options);
  }
}

const routes = [
  ["SK100", "JFK", "LHR"],
  ["SK212", "SFO", "NRT"],
  ["SK340", "CDG", "FRA"],
  ["SK415", "LHR", "JFK"],
] as const;

/** Adds departures, the nearest of which have sold most seats, and bookings, some of them cancelled. */
async function sell(app: App, clock: PastClock, days: number): Promise<void> {
  clock.goBack(20 * hourMs);
  const midnight = Math.floor(app.clock.now() / (24 * hourMs)) * 24 * hourMs;
  const { user } = await app.services.users.ensureUser({
    name: "Grace Hopper",
    email: "grace@example.com",
  });
  let turn = 0;
  for (let day = 2; day < 2 + days; day += 1) {
    for (const [index, [flightNumber, origin, destination]] of routes.entries()) {
      const departureTime = new Date(midnight + day * 24 * hourMs + (7 + index * 4) * hourMs);
      const seats = 20 + ((day * 5 + index * 3) % 4) * 2;
      const flight = await addFlight(app, {
        flightNumber,
        origin,
        destination,
        departureTime,
        seats,
      });
      const wanted = Math.round(seats * Math.max(0.15, 1 - day / 16 - index * 0.06));
      for (let left = wanted; left > 0; left -= 9) {
        turn += 1;
        clock.goBack(20 * hourMs - turn * 9 * minuteMs);
        await book(app, user.id, flight.id, Math.min(9, left));
      }
    }
  }
}

async function book(app: App, user: string, flightId: number, passengers: number): Promise<void> {
  const wanted = post(bookingBody(flightId, passengers));
  const made = await json(await app.as("user", "/v1/api/bookings", wanted, user));
  // The bookings of one flight in ten are cancelled.
  if (flightId % 10 === 3) {
    const path = `/v1/api/bookings/${String(made["bookingId"])}`;
    await app.as("user", path, { method: "DELETE" }, user);
  }
}
