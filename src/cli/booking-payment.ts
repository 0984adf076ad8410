import { parseMinor } from "../base/money.ts";
import { readConfig } from "../config/config.ts";
import { isObject, itemsAt, at, textAt } from "../gateway/providers/payload.ts";
import { paymentKind, paymentSample } from "../gateway/providers/payment-sample.ts";
import type { JsonObject, Provider } from "../gateway/providers/provider.ts";

import { UsageError } from "./output.ts";
import { isItRunning, localUrl, request } from "./request.ts";
import { serverError, serverTokens } from "./server-tokens.ts";

interface BookingOptions {
  readonly booking: string;
  readonly url?: string;
}

/**
 * The provider with a sample that pays a booking its price, or refunds what is due. Reads the booking from
 * the server, as an admin. Throws if the event is not about payments or the server has no such booking.
 */
export async function withBooking(
  provider: Provider,
  type: string | undefined,
  options: BookingOptions,
  env: NodeJS.ProcessEnv,
): Promise<Provider> {
  const kind = paymentKind(provider, type ?? "");
  const sample = provider.samples[type ?? ""];
  if (type === undefined || kind === undefined || sample === undefined) {
    const types = Object.keys(provider.payments?.events ?? {}).join(", ");
    throw new UsageError(
      types === ""
        ? `${provider.id} has no events about payments of bookings`
        : `--booking is for events about payments: ${types}`,
    );
  }
  const found = await bookingOf(options, env);
  const booking = textAt(found, "bookingId") ?? options.booking;
  const currency = textAt(found, "currency") ?? "";
  const due = kind === "refunded" ? at(found, "refund", "amount") : undefined;
  const amountMinor = parseMinor(String(due ?? at(found, "totalPrice")), currency);
  // Derived from the booking, so that a refund is one of the payment that was sent before.
  const payment = `pi_${booking.slice(-12)}`;
  const changed = paymentSample(provider, type, sample, {
    booking,
    amountMinor,
    currency,
    payment,
  });
  return { ...provider, samples: { ...provider.samples, [type]: changed } };
}

async function bookingOf(
  { booking, url }: BookingOptions,
  env: NodeJS.ProcessEnv,
): Promise<JsonObject> {
  const config = readConfig(env);
  const base = `${url ?? localUrl(config)}/v1/api/bookings`;
  const mint = serverTokens(config, env, "admin");
  const get = async (path: string): Promise<JsonObject> => {
    const headers = { authorization: `Bearer ${await mint()}` };
    const answer = await request(base + path, { headers }, isItRunning);
    if (answer.ok && answer.json !== null) return answer.json;
    throw new Error(serverError(answer, "admin"));
  };
  const page = await get(`?${new URLSearchParams({ q: booking }).toString()}`);
  const [found] = itemsAt(page, "data").filter(isObject);
  const id = found === undefined ? null : textAt(found, "bookingId");
  if (id === null) throw new UsageError(`The server has no booking ${booking}`);
  return get(`/${encodeURIComponent(id)}`);
}
