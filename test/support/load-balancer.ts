import { join } from "node:path";

import { until } from "./app.ts";
import { freePort } from "./free-port.ts";
import type { RunningServer } from "./program.ts";

const config = join(import.meta.dir, "../../deploy/haproxy.cfg");

/** Debian installs it in a folder that is often not in PATH. */
const haproxy = Bun.which("haproxy", { PATH: `${process.env["PATH"]}:/usr/sbin` });

/** Why tests with a load balancer are skipped; null when they run. */
export const noLoadBalancer = haproxy === null ? "haproxy is not installed" : null;

type Address = Pick<RunningServer, "url">;

/** HAProxy with deploy/haproxy.cfg, on a free port in front of two running servers. */
export async function loadBalancer(one: Address, two: Address) {
  const listen = `127.0.0.1:${freePort()}`;
  const child = Bun.spawn([haproxy ?? "haproxy", "-db", "-f", config], {
    env: {
      SKYHOOK_LISTEN: listen,
      SKYHOOK_ONE: new URL(one.url).host,
      SKYHOOK_TWO: new URL(two.url).host,
    },
    stdout: "ignore",
    stderr: "ignore",
  });
  /** Kills it. */
  const stop = () => {
    child.kill("SIGKILL");
    return child.exited;
  };
  const url = `http://${listen}`;
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`HAProxy exited with ${child.exitCode}`);
      return fetch(`${url}/livez`).then(
        ({ ok }) => ok,
        () => false,
      );
    }, 10_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}
export type LoadBalancer = Awaited<ReturnType<typeof loadBalancer>>;
