import { counted } from "./output.ts";

/** A progress line on standard error. If that is not a terminal, a line every few seconds. */
export interface Progress {
  /** Shows that `done` of `whole` is done, with a note. `amount`: how many of which things, for the rate. */
  at(done: number, note: string, amount?: readonly [count: number, things: string]): void;
  /** Prints a line above the progress line. */
  print(line: string): void;
  end(): void;
}

/** The output for progress, with a monotonic clock. */
interface Screen {
  readonly isTTY: boolean;
  readonly nowMs: () => number;
  readonly write: (text: string) => void;
}

const standardError: Screen = {
  isTTY: process.stderr.isTTY,
  nowMs: () => performance.now(),
  write: (text) => void process.stderr.write(text),
};

const intervalMs = 100;
const lineIntervalMs = 5_000;
/** The rate is shown after this time. */
const leastMs = 1_000;
const barWidth = 24;

/** `whole` null: total unknown. */
export function progress(
  title: string,
  whole: number | null,
  { isTTY, nowMs, write }: Screen = standardError,
): Progress {
  const startedMs = nowMs();
  let shownMs = isTTY ? -intervalMs : startedMs;
  let first: { readonly done: number; readonly count: number } | undefined;
  const clear = () => {
    if (isTTY) write("\r\u001b[K");
  };

  /** `, 50 events/s, 2 min left` */
  function speed(done: number, [count, things]: readonly [number, string]): string {
    const seconds = (nowMs() - startedMs) / 1_000;
    const gained = done - (first?.done ?? 0);
    if (seconds * 1_000 < leastMs || gained <= 0) return "";
    const rate = (count - (first?.count ?? 0)) / seconds;
    const shown = rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString("en");
    const per = things === "" ? "" : `, ${shown} ${things}/s`;
    const left = whole === null ? "" : `, ${timeOf(((whole - done) * seconds) / gained)} left`;
    return per + left;
  }

  return {
    at(done, note, amount = [done, ""]) {
      first ??= { done, count: amount[0] };
      const now = nowMs();
      if (now - shownMs < (isTTY ? intervalMs : lineIntervalMs)) return;
      shownMs = now;
      const text = note + speed(done, amount);
      const share = whole === null ? 0 : Math.min(done / whole, 1);
      const mark =
        whole === null ? "" : isTTY ? `${barOf(share)} ` : `${percentOf(share).trim()}: `;
      clear();
      write(`${title} ${mark}${text}`.trimStart() + (isTTY ? "" : "\n"));
    },
    print(line) {
      clear();
      write(`${line}\n`);
    },
    end: clear,
  };
}

/** `12 s`, `5 min` or `2 hours`. */
export function timeOf(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} min`;
  return counted(Math.ceil(seconds / 3_600), "hour");
}

function barOf(share: number): string {
  const filled = Math.round(share * barWidth);
  return `[${"#".repeat(filled)}${".".repeat(barWidth - filled)}] ${percentOf(share)}`;
}

const percentOf = (share: number): string => `${String(Math.floor(share * 100)).padStart(3)} %`;
