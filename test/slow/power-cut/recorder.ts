import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join } from "node:path";

import { Disk } from "./disk.ts";
import { type Step, stepsIn } from "./steps.ts";
import { recordedIn } from "./strace.ts";

/** A folder in which programs are recorded, one after the other or several at the same time. */
export class Recorder {
  /** The folder of the programs' files. */
  readonly root: string;
  readonly #before: string;
  readonly #traces: string;
  #programs = 0;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    const top = realpathSync(folder);
    this.root = join(top, "root");
    this.#before = join(top, "before");
    this.#traces = join(top, "traces");
    for (const part of [this.root, this.#traces]) mkdirSync(part, { recursive: true });
  }

  /** Takes what is in the root now as written to disk. Call it before the first program, if there is anything. */
  begin(): void {
    cpSync(this.root, this.#before, { recursive: true });
  }

  /** The command prefix that records the next program. */
  recorded(): readonly string[] {
    this.#programs += 1;
    return recordedIn(join(this.#traces, `${this.#programs}`));
  }

  /** The disk before the first program. */
  disk(): Disk {
    const disk = new Disk();
    if (!existsSync(this.#before)) return disk;
    const paths = readdirSync(this.#before, { recursive: true, encoding: "utf8" });
    // A folder sorts before its content.
    for (const path of paths.toSorted()) {
      const file = join(this.#before, path);
      disk.add(path, statSync(file).isDirectory() ? null : readFileSync(file));
    }
    return disk;
  }

  /** What the programs did, once all have ended. */
  steps(): Promise<readonly Step[]> {
    return stepsIn(
      this.root,
      readdirSync(this.#traces).map((name) => join(this.#traces, name)),
    );
  }
}
