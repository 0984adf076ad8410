import { SQL } from "bun";

import { serverProgram } from "../support/brokers.ts";
import { noChromium } from "../support/browser.ts";
import { noManyConnections } from "../support/databases.ts";
import { noLoadBalancer } from "../support/load-balancer.ts";
import { noOwnPostgres } from "../support/own-postgres.ts";
import { noPooler } from "../support/pooler.ts";

/** What the tests need and this machine lacks, a line each. A run with gaps fails, whatever passes. */
export async function gaps(): Promise<readonly string[]> {
  const brokers = (["rabbitmq", "nats", "redis"] as const).map((name) =>
    serverProgram(name) === null ? `${name}-server is not installed` : null,
  );
  const tools = ["strace", "promtool"].map((tool) =>
    Bun.which(tool) === null ? `${tool} is not installed` : null,
  );
  const all = [await noPostgres(), noOwnPostgres, ...brokers, noChromium, noLoadBalancer, noPooler];
  return [...all, ...tools].filter((gap) => gap !== null);
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
