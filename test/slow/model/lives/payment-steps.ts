import { deepEqual, equal } from "node:assert/strict";

import fc from "fast-check";

import { pick } from "../model.ts";

import type { BookingRow, Content } from "./content.ts";
import { fails, isPlain, type Notice, pays, refunds, settles } from "./payment-rules.ts";
import { cancels, flightOf, hasLeft, hasOpenOffer } from "./rules.ts";
import { at, type BookingWorld, step, which } from "./world.ts";

/** The payment of a booking, which some share. */
const payment = fc.constantFrom("pi_1", "pi_1", "pi_1", "pi_2", "pi_shared");
const idOf = ({ id }: BookingRow, name: string) => (name === "pi_shared" ? name : `${name}_${id}`);
const succeeded = "payment_intent.succeeded";

/** Above all a booking that waits for a payment. */
function payable(content: Content, index: number): BookingRow | undefined {
  const { bookings } = content;
  const pending = bookings.filter((one) => hasOpenOffer(content, one)?.status === "pending");
  const held = bookings.filter(({ status }) => status === "held");
  const [first = bookings] = [pending, held].filter(({ length }) => length > 0);
  return pick(index % 4 > 0 ? first : bookings, index);
}

/** What an event says was paid of a booking or its pending change. */
function noticeOf(
  world: BookingWorld,
  content: Content,
  booking: BookingRow,
  name: string,
  how = "exact",
): Notice {
  const open = hasOpenOffer(content, booking);
  const price = open?.status === "pending" ? open.change : booking.total;
  const wrong = how === "less" ? -1 : how === "more" ? 1 : 0;
  return {
    // The payment of a change is another one than that of the booking.
    reference: isPlain(content, booking) ? idOf(booking, name) : `pi_${world.events}_${booking.id}`,
    minor: how === "text" ? null : price + wrong,
    currency: how === "euros" ? "eur" : "usd",
  };
}

function paysAs(world: BookingWorld, content: Content, booking: BookingRow, notice: Notice) {
  const { status: before, paid } = booking;
  if (settles(content, booking, notice.reference) > 0) world.count("refund found later");
  const [known, refunded] = [content.payments.length, booking.refunded];
  const word = pays(content, booking, notice, world.clock.now());
  const outcome = content.payments[known]?.outcome;
  if (outcome !== undefined) world.count(`payment: ${outcome}`);
  if (word === "confirmed" && before === "expired") world.count("reseated");
  if (word === "confirmed" && booking.refunded > refunded) world.count("refunded before paid");
  if (before === "confirmed" && booking.paid !== paid) world.count("pay a change");
  return word;
}

export const pay = step(
  "pay",
  fc.record({
    at,
    which,
    how: fc.constantFrom("exact", "exact", "exact", "exact", "less", "more", "euros", "text"),
    name: payment,
    copies: fc.integer({ min: 1, max: 3 }),
  }),
  async (world, expected, input) => {
    const booking = payable(expected, input.which);
    if (booking === undefined) return;
    const notice = noticeOf(world, expected, booking, input.name, input.how);
    const request = world.event(succeeded, booking, notice);
    const word = paysAs(world, expected, booking, notice);
    // Copies of one event, at the same time at all instances, have its one effect.
    const words = await Promise.all(
      Array.from({ length: input.copies }, (_, copy) => world.deliver(input.at + copy, request)),
    );
    if (word !== null) deepEqual(new Set(words), new Set([word]));
  },
);

/** Several events about one payment. */
export const payOften = step(
  "pay often",
  fc.record({ at, which }),
  async (world, expected, input) => {
    const booking = payable(expected, input.which);
    if (booking === undefined || !isPlain(expected, booking)) return;
    const notice = noticeOf(world, expected, booking, "pi_1");
    const word = paysAs(world, expected, booking, notice);
    const words = await Promise.all(
      Array.from({ length: 4 }, (_, copy) =>
        world.deliver(input.at + copy, world.event(succeeded, booking, notice)),
      ),
    );
    equal(words.filter((one) => one === "confirmed").length, word === "confirmed" ? 1 : 0);
  },
);

export const fail = step("fail", fc.record({ at, which }), async (world, expected, input) => {
  const booking = pick(expected.bookings, input.which);
  if (booking === undefined || !isPlain(expected, booking)) return;
  const notice = { reference: idOf(booking, "pi_1"), minor: 1, currency: "usd" };
  fails(expected, booking, notice);
  await world.deliver(input.at, world.event("payment_intent.payment_failed", booking, notice));
});

export const refund = step(
  "refund",
  fc.record({
    at,
    which,
    name: payment,
    percent: fc.constantFrom(10, 50, 90, 100, 110),
    names: fc.boolean(),
  }),
  async (world, expected, input) => {
    const { bookings } = expected;
    const settled = bookings.filter(({ paid }) => paid !== null);
    const booking = pick(
      settled.length > 0 && input.which % 2 > 0 ? settled : bookings,
      input.which,
    );
    if (booking === undefined) return;
    const paid = pick(
      expected.payments.filter((row) => row.booking === booking.id && row.reference !== null),
      input.which,
    );
    const reference = isPlain(expected, booking)
      ? idOf(booking, input.name)
      : (paid?.reference ?? "pi_other");
    const minor = Math.floor((booking.total * input.percent) / 100);
    const notice = { reference, minor, currency: "usd" };
    const isKnown = expected.payments.some((row) => row.reference === reference);
    // Without the booking, it is found by its payment, which the shared one does not identify.
    const isNamed =
      input.names || (isKnown && input.name === "pi_shared") || reference === "pi_other";
    const waits = !isNamed && !isKnown;
    if (waits) expected.waiting.push({ reference, minor });
    const known = expected.payments.length;
    const word = waits ? "no" : refunds(expected, booking, notice);
    world.count(`refund: ${waits ? "waits" : (expected.payments[known]?.outcome ?? "no")}`);
    if (!waits) settles(expected, booking, reference);
    const request = world.event("charge.refunded", isNamed ? booking : null, notice);
    const told = await world.deliver(input.at, request);
    if (word !== null) equal(told, word);
  },
);

export const payAndCancel = step(
  "pay and cancel at once",
  fc.record({ at, which }),
  async (world, expected, input) => {
    const booking = payable(expected, input.which);
    if (booking?.status !== "held" || !isPlain(expected, booking)) return;
    if (hasLeft(flightOf(expected, booking.flight), world.clock.now())) return;
    const notice = noticeOf(world, expected, booking, "pi_1");
    const [word, { status }] = await Promise.all([
      world.deliver(input.at, world.event(succeeded, booking, notice)),
      world.ofBooking(input.at + 1, booking, "DELETE", ""),
    ]);
    equal(status, 200);
    // Either came first; nothing else may have happened.
    const isPaid = word === "confirmed";
    world.count(isPaid ? "race: paid first" : "race: cancelled first");
    if (isPaid) equal(paysAs(world, expected, booking, notice), "confirmed");
    cancels(expected, booking, world.clock.now());
    if (!isPaid) equal(paysAs(world, expected, booking, notice), "no");
  },
);
