/** What a destination's address does until it is healed. */
type Health = (request: FleetRequest) => Promise<number> | number;

interface FleetRequest {
  /** From 1, of its destination. */
  readonly number: number;
  /** Resolves when the fleet is healed. */
  readonly healed: Promise<unknown>;
}

/** A notification with what filters read, as `notificationsOfFleet` returns it. */
export interface Notified {
  readonly id: string;
  /** The idempotency key of the event. */
  readonly key: string;
  readonly provider: string;
  readonly type: string;
  readonly title: string;
  readonly severity: string;
}

/** How one of ten kinds of destinations is created, and what its address does. */
export interface Kind {
  readonly name: string;
  readonly health: Health;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly isPaused?: boolean;
  readonly at?: "refusing" | "dripping";
}

export const kinds: readonly Kind[] = [
  { name: "healthy", health: () => 200 },
  { name: "slow", health: async () => (await Bun.sleep(100), 200) },
  { name: "hanging", health: async ({ healed }) => (await healed, 200) },
  { name: "dripping", health: () => 200, at: "dripping" },
  { name: "failing", health: () => 500 },
  { name: "refusing", health: () => 200, at: "refusing" },
  {
    name: "limited",
    health: ({ number }) => (number % 5 === 0 ? 429 : 200),
    fields: { ratePerSecond: 20, maxConcurrent: 2 },
  },
  {
    name: "ordered",
    health: ({ number }) => (number % 20 === 0 ? 503 : 200),
    fields: { orderBy: "event.provider" },
  },
  { name: "paused", health: () => 200, isPaused: true },
  { name: "filtered", health: () => 200 },
];

/** A filter with what it accepts, written again without the program's code. */
export const filters: readonly (readonly [string, (notified: Notified) => boolean])[] = [
  ['event.provider == "bookings"', ({ provider }) => provider === "bookings"],
  ['event.type == "booking.cancelled"', ({ type }) => type === "booking.cancelled"],
  ['event.provider == "nobody"', () => false],
  ['event.title.contains("1")', ({ title }) => title.includes("1")],
  [
    'event.type != "task.completed" && event.severity != "error"',
    ({ type, severity }) => type !== "task.completed" && severity !== "error",
  ],
];
