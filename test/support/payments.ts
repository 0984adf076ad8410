import { json, jsonWith, sample, type TestApp } from "./app.ts";
import { bookingsPath, eventsAbout } from "./bookings.ts";
import { addFlight, bookingBody, post } from "./flights.ts";

export interface Money {
  readonly amount?: unknown;
  readonly currency?: unknown;
  /** The id of the payment. */
  readonly payment?: string;
  readonly booking?: unknown;
  /** How long ago it happened, in seconds. */
  readonly agoSeconds?: number;
  /** Further members of the object. */
  readonly more?: object;
}

const amountOf: Readonly<Record<string, string>> = {
  "charge.refunded": "amount_refunded",
  "checkout.session": "amount_total",
};

/** The body of an event about a payment: of `payment_processor`, with its id made from `number`. */
export function paymentEvent(
  app: TestApp,
  number: number,
  type: string,
  {
    amount = 49_950,
    currency = "usd",
    payment = `pi_${number}`,
    booking,
    agoSeconds = 0,
    more,
  }: Money,
): string {
  const { body } = sample("payment_processor", type, app.clock);
  const [member, id] = type.startsWith("payment_intent.")
    ? ([type.endsWith("failed") ? "amount" : "amount_received", "id"] as const)
    : ([amountOf[type.split(".").slice(0, 2).join(".")] ?? "amount", "payment_intent"] as const);
  const object = {
    ...Object(Object(body["data"])["object"]),
    [member]: amount,
    currency,
    [id]: payment,
    metadata: booking === undefined ? {} : { booking },
    ...more,
  };
  return JSON.stringify({
    ...body,
    id: `evt_${number}`,
    created: Number(body["created"]) - agoSeconds,
    data: { object },
  });
}

/** Delivers events about payments, each with a new id, and returns the id of the stored event. */
export function payer(app: TestApp): (type: string, money: Money) => Promise<string> {
  let number = 0;
  return async (type, money) => {
    number += 1;
    const body = paymentEvent(app, number, type, money);
    return String((await jsonWith(await app.deliver("payment_processor", body), 200))["id"]);
  };
}

/** Payments of bookings on flights whose numbers start with `airline`, and what they do. */
export function paymentsOf(app: TestApp, airline: string) {
  let number = 0;
  const send = payer(app);
  const read = async (id: string) => json(await app.as("admin", `${bookingsPath}/${id}`));
  const event = async (type: string, money: Money) =>
    json(await app.as("operator", `/v1/events/${await send(type, money)}`));
  const events = (id: string) => eventsAbout(app, `booking/${id}`);
  return {
    send,
    read,
    /** Delivers an event and reads it. */
    event,
    effect: async (type: string, money: Money) => (await event(type, money))["effect"],
    /** The events about a booking, oldest first. */
    events,
    typesOf: async (id: string) => (await events(id)).map(({ type }) => type).join(" "),
    /** A hold of a seat on a new flight, and an id for its payment. */
    hold: async () => {
      number += 1;
      const { id: flight } = await addFlight(app, { flightNumber: `${airline}${number}` });
      return { id: await holdSeat(app, flight), flight, payment: `pi_${airline}_${number}` };
    },
    cancel: (id: string) => app.as("user", `${bookingsPath}/${id}`, { method: "DELETE" }),
  };
}

/** Holds a seat. Returns the id of the booking. */
export async function holdSeat(app: TestApp, flightId: number): Promise<string> {
  const body = { ...bookingBody(flightId), hold: true };
  const response = await app.as("user", "/v1/api/bookings", post(body));
  return String((await json(response))["bookingId"]);
}
