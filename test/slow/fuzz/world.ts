import { connect } from "node:net";

import type { Role } from "../../../src/base/context.ts";
import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { signatureOf, testSecret } from "../../support/app.ts";
import { csvOf } from "../../support/flights-csv.ts";
import { jwtSecret, tokenFor } from "../../support/load.ts";
import { removeFolder, runSkyhook, startServer, temporaryFolder } from "../../support/program.ts";

import { checkHealth, learn } from "./good-requests.ts";
import type { FuzzRequest } from "./request.ts";
import { type Watch, watch } from "./watch.ts";

/** A server of our own, a process with a database of its own, and what is needed to talk to it. */
export interface World {
  /** Fails when the answer takes longer than `hangMs`. */
  send(request: FuzzRequest): Promise<Answer>;
  /** Sends bytes as they are; what came back until the server closed, or was silent for a moment. */
  sendRaw(bytes: Uint8Array): Promise<string>;
  /** Fails unless the server still does all that it is for. */
  checkHealth(): Promise<void>;
  /** What must be in no answer and in no log. */
  readonly secrets: readonly string[];
  /** What was logged since this was asked last. */
  newLog(): string;
  /** Null where nobody asked for one. */
  readonly watch: Watch | null;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Nothing that a client may send keeps it waiting this long, on a busy machine either. */
const hangMs = 20_000;
/** When nothing more came for this long, an answer to raw bytes is taken to be whole. */
const silenceMs = 150;

const personalDataKey = Buffer.alloc(32, 0x5a).toString("base64");
/** Flights to sell, with the ids from 1. */
export const flights = 20;
const secrets = Object.fromEntries(
  catalogue.map(({ id }) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, testSecret(id)]),
);

/** Every provider, known keys, and a proxy in front. */
export const settings = {
  ...secrets,
  WEBHOOK_PROVIDERS: catalogue.map(({ id }) => id).join(","),
  JWT_SECRET: jwtSecret,
  PERSONAL_DATA_KEY: personalDataKey,
  LOG_FORMAT: "json",
  // Each request comes from an address of its own, else the limiter would refuse most of them.
  TRUSTED_PROXY_HOPS: "1",
  CORS_ORIGINS: "https://app.example.com",
};

/**
 * Starts the server, with flights to sell and one of all things that a path can name. `isWatched`: with a
 * watch beside it, for runs that have the machine to themselves.
 */
export async function startWorld({ isWatched = false } = {}): Promise<World> {
  const cwd = temporaryFolder();
  await importFlights(cwd);
  const server = await startServer({ cwd, env: settings });
  const beside = isWatched
    ? watch({ port: Number(new URL(server.url).port), pid: server.pid })
    : null;
  const bearers = await mintTokens();
  let sent = 0;
  let logRead = 0;
  const known = new Map([
    ["flight", "2"],
    ["provider", "task_tracker"],
  ]);

  const world: World = {
    secrets: [
      ...Object.values(secrets),
      jwtSecret,
      personalDataKey,
      ...Object.values(bearers).map((token) => token.split(".")[2] ?? token),
    ],
    async send(request) {
      sent += 1;
      const filled = (text: string): string =>
        text.replaceAll(/\{(\w+)\}/g, (all, name: string) => known.get(name) ?? all);
      const { method, body } = request;
      const headers = new Headers({ "x-forwarded-for": addressOf(sent) });
      const { signedFor } = request;
      const signed = signedFor !== undefined && body !== null ? signatureOf(signedFor, body) : {};
      for (const [name, value] of Object.entries(signed)) headers.append(name, value);
      for (const [name, value] of request.headers) headers.append(name, value);
      if (request.as !== null) headers.set("authorization", `Bearer ${bearers[request.as]}`);
      const response = await fetch(`${server.url}${filled(request.path)}`, {
        method,
        headers,
        redirect: "manual",
        signal: AbortSignal.timeout(hangMs),
        // Byte for byte but for what stands for a thing that exists.
        ...(body !== null && {
          body: Buffer.from(filled(Buffer.from(body).toString("latin1")), "latin1"),
        }),
      });
      return { status: response.status, headers: response.headers, text: await textOf(response) };
    },
    sendRaw: (bytes) => exchange(new URL(server.url), bytes),
    checkHealth: () => checkHealth(world),
    newLog() {
      const all = server.log();
      const fresh = all.slice(logRead);
      logRead = all.length;
      return fresh;
    },
    watch: beside,
    async stop() {
      await beside?.stop();
      await server.kill();
      removeFolder(cwd);
    },
  };
  await learn(world, known);
  // The first line tells operators where the database is.
  world.newLog();
  return world;
}

/** Puts flights into the database of a folder: without `csv`, those to sell. */
export async function importFlights(cwd: string, csv: string = flightsCsv()): Promise<void> {
  const imported = await runSkyhook(["import", "-"], { cwd, input: csv });
  if (imported.code !== 0) throw new Error(`The flights were not imported: ${imported.err}`);
}

/** 62 days of 96 departures on a route and back, from in ten days. */
export const timetable = (): string =>
  csvOf(
    Array.from({ length: 62 * 96 }, (_, n) => {
      const times = { inDays: 10 + n / 96, lastsDays: 0.1, seats: 100, price: 100 + (n % 37) };
      const flight = { ...times, currency: "EUR" };
      return [
        { ...flight, flightNumber: `SK${100 + (n % 96)}`, origin: "AMS", destination: "CDG" },
        { ...flight, flightNumber: `SK${300 + (n % 96)}`, origin: "CDG", destination: "AMS" },
      ];
    }).flat(),
  );

const flightsCsv = (): string =>
  csvOf(Array.from({ length: flights }, (_, n) => ({ flightNumber: `SK${n + 1}`, seats: 1_000 })));

/** A token of each role, for a server with `settings`. */
export async function mintTokens(): Promise<Record<Role, string>> {
  const mint = (role: Role) => tokenFor(role, `fuzz-${role}`);
  return { admin: await mint("admin"), operator: await mint("operator"), user: await mint("user") };
}

/** A client address of its own for each number. */
export const addressOf = (number: number): string =>
  `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;

/** The whole body; of a stream that never ends only that it began. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body?.cancel();
    return "";
  }
  return response.text();
}

function exchange({ hostname, port }: URL, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(silenceMs, () => socket.destroy());
    socket.on("data", (data) => (answer += data.toString("latin1")));
    // A reset is an answer too: the next request shows whether the server lives.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(answer));
  });
}
