// The peers for deliveries: a job queue whose jobs post a signed message, as a destination of Skyhook does. Puts JOBS
// jobs into the queue, then listens; the first request starts the work. Each queue runs as its documentation
// recommends for throughput. None of them writes attempts, keeps an order, limits rates or breaks circuits.

import { createHmac } from "node:crypto";
import { createRequire } from "node:module";

const { KIND, DATABASE, SCHEMA, RECEIVER, JOBS, CONCURRENCY, PORT } = process.env;
const require = createRequire(new URL("../peers/package.json", import.meta.url));
const load = (name) => import(require.resolve(name));
const [jobs, concurrency] = [Number(JOBS), Number(CONCURRENCY)];
const key = Buffer.alloc(32, 1);
const text = "Deploy failed on main: a commit message (octo/skyhook #1234), by octocat. ".repeat(8);

async function post({ id, createdAt }) {
  const body = JSON.stringify({ type: "notification", data: { id, createdAt, text } });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${mac}`,
  };
  const response = await fetch(RECEIVER, { method: "POST", headers, body });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`The receiver answered ${response.status}`);
}

/** Each adds jobs and returns what starts the work. */
const queues = {
  /** Fetches and completes jobs in batches. */
  async "graphile-worker"() {
    const { makeWorkerUtils, run, Logger } = await load("graphile-worker");
    const logger = new Logger(() => () => {});
    const settings = { connectionString: DATABASE, schema: SCHEMA, logger };
    const utils = await makeWorkerUtils(settings);
    await utils.migrate();
    await inParts((data) =>
      utils.addJobs(data.map((payload) => ({ identifier: "post", payload }))),
    );
    const worker = { localQueue: { size: 4 * concurrency }, completeJobBatchDelay: 0 };
    return () =>
      run({
        ...settings,
        concurrency,
        maxPoolSize: 10,
        taskList: { post },
        preset: { worker: { ...worker, failJobBatchDelay: 0 } },
      });
  },
  /** A worker fetches and completes a batch; several run at once. */
  async "pg-boss"() {
    const { PgBoss } = await load("pg-boss");
    const boss = new PgBoss({ connectionString: DATABASE, schema: SCHEMA, max: 10 });
    boss.on("error", console.error);
    await boss.start();
    await boss.createQueue("post");
    await inParts((data) =>
      boss.insert(
        "post",
        data.map((each) => ({ data: each })),
      ),
    );
    const workers = 4;
    const options = { batchSize: concurrency / workers, pollingIntervalSeconds: 0.5 };
    return () =>
      Promise.all(
        Array.from({ length: workers }, () =>
          boss.work("post", options, (batch) => Promise.all(batch.map(({ data }) => post(data)))),
        ),
      );
  },
  async bullmq() {
    const { Queue, Worker } = await load("bullmq");
    const { hostname: host, port } = new URL(DATABASE);
    const connection = { host, port: Number(port), maxRetriesPerRequest: null };
    const queue = new Queue("post", { connection });
    const opts = { removeOnComplete: true };
    await inParts((parts) => queue.addBulk(parts.map((data) => ({ name: "post", data, opts }))));
    return () => new Worker("post", ({ data }) => post(data), { connection, concurrency });
  },
};

async function inParts(add) {
  const part = 1_000;
  for (let done = 0; done < jobs; done += part) {
    const createdAt = new Date().toISOString();
    const length = Math.min(part, jobs - done);
    await add(Array.from({ length }, (_, index) => ({ id: `msg_${done + index}`, createdAt })));
  }
}

let start = await queues[KIND]();
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(PORT),
  fetch() {
    void start();
    start = () => {};
    return new Response();
  },
});
