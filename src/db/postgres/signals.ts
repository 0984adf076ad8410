import type { SQL } from "bun";

import { withTimeout } from "../../base/in-time.ts";
import { lazy } from "../../base/lazy.ts";
import type { Signals, StorageObserver, Topic } from "../storage.ts";

import type { ReplaceablePool } from "./replaceable-pool.ts";

/** The longest wait for the last signals when a process stops. */
const closeMs = 2_000;

const topics: readonly Topic[] = ["notifications", "destinations", "seats"];
/**
 * Finds the connections on which instances that serve this schema listen, in pg_stat_activity. The last
 * statement of such a connection is always a LISTEN, also after a reconnect. The server shows statements of
 * other roles only to superusers and members of pg_monitor.
 */
export const listeningInstances = `select from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and query in (${topics
    .map((topic) => `'LISTEN "' || left('${prefixOf(topic)}' || current_schema(), 63) || '"'`)
    .join()})`;

function prefixOf(topic: Topic): string {
  return `skyhook_${topic}_`;
}

/** Signals within this time are sent as one. */
const gatherMs = 10;
/** Keeps a signal below the server's limit of 8,000 bytes for a payload. */
const maxSubjects = 500;
/** Delay before LISTEN is retried after an error. */
const retryMs = 1_000;
/** The longest time from LISTEN to the arrival of a signal to oneself. */
const arrivalMs = 5_000;

/** Waits for a signal to oneself. Returns null when it arrives, otherwise what to do about it. */
function signalWarning(arrival: Promise<void>): Promise<string | null> {
  const line = `No notification (LISTEN, NOTIFY) arrived within ${arrivalMs / 1_000} s, so instances see each other's changes late: use PostgreSQL itself, or raise the pool size of the pooler`;
  const arrived = arrival.then(
    () => null,
    () => line,
  );
  return withTimeout<string | null>(arrived, arrivalMs, () => line);
}

/** Tries a signal on a channel of its own, which ends with the pool. Returns null, or what to do about it. */
export function trySignal(pool: SQL): Promise<string | null> {
  const channel = `skyhook_trial_${crypto.randomUUID()}`;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  pool
    .listen(channel, () => resolve())
    .then(() => pool.notify(channel))
    .catch(reject);
  return signalWarning(promise);
}

/**
 * Signals by LISTEN and NOTIFY. They are sent after the commit, not in the transaction, because the server
 * serializes the commits of transactions that notify. Each schema has its own channels, so that several
 * installations in one database do not receive each other's signals.
 */
export function signals(
  listening: SQL,
  sending: ReplaceablePool,
  schema: string,
  { warning }: Pick<StorageObserver, "warning">,
): Signals & { close(): Promise<void> } {
  // PostgreSQL also delivers our own signals to us; this id identifies them.
  const sender = crypto.randomUUID();
  const own = Promise.withResolvers<void>();
  const gathered = new Map<Topic, Set<number>>();
  const underWay = new Set<Promise<void>>();
  const subscriptions: { unlisten(): Promise<void> }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const channelOf = (topic: Topic) => `${prefixOf(topic)}${schema}`.slice(0, 63);

  function sendGathered(): void {
    timer = undefined;
    for (const [topic, subjects] of gathered) {
      const all = [...subjects];
      for (let from = 0; from < all.length; from += maxSubjects) {
        notify(topic, `${sender} ${all.slice(from, from + maxSubjects).join()}`);
      }
    }
    gathered.clear();
  }

  function notify(topic: Topic, payload: string): void {
    // Ignore errors: the receivers also poll.
    const sent = sending.run((pool) => pool.notify(channelOf(topic), payload)).catch(() => {});
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
  }

  const tried = lazy(async () => {
    const line = await signalWarning(own.promise);
    if (line !== null) warning(line);
  });

  async function listen(...[topic, onSignal, onGap]: Parameters<Signals["listen"]>): Promise<void> {
    const onPayload = (payload: string) => {
      const [from, subjects] = payload.split(" ");
      if (from === sender) own.resolve();
      else if (subjects !== undefined) onSignal(subjects.split(",").map(Number));
    };
    void tried();
    while (!closed) {
      try {
        subscriptions.push(await listening.listen(channelOf(topic), onPayload, onGap));
        notify(topic, sender);
        break;
      } catch {
        // Until then, polling finds new rows.
        await Bun.sleep(retryMs);
      }
    }
  }

  return {
    send(topic, subject) {
      const subjects = gathered.get(topic) ?? new Set();
      gathered.set(topic, subjects.add(subject));
      if (!closed) timer ??= setTimeout(sendGathered, gatherMs);
    },
    listen(...wanted) {
      void listen(...wanted);
    },
    async close() {
      closed = true;
      own.resolve();
      clearTimeout(timer);
      sendGathered();
      const ended = Promise.allSettled([
        ...underWay,
        ...subscriptions.map((subscription) => subscription.unlisten()),
      ]);
      // The pools close next, and these connections with them.
      await withTimeout<unknown>(ended, closeMs, () => {});
    },
  };
}
