import { signedSample } from "../../../src/inbound/providers/signed-sample.ts";
import { taskTracker } from "../../../src/inbound/providers/task_tracker.ts";
import { until } from "../../support/app.ts";
import { type Broker, ownBroker } from "../../support/brokers.ts";
import { awsEmulators } from "../../support/emulators/aws.ts";
import { removeFolder, runSkyhook, startServer, temporaryFolder } from "../../support/program.ts";

/** What arrived at a message system. */
export interface Arrived {
  readonly name: string;
  readonly notifications: number;
  /** Messages beyond the first of a notification. */
  readonly repeats: number;
  readonly missing: number;
  readonly crashes: number;
}

interface Report {
  readonly acknowledged: number;
  readonly kills: number;
  readonly arrived: readonly Arrived[];
}

const secret = "a secret of thirty-two characters";
const concurrency = 16;
const topic = "events";
const settlesWithinMs = 240_000;

/**
 * Sends webhooks to a program with a destination at each of five message systems, while the program and the systems are
 * killed with SIGKILL at random times. Returns what arrived, once nothing waits.
 */
export async function playKills(
  deliveries: number,
  pauseMs: number,
  random: () => number,
  note: (line: string) => void,
): Promise<Report> {
  const cwd = temporaryFolder();
  const own = await Promise.all(
    (["rabbitmq", "nats", "redis"] as const).map((name) => ownBroker(name, cwd)),
  );
  const brokers: readonly Broker[] = [...own, ...(await awsEmulators())];
  const env = {
    DESTINATIONS_ALLOW_PRIVATE: "operators",
    TASK_TRACKER_WEBHOOK_SECRET: secret,
    WEBHOOK_PROVIDERS: "task_tracker",
    LOG_LEVEL: "info",
  };
  let server = await startServer({ cwd, env });
  const { port } = new URL(server.url);
  const { out } = await runSkyhook(["token", "--email", "a@example.com", "--role", "admin"], {
    cwd,
    env,
  });
  const headers = { authorization: `Bearer ${out.trim()}`, "content-type": "application/json" };
  const ask = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const init =
      body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}/v1/${path}`, init);
    if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status} ${await answer.text()}`);
    return Object(await answer.json());
  };
  const ids = new Map<string, string>();
  for (const broker of brokers) {
    await broker.prepare(topic);
    const made = await ask("destinations", {
      name: broker.name,
      format: "json",
      transport: broker.name,
      url: broker.address(topic),
      maxConcurrent: 16,
      retryDelays: "1s 1s 2s 5s 5s 10s 10s 10s 10s 10s",
    });
    ids.set(broker.name, String(made["id"]));
  }

  const acknowledged = new Set<string>();
  let started = 0;
  const send = async () => {
    while (started < deliveries) {
      started += 1;
      const fresh = { id: crypto.randomUUID(), now: new Date() };
      const sample = taskTracker.samples["task.completed"];
      if (sample === undefined) throw new Error("There is no sample");
      const { headers: signed, bytes } = signedSample(taskTracker, sample, { secret }, fresh);
      // As a service does: again until it is acknowledged.
      for (;;) {
        const answer = await fetch(`http://127.0.0.1:${port}/webhooks/task_tracker`, {
          method: "POST",
          headers: signed,
          body: bytes,
        }).catch(() => null);
        const body = answer?.ok === true ? Object(await answer.json().catch(() => null)) : null;
        if (typeof body?.id === "string") {
          acknowledged.add(body.id);
          break;
        }
        await Bun.sleep(50);
      }
    }
  };
  const crashes = new Map<string, number>();
  let kills = 0;
  let isSending = true;
  let turn = Math.floor(random() * 4);
  const killing = (async () => {
    while (isSending) {
      await Bun.sleep(pauseMs * (0.5 + random()));
      // Each in turn, beginning with any: a run in which one was never killed says nothing about it.
      const victims: readonly (Broker | null)[] = [null, ...own];
      const victim = victims[turn % victims.length] ?? null;
      turn += 1;
      const name = victim?.name ?? "the program";
      if (victim === null) {
        await server.kill();
        server = await startServer({ cwd, env, port });
        kills += 1;
      } else {
        await victim.server?.kill();
        await victim.server?.start();
      }
      crashes.set(name, (crashes.get(name) ?? 0) + 1);
      note(`killed ${name} after ${acknowledged.size.toLocaleString("en")} acknowledgements`);
    }
  })();
  await Promise.all(Array.from({ length: concurrency }, send));
  isSending = false;
  await killing;

  await until(async () => {
    let waiting = 0;
    for (const id of ids.values()) {
      const { health } = await ask(`destinations/${id}?include=health`);
      if (Number(Object(health).waiting) > 0)
        waiting += Number(Object(health).waiting) + Number(Object(health).dead);
      if (Number(Object(health).dead) > 0 || Object(health).circuit !== "closed")
        await ask(`destinations/${id}/retry`, {});
    }
    await Bun.sleep(500);
    return waiting === 0;
  }, settlesWithinMs);
  const arrived: Arrived[] = [];
  for (const broker of brokers) {
    const taken = await broker.read(topic);
    const events = taken.map(({ body }) => String(Object(JSON.parse(body)).data.event.id));
    const seen = new Set(events);
    const missing = [...acknowledged].filter((id) => !seen.has(id)).length;
    arrived.push({
      name: broker.name,
      notifications: seen.size,
      repeats: events.length - seen.size,
      missing,
      crashes: crashes.get(broker.name) ?? 0,
    });
  }
  await server.stop();
  for (const broker of brokers) await broker.stop();
  removeFolder(cwd);
  return { acknowledged: acknowledged.size, kills, arrived };
}
