import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** No request may hold up another one longer than this, in milliseconds. */
export const livezLimitMs = 200;
/** What the server of a fuzz run may hold in anonymous memory, whatever it is sent. */
const anonymousLimitBytes = 512 * 2 ** 20;

/** Watches a server from outside: how long `/livez` takes, and how much anonymous memory it holds. */
export interface Watch {
  /** The longest `/livez` took since `reset`, in ms, less the time the machine was busy with others. */
  worstMs(): number;
  /** Anonymous memory (RssAnon) now, and the most since `reset`. */
  anonymousBytes(): number;
  peakBytes(): number;
  /** Waits until `/livez` answers again; false when it does not within `timeoutMs`. */
  answers(timeoutMs: number): Promise<boolean>;
  reset(): void;
  stop(): Promise<unknown>;
}

/** What the thread that watches shares with the one that asks; a place in an array of doubles each. */
export const shared = { worstMs: 0, anonymousBytes: 1, peakBytes: 2, answers: 3 } as const;

/** What the thread is started with. */
export interface Watched {
  readonly port: number;
  readonly pid: number;
  readonly memory: SharedArrayBuffer;
}

/** Does something; the longest that `/livez` took meanwhile, in ms. Throws when that is over its limit. */
export async function watched(watch: Watch, act: () => Promise<unknown>): Promise<number> {
  watch.reset();
  await act();
  if (watch.worstMs() > livezLimitMs) {
    // A pause of the machine, or for what was sent before, does not come a second time.
    await watch.answers(livezLimitMs * 10);
    watch.reset();
    // What is made already may be refused now: only the time counts.
    await act().catch(() => null);
  }
  const [worstMs, bytes] = [watch.worstMs(), watch.peakBytes()];
  if (worstMs > livezLimitMs) throw new Error(`It held up /livez for ${Math.round(worstMs)} ms`);
  if (bytes > anonymousLimitBytes) {
    throw new Error(`The server holds ${Math.round(bytes / 2 ** 20)} MiB of anonymous memory`);
  }
  return worstMs;
}

/** Starts to watch, in a thread of its own: the one that attacks is busy. */
export function watch({ port, pid }: Pick<Watched, "port" | "pid">): Watch {
  const memory = new SharedArrayBuffer(Object.keys(shared).length * Float64Array.BYTES_PER_ELEMENT);
  const cells = new Float64Array(memory);
  const workerData: Watched = { port, pid, memory };
  const worker = new Worker(join(import.meta.dir, "watch-worker.ts"), { workerData });
  const read = (name: keyof typeof shared): number => cells[shared[name]] ?? 0;
  return {
    worstMs: () => read("worstMs"),
    anonymousBytes: () => read("anonymousBytes"),
    peakBytes: () => read("peakBytes"),
    async answers(timeoutMs) {
      const before = read("answers");
      const deadline = performance.now() + timeoutMs;
      // Two: the first may have been asked for before this was called.
      while (read("answers") < before + 2) {
        if (performance.now() > deadline) return false;
        await Bun.sleep(5);
      }
      return true;
    },
    reset() {
      cells[shared.worstMs] = 0;
      cells[shared.peakBytes] = 0;
    },
    stop: () => worker.terminate(),
  };
}
