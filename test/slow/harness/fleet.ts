import { deepEqual, ok } from "node:assert/strict";

import { drippingServer } from "../../support/dripping-server.ts";
import { post } from "../../support/flights.ts";
import { authorization } from "../../support/load.ts";

import type { Row } from "./databases.ts";
import { filters, type Kind, kinds, type Notified } from "./fleet-kinds.ts";

/** When a request was first sent, and when it was acknowledged. */
export interface Times {
  readonly askedMs: number;
  readonly answeredMs: number;
}

const everything = () => true;
/** Of each kind. */
const copies = 5;
/** The addresses of Linux's loopback network, of which only the first has a listener until the fleet is healed. */
const [host, refusingHost] = ["127.0.0.1", "127.0.0.9"];

interface Received {
  readonly id: string;
  readonly key: string;
  readonly accepted: boolean;
}

interface Member extends Kind {
  readonly path: string;
  readonly matches: (notified: Notified) => boolean;
  readonly filter: string | null;
  /** In order of arrival. */
  readonly received: Received[];
  id: string;
}

const actions = ["pause", "pause", "resume", "rotate", "retry"] as const;
/** Of each round. */
const mostActions = 10;

/** The columns of `NotifiedEvent`, in SQL. */
export const notificationsOfFleet = `
  select id_of('ntf', n.position, e.tail) as id, e.idempotency_key as key, e.provider, e.type, e.title, n.severity
  from notifications n join events e on e.position = n.event`;

/** Sends a request as an admin. Throws if the answer is not a success. */
type AsAdmin = (path: string, init: RequestInit) => Promise<Response>;

/** Statuses of a balancer without a reachable instance, and of an instance without a database. */
const unavailable = [502, 503, 504];
const patienceMs = 60_000;

/** Repeats a request while the server is unavailable. */
export const asAdminAt =
  (url: string): AsAdmin =>
  async (path, init) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", await authorization("admin"));
    const endsMs = performance.now() + patienceMs;
    for (;;) {
      const response = await fetch(`${url}${path}`, { ...init, headers });
      if (!unavailable.includes(response.status) || performance.now() > endsMs) return response;
      await Bun.sleep(200);
    }
  };

/** Fifty destinations of mixed health, in one process with the test. */
export class Fleet {
  readonly #healed = Promise.withResolvers<void>();
  #isHealed = false;
  readonly #members: readonly Member[];
  readonly #paused = new Set<Member>();
  readonly #ends: (() => unknown)[] = [];
  readonly #port: number;
  readonly #drips: ReturnType<typeof drippingServer>;

  constructor() {
    this.#members = kinds.flatMap((kind) =>
      Array.from({ length: copies }, (_, copy): Member => {
        const isFiltered = kind.name === "filtered";
        const [filter, matches] = (isFiltered ? filters[copy] : null) ?? [null, everything];
        const path = `/${kind.name}-${copy}`;
        return { ...kind, path, matches, filter, received: [], id: "" };
      }),
    );
    this.#port = this.#listen(host, 0);
    this.#drips = drippingServer((path, body, headers) => {
      const isAnswered = this.#isHealed;
      this.#note(this.#memberAt(path), body, headers, isAnswered);
      return isAnswered;
    });
    this.#ends.push(() => this.#drips.stop());
  }

  #listen(hostname: string, port: number): number {
    const server = Bun.serve({
      hostname,
      port,
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
    this.#ends.push(() => server.stop(true));
    return server.port ?? 0;
  }

  #memberAt(path: string): Member {
    const member = this.#members.find((candidate) => candidate.path === path);
    if (member === undefined) throw new Error(`No destination has the path ${path}`);
    return member;
  }

  async #answer(request: Request): Promise<Response> {
    const member = this.#memberAt(new URL(request.url).pathname);
    const [body, headers] = [await request.text(), Object.fromEntries(request.headers)];
    const number = member.received.length + 1;
    // Noted on arrival, for the order, and again when it is accepted.
    const at = this.#note(member, body, headers, false);
    const gone = Promise.withResolvers<number>();
    request.signal.addEventListener("abort", () => gone.resolve(0));
    const health = this.#isHealed ? 200 : member.health({ number, healed: this.#healed.promise });
    const status = await Promise.race([health, gone.promise]);
    const arrived = member.received[at];
    if (status === 200 && arrived !== undefined)
      member.received[at] = { ...arrived, accepted: true };
    return new Response(null, { status: status === 0 ? 500 : status });
  }

  #note(
    { received }: Member,
    body: string,
    headers: Readonly<Record<string, string>>,
    accepted: boolean,
  ): number {
    const event: { idempotencykey: string } = JSON.parse(body);
    received.push({ id: headers["webhook-id"] ?? "", key: event.idempotencykey, accepted });
    return received.length - 1;
  }

  /** Creates the destinations. */
  async create(asAdmin: AsAdmin): Promise<void> {
    for (const member of this.#members) {
      const origin = {
        refusing: `http://${refusingHost}:${this.#port}`,
        dripping: this.#drips.url,
        listening: `http://${host}:${this.#port}`,
      }[member.at ?? "listening"];
      const input = {
        name: member.path.slice(1),
        format: "cloudevents",
        url: `${origin}${member.path}`,
        ...(member.filter !== null && { filter: member.filter }),
        ...member.fields,
      };
      const response = await asAdmin("/v1/destinations", post(input));
      const made: { id: string } = JSON.parse(await successful(response));
      member.id = made.id;
      if (member.isPaused === true) await this.#act(asAdmin, member, "pause");
    }
  }

  async #act(asAdmin: AsAdmin, member: Member, action: (typeof actions)[number]): Promise<void> {
    const path = `/v1/destinations/${member.id}/${action}`;
    await successful(await asAdmin(path, { method: "POST" }));
    if (action === "pause") this.#paused.add(member);
    if (action === "resume") this.#paused.delete(member);
  }

  /** Pauses, resumes, rotates or retries some at random. Those that are paused until the end stay so. */
  async disturb(asAdmin: AsAdmin): Promise<void> {
    for (let count = 0; count < mostActions; count += 1) {
      const member = this.#members[Math.floor(Math.random() * this.#members.length)];
      const action = actions[Math.floor(Math.random() * actions.length)] ?? "pause";
      if (member !== undefined && member.isPaused !== true)
        await this.#act(asAdmin, member, action);
    }
  }

  /** All addresses answer 200 from now on. Throws if a paused destination received something. */
  heal(): void {
    if (this.#isHealed) return;
    const early = this.#members.filter(
      ({ isPaused, received }) => isPaused === true && received.length > 0,
    );
    deepEqual(
      early.map(({ path }) => path),
      [],
      "A paused destination received something",
    );
    this.#isHealed = true;
    this.#healed.resolve();
    this.#listen(refusingHost, this.#port);
  }

  async resume(asAdmin: AsAdmin): Promise<void> {
    for (const member of this.#paused) await this.#act(asAdmin, member, "resume");
  }

  /**
   * Throws unless each destination accepted all notifications that it matches and no others, each under its
   * one id, and those with an order received what was acknowledged first before what was asked afterwards.
   */
  check(rows: readonly Row[], times: ReadonlyMap<string, Times>): void {
    const notifications = rows.map((row): Notified => ({
      id: String(row["id"]),
      key: String(row["key"]),
      provider: String(row["provider"]),
      type: String(row["type"]),
      title: String(row["title"]),
      severity: String(row["severity"]),
    }));
    const keys = new Map(notifications.map(({ id, key }) => [id, key]));
    for (const member of this.#members) {
      const { path, received, matches } = member;
      const expected = new Set(notifications.filter(matches).map(({ id }) => id));
      const accepted = new Set(received.filter((each) => each.accepted).map(({ id }) => id));
      deepEqual([...expected.difference(accepted)], [], `${path} did not receive`);
      const ids = new Set(received.map(({ id }) => id));
      deepEqual([...ids.difference(expected)], [], `${path} does not match, but received`);
      for (const { id, key } of received) ok(keys.get(id) === key, `${path}: ${key} as ${id}`);
      if (member.name === "ordered") checkOrder(path, received, times);
    }
  }

  /** How many requests the fleet received, also those that it did not accept. */
  get requests(): number {
    return this.#members.reduce((sum, { received }) => sum + received.length, 0);
  }

  async stop(): Promise<void> {
    this.#healed.resolve();
    for (const end of this.#ends.splice(0).toReversed()) await end();
  }
}

async function successful(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`The server answered ${response.status}: ${text}`);
  return text;
}

/**
 * Events of a provider are in order, as the order key says. Concurrent requests have no order. Only the first receipt counts: a crash of the database may forget that a
 * delivery was accepted, and those since then are repeated.
 */
function checkOrder(
  path: string,
  received: readonly Received[],
  times: ReadonlyMap<string, Times>,
): void {
  const keys = new Set(received.map(({ key }) => key));
  for (const ofProvider of Map.groupBy(keys, (key) => key.split(":")[0]).values()) {
    let [latestMs, latest] = [-Infinity, ""];
    for (const key of ofProvider) {
      const { askedMs, answeredMs } = times.get(key) ?? {
        askedMs: -Infinity,
        answeredMs: Infinity,
      };
      ok(answeredMs >= latestMs, `${path} received ${key} after ${latest}, which was asked later`);
      if (askedMs > latestMs) [latestMs, latest] = [askedMs, key];
    }
  }
}
