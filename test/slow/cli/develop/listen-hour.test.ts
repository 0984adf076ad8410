import { expect, test } from "bun:test";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { until } from "../../../support/app.ts";
import { allSecrets, commandLine } from "../../../support/cli.ts";
import type { TestGateway } from "../../../support/gateway.ts";
import { deliverTask, sentTo, taskBody } from "../../../support/listener.ts";
import type { RunningServer } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";

const { skyhook } = commandLine();
const taken = resources();
const local = (port?: number) => taken.gateway(undefined, port);

const minuteMs = 60_000;
/** A limit of last resort, for a machine under load. */
const testTimeoutMs = 5 * 60_000;

/** A server, and listeners to it, on one clock that the test moves. */
function world() {
  const folder = taken.newFolder();
  const clockFile = join(folder, "ahead");
  let aheadMs = 0;
  writeFileSync(clockFile, "0");
  const env = { ...allSecrets, CLOCK_AHEAD_FILE: clockFile };
  const preload = join(import.meta.dir, "../../../support/moved-clock-preload.ts");
  return {
    pass: (minutes: number): void => {
      aheadMs += minutes * minuteMs;
      // Replaced at once, because the programs read it all the time.
      writeFileSync(`${clockFile}.new`, String(aheadMs));
      renameSync(`${clockFile}.new`, clockFile);
    },
    server: async (before?: RunningServer): Promise<RunningServer> => {
      const again = before && { cwd: before.cwd, port: new URL(before.url).port };
      return taken.serve({ ...again, env, preload });
    },
    listener: (
      server: RunningServer,
      { url }: TestGateway,
      name: string,
      more: Record<string, string> = {},
    ) => {
      const state = join(folder, `${name}.json`);
      const running = taken.running(["listen", "--to", url, "--state", state], {
        ...server,
        env: { ...server.env, ...more },
        preload,
      });
      return { ...running, hasState: () => existsSync(state) };
    },
    command: (server: RunningServer, ...args: string[]) => skyhook(args, { ...server, preload }),
  };
}

/** Delivers tasks with consecutive numbers. */
function deliveries() {
  const bodies: string[] = [];
  return {
    bodies,
    burst: async (server: RunningServer, count = 15): Promise<void> => {
      for (let each = 0; each < count; each += 1) {
        const body = taskBody(bodies.length);
        await deliverTask(server, body);
        bodies.push(body);
      }
    },
  };
}

const connections = (text: string) => text.match(/sending webhooks of/g)?.length ?? 0;

test(
  "three listeners, one asleep for an hour, miss no event, although the server and listeners are killed",
  async () => {
    const { pass, server: start, listener } = world();
    const { bodies, burst } = deliveries();
    let server = await start();
    const programs = { awake: local(), killed: local(), asleep: local() };
    const awake = listener(server, programs.awake, "awake");
    let killed = listener(server, programs.killed, "killed");
    let asleep = listener(server, programs.asleep, "asleep");
    for (const each of [awake, killed, asleep]) {
      await each.shows("sending webhooks of");
      await until(each.hasState);
    }
    await burst(server);
    asleep.sleep();
    await killed.end("SIGKILL");
    await burst(server);
    pass(30);
    await burst(server);
    await server.kill();
    server = await start(server);
    await until(() => connections(awake.err()) >= 2);
    // The tokens of all connections expire while webhooks arrive.
    const during = burst(server);
    pass(61);
    await during;
    await until(() => connections(awake.err()) >= 3);
    killed = listener(server, programs.killed, "killed");
    asleep.wake();
    await until(() => sentTo(programs.asleep).length > 5);
    await asleep.end("SIGKILL");
    asleep = listener(server, programs.asleep, "asleep");
    await burst(server);
    for (const program of Object.values(programs)) {
      await until(() => new Set(sentTo(program)).size === bodies.length);
      // In order; a kill repeats at most the delivery that was under way.
      const seen = sentTo(program).filter((body, index, all) => body !== all[index - 1]);
      expect(seen).toEqual(bodies);
      expect(program.received.length).toBeLessThanOrEqual(bodies.length + 1);
    }
    for (const each of [awake, killed, asleep])
      expect(each.err()).not.toContain("The server answers");
  },
  testTimeoutMs,
);

test(
  "a listener whose local program is gone for two hours sends it everything afterwards",
  async () => {
    const { pass, server: start, listener } = world();
    const { bodies, burst } = deliveries();
    const server = await start();
    const gone = local();
    const running = listener(server, gone, "gone");
    await running.shows("sending webhooks of");
    await gone.stop();
    await burst(server);
    await running.shows("waiting for it");
    pass(61);
    await burst(server);
    pass(61);
    await burst(server);
    const back = local(gone.port);
    await until(() => back.received.length === bodies.length);
    expect(sentTo(back)).toEqual(bodies);
  },
  testTimeoutMs,
);

test(
  "a listener whose OPERATOR_TOKEN expires ends with advice, and continues with another token",
  async () => {
    const { pass, server: start, listener, command } = world();
    const { bodies, burst } = deliveries();
    const server = await start();
    const program = local();
    const newToken = async () => {
      const role = ["--role", "operator", "--ttl", "1h"];
      const { out } = await command(server, "token", "--email", "op@example.com", ...role);
      return { OPERATOR_TOKEN: out.trim() };
    };
    const first = listener(server, program, "one", await newToken());
    await first.shows("sending webhooks of");
    await burst(server);
    await until(() => program.received.length === bodies.length);
    pass(62);
    expect(await first.exited).toBe(1);
    expect(first.err()).toContain("Set OPERATOR_TOKEN to a valid operator's token");
    await burst(server);
    const second = listener(server, program, "one", await newToken());
    await until(() => new Set(sentTo(program)).size === bodies.length);
    await second.end();
    const seen = sentTo(program).filter((body, index, all) => body !== all[index - 1]);
    expect(seen).toEqual(bodies);
  },
  testTimeoutMs,
);
