/**
 * A conformance suite for MCP Events (SEP-3415, late draft), for any server. It imports nothing of Skyhook:
 *
 *   bun test/mcp/events/conformance.ts --url https://example.com/mcp --token … --event github.push --trigger "make push"
 *
 * The server must accept callbacks on 127.0.0.1. `--trigger`: a command that makes the event happen.
 */
import { createHmac, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";

export interface Subject {
  /** The address of the MCP server. */
  readonly url: string;
  readonly token: string;
  /** The name of an event without required arguments. */
  readonly event: string;
  /** Makes this event happen once. */
  readonly trigger: () => Promise<unknown>;
  /** How long a delivery, a retry included, may take. */
  readonly patienceMs?: number;
}

type Json = Readonly<Record<string, unknown>>;

interface Delivery {
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

/** What a callback answers to a challenge, and to an event. */
interface Behaviour {
  readonly challenge?: (challenge: string) => Response;
  readonly event?: (number: number) => Response;
}

class Violation extends Error {}

function must(holds: unknown, text: string, shown?: unknown): asserts holds {
  if (!holds) throw new Violation(shown === undefined ? text : `${text}: ${JSON.stringify(shown)}`);
}

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const version = "2026-07-28";
const prefix = "io.modelcontextprotocol/";

/** Calls a method as a client of 2026-07-28. */
async function call({ url, token }: Subject, method: string, params: Json = {}) {
  const _meta = {
    [`${prefix}protocolVersion`]: version,
    [`${prefix}clientInfo`]: { name: "events-conformance", version: "1.0.0" },
    [`${prefix}clientCapabilities`]: {},
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  const line = text.split("\n").find((each) => each.startsWith("data: "));
  const answer: unknown = JSON.parse(line?.slice("data: ".length) ?? text);
  must(isObject(answer), "an answer is an object", text);
  return { status: response.status, answer };
}

async function resultOf(subject: Subject, method: string, params?: Json): Promise<Json> {
  const { answer } = await call(subject, method, params);
  must(isObject(answer["result"]), `${method} succeeds`, answer);
  return answer["result"];
}

async function errorOf(
  subject: Subject,
  code: number,
  method: string,
  params: Json,
): Promise<Json> {
  const { answer } = await call(subject, method, params);
  const { error } = answer;
  must(isObject(error) && error["code"] === code, `${method} fails with ${code}`, answer);
  return isObject(error["data"]) ? error["data"] : {};
}

/** Whether one of the signatures is of this secret (Standard Webhooks). */
function isSigned({ headers, text }: Delivery, secret: string): boolean {
  const [id, at] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${at}.${text}`).digest("base64");
  const isNow = Math.abs(Date.now() / 1_000 - Number(at)) < 300;
  return isNow && (headers.get("webhook-signature") ?? "").split(" ").includes(`v1,${mac}`);
}

/** A callback on this machine. */
function callback({ challenge: answerTo, event: answer }: Behaviour = {}) {
  const challenges: Delivery[] = [];
  const events: Delivery[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      const body: unknown = JSON.parse(text);
      if (!isObject(body)) return new Response(null, { status: 400 });
      const delivery = { headers: request.headers, text, body };
      const { type, challenge } = body;
      if (type !== "verification")
        return answer?.(events.push(delivery)) ?? (events.push(delivery), new Response());
      challenges.push(delivery);
      return answerTo?.(String(challenge)) ?? Response.json({ challenge });
    },
  });
  return {
    url: `${server.url.origin}/callback`,
    challenges,
    events,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const webhook = (url: string, secret = newSecret()) => ({ mode: "webhook", url, secret });

/** What a subscription to the event is given. */
const subscription = ({ event }: Subject, url: string, secret?: string) => ({
  name: event,
  arguments: {},
  delivery: webhook(url, secret),
  cursor: null,
});

async function waitFor<Value>(
  { patienceMs = 30_000 }: Subject,
  what: string,
  find: () => Value | undefined | Promise<Value | undefined>,
): Promise<Value> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    must(Date.now() < end, `${what} within ${patienceMs} ms`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

function mustBeOccurrence(value: unknown, event: string): Json {
  must(isObject(value), "an occurrence is an object", value);
  const { eventId, name, timestamp, data } = value;
  must(typeof eventId === "string" && eventId !== "", "an occurrence has an eventId", value);
  must(name === event, "it has the name of its event", name);
  const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  must(!Number.isNaN(time), "its timestamp is in ISO 8601", timestamp);
  must(isObject(data), "its data is an object", data);
  return value;
}

async function listed(subject: Subject): Promise<readonly Json[]> {
  const events: Json[] = [];
  let cursor: unknown;
  do {
    const page = await resultOf(subject, "events/list", cursor === undefined ? {} : { cursor });
    must(Array.isArray(page["events"]), "a page has events", page);
    must(page["events"].length > 0 || events.length === 0, "pages end");
    events.push(...page["events"].filter(isObject));
    cursor = page["nextCursor"];
  } while (cursor !== undefined && cursor !== null);
  return events;
}

const poll = ({ event }: Subject, cursor: unknown) => ({ name: event, arguments: {}, cursor });

/** Each throws a `Violation` with what does not hold. */
export const checks: Readonly<Record<string, (subject: Subject) => Promise<void>>> = {
  async "the server declares the extension"(subject) {
    const { capabilities } = await resultOf(subject, "server/discover");
    const { extensions } = isObject(capabilities) ? capabilities : {};
    must(isObject(extensions) && `${prefix}events` in extensions, "the extension", capabilities);
  },
  async "events/list describes each event once"(subject) {
    const events = await listed(subject);
    const names = events.map(({ name }) => name);
    must(new Set(names).size === names.length, "names are unique", names);
    must(names.includes(subject.event), "the event is listed", names);
    for (const each of events) {
      const { delivery, inputSchema, payloadSchema } = each;
      const modes = Array.isArray(delivery) ? delivery : [];
      const isKnown = modes.every((mode) => ["poll", "push", "webhook"].includes(String(mode)));
      must(modes.length > 0 && isKnown, "its modes of delivery", each);
      must(isObject(inputSchema) && inputSchema["type"] === "object", "its input schema", each);
      must(isObject(payloadSchema), "its payload schema", each);
    }
  },
  async "unknown events are -32011, and a strange cursor is -32602"(subject) {
    const unknown = { name: "no.such.event", arguments: {} };
    await errorOf(subject, -32_011, "events/poll", { ...unknown, cursor: null });
    const delivery = webhook("http://127.0.0.1:9999/");
    await errorOf(subject, -32_011, "events/subscribe", { ...unknown, delivery, cursor: null });
    await errorOf(subject, -32_602, "events/poll", poll(subject, "no cursor of this server"));
    await errorOf(subject, -32_602, "events/list", { cursor: "no cursor of this server" });
  },
  async "a caller without a valid token learns nothing"(subject) {
    const stranger = { ...subject, token: "nobody" };
    const { status, answer } = await call(stranger, "events/list");
    const { error } = answer;
    const isRefused = status === 401 || (isObject(error) && error["code"] === -32_012);
    must(isRefused, "401 or -32012", answer);
  },
  async "events/poll begins now, and gives each event until its cursor is passed"(subject) {
    const begun = await resultOf(subject, "events/poll", poll(subject, null));
    must(Array.isArray(begun["events"]) && begun["events"].length === 0, "nothing is new", begun);
    must(begun["truncated"] === false, "nothing is lost", begun);
    await subject.trigger();
    const found = await waitFor(subject, "the event is polled", async () => {
      const page = await resultOf(subject, "events/poll", poll(subject, begun["cursor"]));
      return Array.isArray(page["events"]) && page["events"].length > 0 ? page : undefined;
    });
    const [first] = Array.isArray(found["events"]) ? found["events"] : [];
    const { eventId } = mustBeOccurrence(first, subject.event);
    const again = await resultOf(subject, "events/poll", poll(subject, begun["cursor"]));
    const [same] = Array.isArray(again["events"]) ? again["events"] : [];
    must(
      isObject(same) && same["eventId"] === eventId,
      "the same cursor gives the same event",
      again,
    );
    const after = await resultOf(subject, "events/poll", poll(subject, found["cursor"]));
    const ids = Array.isArray(after["events"])
      ? after["events"].map((each) => Object(each).eventId)
      : [];
    must(!ids.includes(eventId), "the next cursor does not repeat it", after);
  },
  async "a subscription needs the mode webhook, a good secret and an address"(subject) {
    await using target = callback();
    const given = subscription(subject, target.url);
    const { delivery } = given;
    const push = { ...given, delivery: { ...delivery, mode: "carrier-pigeon" } };
    await errorOf(subject, -32_014, "events/subscribe", push);
    const wrong: readonly Json[] = [
      { secret: "whsec_c2hvcnQ=" },
      { secret: `whsec_${randomBytes(65).toString("base64")}` },
      { secret: randomBytes(32).toString("base64") },
      { secret: "whsec_not base64 at all, but long enough for it" },
      { url: "ftp://127.0.0.1/" },
      { url: "http://user:password@127.0.0.1:9999/" },
      { url: "nowhere" },
    ];
    for (const part of wrong) {
      const refused = { ...given, delivery: { ...delivery, ...part } };
      await errorOf(subject, -32_602, "events/subscribe", refused);
    }
    must(target.challenges.length === 0, "nothing was sent for them");
  },
  async "an address is proved first, and why it is not says nothing of its answer"(subject) {
    const secretText = "text-of-the-endpoint";
    const cases: readonly (readonly [string, (challenge: string) => Response])[] = [
      ["challenge_failed", () => new Response(secretText)],
      ["challenge_failed", () => Response.json({ challenge: secretText })],
      ["challenge_failed", (challenge) => Response.json({ challenge: challenge.slice(1) })],
      ["http_4xx", () => new Response(secretText, { status: 404 })],
      ["http_5xx", () => new Response(secretText, { status: 500 })],
      ["http_4xx", () => Response.redirect("http://127.0.0.1:9999/", 307)],
    ];
    for (const [reason, challenge] of cases) {
      await using target = callback({ challenge });
      const given = subscription(subject, target.url);
      const data = await errorOf(subject, -32_015, "events/subscribe", given);
      must(data["reason"] === reason, `the reason ${reason}`, data);
      must(!JSON.stringify(data).includes(secretText), "its text is not shown", data);
    }
    const closed = callback();
    await closed[Symbol.asyncDispose]();
    const data = await errorOf(
      subject,
      -32_015,
      "events/subscribe",
      subscription(subject, closed.url),
    );
    must(data["reason"] === "connection_refused", "the reason connection_refused", data);
  },
  async "events are delivered to a proved address, signed, once it is subscribed"(subject) {
    await using target = callback();
    const secret = newSecret();
    const given = subscription(subject, target.url, secret);
    const { id, refreshBefore } = await resultOf(subject, "events/subscribe", given);
    must(typeof id === "string" && id !== "", "an id", id);
    const isFuture = typeof refreshBefore === "string" && Date.parse(refreshBefore) > Date.now();
    must(isFuture, "refreshBefore is a later time", refreshBefore);
    const [proof] = target.challenges;
    must(proof !== undefined && isSigned(proof, secret), "the challenge is signed");
    // A client that serves several subscriptions finds the secret by it.
    const named = proof.headers.get("x-mcp-subscription-id");
    must(named === id, "the challenge names its subscription", named);
    await subject.trigger();
    const delivery = await waitFor(subject, "a delivery", () => target.events[0]);
    must(isSigned(delivery, secret), "it is signed", [...delivery.headers]);
    must(delivery.headers.get("x-mcp-subscription-id") === id, "it names its subscription");
    const { eventId } = mustBeOccurrence(delivery.body, subject.event);
    must(delivery.headers.get("webhook-id") === eventId, "webhook-id is the eventId");
    await resultOf(subject, "events/unsubscribe", given);
  },
  async "subscribing again refreshes: the same id, and the new secret signs"(subject) {
    await using target = callback();
    const given = subscription(subject, target.url);
    const first = await resultOf(subject, "events/subscribe", given);
    const secret = newSecret();
    const renewed = subscription(subject, target.url, secret);
    const second = await resultOf(subject, "events/subscribe", renewed);
    must(second["id"] === first["id"], "the same id", [first, second]);
    await subject.trigger();
    const delivery = await waitFor(subject, "a delivery", () => target.events[0]);
    must(isSigned(delivery, secret), "the new secret signs", [...delivery.headers]);
    await resultOf(subject, "events/unsubscribe", renewed);
    must(target.events.length === 1, "one subscription delivers once", target.events.length);
  },
  async "a delivery that fails is sent again with the same id, signed again"(subject) {
    await using target = callback({
      event: (number) => new Response(null, { status: number === 1 ? 503 : 200 }),
    });
    const secret = newSecret();
    const given = subscription(subject, target.url, secret);
    await resultOf(subject, "events/subscribe", given);
    await subject.trigger();
    const second = await waitFor(subject, "a second attempt", () => target.events[1]);
    const [first] = target.events;
    const ids = [first, second].map((each) => each?.headers.get("webhook-id"));
    must(ids[0] === ids[1], "the same webhook-id", ids);
    must(isSigned(second, secret), "it is signed");
    await resultOf(subject, "events/unsubscribe", given);
  },
  async "410 Gone ends a subscription"(subject) {
    await using target = callback({ event: () => new Response(null, { status: 410 }) });
    const given = subscription(subject, target.url);
    await resultOf(subject, "events/subscribe", given);
    await subject.trigger();
    await waitFor(subject, "a delivery", () => target.events[0]);
    await subject.trigger();
    await new Promise((done) => setTimeout(done, 2_000));
    must(target.events.length <= 2, "deliveries stop", target.events.length);
    await resultOf(subject, "events/unsubscribe", given);
  },
  async "after events/unsubscribe nothing is delivered"(subject) {
    await using target = callback();
    const given = subscription(subject, target.url);
    await resultOf(subject, "events/subscribe", given);
    await resultOf(subject, "events/unsubscribe", given);
    await subject.trigger();
    await new Promise((done) => setTimeout(done, 2_000));
    must(target.events.length === 0, "nothing is delivered", target.events.length);
    await errorOf(subject, -32_011, "events/unsubscribe", given);
  },
};

if (import.meta.main) {
  const options = { url: "string", token: "string", event: "string", trigger: "string" } as const;
  const { values } = parseArgs({
    options: Object.fromEntries(Object.entries(options).map(([name, type]) => [name, { type }])),
  });
  const { url, token, event, trigger } = values as Readonly<Record<string, string | undefined>>;
  if (!url || !token || !event || !trigger) {
    console.error("Give --url, --token, --event and --trigger; see the top of this file.");
    process.exit(2);
  }
  const subject = { url, token, event, trigger: () => Bun.$`sh -c ${trigger}`.quiet() };
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    const error = await check(subject).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error !== null) failed += 1;
    console.log(
      error === null
        ? `ok   ${name}`
        : `FAIL ${name}\n     ${error instanceof Error ? error.message : "thrown"}`,
    );
  }
  process.exit(failed === 0 ? 0 : 1);
}
