import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { until } from "../../support/app.ts";
import { asOperator, deliverTo } from "../../support/load.ts";
import { plainEnvironment, type RunningServer } from "../../support/program.ts";
import { RawClient } from "../../support/raw-client.ts";
import { resources } from "../../support/resources.ts";
import { notInstalled, onlyLinux, skips } from "../../support/skips.ts";

const taken = resources();
const wanted = 10_000;
/** File descriptors that a process needs besides its client connections. */
const spareFiles = 200;
/** Limit of memory per connection; measured: 1.1 to 1.3 KB. */
const mostBytesEach = 4 * 1_024;

/** Runs a command with the highest possible limit of open files, or with `most`. */
const withFiles = (most?: number): readonly string[] => [
  "bash",
  "-c",
  `ulimit -n ${most ?? wanted + spareFiles} 2>/dev/null; exec "$0" "$@"`,
];

/** The number of connections that a process may have open on this machine. */
function possible(): number {
  const shown = Bun.spawnSync([...withFiles(), "bash", "-c", "ulimit -Hn"]).stdout.toString();
  const files = shown.trim() === "unlimited" ? Infinity : Number(shown);
  const [first = 0, last = 0] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8")
    .split(/\s+/)
    .map(Number);
  return Math.min(wanted, files - spareFiles, last - first - 1_000);
}

const missing = process.platform === "linux" ? notInstalled("bash") : onlyLinux;
const count = missing === null ? possible() : 0;
if (missing === null && count < wanted) {
  console.log(
    `${count} idle connections instead of ${wanted}: ulimit -Hn or the port range allow no more`,
  );
}

/** Starts clients in another process; resolves when all are connected. `end` disconnects them. */
async function idleClients({ url }: RunningServer, number: number) {
  const script = join(import.meta.dir, "../../support/idle-clients.ts");
  const child = Bun.spawn([...withFiles(), process.execPath, script, url, `${number}`], {
    env: plainEnvironment(),
    stdin: "pipe",
    stdout: "pipe",
  });
  taken.ends.push(() => child.kill());
  const reader = child.stdout.getReader();
  const connected = async () => Number(new TextDecoder().decode((await reader.read()).value));
  return {
    connected,
    async end(): Promise<void> {
      await child.stdin.end();
      await child.exited;
    },
  };
}

async function memoryOf({ url }: RunningServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1]);
}

const filesOf = ({ pid }: RunningServer) =>
  Number(Bun.spawnSync(["sh", "-c", `ls /proc/${pid}/fd | wc -l`]).stdout.toString());

describe.skipIf(skips(missing))("idle connections", () => {
  test("by the thousand block no other client and use little memory [CLIENT-10]", async () => {
    const server = await taken.start(taken.newFolder(), {}, { through: withFiles() });
    expect(await deliverTo(server, 1)).toBe(200);
    // The first ones also make the server load code and grow its pools.
    const first = await idleClients(server, count / 4);
    expect(await first.connected()).toBe(count / 4);
    expect((await asOperator(server, "/v1/events")).status).toBe(200);
    const before = await memoryOf(server);
    const others = await idleClients(server, (count * 3) / 4);
    expect(await others.connected()).toBe((count * 3) / 4);
    expect(filesOf(server)).toBeGreaterThan(count);
    expect(await deliverTo(server, 2)).toBe(200);
    expect((await asOperator(server, "/v1/events")).status).toBe(200);
    expect((await memoryOf(server)) - before).toBeLessThan(((count * 3) / 4) * mostBytesEach);
    await Promise.all([first.end(), others.end()]);
    await until(() => filesOf(server) < spareFiles, 20_000);
    expect(await deliverTo(server, 3)).toBe(200);
  });

  test("beyond the limit of open files: open ones are served, new ones wait for free ones [CLIENT-11]", async () => {
    const limit = 200;
    const server = await taken.start(taken.newFolder(), {}, { through: withFiles(limit) });
    using inside = await RawClient.connect(server.url);
    expect(await inside.get("/livez")).toStartWith("HTTP/1.1 200");
    const clients = await idleClients(server, 2 * limit);
    await until(() => filesOf(server) === limit, 20_000);
    const outside = deliverTo(server, 1);
    expect(await inside.get("/readyz")).toStartWith("HTTP/1.1 200");
    expect(await inside.get("/v1/api/flights/1")).toStartWith("HTTP/1.1 404");
    await clients.end();
    expect(await outside).toBe(200);
    expect(await deliverTo(server, 2)).toBe(200);
    expect(server.log()).not.toContain('"level":50');
  });
});
