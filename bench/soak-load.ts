import { systemClock } from "../src/base/clock.ts";
import { tokens } from "../src/identity/auth/token.ts";
import { catalogue } from "../src/inbound/providers/catalogue.ts";
import { signatureHeaders } from "../src/inbound/signatures/scheme.ts";
import { sign } from "../src/inbound/signatures/sign.ts";

import { tokenSettings } from "./api-requests.ts";
import { converse } from "./load.ts";
import { histogram } from "./measure.ts";
import { textOf } from "./requests.ts";

// The load generator of the soak test, a separate process. Its argument is a SoakPlan in JSON. It prints a
// SoakTick in JSON every few seconds, and a last one at the end.

export interface SoakPlan {
  readonly port: number;
  readonly webhooks: number;
  readonly bookings: number;
  /** The rate of requests. Lower if the server is slower. */
  readonly requestsPerSecond: number;
  /** The time limit. */
  readonly maxSeconds: number;
  readonly connections: number;
  readonly flights: number;
  readonly secretOf: Readonly<Record<string, string>>;
  readonly tickSeconds: number;
}

/** The totals so far, and the latencies since the previous tick. */
export interface SoakTick {
  readonly webhooks: number;
  readonly bookings: number;
  /** Responses other than 2xx. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly isLast: boolean;
}

const users = 1_000;
/** Long-lived, because the server's clock runs weeks ahead. */
const tokenSeconds = 365 * 24 * 3_600;

if (import.meta.main) {
  const plan: SoakPlan = JSON.parse(process.argv[2] ?? "{}");
  await soak(plan);
  process.exit(0);
}

async function soak(plan: SoakPlan): Promise<void> {
  const delivery = deliveries(plan.secretOf);
  const booking = await bookings(plan.flights);
  const total = plan.webhooks + plan.bookings;
  const done = { webhooks: 0, bookings: 0, failed: 0 };
  let latencies = histogram();
  let sent = 0;
  const startMs = performance.now();

  /** Distributes the bookings evenly among the deliveries. */
  const isBooking = (index: number) =>
    Math.floor(((index + 1) * plan.bookings) / total) > Math.floor((index * plan.bookings) / total);

  async function talk(): Promise<void> {
    let kind: "webhooks" | "bookings" = "webhooks";
    await converse(
      plan.port,
      () => {
        if (sent === total || performance.now() > startMs + plan.maxSeconds * 1_000) return null;
        const index = sent++;
        kind = isBooking(index) ? "bookings" : "webhooks";
        const number = Math.floor((index * plan.bookings) / total);
        return Buffer.from(kind === "bookings" ? booking(number) : delivery(index));
      },
      (status, latencyMs) => {
        latencies.record(latencyMs);
        if (status >= 200 && status < 300) done[kind] += 1;
        else done.failed += 1;
      },
      () => (sent / plan.requestsPerSecond) * 1_000 - (performance.now() - startMs),
    );
  }

  function tick(isLast: boolean): void {
    const [p50Ms, p99Ms] = [latencies.quantile(0.5), latencies.quantile(0.99)];
    const current: SoakTick = { ...done, p50Ms, p99Ms, isLast };
    console.log(JSON.stringify(current));
    latencies = histogram();
  }

  const ticking = setInterval(tick, plan.tickSeconds * 1_000, false);
  await Promise.all(Array.from({ length: plan.connections }, talk));
  clearInterval(ticking);
  tick(true);
}

/** Deliveries of all listed events in rotation, with unique ids, bodies and signatures. */
function deliveries(secretOf: SoakPlan["secretOf"]): (index: number) => string {
  const makers = catalogue.flatMap((provider) => {
    const secret = secretOf[provider.id];
    if (secret === undefined) return [];
    return Object.values(provider.samples).map((makeSample) => () => {
      const { headers, body } = makeSample({ id: crypto.randomUUID(), now: new Date() });
      const json = JSON.stringify(body);
      const signature = sign(provider.signature, secret, Buffer.from(json), Date.now());
      return textOf({
        method: "POST",
        path: `/webhooks/${provider.id}`,
        headers: { ...headers, [signatureHeaders(provider.signature)[0] ?? ""]: signature },
        json,
      });
    });
  });
  return (index) => makers[index % makers.length]?.() ?? "";
}

/** Bookings of one seat with unique keys and passengers. */
async function bookings(flights: number): Promise<(number: number) => string> {
  const issuing = { ...tokenSettings, key: Buffer.from(tokenSettings.key) };
  const minting = tokens(issuing, systemClock);
  const bearers = await Promise.all(
    Array.from({ length: users }, () =>
      minting.mint({ id: crypto.randomUUID(), roles: ["user"] }, tokenSeconds),
    ),
  );
  return (number) =>
    textOf({
      method: "POST",
      path: "/v1/api/bookings",
      headers: {
        Authorization: `Bearer ${bearers[number % users]}`,
        "Idempotency-Key": crypto.randomUUID(),
      },
      json: JSON.stringify({
        flightId: 1 + (number % flights),
        passengers: [
          {
            firstName: "Ada",
            lastName: "Lovelace",
            email: `ada.${number}@example.com`,
            dateOfBirth: "1990-04-12",
            passportNumber: `X${String(number).padStart(8, "0")}`,
          },
        ],
        contactEmail: "contact@example.com",
        paymentMethod: "card",
      }),
    });
}
