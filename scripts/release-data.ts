import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../src/base/clock.ts";
import { at, itemsAt } from "../src/base/payload.ts";
import { mintConsoleCode } from "../src/identity/auth/console-codes.ts";
import { catalogue } from "../src/inbound/providers/catalogue.ts";
import { sample, signed, until } from "../test/support/app.ts";
import { csvHeader, csvLine } from "../test/support/flights-csv.ts";
import { bookingBody, passenger, post } from "../test/support/flights.ts";
import { authorization, jwtSecret, paymentEvent } from "../test/support/load.ts";
import { type RunningServer, runSkyhook, type Surroundings } from "../test/support/program.ts";
import type { ReleaseKeys } from "../test/support/releases.ts";

/** Runs a command, which must succeed. Returns what it prints. */
export async function succeed(where: Surroundings, ...args: string[]): Promise<string> {
  const { out, err, code } = await runSkyhook(args, where);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`);
  return out;
}

/** Sends a request. Returns the answer, which must be a success. */
async function call(
  { url }: RunningServer,
  path: string,
  init: RequestInit = {},
  token?: string,
): Promise<unknown> {
  const headers = new Headers(init.headers);
  headers.set(
    "authorization",
    token === undefined ? await authorization("admin", "usr_admin") : `Bearer ${token}`,
  );
  const response = await fetch(`${url}${path}`, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

type SignIn = Omit<ReleaseKeys, "personalDataKey">;

/** Uses a server so that nearly every table has a row. `receiver` answers 200 at /ok, and 404 elsewhere. */
export async function fill(on: RunningServer, receiver: string): Promise<SignIn> {
  await addDestinations(on, receiver);
  await receive(on);
  await sell(on);
  await operate(on);
  return signIn(on);
}

async function addDestinations(on: RunningServer, receiver: string): Promise<void> {
  const add = (name: string, path: string, ...options: string[]) =>
    succeed(on, "destination", "add", name, "--url", `${receiver}${path}`, ...options);
  await add("all", "ok");
  const filter = 'event.provider == "deploy_platform"';
  await add("deploys", "gone", "--filter", filter, "--retry-delays", "1s");
  await add("chat", "ok", "--format", "slack");
  await succeed(on, "destination", "pause", "chat");
}

async function receive(on: RunningServer): Promise<void> {
  for (const { id, samples } of catalogue) {
    for (const [nth, event] of Object.keys(samples).slice(0, 3).entries()) {
      const { headers, body } = sample(id, event, systemClock);
      const init = signed(id, JSON.stringify(body), systemClock, { headers });
      const send = async () => (await fetch(`${on.url}/webhooks/${id}`, init)).status;
      // The first is sent twice, and a third time with a wrong signature.
      const statuses = [await send(), ...(nth === 0 ? [await send()] : [])];
      if (statuses.some((status) => status !== 200)) throw new Error(`${id}: ${statuses.join()}`);
    }
    const unsigned = signed(id, `{"canary":"${id}"}`, systemClock, { secret: "another" });
    await fetch(`${on.url}/webhooks/${id}`, unsigned);
  }
}

async function sell(on: RunningServer): Promise<void> {
  const importLines = async (...lines: string[]) => {
    writeFileSync(join(on.cwd, "flights.csv"), lines.join("\n"));
    await succeed(on, "import", "flights.csv");
  };
  const flights = [1, 2, 3].map((number) =>
    csvLine({ flightNumber: `SK${number}`, seats: 9, price: 100 * number, inDays: 30 + number }),
  );
  await importLines(csvHeader, ...flights);
  const userOf = async (email: string) => {
    const token = (await succeed(on, "token", "--email", email, "--name", email)).trim();
    return {
      token,
      async book(
        flight: number,
        seats: number,
        fields: object = {},
        key: string = crypto.randomUUID(),
      ) {
        const body = { ...bookingBody(flight, seats), contactEmail: email, ...fields };
        return call(on, "/v1/api/bookings", post(body, { "idempotency-key": key }), token);
      },
    };
  };
  const [ada, bo, gone] = await Promise.all(
    ["ada@example.com", "bo@example.com", "gone@example.com"].map(userOf),
  );
  if (ada === undefined || bo === undefined || gone === undefined) throw new Error("No users");
  const pay = async (booking: unknown, type: "payment_intent.succeeded" | "charge.refunded") => {
    const amount = Math.round(Number(at(booking, "totalPrice")) * 100);
    const init = paymentEvent(type, String(at(booking, "bookingId")), amount);
    await fetch(`${on.url}/webhooks/payment_processor`, init);
  };

  const first = await ada.book(1, 2, {}, "once");
  const path = `/v1/api/bookings/${String(at(first, "bookingId"))}`;
  const change = async (to: string, body: object) => {
    const offered = await call(on, `${path}/${to}`, post(body), ada.token);
    return `${path}/changes/${String(at(offered, "id"))}`;
  };
  await call(
    on,
    `${await change("cancellation", { passengers: [2] })}/confirm`,
    { method: "POST" },
    ada.token,
  );
  await change("changes", { flightId: 2 });
  await call(on, `${path}/passengers/1`, {
    ...post({ firstName: "Augusta" }),
    method: "PATCH",
  });
  const held = await bo.book(2, 1, { hold: true });
  await pay(held, "payment_intent.succeeded");
  await bo.book(2, 1, { hold: true });
  const cancel = async (booking: unknown) => {
    const id = String(at(booking, "bookingId"));
    await call(on, `/v1/api/bookings/${id}`, { method: "DELETE" });
  };
  const refunded = await bo.book(3, 1, { hold: true });
  await pay(refunded, "payment_intent.succeeded");
  await cancel(refunded);
  await pay(refunded, "charge.refunded");
  const passengers = [{ ...passenger(9), email: "gone@example.com" }];
  await cancel(await gone.book(3, 1, { passengers }));
  // The airline cancels the last flight.
  await importLines(`${csvHeader},status`, `${flights[2]},cancelled`);
  await succeed(on, "person", "export", "ada@example.com");
  await succeed(on, "person", "erase", "gone@example.com", "--yes");
}

async function operate(on: RunningServer): Promise<void> {
  const waiting = async () => {
    const destinations = itemsAt(await call(on, "/v1/destinations?include=health"), "data");
    const idle = destinations.filter((each) => at(each, "state") !== "paused");
    return idle.some((each) => Number(at(each, "health", "waiting")) > 0);
  };
  await until(async () => !(await waiting()));
  const replay = await call(
    on,
    "/v1/replays",
    post({ from: "2020-01-01T00:00:00Z", provider: "code_host", onlyUndelivered: false }),
  );
  await until(async () => {
    const now = await call(on, `/v1/replays/${String(at(replay, "id"))}`);
    return at(now, "status") === "finished";
  });
  const [issue] = itemsAt(await call(on, "/v1/issues"), "data");
  const muted = { until: new Date(Date.now() + 3_600_000).toISOString() };
  await call(on, `/v1/issues/${String(at(issue, "id"))}/mute`, post(muted));
  await until(async () => !(await waiting()));
}

async function signIn(on: RunningServer): Promise<SignIn> {
  const issuing = { key: Buffer.from(jwtSecret), issuer: "skyhook", audience: "skyhook" };
  const code = await mintConsoleCode(issuing, "admin", systemClock);
  const console = { "x-skyhook-console": "1", "sec-fetch-site": "same-origin" };
  const session = await fetch(`${on.url}/v1/auth/session`, post({ code }, console));
  const client = await succeed(on, "client", "add", "--name", "ci", "--role", "operator");
  const [clientId = "", clientSecret = ""] = client.match(/(?<==)\S{20,}/g) ?? [];
  const sessionCookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
  const revokedToken = (await succeed(on, "token", "--email", "bo@example.com")).trim();
  await succeed(on, "token", "revoke", revokedToken);
  const made = await call(on, "/v1/keys", post({ name: "reports", role: "operator" }));
  const apiKey = String(at(made, "key"));
  return { sessionCookie, clientId, clientSecret, revokedToken, apiKey };
}
