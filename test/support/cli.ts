import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isObject } from "../../src/base/payload.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";

import { type RunningServer, runSkyhook, startServer, type Surroundings } from "./program.ts";

export const secretOf = (provider: string) => `a secret of ${provider}`;
const variableOf = (provider: string) => `${provider.toUpperCase()}_WEBHOOK_SECRET`;
export const allSecrets = {
  ...Object.fromEntries(catalogue.map(({ id }) => [variableOf(id), secretOf(id)])),
  PAYMENT_PROCESSOR_WEBHOOK_SECRET: "whsec_of payment_processor",
};
/** The settings of a server with all providers. */
export const everything = {
  ...allSecrets,
  WEBHOOK_PROVIDERS: catalogue.map(({ id }) => id).join(","),
};

/** Matches an error of one line, without a stack trace. */
export const oneLine = (text: string) => `skyhook: ${text}\n`;

/** Parses the JSON that `send` prints after its first line. */
export function answerIn(out: string): Record<string, unknown> {
  const value: unknown = JSON.parse(out.slice(out.indexOf("\n")));
  return isObject(value) ? value : {};
}

/** Commands for the tests of one file. Each runs in a new folder unless one is given. */
export function commandLine() {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-cli-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const newFolder = () => mkdtempSync(join(folder, "run-"));
  return {
    newFolder,
    /** Runs a command until it exits. */
    skyhook: (
      args: readonly string[],
      { cwd = newFolder(), ...rest }: Partial<Surroundings> = {},
    ) => runSkyhook(args, { cwd, ...rest }),
    serve: ({ cwd = newFolder(), ...rest }: Partial<Surroundings>) => startServer({ cwd, ...rest }),
  };
}

/** Commands beside a running server with all providers. */
export function besideServer() {
  const { skyhook, serve, newFolder } = commandLine();
  let server: RunningServer;
  beforeAll(async () => {
    server = await serve({ env: everything });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });
  /** Runs a command with the server's settings. */
  const beside = (...args: string[]) => skyhook(args, server);
  return {
    skyhook,
    serve,
    newFolder,
    beside,
    running: (): RunningServer => server,
    get: async (path: string, token: string): Promise<{ status: number; body: unknown }> => {
      const response = await fetch(`${server.url}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return { status: response.status, body: await response.json() };
    },
    operatorToken: async (): Promise<string> => {
      const made = await beside("token", "--email", "op@example.com", "--role", "operator");
      return made.out.trim();
    },
  };
}
