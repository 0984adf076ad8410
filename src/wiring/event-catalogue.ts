import { bookingEvents } from "../booking/events/own-events.ts";
import { type DescribedEvent, eventsOf, exampleNotification } from "../events/described-event.ts";
import type { Provider } from "../inbound/providers/provider.ts";
import { alertData, alertEvents } from "../operations/alerts.ts";
import { testEvent, testNotification } from "../outbound/destinations/test-event.ts";

/** Made once of each provider: it interprets all of its samples. */
const known = new WeakMap<Provider, readonly DescribedEvent[]>();

function eventsOnce(provider: Provider): readonly DescribedEvent[] {
  const events = known.get(provider) ?? eventsOf(provider);
  known.set(provider, events);
  return events;
}

/** All types of event that destinations receive: those of these providers, and Skyhook's own. */
export function eventCatalogue(providers: Iterable<Provider>): readonly DescribedEvent[] {
  const tests = testEvent("evt_019377b07d4070008000000000000001", Date.UTC(2026, 11, 1, 9));
  return [
    ...Array.from(providers).flatMap(eventsOnce),
    ...bookingEvents(),
    ...alertEvents(),
    {
      from: "Skyhook",
      data: alertData,
      event: tests,
      notification: exampleNotification(testNotification(tests)),
    },
  ];
}
