// Preloaded into the program's process and its storage thread: reports every statement that they run through
// bun:sqlite to a crash point.
import { Database } from "bun:sqlite";

import { crashPoints, crashPointVariable } from "./crash-point.ts";

const file = process.env[crashPointVariable];
if (file === undefined) throw new Error(`${crashPointVariable} is not set`);

// Threads do not inherit what was preloaded.
globalThis.Worker = class extends Worker {
  constructor(url: string | URL, options?: WorkerOptions) {
    super(url, { ...options, preload: import.meta.path });
  }
};

// SIGKILL ends the process before the call returns, so nothing more is run.
const points = crashPoints(file, () => process.kill(process.pid, "SIGKILL"))();

around(Database.prototype, "run", (run, sql) => {
  points.before(sql);
  const done = run();
  points.after(sql);
  return done;
});

around(Database.prototype, "prepare", (prepare, sql) => {
  const statement = prepare();
  if (typeof statement !== "object" || statement === null) return statement;
  // The methods that the storage calls. Statements that change no row are not counted, for example a search
  // for due notifications.
  around(statement, "run", (run) => {
    const done = run();
    if (changesOf(done) > 0) points.after(sql);
    return done;
  });
  around(statement, "values", (values) => {
    const rows = values();
    if (Array.isArray(rows) && rows.length > 0) points.after(sql);
    return rows;
  });
  return statement;
});

/** Replaces a method with `wrap`, which receives the original call and its first argument. */
function around(
  target: object,
  name: string,
  wrap: (call: () => unknown, first: string) => unknown,
): void {
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== "function") throw new Error(`bun:sqlite has no ${name}`);
  const apply = (real: typeof method, self: unknown, args: unknown[]) =>
    wrap(() => Reflect.apply(real, self, args), String(args[0]));
  Reflect.set(target, name, new Proxy(method, { apply }));
}

function changesOf(done: unknown): number {
  return typeof done === "object" && done !== null && "changes" in done ? Number(done.changes) : 0;
}
