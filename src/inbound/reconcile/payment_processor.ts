import { at, idAt, isTrueAt, type JsonObject, textAt, unixSecondsAt } from "../../base/payload.ts";
import { type Field, objectsIn, providerApi } from "../provider-api/provider-api.ts";
import { paymentProcessor } from "../providers/payment_processor.ts";

import type { LogEntry, LogKind } from "./provider-log.ts";

/** One request can name 20 types, so that the log is read once for each group of them. */
const maxTypes = 20;
const types = Object.keys(paymentProcessor.samples).map((type) => field("types[]", type));
const maxPageBytes = 64 * 1024 * 1024;

/**
 * Stripe's events that are not delivered to every endpoint. It retries for three days, and keeps events for
 * 30. https://docs.stripe.com/webhooks/process-undelivered-events
 */
export const paymentProcessorLog: LogKind = {
  provider: paymentProcessor.id,
  keptDays: 30,
  variables: ["PAYMENT_PROCESSOR_API_TOKEN"],
  permission: "a secret key, or a restricted key with Events: read",
  open({ apiUrl, token }, surroundings) {
    const api = providerApi({ apiUrl, token }, surroundings);
    return {
      host: api.host,
      async page(after, since) {
        // Where the page before ended: `<first type of the group>:<id of the last event>`.
        const [first = 0, last = ""] = after === null ? [] : placeOf(after);
        const { body } = await api.send({
          method: "GET",
          path: "/v1/events",
          maxBytes: maxPageBytes,
          query: [
            ["delivery_success", "false"],
            ["created[gte]", String(Math.floor(since.getTime() / 1_000))],
            ["limit", "100"],
            ...types.slice(first, first + maxTypes),
            ...(last === "" ? [] : [field("starting_after", last)]),
          ],
        });
        const events = objectsIn(api, at(body, "data"));
        const end = idAt(events.at(-1), "id");
        const isMore = isTrueAt(body, "has_more") && end !== null && end !== last;
        const group = first + maxTypes;
        return {
          entries: events.map(entryOf).filter((entry) => entry !== null),
          next: isMore ? `${first}:${end}` : group < types.length ? `${group}:` : null,
        };
      },
    };
  },
};

function placeOf(after: string): readonly [number, string] {
  const [first = "", last = ""] = after.split(":", 2);
  return [Number(first), last];
}

function field(name: string, value: string): Field {
  return [name, value];
}

/** The entry of an event, which is the payload itself; null for events that are not listed. */
function entryOf(event: JsonObject): LogEntry | null {
  const [deliveryId, type] = [idAt(event, "id"), textAt(event, "type")];
  const sentAt = unixSecondsAt(event, "created");
  if (deliveryId === null || type === null || sentAt === null) return null;
  // Also an update of a refund that did not fail.
  const { status } = paymentProcessor.interpret({ payload: event, header: () => null });
  if (status !== "accepted") return null;
  return {
    deliveryId,
    type,
    sentAt,
    // Not acknowledged by each endpoint: the other ones may not be Skyhook's.
    isAcknowledged: false,
    read: () =>
      Promise.resolve({ headers: new Headers(), bodies: [Buffer.from(JSON.stringify(event))] }),
  };
}
