import type { SQL } from "bun";

import type { Signals, Topic } from "../storage.ts";

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
export function signals(pool: SQL, schema: string): Signals & { close(): Promise<void> } {
  // Own signals come back too; they are told by who sent them.
  const sender = crypto.randomUUID();
  const gathered = new Map<Topic, Set<number>>();
  const underWay = new Set<Promise<void>>();
  const subscriptions: { unlisten(): Promise<void> }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const channelOf = (topic: Topic) => `skyhook_${topic}_${schema}`.slice(0, 63);

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
    const sent = pool.notify(channelOf(topic), payload).then(
      () => {},
      () => {},
    );
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
        subscriptions.push(await pool.listen(channelOf(topic), onPayload, onGap));
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
