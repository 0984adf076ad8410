// Compiles the program and lets the black-box tests loose on it: those that know it only as a process.
// Where the machine allows, they run as a user with no rights and without a network. With a file's name:
// that program, already compiled. Ends with bun test's summary.
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { compile } from "../../../scripts/build.ts";

const root = join(import.meta.dir, "../../..");

/** What needs the program's source is not among them: test/slow/crash but for `load`, which kills from outside. */
const files = [
  "test/embedded.test.ts",
  "test/docs/readme.test.ts",
  "test/cli/",
  "test/cli/backup.test.ts",
  "test/slow/rivals.test.ts",
  "test/slow/shutdown.test.ts",
  "test/slow/crash/load.test.ts",
  "test/slow/faults/clients.test.ts",
  "test/slow/faults/connections.test.ts",
  "test/slow/faults/damage.test.ts",
  "test/slow/faults/database.test.ts",
  "test/slow/faults/disk.test.ts",
  "test/security/attacks.test.ts",
  "test/security/files.test.ts",
];

/** The user with no rights, by number: not every machine has the name. */
const nobody = 65_534;

/** A way to run something with less, and a command that succeeds where that way can be gone. */
interface Restriction {
  readonly what: string;
  readonly command: readonly string[];
}

/** Loopback stays: the tests are the program's clients. */
const withoutNetwork: Restriction = {
  what: "without a network",
  command: ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"'],
};
const asNobody: Restriction = {
  what: "as a user with no rights",
  command: ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"],
};

/** The restrictions that can be had here, in that order; says of each that cannot why not. */
function possible(restrictions: readonly Restriction[]): readonly string[] {
  if (process.getuid?.() !== 0) {
    console.log("Not root: the tests run as this user, with the network there is");
    return [];
  }
  const through: string[] = [];
  for (const { what, command } of restrictions) {
    // As they will run: Bun and the tests have to be found by whoever runs them.
    const trial = [
      ...through,
      ...command,
      process.execPath,
      join(root, "scripts/build.ts"),
      "--help",
    ];
    const why = whyNot(trial);
    if (why === null) {
      through.push(...command);
      console.log(`The tests run ${what}`);
    } else console.log(`Not ${what}: ${why}`);
  }
  return through;
}

function whyNot(command: readonly string[]): string | null {
  try {
    const { stderr } = Bun.spawnSync([...command], { env: { PATH: process.env["PATH"] ?? "" } });
    const text = stderr.toString().trim();
    return text.includes("Unknown option '--help'") ? null : text;
  } catch (error) {
    return String(error);
  }
}

const folder = mkdtempSync(join(tmpdir(), "skyhook-binary-"));
try {
  chmodSync(folder, 0o755);
  const program = join(folder, "skyhook");
  const [given] = process.argv.slice(2);
  if (given === undefined) await compile(join(root, "src/main.ts"), program);
  else copyFileSync(resolve(given), program);
  chmodSync(program, 0o755);
  const own = join(folder, "tmp");
  mkdirSync(own);
  chmodSync(own, 0o777);
  const through = possible([withoutNetwork, asNobody]);
  // With no patterns to ignore, the slow ones among the files are found too.
  const test = [process.execPath, "test", "--parallel", "--path-ignore-patterns=", ...files];
  const child = Bun.spawn([...through, ...test], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: own, TMPDIR: own, SKYHOOK_PROGRAM: program },
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exitCode = await child.exited;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
