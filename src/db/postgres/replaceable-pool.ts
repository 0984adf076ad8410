import type { SQL } from "bun";

import { answerWithin } from "./errors.ts";

/** The longest wait for queries that still run when the pool closes. A process stops within ten seconds. */
const closeSeconds = 5;

/** A pool for queries outside transactions. */
export interface ReplaceablePool {
  /** Throws `NoAnswer` when no answer comes in time. */
  run<Answer>(query: (pool: SQL) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Replaces the pool once an answer takes longer than `answerTimeoutMs`. Connections to a machine that has
 * disappeared from the network fail only after about 15 minutes, and until then every query on them hangs.
 * All connections of the pool likely lead to that machine.
 */
export function replaceablePool(connectPool: () => SQL, answerTimeoutMs: number): ReplaceablePool {
  let pool = connectPool();
  return {
    run(query) {
      const used = pool;
      return answerWithin(query(used), answerTimeoutMs, () => {
        if (pool === used) pool = connectPool();
        void used.close({ timeout: 0 });
      });
    },
    close: () => pool.close({ timeout: closeSeconds }),
  };
}

/** A pool that others use too, so it is never replaced. */
export function sharedPool(pool: SQL, answerTimeoutMs: number): ReplaceablePool {
  return {
    run: (query) => answerWithin(query(pool), answerTimeoutMs),
    close: () => pool.close({ timeout: closeSeconds }),
  };
}
