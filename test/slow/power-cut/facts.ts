import { onSqlite } from "../harness/ids-in-sql.ts";

import type { Step } from "./steps.ts";

/** What a program has said that must be in its database: names with their values. */
export type Facts = ReadonlyMap<string, string>;

/** Notes what a server says to its clients and to the operator gateway: facts, with their values. */
export class Said {
  readonly #facts: Map<string, string>;
  /** What each connection has received and is not yet a whole message. */
  readonly #open = new Map<string, string>();

  constructor(facts: Iterable<readonly [string, string]> = []) {
    this.#facts = new Map(facts);
  }

  get facts(): Facts {
    return this.#facts;
  }

  hear(step: Step): void {
    if (step.does !== "send") return;
    const text = step.data.toString("latin1");
    // Whatever has an id in any message must exist, whoever receives it.
    for (const [id] of text.matchAll(/\b(?:evt|ntf|bk|dst|dlv)_[0-9a-f]{32}\b/g))
      this.#facts.set(id, "");
    const whole = (this.#open.get(step.socket) ?? "") + text;
    const { bodies, rest } = successfulBodies(whole);
    this.#open.set(step.socket, rest);
    for (const body of bodies)
      for (const [fact, value] of factsOf(body)) this.#facts.set(fact, value);
  }
}

/** Reads the JSON bodies of the responses with status 2xx (RFC 9112), and what is left of an incomplete one. */
function successfulBodies(stream: string): { bodies: readonly Body[]; rest: string } {
  const bodies: Body[] = [];
  let rest = stream.startsWith("HTTP/1.1 ") ? stream : "";
  for (;;) {
    const endOfHead = rest.indexOf("\r\n\r\n");
    if (endOfHead === -1) return { bodies, rest };
    const head = rest.slice(0, endOfHead);
    const bytes = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const end = endOfHead + 4 + bytes;
    if (rest.length < end) return { bodies, rest };
    const isJson = /^content-type: application\/json/im.test(head);
    if (isJson && head.startsWith("HTTP/1.1 2")) {
      bodies.push(JSON.parse(Buffer.from(rest.slice(endOfHead + 4, end), "latin1").toString()));
    }
    rest = rest.slice(end);
  }
}

/** The fields of our responses that claim something. */
interface Body {
  readonly id?: string;
  readonly status?: string;
  readonly idempotencyKey?: string;
  readonly email?: string;
  readonly bookingId?: string;
  readonly cancelledAt?: string;
  readonly data?: readonly Body[];
}

function factsOf(body: Body): readonly (readonly [string, string])[] {
  const { id = "", idempotencyKey, email, bookingId = "", cancelledAt, data = [] } = body;
  return [
    ...(idempotencyKey === undefined ? [] : [[`event ${idempotencyKey}`, id] as const]),
    ...(email === undefined ? [] : [[`user ${id}`, email] as const]),
    ...(cancelledAt === undefined ? [] : [[`cancellation ${bookingId}`, cancelledAt] as const]),
    ...data
      .filter((item) => item.status === "delivered")
      .map((item) => [`delivered ${item.id ?? ""}`, ""] as const),
  ];
}

/** The same facts, as SQL reads them in a database. */
export const factsInDatabase = onSqlite(`
  select id_of('evt', position, tail) as fact, '' as value from events
  union all select id_of('ntf', n.position, e.tail), '' from notifications n join events e on e.position = n.event
  union all select id, '' from bookings
  union all select id, '' from destinations
  union all select id_of('dlv', notification, destination), '' from deliveries
  union all select 'event ' || idempotency_key, id_of('evt', position, tail) from events
  union all select 'user ' || id, email from users
  union all select 'cancellation ' || id, strftime('%Y-%m-%dT%H:%M:%fZ', cancelled_at / 1000.0, 'unixepoch')
    from bookings where status = 'cancelled'
  union all select 'delivered ' || id_of('ntf', n.position, e.tail), '' from notifications n join events e on e.position = n.event
    where not exists (select 1 from deliveries d where d.event = n.event and d.notification = n.position and d.status <> 'delivered' and d.owner_id is null)`);
