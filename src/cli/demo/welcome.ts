import { join } from "node:path";

import { systemClock } from "../../base/clock.ts";
import type { Role } from "../../base/context.ts";
import { builtCommit, plainProgramName } from "../../base/program-name.ts";
import type { Services } from "../../services.ts";
import { isInMemory } from "../kit/database.ts";

import { contextOf } from "./past.ts";
import { bookingOf } from "./people.ts";

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The command that runs this program: in a clone the short one, else one for any folder. */
function program(): string {
  if (Bun.main === join(process.cwd(), "src/main.ts")) return plainProgramName;
  return [process.execPath, ...(builtCommit !== null ? [] : [Bun.main])].map(quoted).join(" ");
}

const usualPort = "3111";
const linkTtlSeconds = 3_600;

/** The demo's welcome text: pages, commands to paste and, last, a link that signs in. */
export async function welcome(services: Services, url: string, about: string): Promise<string> {
  const lines = await commands(services, url);
  return `
  Skyhook demo: ${about}, and a webhook every few seconds.
  ${isInMemory(services.config) ? "Nothing is kept; set DATABASE_URL to keep it." : "All of it is kept in DATABASE_URL. Its destinations answer while a demo runs."}

  console             ${url}console
  GraphQL playground  ${url}graphql
  API reference       ${url}swagger

In another terminal, run any of these:

${lines.map((line) => `  ${line}`).join("\n")}

Sign in to the console here, once and within an hour. Press Ctrl-C to stop.

  ${url}console#code=${services.consoleCodes.issue("admin", linkTtlSeconds)}
`;
}

/** One command per line, so that each can be pasted. */
async function commands(services: Services, url: string): Promise<readonly string[]> {
  const { port } = new URL(url);
  // Where several demos run, the port tells them apart.
  const command = `${port === usualPort ? "" : `PORT=${port} `}${program()} --demo`;
  const departureDate = new Date(systemClock.now() + 7 * 86_400_000).toISOString().slice(0, 10);
  const route = { origin: "JFK", destination: "LHR", departureDate };
  const { flights } = await services.flights.search(route, async () => {});
  const newest = { limit: 100, withTotal: false, direction: "forward", cursor: null } as const;
  const admin = contextOf("demo", "admin");
  const { data } = await services.bookings.list(admin, newest, { userId: undefined });
  const hold = data.find(({ status }) => status === "held");
  const bearer = (role: Role) =>
    `-H "Authorization: Bearer $(${command} token --email ada@demo.example --role ${role})"`;
  const json = '-H "Content-Type: application/json"';
  const booking = JSON.stringify(bookingOf(flights[0]?.id ?? 0, 1));
  const query = JSON.stringify({
    query: "{ flights(first: 3) { totalCount nodes { flightNumber origin destination } } }",
  });
  return [
    "# send a webhook, search events, and see what a replay of those with dead notifications would do",
    `${command} send task_tracker task.completed`,
    `${command} events --from 2d --delivery dead`,
    `${command} replay --from 2d --delivery dead --dry-run`,
    "# follow events, or send the webhooks to your program on port 3000; Ctrl-C ends each",
    `${command} tail`,
    `${command} listen --to http://localhost:3000`,
    ...(hold === undefined
      ? []
      : [
          "# pay a booking that holds its seat, by a webhook of the payment processor",
          `${command} send payment_processor payment_intent.succeeded --booking ${hold.reference}`,
        ]),
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
