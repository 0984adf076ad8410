import { closeSync, cpSync, openSync } from "node:fs";
import { join } from "node:path";

import { getIntrospectionQuery } from "graphql";

import type { Role } from "../../../src/base/context.ts";
import { removeFolder, startServer, temporaryFolder } from "../../support/program.ts";

import { type Bystander, bystander, type Observation } from "./bystander.ts";
import { type Watch, watch } from "./watch.ts";
import { addressOf, importFlights, mintTokens, settings, timetable } from "./world.ts";

/** A server that attacks are tried on: a process with a database of its own, and a watch beside it. */
export interface Victim {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly watch: Watch;
  readonly bystander: Bystander;
  /** What the bystander gets without an attack. */
  readonly usual: Observation;
  /** Anonymous memory when it was new and had done each kind of work once. */
  readonly idleBytes: number;
  readonly bearers: Readonly<Record<Role, string>>;
  /** Sends a request from a client address of its own, unless its headers name one. */
  readonly fetch: (path: string, init?: VictimRequest) => Promise<Response>;
  stop(): Promise<void>;
}

interface VictimRequest extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes victims that all begin with the same flights. */
interface Victims extends AsyncDisposable {
  /** `stdout`: what the server logs to. */
  start(stdout?: Stdout): Promise<Victim>;
}

/** A file that takes all, one that takes nothing, or a pipe that nobody reads. */
export type Stdout = "/dev/null" | "/dev/full" | "unread pipe";

const hangMs = 5_000;
const startTimeoutMs = 30_000;
/** Lets the destinations of attacks be on this machine. */
const open = { DESTINATIONS_ALLOW_PRIVATE: "true" };

/** `source`: another main.ts than ours. */
export async function victims(source?: string): Promise<Victims> {
  const template = temporaryFolder();
  await importFlights(template);
  await importFlights(template, timetable());
  const bearers = await mintTokens();
  return {
    async start(stdout = "/dev/null") {
      const cwd = temporaryFolder();
      cpSync(template, cwd, { recursive: true });
      const pipe = stdout === "unread pipe" ? openPipe(join(cwd, "log")) : null;
      const server = await startServer({
        cwd,
        env: { ...settings, ...open },
        logTo: pipe === null ? stdout : join(cwd, "log"),
        ...(source !== undefined && { main: source }),
      });
      const { url, pid } = server;
      const port = Number(server.env.PORT);
      const beside = watch({ port, pid });
      const innocent = await bystander({ port, pid });
      let sent = 0;
      const victim = {
        url,
        port,
        pid,
        watch: beside,
        bystander: innocent,
        bearers,
        fetch(path: string, { headers, ...init }: VictimRequest = {}) {
          sent += 1;
          return fetch(`${url}${path}`, {
            redirect: "manual",
            signal: AbortSignal.timeout(hangMs),
            ...init,
            headers: { "x-forwarded-for": addressOf(sent), ...headers },
          });
        },
        async stop() {
          await Promise.all([beside.stop(), innocent.stop()]);
          await server.kill();
          if (pipe !== null) closeSync(pipe);
          removeFolder(cwd);
        },
      };
      await warmUp(victim);
      innocent.begin();
      const usual = await innocent.end();
      await settled(beside);
      return { ...victim, usual, idleBytes: beside.anonymousBytes() };
    },
    async [Symbol.asyncDispose]() {
      removeFolder(template);
    },
  };
}

/** What is loaded or compiled on first use is no attack's doing. */
async function warmUp(victim: Pick<Victim, "fetch">): Promise<void> {
  // A busy machine needs longer.
  const fetch = (path: string, init: VictimRequest = {}) =>
    victim.fetch(path, { ...init, signal: AbortSignal.timeout(startTimeoutMs) });
  const query = JSON.stringify({ query: "{ flight(flightId: 1) { flightNumber } }" });
  const json = { "content-type": "application/json" };
  const paths = "/ /swagger /openapi.json /console /metrics /graphql?query={me{name}}".split(" ");
  const schema = JSON.stringify({ query: getIntrospectionQuery() });
  for (let round = 0; round < 5; round += 1) {
    for (const path of paths) await (await fetch(path)).arrayBuffer();
    for (const body of [query, schema]) {
      await (await fetch("/graphql", { method: "POST", headers: json, body })).arrayBuffer();
    }
  }
}

/** Waits until the figure no longer moves much, for a second at most. */
async function settled(beside: Watch): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    const before = beside.anonymousBytes();
    await Bun.sleep(100);
    if (Math.abs(beside.anonymousBytes() - before) < 2 ** 20) return;
  }
}

/** A named pipe, open at both ends, so that it can be written to; its descriptor. */
function openPipe(file: string): number {
  Bun.spawnSync(["mkfifo", file]);
  return openSync(file, "r+");
}
