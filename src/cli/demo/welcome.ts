import { realpathSync } from "node:fs";
import { join } from "node:path";

import type { Role } from "../../base/context.ts";
import type { Services } from "../../services.ts";
import { isCompiled, programName } from "../program.ts";

import { routeIn } from "./route.ts";
import { contextOf } from "./sales.ts";

/** The pages for people. Those that this program serves are printed. */
const pages = [
  ["console", "console"],
  ["GraphQL playground", "graphql"],
  ["API reference", "swagger"],
] as const;

interface Demo {
  readonly flights: number;
  readonly days: number;
  /** The folder that keeps the data, or null. */
  readonly kept: string | null;
  readonly inMemory: boolean;
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The command that runs this program: in a clone the short one, else one for any folder. */
function program(): string {
  if (Bun.main === join(process.cwd(), "src/main.ts")) return programName;
  if (isCompiled) return runnable("skyhook");
  return `${runnable("bun")} ${quoted(Bun.main)}`;
}

/** The name alone if the PATH leads to the running executable. */
function runnable(name: string): string {
  const found = Bun.which(name);
  const isThis = found !== null && realpathSync(found) === realpathSync(process.execPath);
  return isThis ? name : quoted(process.execPath);
}

/** The demo's welcome text: pages, commands to paste and, last, a link that signs in. */
export async function welcome(services: Services, url: string, demo: Demo): Promise<string> {
  const found = await Promise.all(
    pages.map(async (page) => ((await isThere(url, page)) ? [page] : [])),
  );
  const command = `${program()} --demo`;
  const lines = [
    "# send a webhook, search events, and see what a replay of those with dead notifications would do",
    `${command} send task_tracker task.completed`,
    `${command} events --from 2d --delivery dead`,
    `${command} replay --from 2d --delivery dead --dry-run`,
    "# follow events, or send the webhooks to your program on port 3000; Ctrl-C ends each",
    `${command} tail`,
    `${command} listen --to http://localhost:3000`,
    ...(await paymentCommand(services)),
    ...(await commands(services, url)),
    "# print a token with which an agent connects to /mcp; docs/agents.md shows how",
    `${command} mcp token "my agent"`,
    "# create another sign-in link",
    `${command} console --role admin`,
  ];
  return [
    "",
    `  Skyhook demo: ${demo.flights} flights in the next ${demo.days} days, and a webhook every few seconds.`,
    `  ${fate(demo, services)}`,
    "",
    ...found.flat().map(([name, path]) => `  ${name.padEnd(20)}${url}${path}`),
    "",
    "In another terminal, run any of these:",
    "",
    ...lines.map((line) => `  ${line}`),
    "",
    "Sign in to the console here, once and within an hour. Press Ctrl-C to stop.",
    "",
    `  ${url}console#code=${services.consoleCodes.issue("admin", linkTtlSeconds)}`,
    "",
  ].join("\n");
}

const linkTtlSeconds = 3_600;

/** Pays the newest hold, if there is one. */
async function paymentCommand(services: Services): Promise<readonly string[]> {
  const newest = { limit: 100, withTotal: false, direction: "forward", cursor: null } as const;
  const { data } = await services.bookings.list(contextOf("demo", "admin"), newest, {
    userId: undefined,
  });
  const hold = data.find(({ status }) => status === "held");
  if (hold === undefined || !services.registered().some(({ id }) => id === "payment_processor"))
    return [];
  return [
    "# pay a booking that holds its seat, by a webhook of the payment processor",
    `${program()} --demo send payment_processor payment_intent.succeeded --booking ${hold.reference}`,
  ];
}

function fate({ kept, inMemory }: Demo, { config }: Services): string {
  if (kept !== null) {
    const folders = `DATA_DIR=${quoted(kept)} SECRETS_DIR=${quoted(`${kept}/secrets`)} PROVIDERS_DIR=${quoted(`${kept}/providers`)}`;
    const providers = `WEBHOOK_PROVIDERS=${quoted(config.providers.join(","))}`;
    const again = `${folders} ${providers} ${program()} serve`;
    return `All data stays in ${kept}. To serve it without the samples:\n  ${again}`;
  }
  if (!inMemory) return "Flights, users and webhooks stay in the database of DATABASE_URL.";
  return `Nothing is kept; \`${programName} demo --keep DIR\` keeps everything in a folder.`;
}

async function isThere(url: string, [, path]: (typeof pages)[number]): Promise<boolean> {
  const { ok } = await fetch(url + path, { headers: { accept: "text/html" } });
  return ok;
}

/** One command per line, so that each can be pasted. */
async function commands(services: Services, url: string): Promise<readonly string[]> {
  const { route, found } = await routeIn(7, services);
  const bearer = (role: Role) => `-H "Authorization: Bearer $(${program()} demo token ${role})"`;
  const json = '-H "Content-Type: application/json"';
  const passenger = {
    firstName: "Ada",
    lastName: "Lovelace",
    email: "ada@example.com",
    dateOfBirth: "1990-04-12",
    passportNumber: "X1234567",
  };
  const booking = (flightId: number) =>
    JSON.stringify({
      flightId,
      contactEmail: "ada@example.com",
      paymentMethod: "card",
      passengers: [passenger],
    });
  const query = JSON.stringify({
    query: "{ flights(first: 3) { totalCount nodes { flightNumber origin destination } } }",
  });
  return [
    "# search flights, book a seat on the first one, and query GraphQL",
    `curl -s -w '\\n' "${url}v1/api/flights?${new URLSearchParams(route).toString()}"`,
    ...found
      .slice(0, 1)
      .map(
        ({ id }) =>
          `curl -s -w '\\n' ${url}v1/api/bookings ${bearer("user")} ${json} -d '${booking(id)}'`,
      ),
    `curl -s -w '\\n' ${url}graphql ${json} -d '${query}'`,
    "# list the latest events, and follow new notifications",
    `curl -s -w '\\n' ${bearer("operator")} "${url}v1/events?limit=3"`,
    `curl -sN ${bearer("operator")} ${url}v1/feed`,
  ];
}
