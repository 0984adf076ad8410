/**
 * `bun test/security/stranger-timing.ts`: how long a stranger waits to be told that a booking is not
 * there, when it is somebody else's and when there is none. Prints medians; the third column asks for
 * the missing one once more, and so shows how much of the difference is chance.
 */
import { json, startApp } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";

const rounds = 5_000;
const warmUpRounds = 1_000;
const bookings = "/v1/api/bookings";

const app = await startApp();
const { id } = await addFlight(app);
const made = await json(await app.as("user", bookings, post(bookingBody(id)), "owner"));
const missing = `bk_${"0".repeat(32)}`;
const asked = [
  ["somebody else's", String(made["bookingId"])],
  ["missing", missing],
  ["missing again", missing],
] as const;

const token = await app.services.tokens.mint({ id: "stranger", roles: ["user"] }, 3_600);
const headers = { authorization: `Bearer ${token}` };
const times = asked.map((): number[] => []);
for (let round = -warmUpRounds; round < rounds; round += 1) {
  // In turns, so that what else the machine does falls on all alike; in another order each time.
  for (let turn = 0; turn < asked.length; turn += 1) {
    const place = (turn + round + warmUpRounds) % asked.length;
    const started = performance.now();
    const answer = await app.fetch(`${bookings}/${asked[place]?.[1] ?? ""}`, { headers });
    await answer.text();
    if (round >= 0) times[place]?.push(performance.now() - started);
  }
}
await app.stop();

for (const [place, [what]] of asked.entries()) {
  const sorted = (times[place] ?? []).toSorted((one, other) => one - other);
  const at = (part: number) => ((sorted[Math.floor(rounds * part)] ?? 0) * 1_000).toFixed(1);
  console.log(`${what.padEnd(16)} median ${at(0.5)} µs, quartiles ${at(0.25)} to ${at(0.75)} µs`);
}
