import type { SQL } from "bun";

import type { Signals, Topic } from "../storage.ts";

import type { RenewedPool } from "./renewed-pool.ts";

const topics: readonly Topic[] = ["notifications", "seats"];
/**
 * The connections on which instances that serve this schema listen, as the server tells them: each
 * one's last statement is its last LISTEN, for as long as it lives, and the first one of every new
 * connection. Other roles' statements are shown to superusers and members of pg_monitor only.
 */
export const listeningInstances = `select from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and query in (${topics
    .map((topic) => `'LISTEN "' || left('${prefixOf(topic)}' || current_schema(), 63) || '"'`)
    .join()})`;

function prefixOf(topic: Topic): string {
  return `skyhook_${topic}_`;
}

/** Signals of so long are sent as one. */
const gatherMs = 10;
/** A signal names at most this many subjects, and stays below the server's limit of 8,000 bytes. */
const maxSubjects = 500;
/** Listening is tried again after this long when it could not begin. */
const retryMs = 1_000;

/**
 * Signals by LISTEN and NOTIFY. They are sent by themselves after the commit, not in the transaction:
 * the server lets only one transaction at a time commit that notifies. Channels are one to a schema, so
 * that several installations in one database do not hear each other.
 */
export function signals(
  listening: SQL,
  sending: RenewedPool,
  schema: string,
): Signals & { close(): Promise<void> } {
  // PostgreSQL sends our own signals back too; the sender tells them apart.
  const sender = crypto.randomUUID();
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
    // What is lost with a failing server is found by looking.
    const sent = sending.ask((pool) => pool.notify(channelOf(topic), payload)).catch(() => {});
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
  }

  async function listen(...[topic, onSignal, onGap]: Parameters<Signals["listen"]>): Promise<void> {
    const onPayload = (payload: string) => {
      const [from, subjects = ""] = payload.split(" ");
      if (from !== sender) onSignal(subjects.split(",").map(Number));
    };
    while (!closed) {
      try {
        subscriptions.push(await listening.listen(channelOf(topic), onPayload, onGap));
        break;
      } catch {
        // Meanwhile what is new is found by looking.
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
      clearTimeout(timer);
      sendGathered();
      await Promise.allSettled([
        ...underWay,
        ...subscriptions.map((subscription) => subscription.unlisten()),
      ]);
    },
  };
}
