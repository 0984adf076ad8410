import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import { until } from "../../support/app.ts";
import { brokerHere, noBroker } from "../../support/brokers.ts";
import { front, type FrontedName, type Stranger } from "../../support/front.ts";
import { authorization, keepDelivering, startIn } from "../../support/load.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";
import { smtpServer } from "../../support/smtp-server.ts";

const servers = ["rabbitmq", "nats", "redis"] as const;
const brokers = await Promise.all(servers.map(brokerHere));
const ports = { rabbitmq: 5_672, nats: 4_222, redis: 6_379 };
const missing = servers.filter((_, index) => brokers[index] === null);
const isSkipped = missing.map((name) => skips(noBroker(name))).includes(true);
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

const topic = `s${crypto.randomUUID().slice(0, 8)}`;
/** How many deliveries are measured at a time, and by how much the work for each may grow. */
const measured = 60;
const mostWork = 2;
const mostMoreMegabytes = 300;
/** A margin for busy machines. */
const patienceMs = 120_000;

/** What replaces the systems, and the errors of failed attempts at some of them. */
const strangers: readonly (readonly [Stranger, Partial<Record<FrontedName, RegExp>>])[] = [
  [
    "a web server",
    {
      rabbitmq: /^not RabbitMQ: HTTP\/1.1 400 Bad Request/,
      redis: /^not Redis Streams: HTTP\/1.1 400/,
    },
  ],
  ["random bytes", {}],
  ["zeros without end", { rabbitmq: /^not RabbitMQ/, nats: /^not NATS/, smtp: /^not SMTP/ }],
  ["a line without end", { nats: /answers more than/, redis: /answer|not that of/ }],
  ["an announced length of 2 GiB", { nats: /answers more than/, redis: /not that of Redis/ }],
  ["tiny answers without end", { nats: /answers more than/ }],
  ["TLS garbage", { rabbitmq: /^not RabbitMQ/, redis: /^not Redis/ }],
  ["silence", { rabbitmq: /not confirmed within 10 s/, redis: /not confirmed within 10 s/ }],
];

test.skipIf(isSkipped)(
  "under one living program, strangers take the place of its message systems and give it back [BROKER-4]",
  async () => {
    const mails: string[] = [];
    using smtp = smtpServer(mails);
    const systems = { ...ports, smtp: smtp.port };
    // Guarantee: the keys are those of `systems`.
    const names = Object.keys(systems) as readonly FrontedName[];
    const fronts = await Promise.all(
      names.map(async (name) => [name, await front(name, systems[name])] as const),
    );
    for (const broker of brokers) await broker?.prepare(topic);
    const server = await startIn(folder, { DESTINATIONS_ALLOW_PRIVATE: "operators" });
    const { pid } = server;
    const headers = {
      authorization: await authorization("admin"),
      "content-type": "application/json",
    };
    const ask = async (path: string, body?: object): Promise<Record<string, unknown>> => {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const answer = await fetch(`${server.url}/v1/${path}`, { headers, ...init });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status} ${text}`);
      return Object(JSON.parse(text));
    };
    const bystander = brokers.find((each) => each?.name === "redis");
    await bystander?.prepare(`${topic}-bystander`);
    await ask("destinations", {
      name: "bystander",
      format: "json",
      transport: "redis",
      url: bystander?.address(`${topic}-bystander`),
      retryDelays: "1h",
    });
    const ids = new Map<FrontedName, string>();
    for (const [name, { port }] of fronts) {
      const broker = brokers.find((each) => each?.name === name);
      const own = broker?.address(topic).replace(`:${systems[name]}`, `:${port}`);
      const url = own ?? `smtp://127.0.0.1:${port}/?from=a@example.com&to=b@example.com`;
      const retryDelays = Array.from({ length: 20 }, () => "10s").join(" ");
      const { id } = await ask("destinations", {
        name,
        format: name === "smtp" ? "email" : "json",
        transport: name,
        url,
        retryDelays,
      });
      ids.set(name, String(id));
    }
    /** Makes an attempt due. The one before may still fail at another stranger, and open the circuit. */
    const retry = async (name: FrontedName): Promise<false> => {
      await ask(`destinations/${ids.get(name)}/retry`, {});
      await Bun.sleep(200);
      return false;
    };
    const health = async (name: FrontedName) =>
      Object((await ask(`destinations/${ids.get(name)}?include=health`))["health"]);
    const load = keepDelivering(server, 4);
    /** The processor time of the thread that answers, which no other thread or program takes, for each delivery. */
    const work = async () => {
      const [count, began] = [load.acknowledged.size, nanosecondsOf(pid)];
      await until(() => load.acknowledged.size >= count + measured, patienceMs);
      return (nanosecondsOf(pid) - began) / (load.acknowledged.size - count);
    };
    await work();
    const [before, memory] = [await work(), megabytesOf(pid)];
    for (const [stranger, reasons] of strangers) {
      for (const [, each] of fronts) each.replace(stranger);
      for (const id of ids.values()) await ask(`destinations/${id}/retry`, {});
      let during = await work();
      for (const name of names) {
        await until(async () => {
          const { data } = Object(
            await ask(`destinations/${ids.get(name)}/deliveries?status=retrying&limit=100`),
          );
          // Guarantee: the API's own shape.
          const errors = (data as readonly { lastError: string }[]).map(
            ({ lastError }) => lastError,
          );
          return errors.some((error) => (reasons[name] ?? /./).test(error)) || retry(name);
        }, patienceMs).catch(async () => {
          const { data } = Object(await ask(`destinations/${ids.get(name)}/deliveries?limit=5`));
          throw new Error(`${stranger} at ${name}: ${JSON.stringify(data)}`);
        });
      }
      // Caches that are shared with other programs make the same work slower.
      if (during > before * mostWork) during = await work();
      const megabytes = megabytesOf(pid) - memory;
      expect([stranger, during <= before * mostWork]).toEqual([stranger, true]);
      expect([stranger, megabytes < mostMoreMegabytes]).toEqual([stranger, true]);
    }
    await load.end();
    for (const [, each] of fronts) each.replace(null);
    for (const name of names) {
      await until(async () => {
        const { waiting, dead } = await health(name);
        return (waiting === 0 && dead === 0) || retry(name);
      }, patienceMs);
    }
    const events = load.acknowledged.size;
    for (const broker of brokers) {
      const bodies = (await broker?.read(topic)) ?? [];
      const arrived = new Set(bodies.map(({ body }) => JSON.parse(body).data.event.id));
      expect([broker?.name, arrived.size]).toEqual([broker?.name, events]);
    }
    expect(new Set(mails.filter((line) => line.startsWith("Message-ID"))).size).toBe(events);
    // At the first attempt: a second one would follow after an hour.
    await until(async () => (await bystander?.read(`${topic}-bystander`))?.length === events);
    expect(server.pid).toBe(pid);
    // Each line is one of its own log.
    for (const line of server.log().trim().split("\n"))
      expect(Object(JSON.parse(line)).msg).toBeString();
    expect(await server.stop()).toBe(0);
    for (const [, each] of fronts) each.stop();
  },
  600_000,
);

/** Of the main thread alone: brokers have a thread of their own. */
function nanosecondsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]);
}

function megabytesOf(pid: number): number {
  const [, pages = ""] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
  return (Number(pages) * 4_096) / 1e6;
}
