import { expect, test } from "bun:test";

import { allAirports, zonesInUse } from "../../src/booking/flights/airports.ts";
import { settings } from "../../src/config/settings.ts";
import { defaultRatePerSecond } from "../../src/events/event-filters.ts";
import { codeHostLog } from "../../src/inbound/reconcile/code_host.ts";
import { paymentProcessorLog } from "../../src/inbound/reconcile/payment_processor.ts";
import { delaysIn, usualRetryDelays } from "../../src/outbound/model/retry-delays.ts";

import { numberOf, valueOf } from "./limits.ts";
import { page } from "./markdown.ts";

const limiter = "identity/limiter.ts";
const flights = "booking/flights/flights.ts";
const rejections = "inbound/rejections/rejections.ts";

const kept = [valueOf(rejections, "keptPerProvider"), valueOf(rejections, "maxKeptBytesOfAll")];
const linkMinutes = inWords(numberOf("identity/auth/console-codes.ts", "codeTtlSeconds") / 60);
const ahead = valueOf("inbound/signatures/signed-time.ts", "maxAheadSeconds");
const offsetRows = valueOf("base/page.ts", "maxOffsetRows");
const sessionHours = numberOf("identity/sessions/sessions.ts", "sessionSeconds") / 3_600;
const silenceDays = numberOf("inbound/provider-status/silence.ts", "windowHours") / 24;
const heartbeatSeconds = numberOf("web/rest/sse.ts", "heartbeatMs") / 1_000;
const attempts = delaysIn(null).length + 1;

const secretHours = numberOf("outbound/model/destination-secrets.ts", "overlapMs") / 3_600_000;
const circuit = "outbound/deliveries/circuit.ts";
const notifier = "outbound/deliveries/notifier.ts";
const newDestination = "outbound/destinations/new-destination.ts";
const brokers = (name: string) => `outbound/transports/brokers/${name}.ts`;

/** How often what costs so many fields fits into the work that an address may cause without a token. */
const inBudget = (fields: number) =>
  Math.floor(numberOf(limiter, "maxFields") / fields).toLocaleString("en");
const perFlight = numberOf(flights, "fieldsOfFlight") * 20;
const perDay = numberOf(flights, "fieldsOfDay");
const perSearch = numberOf("web/rest/docs.rest.ts", "searchFields");

/** What pages say with numbers, which are those of the code. Generated tables are not here. */
const said: readonly (readonly [file: string, text: string])[] = [
  ["api", `every day, ${valueOf("booking/flights/flight-search.ts", "maxCalendarDays")} at most`],
  ["api", `larger values count as ${valueOf("base/page.ts", "maxLimit")} `],
  ["api", `for up to ${offsetRows} rows`],
  ["guarantees", `ends at ${offsetRows} rows`],
  ["api", `in ${inWords(numberOf(limiter, "workSeconds"))} seconds`],
  ["api", `with the default \`limit\` of 20 | ${inBudget(perFlight)} |`],
  ["api", `a day of a price calendar | ${inBudget(perDay)} |`],
  ["api", `a search of the documentation | ${inBudget(perSearch)} |`],
  ["api", `${inBudget(1)} fields of responses`],
  ["api", `\`totalCount\` is ${valueOf("web/graphql/builder.ts", "countFields")} `],
  ["guarantees", `After ${inWords(attempts)} attempts`],
  [
    "destinations",
    `for the newest ${valueOf("outbound/destinations/filter-preview.ts", "maxPreviewed")} `,
  ],
  [
    "destinations",
    `the last ${valueOf("console/page/destinations/destination-health.tsx", "maxBars")} attempts`,
  ],
  ["destinations", `for ${secretHours} hours the previous one`],
  ["destinations", `(${numberOf("outbound/deliveries/send-buffer.ts", "usualBatchWaitMs")} ms)`],
  ["destinations", `up to ${inWords(numberOf(brokers("mail"), "maxRecipients"))} \`to=\``],
  ["destinations", `${inWords(numberOf(brokers("sqs"), "maxAttributes"))} attributes`],
  ["destinations", `before retries: ${usualRetryDelays}.`],
  ["destinations", `After ${inWords(Number(settings.disableAfterDays.default))} days without`],
  ["destinations", `After ${inWords(numberOf(circuit, "circuitThreshold"))} failures in a row`],
  ["destinations", `every ${valueOf(circuit, "probeMs")}, the`],
  ["destinations", `takes up to ${valueOf(notifier, "lookIntervalOfSeveralMs")} to reach`],
  [
    "destinations",
    `A user has up to ${inWords(numberOf(newDestination, "maxUserDestinations"))} destinations`,
  ],
  [
    "destinations",
    `at most ${valueOf(newDestination, "maxOfUsers")}, the operators ${valueOf(newDestination, "maxDestinations")}`,
  ],
  ["bookings", `\`HOLD_MINUTES\` (${settings.holdMinutes.default})`],
  [
    "bookings",
    `names a booking within ${valueOf("booking/payments/unassigned-payment.ts", "unassignedMs")} `,
  ],
  [
    "bookings",
    `${inWords(numberOf("booking/seats/holding.ts", "maxHoldsPerFlight"))} holds and offers for each user and flight`,
  ],
  ["bookings", `${valueOf("booking/changes/changes.sql.ts", "maxOffers")} offers for each booking`],
  [
    "bookings",
    `${inWords(numberOf("booking/changes/corrections.ts", "maxCorrections"))} times for each`,
  ],
  ["agents", `at most ${valueOf("mcp/answer.ts", "maxAnswerLength")} characters`],
  ["agents", `may send ${valueOf(limiter, "maxCalls")} messages a minute`],
  ["agents", `at most ${valueOf("identity/sessions/stored-tokens.ts", "maxPerActor")} tokens`],
  ["operations", `up to ${valueOf("inbound/providers/code_host.ts", "maxBodyBytes")}, or`],
  ["operations", `a heartbeat every ${valueOf("web/rest/sse.ts", "heartbeatMs")} `],
  ["operations", `knows ${Array.from(allAirports()).length.toLocaleString("en")} airports`],
  ["operations", `(tzdata ${zonesInUse().version})`],
  ["operations", `${kept.join(" per provider and ")} in all`],
  ["operations", `${valueOf("telemetry/log-output.ts", "maxBufferedBytes")} of lines waits`],
  ["operations", `if it is ${ahead} off`],
  ["security", `more than ${ahead} ahead`],
  ["security", `within ${linkMinutes} minutes`],
  ["security", `for ${sessionHours} hours at most`],
  ["sign-in", `within ${linkMinutes} minutes`],
  ["sign-in", `A session lasts ${inWords(sessionHours)} hours`],
  ["postgresql", `${valueOf(limiter, "maxFailures")} a minute per address |`],
  ["webhooks", `${valueOf(limiter, "maxFailures")} failed signatures in a minute`],
  ["webhooks", `The last ${kept[0]} rejections of each provider`],
  ["webhooks", `at GitHub those of the last ${codeHostLog.keptDays} days`],
  ["webhooks", `at Stripe those of the last ${paymentProcessorLog.keptDays} days`],
  ["webhooks", `longer than those of the last ${silenceDays} days`],
  ["providers", `more than ${valueOf("inbound/providers/interpret.ts", "maxItems")} items`],
  [
    "providers",
    `default ${valueOf("inbound/providers/files/file-provider.ts", "defaultMaxBodyBytes")} `,
  ],
  ["providers", `at most ${ahead} `],
  [
    "providers",
    `more than ${valueOf("inbound/providers/kept-query.ts", "maxQueryLength")} characters`,
  ],
  ["providers", `the first ${valueOf("base/payload.ts", "maxTextLength")} characters`],
  [
    "providers",
    `| shared, ${valueOf("inbound/signatures/shared-secret.ts", "leastUrlSecretLength")} characters`,
  ],
  ["debugging", `${heartbeatSeconds} s of silence: after ${2 * heartbeatSeconds} s without`],
  ["debugging", `instead of ${defaultRatePerSecond} events per second`],
  ["postgresql", `With the defaults of both (${settings.databasePoolSize.default} and 100)`],
];

function inWords(value: number): string {
  return (
    { 2: "two", 3: "three", 5: "five", 7: "seven", 10: "ten", 12: "twelve" }[value] ?? String(value)
  );
}

test.each(said)("docs/%s.md says what the code does: %s", (file, text) => {
  expect(page(`docs/${file}.md`).replaceAll(/\s+/g, " ")).toContain(text);
});

/** Numbers of things, but for standards, modes of files and status codes. */
const numbers =
  /(?<!ISO |RFC |SHA-|CRC-|mode )\b(?!200 means|4[012]\d\b|503\b)\d+(?:[.,]\d+)* [A-Za-z]+/g;

test.each(["webhooks", "providers", "events", "debugging", "moving-in", "find"])(
  "docs/%s.md has no other number of things in its prose",
  (file) => {
    const prose = page(`docs/${file}.md`)
      .replaceAll(/<!-- (\w+) -->\n.*?<!-- \/\1 -->/gs, "")
      .replaceAll(/^```.*?^```$/gms, "")
      .replaceAll(/`[^`\n]*`|\]\([^)]*\)/g, "")
      .replaceAll(/\s+/g, " ");
    const own = said.filter(([each]) => each === file);
    const rest = own.reduce((left, [, text]) => left.replace(text, ""), prose);
    expect(rest.match(numbers)).toBeNull();
  },
);
