import type { SQL } from "bun";

import { answerWithin } from "./errors.ts";

/** A pool that is asked without a transaction. */
export interface RenewedPool {
  /** Throws a `Silence` when no answer comes in time. */
  ask<Answer>(question: (pool: SQL) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Asks on a pool, and on a new one once an answer stayed away for `silenceMs`: connections to a machine
 * that is gone without a word end by themselves only after a quarter of an hour, and until then swallow
 * what they are asked. All of the pool likely lead there.
 */
export function renewedPool(connectPool: () => SQL, silenceMs: number): RenewedPool {
  let pool = connectPool();
  return {
    ask(question) {
      const asked = pool;
      return answerWithin(question(asked), silenceMs, () => {
        if (pool === asked) pool = connectPool();
        void asked.close({ timeout: 0 });
      });
    },
    close: () => pool.close(),
  };
}

/** For a pool that others use too, and which therefore stays. */
export function sharedPool(pool: SQL, silenceMs: number): RenewedPool {
  return {
    ask: (question) => answerWithin(question(pool), silenceMs),
    close: () => pool.close(),
  };
}
