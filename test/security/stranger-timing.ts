/**
 * `bun test/security/stranger-timing.ts`: compares the response time of 404 for a booking of another user and
 * for a missing booking. Prints medians. The third row repeats the missing booking, to show how much of the
 * difference is noise.
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
const cases = [
  ["other user's", String(made["bookingId"])],
  ["missing", missing],
  ["missing again", missing],
] as const;

const token = await app.services.tokens.mint({ id: "stranger", roles: ["user"] }, 3_600);
const headers = { authorization: `Bearer ${token}` };
const times = cases.map((): number[] => []);
for (let round = -warmUpRounds; round < rounds; round += 1) {
  // Alternates between the cases in a changing order, so that other load affects all of them equally.
  for (let turn = 0; turn < cases.length; turn += 1) {
    const index = (turn + round + warmUpRounds) % cases.length;
    const started = performance.now();
    const answer = await app.fetch(`${bookings}/${cases[index]?.[1] ?? ""}`, { headers });
    await answer.text();
    if (round >= 0) times[index]?.push(performance.now() - started);
  }
}
await app.stop();

for (const [index, [name]] of cases.entries()) {
  const sorted = (times[index] ?? []).toSorted((one, other) => one - other);
  const at = (quantile: number) =>
    ((sorted[Math.floor(rounds * quantile)] ?? 0) * 1_000).toFixed(1);
  console.log(`${name.padEnd(16)} median ${at(0.5)} µs, quartiles ${at(0.25)} to ${at(0.75)} µs`);
}
