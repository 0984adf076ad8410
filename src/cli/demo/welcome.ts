import { realpathSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../../base/clock.ts";
import type { Role } from "../../base/context.ts";
import type { Services } from "../../services.ts";
import { isInMemory } from "../database.ts";
import { isCompiled, programName } from "../program.ts";

import { contextOf } from "./story.ts";

/** The pages for people. Those that this program serves are printed. */
const pages = [
  ["console", "console"],
  ["GraphQL playground", "graphql"],
  ["API reference", "swagger"],
] as const;

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The command that runs this program: in a clone the short one, else one for any folder. */
function program(): string {
  if (Bun.main === join(process.cwd(), "src/main.ts")) return programName;
  return isCompiled ? runnable("skyhook") : `${runnable("bun")} ${quoted(Bun.main)}`;
}

/** The name alone if the PATH leads to the running executable. */
function runnable(name: string): string {
  const found = Bun.which(name);
  const isThis = found !== null && realpathSync(found) === realpathSync(process.execPath);
  return isThis ? name : quoted(process.execPath);
}

const linkTtlSeconds = 3_600;

/** The demo's welcome text: pages, commands to paste and, last, a link that signs in. */
export async function welcome(
  services: Services,
  url: string,
  flights: number,
  days: number,
): Promise<string> {
  const served = pages.map(async ([name, path]) => {
    const { ok } = await fetch(url + path, { headers: { accept: "text/html" } });
    return ok ? [`  ${name.padEnd(20)}${url}${path}`] : [];
  });
  const lines = await commands(services, url);
  const code = services.consoleCodes.issue("admin", linkTtlSeconds);
  return `
  Skyhook demo: ${flights} flights in the next ${days} days, and a webhook every few seconds.
  ${isInMemory(services.config) ? "Nothing is kept; set DATABASE_URL to keep it." : "Flights, users and webhooks stay in the database of DATABASE_URL."}

${(await Promise.all(served)).flat().join("\n")}

In another terminal, run any of these:

${lines.map((line) => `  ${line}`).join("\n")}

Sign in to the console here, once and within an hour. Press Ctrl-C to stop.

  ${url}console#code=${code}
`;
}

/** One command per line, so that each can be pasted. */
async function commands(services: Services, url: string): Promise<readonly string[]> {
  const command = `${program()} --demo`;
  const departureDate = new Date(systemClock.now() + 7 * 86_400_000).toISOString().slice(0, 10);
  const route = { origin: "JFK", destination: "LHR", departureDate };
  const { flights } = await services.flights.search(route, async () => {});
  const newest = { limit: 100, withTotal: false, direction: "forward", cursor: null } as const;
  const admin = contextOf("demo", "admin");
  const { data } = await services.bookings.list(admin, newest, { userId: undefined });
  const hold = data.find(({ status }) => status === "held");
  const isPayable = services.registered().some(({ id }) => id === "payment_processor");
  const bearer = (role: Role) => `-H "Authorization: Bearer $(${program()} demo token ${role})"`;
  const json = '-H "Content-Type: application/json"';
  const ada = { firstName: "Ada", lastName: "Lovelace", email: "ada@example.com" };
  const booking = JSON.stringify({
    flightId: flights[0]?.id,
    contactEmail: "ada@example.com",
    paymentMethod: "card",
    passengers: [{ ...ada, dateOfBirth: "1990-04-12", passportNumber: "X1234567" }],
  });
  const query = JSON.stringify({
    query: "{ flights(first: 3) { totalCount nodes { flightNumber origin destination } } }",
  });
  const payment =
    hold === undefined || !isPayable
      ? []
      : [
          "# pay a booking that holds its seat, by a webhook of the payment processor",
          `${command} send payment_processor payment_intent.succeeded --booking ${hold.reference}`,
        ];
  return [
    "# send a webhook, search events, and see what a replay of those with dead notifications would do",
    `${command} send task_tracker task.completed`,
    `${command} events --from 2d --delivery dead`,
    `${command} replay --from 2d --delivery dead --dry-run`,
    "# follow events, or send the webhooks to your program on port 3000; Ctrl-C ends each",
    `${command} tail`,
    `${command} listen --to http://localhost:3000`,
    ...payment,
    "# search flights, book a seat on the first one, and query GraphQL",
    `curl -s -w '\\n' "${url}v1/api/flights?${new URLSearchParams(route).toString()}"`,
    `curl -s -w '\\n' ${url}v1/api/bookings ${bearer("user")} ${json} -d '${booking}'`,
    `curl -s -w '\\n' ${url}graphql ${json} -d '${query}'`,
    "# list the latest events, and follow new notifications",
    `curl -s -w '\\n' ${bearer("operator")} "${url}v1/events?limit=3"`,
    `curl -sN ${bearer("operator")} ${url}v1/feed`,
    "# print a token with which an agent connects to /mcp; docs/agents.md shows how",
    `${command} mcp token "my agent"`,
    "# create another sign-in link",
    `${command} console --role admin`,
  ];
}
