import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { strangenessOf } from "../../../../src/db/sqlite/inspect.ts";
import { type Facts, Said } from "../facts.ts";
import {
  factsIn,
  lost,
  openedIn,
  undecryptable,
  unsound,
  type Wrong,
  wrongDatabase,
} from "../opened.ts";
import { type Claims, recordedWorld, type Scenario } from "../scenario.ts";
import type { Step } from "../steps.ts";

import { Load, seats } from "./service.ts";

const backup = "backups/backup.db";

/** A server is backed up twice under load, to the same file, then killed; the backup is restored and served. */
export const backups: Scenario = {
  name: "backup",

  async record(recorder, requests) {
    mkdirSync(join(recorder.root, dirname(backup)));
    recorder.begin();
    await recordedWorld(recorder, seats, async (world) => {
      const some = Math.ceil(requests / 20);
      const load = new Load();
      const first = await world.running();
      await load.send(first, some);
      await Promise.all([load.send(first, some), world.command(["backup", backup])]);
      await Promise.all([load.send(first, some), world.command(["backup", backup, "--force"])]);
      await load.send(first, some);
      await world.kill();
      await world.command(["restore", backup, "--force"]);
      await load.send(await world.running(), some);
      await world.stop();
    });
  },

  claims: () => new BackupClaims(),
};

/** What is in a database that is replaced by its backup. */
class BackupClaims implements Claims {
  #said = new Said();
  /** What was said when the present backup began, and when the last finished one did. */
  #begun: Facts = new Map();
  #backedUp: Facts | null = null;
  readonly #drafts = new Set<string>();
  #isRestoring = false;
  /** What the database contained that was replaced. */
  #replaced: Facts | null = null;

  count(): number {
    return this.#said.facts.size + (this.#backedUp?.size ?? 0) + (this.#replaced?.size ?? 0);
  }

  hear(step: Step): void {
    this.#said.hear(step);
    if (step.does === "open" && step.path.endsWith(".partial")) this.#begin(step.path);
    if (step.does !== "print") return;
    const text = step.data.toString();
    if (text.includes(" backed up to ")) this.#backedUp = this.#begun;
    if (!text.includes(" restored to ")) return;
    this.#isRestoring = false;
    this.#replaced = this.#said.facts;
    this.#said = new Said(this.#backedUp ?? []);
  }

  /** A copy begins when its file is made, which is opened again later. */
  #begin(draft: string): void {
    if (this.#drafts.has(draft)) return;
    this.#drafts.add(draft);
    if (draft.startsWith("data/")) this.#isRestoring = true;
    else this.#begun = new Map(this.#said.facts);
  }

  async wrongIn(folder: string): Promise<Wrong> {
    const wrong = [...(await this.#wrongBackup(join(folder, backup)))];
    if (this.#isRestoring) return [...wrong, ...(await this.#wrongWhileRestoring(folder))];
    return [
      ...wrong,
      ...(await wrongDatabase(folder, this.#said.facts)),
      ...(this.#replaced === null ? [] : await wrongAside(folder, this.#replaced)),
    ];
  }

  async #wrongBackup(file: string): Promise<Wrong> {
    if (!existsSync(file)) return this.#backedUp === null ? [] : ["the backup is missing"];
    return inBackup(await wrongCopy(file, this.#backedUp ?? new Map()));
  }

  /** The database is the former one or the backup, and then the former one is aside. */
  async #wrongWhileRestoring(folder: string): Promise<Wrong> {
    let found: Facts = new Map();
    const wrong = await openedIn(folder, async (client) => {
      found = factsIn(client);
      return [...(await unsound(client)), ...undecryptable(folder, client)];
    });
    if (wrong.length > 0 || lost(this.#said.facts, found).length === 0) return wrong;
    return [
      ...lost(this.#backedUp ?? new Map(), found),
      ...(await wrongAside(folder, this.#said.facts)),
    ];
  }
}

const inBackup = (wrong: Wrong): Wrong => wrong.map((one) => `in the backup: ${one}`);

/** The former database, under another name. */
async function wrongAside(folder: string, facts: Facts): Promise<Wrong> {
  const data = join(folder, "data");
  const aside = readdirSync(data).find((name) => name.startsWith("skyhook.db.replaced-"));
  if (aside === undefined) return ["the former database is missing"];
  const wrong = await wrongCopy(join(data, aside), facts);
  return wrong.map((one) => `in the former database: ${one}`);
}

/** A database in one file, without a log. */
async function wrongCopy(file: string, facts: Facts): Promise<Wrong> {
  const strange = strangenessOf(file);
  if (strange !== null) return [strange];
  using client = new Database(file, { readonly: true });
  return [...(await unsound(client)), ...lost(facts, factsIn(client))];
}
