import type { Builder } from "../../web/graphql/builder.ts";

import { circuitStates, type DestinationHealth } from "./destination-health.ts";

/** The type of `Destination.health`. */
export function healthType(builder: Builder) {
  const Circuit = builder.enumType("DestinationCircuit", {
    description:
      "`open`: nothing is sent after many failures. `probing`: the next attempt decides.",
    values: circuitStates,
  });
  return builder.objectRef<DestinationHealth>("DestinationHealth").implement({
    description: "Health of a destination.",
    fields: (t) => ({
      circuit: t.expose("circuit", { type: Circuit, description: "State of the circuit breaker." }),
      waiting: t.exposeInt("waiting", {
        description: "Pending and retrying deliveries, at most 10,000.",
      }),
      dead: t.exposeInt("dead", { description: "Dead deliveries, at most 10,000." }),
      oldestSeconds: t.exposeInt("oldestSeconds", {
        nullable: true,
        description: "Age of the oldest waiting delivery.",
      }),
      lastAttemptAt: t.expose("lastAttemptAt", {
        type: "DateTime",
        nullable: true,
        description: "Time of the last attempt.",
      }),
      lastError: t.exposeString("lastError", {
        nullable: true,
        description: "The error of the last attempt; null if it was delivered.",
      }),
      outcomes: t.exposeBooleanList("outcomes", {
        description: "The last attempts, newest first: whether each was delivered. At most 100.",
      }),
      successRate: t.exposeFloat("successRate", {
        nullable: true,
        description: "The share of the last 100 attempts that was delivered, 0 to 1.",
      }),
      p50Ms: t.exposeInt("p50Ms", {
        nullable: true,
        description: "Median duration of these delivered attempts, in milliseconds.",
      }),
      p95Ms: t.exposeInt("p95Ms", {
        nullable: true,
        description: "95th percentile of these durations.",
      }),
    }),
  });
}
