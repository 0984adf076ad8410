import { join } from "node:path";

import { removeFolder, temporaryFolder } from "../../support/program.ts";

import { type CrashPoint, crashPointVariable, setCrashPoint } from "./crash-point.ts";
import type { CrashDatabase, CrashDatabases, Row } from "./databases.ts";
import { wrongWith } from "./invariants.ts";

const opener = join(import.meta.dir, "open-database.ts");
const migrated = "select name from migrations order by name";

/** An empty database, and a process that dies while it migrates it. */
export class MigrationTrial {
  static async open(kind: CrashDatabases): Promise<MigrationTrial> {
    const folder = temporaryFolder();
    return new MigrationTrial(folder, kind, await kind.make(folder));
  }

  private constructor(
    readonly folder: string,
    private readonly kind: CrashDatabases,
    readonly database: CrashDatabase,
  ) {}

  /** Opens the database in a process that dies at the crash point. Returns the exit code. */
  async migrateUntil(point: CrashPoint): Promise<number> {
    setCrashPoint(this.#crashPointFile, point);
    return this.#migrate().exited;
  }

  get #crashPointFile(): string {
    return join(this.folder, "crash-point.json");
  }

  #migrate() {
    const { preload } = this.kind;
    return Bun.spawn([process.execPath, "--preload", preload, opener, this.database.url], {
      env: { [crashPointVariable]: this.#crashPointFile },
      stdio: ["ignore", "ignore", "ignore"],
    });
  }

  /** The number of migrations that the dead process committed. Throws when the database is damaged. */
  async done(): Promise<number> {
    const left = await this.database.left();
    try {
      const damage = await left.damage();
      if (damage.length > 0) throw new Error(damage.join("\n"));
      const hasTable = (await left.schema()).some(({ name }) => name === "migrations");
      return hasTable ? (await left.rows(migrated)).length : 0;
    } finally {
      left.close();
    }
  }

  /** The schema after the next start. Throws when the database is damaged. */
  async schemaAfterStart(): Promise<readonly Row[]> {
    setCrashPoint(this.#crashPointFile, null);
    const code = await this.#migrate().exited;
    if (code !== 0) throw new Error(`The next start failed with ${code}`);
    const left = await this.database.left();
    try {
      const wrong = await wrongWith(left);
      if (wrong.length > 0) throw new Error(wrong.join("\n"));
      return await left.schema();
    } finally {
      left.close();
    }
  }

  async end(): Promise<void> {
    await this.database.remove();
    removeFolder(this.folder);
  }
}
