import { Database } from "bun:sqlite";
import { join } from "node:path";

import { systemClock } from "../../src/base/clock.ts";
import type { Role } from "../../src/base/context.ts";
import { tokens } from "../../src/identity/auth/token.ts";
import { defaultProviders } from "../../src/inbound/providers/catalogue.ts";

import { signed, testSecret } from "./app.ts";
import { itemsOf } from "./operator.ts";
import { type RunningServer, type ServerOptions, startServer } from "./program.ts";

/** The key of servers that `startIn` starts. */
export const jwtSecret = "a test key of thirty-two bytes!!";

/** Starts a server with its database in `folder`. */
export function startIn(
  folder: string,
  env: Readonly<Record<string, string>> = {},
  options: Omit<ServerOptions, "cwd" | "env" | "input"> = {},
): Promise<RunningServer> {
  return startServer({
    ...options,
    cwd: folder,
    env: {
      DATA_DIR: join(folder, "data"),
      JWT_SECRET: jwtSecret,
      WEBHOOK_PROVIDERS: [...defaultProviders, "payment_processor"].join(","),
      TASK_TRACKER_WEBHOOK_SECRET: testSecret("task_tracker"),
      PAYMENT_PROCESSOR_WEBHOOK_SECRET: testSecret("payment_processor"),
      LOG_FORMAT: "json",
      ...env,
    },
  });
}

/** The signed event about a booking's payment, always with the same content. `amount`: in cents. */
export function paymentEvent(
  type: "payment_intent.succeeded" | "charge.refunded",
  booking: string,
  amount: number,
  namesBooking = true,
): RequestInit {
  const payment = `pi_${booking}`;
  const metadata = namesBooking ? { booking } : {};
  const object =
    type === "charge.refunded"
      ? { payment_intent: payment, amount_refunded: amount, currency: "usd", metadata }
      : { id: payment, amount_received: amount, currency: "usd", metadata };
  const id = `evt_${type}_${booking}_${amount}`;
  const body = JSON.stringify({ id, object: "event", type, data: { object } });
  return signed("payment_processor", body, systemClock);
}

export const databaseIn = (folder: string): string => join(folder, "data", "skyhook.db");

/** The signed delivery of that number, always the same; `padding` makes its body larger. */
export function delivery(number: number, padding = 0): RequestInit {
  const body = JSON.stringify({
    event_name: "item:completed",
    event_data: { id: `${number}`, content: `Task ${number}` },
    padding: "x".repeat(padding),
  });
  const headers = { "x-tasktracker-delivery-id": `d-${number}` };
  return signed("task_tracker", body, systemClock, { headers });
}

export const keyOf = (number: number): string => `task_tracker:d-${number}`;

/** Sends a delivery and returns the status; 0 without a response. */
export async function deliverTo(
  { url }: Pick<RunningServer, "url">,
  number: number,
  padding = 0,
): Promise<number> {
  try {
    const response = await fetch(`${url}/webhooks/task_tracker`, delivery(number, padding));
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/** Delivers new events, `workers` at a time, until it ends. */
export function keepDelivering(server: Pick<RunningServer, "url">, workers: number) {
  const acknowledged = new Set<number>();
  const refused = new Set<number>();
  const statuses = new Set<number>();
  let isOver = false;
  let last = 0;
  const work = async () => {
    while (!isOver) {
      const number = ++last;
      const status = await deliverTo(server, number);
      statuses.add(status);
      (status === 200 ? acknowledged : refused).add(number);
    }
  };
  const loading = Promise.all(Array.from({ length: workers }, work));
  return {
    acknowledged,
    refused,
    statuses,
    /** Returns the keys of all deliveries, sorted. */
    end: async (): Promise<readonly string[]> => {
      isOver = true;
      await loading;
      return Array.from({ length: last }, (_, n) => keyOf(n + 1)).toSorted();
    },
  };
}

/** The idempotency keys of all events in a PostgreSQL database, sorted. */
export async function keysOnServer(url: string): Promise<readonly string[]> {
  await using sql = new Bun.SQL(url, { max: 1 });
  const rows: { key: string }[] = await sql.unsafe("select idempotency_key as key from events");
  return rows.map(({ key }) => key).toSorted();
}

/** A token for such a server, which is valid for a day. `id`: whose. */
export function tokenFor(role: Role, id = "test"): Promise<string> {
  const issuing = { key: Buffer.from(jwtSecret), issuer: "skyhook", audience: "skyhook" };
  return tokens(issuing, systemClock).mint({ id, roles: [role] }, 86_400);
}

/** The Authorization header with that token. */
export const authorization = async (role: Role, id?: string): Promise<string> =>
  `Bearer ${await tokenFor(role, id)}`;

/** Sends a request as an operator. */
export async function asOperator(
  { url }: Pick<RunningServer, "url">,
  path: string,
): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { authorization: await authorization("operator") } });
}

/** Reads the idempotency keys of all events, page by page. */
export async function keysListed(server: Pick<RunningServer, "url">): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${cursor}`;
    const page: unknown = await (await asOperator(server, `/v1/events?limit=100${after}`)).json();
    const { data, pagination } = pageOf(page);
    keys.push(...data.map(({ idempotencyKey }) => String(idempotencyKey)));
    cursor = pagination.nextCursor;
  } while (cursor !== null);
  return keys;
}

function pageOf(page: unknown) {
  if (typeof page !== "object" || page === null) throw new Error("Not a page");
  const { data, pagination }: { data?: unknown; pagination?: unknown } = page;
  if (typeof pagination !== "object" || pagination === null) throw new Error("Not a page");
  const { nextCursor = null }: { nextCursor?: unknown } = pagination;
  const next = typeof nextCursor === "string" ? nextCursor : null;
  return { data: itemsOf(data), pagination: { nextCursor: next } };
}

/** The result of SQLite's integrity check; "ok" for an intact file. */
export function integrityOf(file: string): unknown {
  using database = new Database(file);
  return database.query("pragma integrity_check").values().flat().join();
}
