import { isLoopback } from "../../base/loopback.ts";
import type { Services } from "../../services.ts";

import { contextOf, type Moment } from "./past.ts";

const receivers = [
  {
    name: "on-call",
    format: "slack",
    filter: 'event.severity == "error" || event.severity == "warning"',
    alerts: true,
  },
  { name: "finance", format: "json", filter: 'event.type.startsWith("payment")' },
  { name: "staging", format: "cloudevents", filter: 'event.provider != "bookings"' },
  { name: "incidents", format: "json", filter: 'event.type == "deploy.error"' },
] as const;

/** The people who manage the demo's destinations. */
const ada = contextOf("console:Ada", "admin");
const tomas = contextOf("console:Tomas", "admin");
const widerFilter = 'event.provider == "payment_processor"';

/**
 * Creates destinations of several kinds, or gives those of an earlier demo their new addresses: their receivers are in
 * this process. All answer 200, but incidents answers 503 while `isDown`. Returns what changes about them later.
 */
export async function connectReceivers(
  { destinations }: Services,
  isDown: () => boolean,
): Promise<readonly Moment[]> {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      new Response(null, { status: url.endsWith("/incidents") && isDown() ? 503 : 200 }),
  });
  server.unref();
  const first = { limit: 100, withTotal: false, direction: "forward", cursor: null } as const;
  const { data: known } = await destinations.list(ada, first);
  const made = await Promise.all(
    receivers.map(async (receiver) => {
      const url = `${server.url.origin}/${receiver.name}`;
      const found = known.find(({ name }) => name === receiver.name);
      if (found === undefined && known.length > 0) return [];
      if (found === undefined) {
        return [(await destinations.create(ada, { ...receiver, url })).made];
      }
      // The user may have changed it.
      if (isLoopback(found.url)) await destinations.update(ada, found.id, { url });
      return [];
    }),
  );
  const finance = made.flat().find(({ name }) => name === "finance");
  if (finance === undefined) return [];
  const widen = () => destinations.update(tomas, finance.id, { filter: widerFilter });
  return [{ agoMs: widenedAgoMs, happen: widen }];
}

const widenedAgoMs = 2 * 86_400_000;
