import { json, jsonWith, sample, type TestApp } from "./app.ts";
import { bookingBody, post } from "./flights.ts";

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

/** Holds a seat. Returns the id of the booking. */
export async function holdSeat(app: TestApp, flightId: number): Promise<string> {
  const body = { ...bookingBody(flightId), hold: true };
  const response = await app.as("user", "/v1/api/bookings", post(body));
  return String((await json(response))["bookingId"]);
}
