/** A progress line on standard error. Prints nothing if that is not a terminal. */
export interface Progress {
  /** Shows that `done` of `whole` is done, with a note. */
  at(done: number, note: string): void;
  /** Prints a line above the progress line. */
  print(line: string): void;
  end(): void;
}

const intervalMs = 100;
const barWidth = 24;

/** `whole` null: total unknown. */
export function progress(title: string, whole: number | null): Progress {
  const isWatched = process.stderr.isTTY;
  let drawnAt = 0;
  const clear = () => {
    if (isWatched) process.stderr.write("\r\u001b[K");
  };
  return {
    at(done, note) {
      const now = performance.now();
      if (!isWatched || now - drawnAt < intervalMs) return;
      drawnAt = now;
      clear();
      process.stderr.write(`${title} ${whole === null ? "" : `${barOf(done / whole)} `}${note}`);
    },
    print(line) {
      clear();
      console.error(line);
    },
    end: clear,
  };
}

function barOf(share: number): string {
  const filled = Math.round(Math.min(share, 1) * barWidth);
  const percent = String(Math.floor(Math.min(share, 1) * 100)).padStart(3);
  return `[${"#".repeat(filled)}${".".repeat(barWidth - filled)}] ${percent} %`;
}
