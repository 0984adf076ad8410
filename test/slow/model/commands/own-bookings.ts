import fc from "fast-check";

import { at } from "../../../support/graphql.ts";
import {
  bookingsPath,
  cancel as cancelBy,
  readBooking as readBookingBy,
} from "../../harness/requests.ts";
import type { Role } from "../app-world.ts";
import { bookingEvent, flightOf, type Model, type ModelBooking, pick } from "../model.ts";
import { iso, refundTerms } from "../rules.ts";
import { ask, type Refusal, rest, same, sameOutcome, type Server } from "../server.ts";
import {
  bookingFields,
  bookingView,
  cancellationFields,
  cancellationView,
  flightChangeView,
  passengerFields,
  passengersView,
  progressView,
  refundView,
} from "../views.ts";

import { accessOf, anyDoor, anyOne, anyToken, command } from "./command.ts";

const missingId = `bk_${"0".repeat(32)}`;
const notFound: Refusal = { status: 404, code: "booking-not-found" };
type Asker = "owner" | "stranger" | "admin" | "operator";
const anyAsker = fc.constantFrom<Asker>("owner", "owner", "owner", "stranger", "admin", "operator");

interface Asked {
  readonly booking: ModelBooking;
  readonly token: string | null;
  /** Null: allowed. */
  readonly refusal: Refusal | null;
}

/** A caller, a booking, and whether the caller may access it. */
async function asked(
  model: Model,
  server: Server,
  args: {
    readonly booking: number;
    readonly asker: Asker;
    readonly token: "fresh" | "kept" | "none";
  },
): Promise<Asked | null> {
  const booking = pick(model.bookings, args.booking);
  if (booking === undefined) return null;
  const stranger = model.users.find(({ id }) => id !== booking.userId)?.id ?? "stranger";
  const role: Role = args.asker === "admin" || args.asker === "operator" ? args.asker : "user";
  const userId = args.asker === "owner" ? booking.userId : stranger;
  const access = await accessOf(model, server, userId, args.token, role);
  const mayNot = args.asker === "stranger" || args.asker === "operator";
  return { booking, token: access.token, refusal: access.refusal ?? (mayNot ? notFound : null) };
}

const anyAsked = { booking: anyOne, asker: anyAsker, token: anyToken };
const hasBookings = ({ bookings }: Readonly<Model>) => bookings.length > 0;
const pathOf = ({ id }: ModelBooking) => `${bookingsPath}/${id}`;

/** Another user gets exactly the response for a booking that does not exist. */
async function compareWithMissing(
  server: Server,
  token: string | null,
  method: string,
  id: string,
  suffix = "",
): Promise<void> {
  const told = await Promise.all(
    [id, missingId].map(async (name) => {
      const response = await server.send(`${bookingsPath}/${name}${suffix}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "x-request-id": "same" },
      });
      const text = (await response.text()).replaceAll(name, "<id>");
      return { status: response.status, headers: Object.fromEntries(response.headers), text };
    }),
  );
  same(`${method} of a stranger's and a missing booking`, told[0], told[1]);
}

export const readBooking = command(
  "ReadBooking",
  fc.record({ ...anyAsked, door: anyDoor }),
  async (args, model, server) => {
    const found = await asked(model, server, args);
    if (found === null) return;
    const { booking, token, refusal } = found;
    const view = {
      ...bookingView(model, booking, server.clock.now()),
      passengers: passengersView(booking),
    };
    if (args.door === "GraphQL") {
      const operation = readBookingBy(booking.id, `${bookingFields} ${passengerFields}`);
      const answer = await ask(server, token, args.door, operation);
      // A query for an inaccessible booking returns null, not an error.
      const isHidden = refusal === notFound;
      sameOutcome(server, "read booking", answer, isHidden ? null : refusal);
      if (refusal === null || isHidden)
        same("booking by graphql", answer.body, isHidden ? null : view);
      return;
    }
    const answer = await rest(server, token, "GET", pathOf(booking));
    sameOutcome(server, "read booking", answer, refusal);
    if (refusal === notFound) await compareWithMissing(server, token, "GET", booking.id);
    if (refusal !== null) return;
    const { contactEmail, paymentMethod } = booking.input;
    // The history is for admins; its own tests say what is in it.
    const { history, ...body }: Record<string, unknown> = Object(answer.body);
    if (args.asker !== "admin") same("history", history, undefined);
    const refund = progressView(booking);
    same("booking by rest", body, {
      id: booking.id,
      userId: booking.userId,
      contactEmail,
      paymentMethod,
      payments: [],
      refund: refund && { ...refund, payouts: [] },
      ...view,
      ...flightChangeView(booking),
    });
  },
  hasBookings,
);

function refundNow(model: Model, booking: ModelBooking, nowMs: number) {
  const { departureMs } = flightOf(model, booking.input.flightId);
  const { flightChange, totalMinor } = booking;
  if (flightChange !== null) return { percent: 100, amountMinor: totalMinor, feeMinor: 0 };
  return refundTerms(booking.totalMinor, booking.createdMs, departureMs, nowMs);
}

const hasLeft = (model: Model, { input }: ModelBooking, nowMs: number): boolean =>
  flightOf(model, input.flightId).departureMs <= nowMs;

/** The expected error of a cancellation, or of its quote. */
function cancelRefusal(model: Model, booking: ModelBooking, nowMs: number): Refusal | null {
  if (booking.cancellation !== null || !hasLeft(model, booking, nowMs)) return null;
  return { status: 400, code: "not-cancellable" };
}

export const quote = command(
  "Quote",
  fc.record(anyAsked),
  async (args, model, server) => {
    const found = await asked(model, server, args);
    if (found === null) return;
    const { booking, token } = found;
    const nowMs = server.clock.now();
    const refusal = found.refusal ?? cancelRefusal(model, booking, nowMs);
    const answer = await rest(server, token, "GET", `${pathOf(booking)}/cancellation`);
    sameOutcome(server, "quote", answer, refusal);
    if (refusal === notFound)
      await compareWithMissing(server, token, "GET", booking.id, "/cancellation");
    if (refusal !== null) return;
    const { cancellation, currency } = booking;
    const terms = cancellation?.terms ?? refundNow(model, booking, nowMs);
    const reason = cancellation?.reason ?? at(answer.body, "refund", "reason");
    same("quote", answer.body, {
      bookingId: booking.id,
      quotedAt: iso(cancellation?.atMs ?? nowMs),
      refund: refundView(terms, currency, reason),
    });
  },
  hasBookings,
);

export const cancel = command(
  "Cancel",
  fc.record({ ...anyAsked, copies: fc.integer({ min: 1, max: 3 }) }),
  async (args, model, server) => {
    const found = await asked(model, server, args);
    if (found === null) return;
    const { booking, token } = found;
    const nowMs = server.clock.now();
    const refusal = found.refusal ?? cancelRefusal(model, booking, nowMs);
    const isFirst = booking.cancellation === null;
    const answers = await Promise.all(
      Array.from({ length: args.copies }, (_, index) =>
        ask(
          server,
          token,
          index % 2 === args.booking % 2 ? "REST" : "GraphQL",
          cancelBy(booking.id, cancellationFields),
        ),
      ),
    );
    for (const answer of answers) {
      sameOutcome(server, isFirst ? "cancel" : "cancel again", answer, refusal);
    }
    if (refusal === notFound) await compareWithMissing(server, token, "DELETE", booking.id);
    if (refusal !== null) return;
    if (isFirst) {
      const reason = String(at(answers[0]?.body, "refund", "reason"));
      const terms = refundNow(model, booking, nowMs);
      booking.cancellation = { atMs: nowMs, terms, reason };
      model.events.push(bookingEvent("booking.cancelled", booking.id, nowMs));
      server.count(`refund ${terms.percent} %`);
    }
    for (const { body } of answers) same("cancellation", body, cancellationView(booking));
  },
  hasBookings,
);
