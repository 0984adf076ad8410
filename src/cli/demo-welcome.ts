import { realpathSync } from "node:fs";

import { mintConsoleCode } from "../identity/auth/console-codes.ts";
import { systemClock } from "../base/clock.ts";
import { type Role, roles } from "../base/context.ts";
import type { Services } from "../services.ts";

import { routeIn } from "./demo-route.ts";
import { serverSigning } from "./signing-key.ts";
import { isCompiled, programName } from "./program.ts";

const tokenTtlSeconds = 8 * 3_600;

/** Pages for people, by what they are; those that this program serves are named. */
const pages = [
  ["console", "console"],
  ["GraphQL playground", "graphql"],
  ["API documents", "swagger"],
] as const;

interface Demo {
  readonly flights: number;
  readonly days: number;
  /** The folder that it all is in; null when there is none. */
  readonly kept: string | null;
  readonly inMemory: boolean;
  /** Variables that lead commands to this demo, as a shell's `export` takes them. */
  readonly made: string;
}

/** As a POSIX shell reads it back. */
export const quoted = (text: string): string =>
  /^[\w./:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** How this program is called from any folder. */
function program(): string {
  if (isCompiled) return runnable("skyhook");
  return `${runnable("bun")} ${quoted(Bun.main)}`;
}

/** The name alone where it leads to the file that runs now. */
function runnable(name: string): string {
  const found = Bun.which(name);
  const isThis = found !== null && realpathSync(found) === realpathSync(process.execPath);
  return isThis ? name : quoted(process.execPath);
}

/** What the demo says when it is there: where to look, tokens, and commands that work when pasted. */
export async function welcome(services: Services, url: string, demo: Demo): Promise<string> {
  const found = await Promise.all(
    pages.map(async (page) => ((await isThere(url, page)) ? [page] : [])),
  );
  const tokens = await Promise.all(roles.map(async (role) => exportOf(role, services)));
  return [
    "",
    `  Skyhook demo: ${demo.flights} flights of the next ${demo.days} days, and a webhook every few seconds.`,
    `  Ctrl-C ends it. ${fate(demo)}`,
    "",
    ...found.flat().map(([name, path]) => `  ${name.padEnd(20)}${url}${path}`),
    "",
    "This link signs in to the console, once and within the hour:",
    "",
    `  ${await consoleLink(services, url)}`,
    "",
    "Paste these lines into another terminal; the tokens are good for 8 hours:",
    "",
    `export ${demo.made}`,
    ...tokens,
    "",
    "then any of these:",
    "",
    "# another link that signs in, and a webhook of your own",
    `${program()} console`,
    `${program()} send task_tracker task.completed`,
    ...(await commands(services, url)),
    "",
  ].join("\n");
}

const linkTtlSeconds = 3_600;

async function consoleLink({ config }: Services, url: string): Promise<string> {
  const issuing = serverSigning(config);
  return `${url}console#code=${await mintConsoleCode(issuing, "admin", systemClock, linkTtlSeconds)}`;
}

function fate({ kept, inMemory }: Demo): string {
  if (kept !== null) {
    const again = `DATA_DIR=${quoted(kept)} SECRETS_DIR=${quoted(`${kept}/secrets`)} ${program()} serve`;
    return `All of it stays in ${kept}; without the samples:\n  ${again}`;
  }
  if (!inMemory) return "Flights, users and webhooks stay in the database of DATABASE_URL.";
  return `Nothing is kept; \`${programName} demo --keep DIR\` keeps everything in a folder.`;
}

async function isThere(url: string, [, path]: (typeof pages)[number]): Promise<boolean> {
  const { ok } = await fetch(url + path, { headers: { accept: "text/html" } });
  return ok;
}

async function exportOf(role: Role, services: Services): Promise<string> {
  const email = `${role}@demo.example`;
  const { user } = await services.users.ensureUser({ name: `Demo ${role}`, email });
  const token = await services.tokens.mint({ id: user.id, roles: [role] }, tokenTtlSeconds);
  return `export ${role.toUpperCase()}_TOKEN=${token}`;
}

/** One a line, so that a line is a paste. */
async function commands(services: Services, url: string): Promise<readonly string[]> {
  const { route, found } = await routeIn(7, services);
  const operator = '-H "Authorization: Bearer $OPERATOR_TOKEN"';
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
    "# flights of a day, a seat on the first of them, and the same service over GraphQL",
    `curl -s "${url}v1/api/flights?${new URLSearchParams(route).toString()}"`,
    ...found
      .slice(0, 1)
      .map(
        ({ id }) =>
          `curl -s ${url}v1/api/bookings -H "Authorization: Bearer $USER_TOKEN" ${json} -d '${booking(id)}'`,
      ),
    `curl -s ${url}graphql ${json} -d '${query}'`,
    "# what came in, and what operators are told from now on",
    `curl -s ${operator} "${url}v1/events?limit=3"`,
    `curl -sN ${operator} ${url}v1/feed`,
  ];
}
