import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../docs/markdown.ts";
import {
  ended,
  removeFolder,
  type RunningServer,
  runSkyhook,
  temporaryFolder,
} from "../../support/program.ts";
import type { resources } from "../../support/resources.ts";

type Shell = Bun.Subprocess<Blob, "pipe", "pipe">;
type Environment = Readonly<Record<string, string>>;

/** A reader's machine: a folder, and a server that runs in it with one flight to sell. */
export interface Machine {
  readonly taken: ReturnType<typeof resources>;
  readonly folder: string;
  readonly server: RunningServer;
  /** Starts commands in a shell; the server's address and `/backups` become the machine's own. */
  readonly shell: (commands: string, input?: string, env?: Environment) => Shell;
}

/** What has to come of the blocks of commands, by their page and marker. */
export type Trials = Readonly<Record<string, (own: Machine, code: string) => Promise<void>>>;

export async function machine(
  taken: Machine["taken"],
  start: (folder: string) => Promise<RunningServer> = (folder) =>
    taken.start(folder, { DESTINATIONS_ALLOW_PRIVATE: "operators" }),
): Promise<Machine> {
  const { folder, shell } = desk(taken);
  cpSync(await prepared(), folder, { recursive: true });
  const server = await start(folder);
  return {
    taken,
    folder,
    server,
    shell(commands, input, env) {
      const own = commands
        .replaceAll(/(?:http:\/\/)?localhost:3111/g, server.url)
        .replaceAll("/backups/", `${folder}/backups/`);
      return shell(own, input, { ...server.env, ...env });
    },
  };
}

/** A folder with a flight and secrets, which is made once: commands take most of the time of a machine. */
function prepared(): Promise<string> {
  return (template ??= prepare());
}

let template: Promise<string> | null = null;

async function prepare(): Promise<string> {
  const folder = temporaryFolder();
  process.on("exit", () => removeFolder(folder));
  mkdirSync(join(folder, "backups"));
  const plan =
    "flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency\n" +
    "SK1,Skyhook Air,JFK,LHR,2099-01-01T23:30:00-05:00,2099-01-02T11:30:00Z,economy,9,499.5,USD\n";
  await runSkyhook(["import", "-"], { cwd: folder, input: plan });
  await runSkyhook(["secrets", "init"], { cwd: folder });
  return folder;
}

/** An empty folder, and a shell in it that finds `skyhook`: the program, from its source. */
export function desk(taken: Machine["taken"]) {
  const folder = taken.newFolder();
  mkdirSync(join(folder, "bin"));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, "src/main.ts")}" "$@"\n`;
  writeFileSync(join(folder, "bin/skyhook"), program);
  chmodSync(join(folder, "bin/skyhook"), 0o755);
  return {
    folder,
    shell: (commands: string, input = "", env: Environment = {}): Shell => {
      const child = Bun.spawn(["bash", "-ec", commands], {
        cwd: folder,
        env: { ...env, HOME: folder, PATH: `${folder}/bin:${process.env["PATH"]}` },
        stdin: new Blob([input]),
        stdout: "pipe",
        stderr: "pipe",
      });
      taken.ends.push(() => child.kill());
      return child;
    },
  };
}

/** Runs commands to their end; what they printed. Throws when they fail. */
export async function done(child: Shell): Promise<string> {
  const { out, err, code } = await ended(child);
  if (code !== 0) throw new Error(`${out}${err}`);
  return out;
}

/** What commands that follow something print, until it matches. */
export async function follow(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  pattern: RegExp,
): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (pattern.test(text)) return text;
  }
  throw new Error(`It ended without ${String(pattern)}: ${text}`);
}
