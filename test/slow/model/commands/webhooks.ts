import fc from "fast-check";

import { at } from "../../../support/graphql.ts";
import type { Answer } from "../../harness/requests.ts";
import { type Delivery, delivery, signatureOf } from "../../harness/signed-deliveries.ts";
import { type Model, type ModelEvent, pick, sortedEvents } from "../model.ts";
import { rest, same, sameOutcome, type Server } from "../server.ts";

import { accessOf, anyToken, command } from "./command.ts";
import { anyAddress, anyProvider, compareRetryAfter, limited, post } from "./sender.ts";

/** The stored event of which a delivery is a duplicate: by key if the id is signed, else by bytes. */
function repeated(
  { events }: Model,
  { provider, key, keyByBody, body }: Delivery,
): ModelEvent | undefined {
  const own = events.filter((event) => event.provider === provider);
  return own.find((event) => (keyByBody === null ? event.key === key : event.body === body));
}

export const deliver = command(
  "Deliver",
  fc.record({
    content: fc.record({ provider: anyProvider, kind: fc.nat(4), number: fc.nat(3) }),
    /** Sends the bytes of an earlier delivery under this id: a retry, or a forgery. */
    again: fc.option(fc.nat(20), { freq: 2 }),
    id: fc.option(fc.nat(3)),
    address: anyAddress,
    copies: fc.constantFrom(1, 1, 2, 4),
  }),
  async (args, model, server) => {
    const { id, address, copies } = args;
    const nowMs = server.clock.now();
    const earlier = model.events.flatMap(({ content }) => content ?? []);
    const known = args.again === null ? undefined : pick(earlier, args.again);
    const sent = delivery(known ?? args.content, id);
    const { provider } = sent;
    const headers = {
      ...sent.headers,
      ...signatureOf(provider, sent.body),
      "x-forwarded-for": address,
    };
    const send = () => post(server, `/webhooks/${provider}`, sent.body, headers);
    const answers = await Promise.all(Array.from({ length: copies }, send));
    const refusal = limited(model, address, nowMs);
    if (refusal !== null) {
      for (const answer of answers) {
        sameOutcome(server, "deliver", answer, refusal);
        compareRetryAfter(model, address, nowMs, answer);
      }
      return;
    }
    if (sent.status === "unreadable") return keepUnreadable(model, server, sent, answers, nowMs);
    await keep(model, server, sent, answers, nowMs);
  },
);

const newEvent = (
  { events }: Model,
  { content, provider, type, status, key: preferred, keyByBody, body }: Delivery,
  id: string,
  nowMs: number,
): ModelEvent => ({
  id,
  createdMs: nowMs,
  provider,
  type,
  status,
  key: keyByBody !== null && events.some(({ key }) => key === preferred) ? keyByBody : preferred,
  body,
  content,
  notifications: status === "accepted" ? 1 : 0,
  duplicates: 0,
});

async function keep(
  model: Model,
  server: Server,
  sent: Delivery,
  answers: readonly Answer[],
  nowMs: number,
): Promise<void> {
  const earlier = repeated(model, sent);
  for (const answer of answers) same("delivery", [answer.status, answer.code], [200, null]);
  const statuses = answers.map(({ body }) => String(at(body, "status")));
  const fresh = earlier === undefined ? [sent.status] : [];
  const again = Array.from({ length: answers.length - fresh.length }, () => "duplicate");
  same("status of deliveries", statuses.toSorted(), [...fresh, ...again].toSorted());
  for (const status of statuses) server.count(`deliver: ${status}`);
  const id = String(at(answers[0]?.body, "id"));
  const first = earlier ?? newEvent(model, sent, id, nowMs);
  if (earlier === undefined) model.events.push(first);
  first.duplicates += again.length;
  const { key: idempotencyKey, type: event } = first;
  for (const { body } of answers) {
    same(
      "acknowledgement",
      { ...Object(body), status: "" },
      { id, idempotencyKey, event, status: "" },
    );
  }
  const token = await server.mint("operator", "operator", 60);
  const { body } = await rest(server, token, "GET", `/v1/events/${id}`);
  same("body kept", at(body, "body"), first.body);
  same("duplicates counted", at(body, "receipt", "duplicates"), first.duplicates);
}

/** A verified but unreadable delivery is stored once, and rejected each time. */
async function keepUnreadable(
  model: Model,
  server: Server,
  sent: Delivery,
  answers: readonly Answer[],
  nowMs: number,
): Promise<void> {
  for (const answer of answers) {
    sameOutcome(server, "deliver", answer, { status: 400, code: "invalid-body" });
  }
  if (repeated(model, sent) !== undefined) return;
  const token = await server.mint("operator", "operator", 60);
  const { body } = await rest(
    server,
    token,
    "GET",
    `/v1/events?limit=1&status=unreadable&provider=${sent.provider}`,
  );
  model.events.push(newEvent(model, sent, String(at(body, "data", 0, "id")), nowMs));
}

export const replay = command(
  "Replay",
  fc.record({
    event: fc.nat(40),
    role: fc.constantFrom<"operator" | "admin" | "user">("operator", "operator", "admin", "user"),
    token: anyToken,
    isMissing: fc.boolean(),
  }),
  async (args, model, server) => {
    const event = pick(sortedEvents(model), args.event);
    if (event === undefined) return;
    const isMissing = args.isMissing && args.event === 0;
    const id = isMissing ? `evt_${"0".repeat(32)}` : event.id;
    const userId = model.users[0]?.id ?? "nobody";
    const access = await accessOf(model, server, userId, args.token, args.role);
    const mayNot = args.role === "user" ? { status: 403, code: "insufficient-scope" } : null;
    const gone = isMissing ? { status: 404, code: "not-found" } : null;
    const refusal = access.refusal ?? mayNot ?? gone;
    const answer = await rest(server, access.token, "POST", `/v1/events/${id}/replay`);
    sameOutcome(server, "replay", answer, refusal);
    if (refusal !== null) return;
    const told = { id: at(answer.body, "id"), status: at(answer.body, "status") };
    same("replayed event", told, { id, status: event.status });
    const stored = model.events.find((candidate) => candidate.id === id);
    if (stored?.status === "accepted") stored.notifications += 1;
  },
  ({ events }) => events.length > 0,
);
