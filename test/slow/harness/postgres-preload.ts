// Preloaded into the program's process: reports every statement of a write, each on a reserved connection,
// to a crash point.
import { existsSync } from "node:fs";

import { type CrashPoints, crashPoints, crashPointVariable } from "./crash-point.ts";

const file = process.env[crashPointVariable] ?? "";
if (file === "") throw new Error(`${crashPointVariable} is not set`);

// SIGKILL ends the process before the call returns, so nothing more is sent.
const connected = crashPoints(file, () => process.kill(process.pid, "SIGKILL"));

Object.defineProperty(Bun, "SQL", {
  value: new Proxy(Bun.SQL, {
    construct(real, args: ConstructorParameters<typeof Bun.SQL>) {
      const pool = new real(...args);
      watchReserved(pool);
      watchBegun(pool);
      return pool;
    },
  }),
});

/** Transactions of the storage: BEGIN and COMMIT are statements like others. */
function watchReserved(pool: Bun.SQL): void {
  const reserve = pool.reserve.bind(pool);
  pool.reserve = async (options) => {
    const connection = await reserve(options);
    watchStatements(connection, connected());
    return connection;
  };
}

/** Migrations: the driver sends BEGIN and COMMIT. */
function watchBegun(pool: Bun.SQL): void {
  const begin: (work: Work) => Promise<unknown> = pool.begin.bind(pool);
  const watched = async (work: Work) => {
    const points = connected();
    const result = await begin(async (transaction) => {
      points.after("begin");
      watchStatements(transaction, points);
      const worked = await work(transaction);
      points.before("commit");
      return worked;
    });
    points.after("commit");
    return result;
  };
  Reflect.set(pool, "begin", watched);
}
type Work = (transaction: Bun.TransactionSQL) => unknown;

function watchStatements(connection: Bun.SQL, points: CrashPoints): void {
  const unsafe = connection.unsafe.bind(connection);
  /** Settles when everything sent so far has been answered. */
  let answered = Promise.resolve();
  const watched = (sql: string, values?: unknown[]) => {
    let answer: Promise<unknown> | null = null;
    const how: ("values" | "simple")[] = [];
    const send = async () => {
      // The program pipelines a transaction. One with a crash point is sent statement by statement, as on a
      // slow network, so that there is time between two statements.
      if (existsSync(file)) await answered;
      points.before(sql);
      const query = unsafe(sql, values);
      for (const method of how) void query[method]();
      const rows = query.execute();
      const during = onItsWay().then(() => points.during(sql));
      const result: unknown = await rows;
      await during;
      if (!isIdle(result)) points.after(sql);
      return result;
    };
    const start = () => {
      answer ??= send();
      answered = Promise.allSettled([answered, answer]).then(() => {});
      return answer;
    };
    const query = {
      values: () => (how.push("values"), query),
      simple: () => (how.push("simple"), query),
      execute: () => (void start().catch(() => {}), query),
      // oxlint-disable-next-line unicorn/no-thenable -- the driver's queries are promises too.
      then: (...on: Parameters<Promise<unknown>["then"]>) => start().then(...on),
      catch: (on: (error: unknown) => unknown) => start().catch(on),
    };
    return query;
  };
  Reflect.set(connection, "unsafe", watched);
}

/** Waits for the end of this turn of the event loop, when the driver has sent its statements. */
const onItsWay = () => new Promise<void>((resolve) => setImmediate(resolve));

/** True for statements without effect, for example a search for due notifications. They are not counted. */
function isIdle(result: unknown): boolean {
  if (typeof result !== "object" || result === null) return false;
  const { command, count }: { command?: unknown; count?: unknown } = result;
  if (command === "SELECT" || command === "SET") return true;
  return count === 0 && (command === "INSERT" || command === "UPDATE" || command === "DELETE");
}
