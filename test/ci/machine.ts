import { SQL } from "bun";

import { brokerHere, noBroker, serverProgram } from "../support/brokers.ts";
import { noChromium } from "../support/browser.ts";
import { noManyConnections } from "../support/databases.ts";
import { noLoadBalancer } from "../support/load-balancer.ts";
import { noOwnPostgres } from "../support/own-postgres.ts";
import { noPooler } from "../support/pooler.ts";
import { notInstalled } from "../support/skips.ts";

/** What the tests need and this machine lacks, a line each. A run with gaps fails, whatever passes. */
export async function gaps(): Promise<readonly string[]> {
  const brokers = await Promise.all((["rabbitmq", "nats", "redis"] as const).map(noServer));
  const tools = ["minisign", "strace", "promtool", "zsh", "fish"].map((tool) => notInstalled(tool));
  const others = [noOwnPostgres, noChromium, noLoadBalancer, noPooler];
  return [await noPostgres(), ...brokers, ...others, ...tools].filter((gap) => gap !== null);
}

async function noServer(name: "rabbitmq" | "nats" | "redis"): Promise<string | null> {
  if (serverProgram(name) === null) return `${name}-server is not installed`;
  return (await brokerHere(name)) === null ? noBroker(name) : null;
}

async function noPostgres(): Promise<string | null> {
  const url = process.env["TEST_POSTGRES_URL"];
  if (!url) return noManyConnections;
  await using sql = new SQL(url, { max: 1, connectionTimeout: 5 });
  return sql`select 1`.then(
    () => null,
    (error: unknown) => `TEST_POSTGRES_URL does not answer: ${String(error)}`,
  );
}
