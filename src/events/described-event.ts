import type { DataFields } from "../event/data-fields.ts";
import type { Event } from "../event/event.ts";
import type { NewNotification } from "../event/new-notification.ts";
import { interpretedFields } from "../inbound/providers/interpret.ts";
import type { Provider } from "../inbound/providers/provider.ts";
import type { SentNotification } from "../outbound/formats/format.ts";

/** A type of event that destinations receive, with a real example. */
export interface DescribedEvent {
  /** What people call its provider. */
  readonly from: string;
  /** The fields that its `data` can have. */
  readonly data: DataFields;
  readonly event: Event;
  readonly notification: SentNotification;
  /** The other types of its provider, of which there is no sample: `event` is of another type. `*`: any. */
  readonly others?: readonly string[];
}

const at = new Date("2026-12-01T09:12:44.120Z");
const uuid = "019377b07d4070008000000000000001";

/** What all examples have in common. */
export const exampleTimes = { id: `evt_${uuid}`, occurredAt: at, createdAt: at } as const;

export const exampleNotification = (notification: NewNotification): SentNotification => ({
  ...notification,
  id: `ntf_${uuid}`,
  createdAt: at,
});

/** The types of event that a provider lists, each made from its sample as from a webhook. */
export function eventsOf(provider: Provider): readonly DescribedEvent[] {
  const described = Object.values(provider.samples).flatMap((sample) => {
    const { headers, body } = sample({ id: "72d3162e-cc78-11e3-81ab-4c9367dc0958", now: at });
    const sent = { value: body, text: JSON.stringify(body), context: "" };
    const [item = sent] = provider.itemsIn?.(sent) ?? [];
    const header = (...names: readonly string[]) =>
      names.map((name) => headers[name]).find((value) => value !== undefined) ?? null;
    // Guarantee: the items of a sample are objects, as its provider lists them.
    const payload = item.value as typeof body;
    const interpretation = provider.interpret({ payload, delivery: body, header });
    const { type, deliveryId, notice = null } = interpretation;
    const event: Event = {
      ...interpretedFields(interpretation, { ...exampleTimes }),
      ...exampleTimes,
      provider: provider.id,
      idempotencyKey: `${provider.id}:${deliveryId ?? "sha256:…"}`,
      recovered: false,
    };
    const [notification] = provider.notify.flatMap((notify) => notify(event, notice) ?? []);
    if (interpretation.status !== "accepted" || notification === undefined) return [];
    const shown = exampleNotification(notification);
    const one = { from: provider.displayName, data: provider.data, event, notification: shown };
    return [[type, one] as const];
  });
  const byType = new Map(described);
  const others = [...new Set(provider.types)].filter((type) => !byType.has(type));
  const [first] = byType.values();
  const rest = first === undefined || others.length === 0 ? [] : [{ ...first, others }];
  return [...byType.values(), ...rest];
}
