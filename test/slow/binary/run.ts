// Compiles the program and runs the black-box tests on it: those that use it only as a process. Where
// possible, they run as an unprivileged user and without a network. With a file name as argument, it tests
// that compiled program instead; with names of tests, only those run. Ends with bun test's summary.
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { builtCommit, compile, skyhookEntrypoints } from "../../../scripts/build.ts";

import { partlySlowFiles, wholeSlowFiles } from "./files.ts";

const root = join(import.meta.dir, "../../..");

/** The unprivileged user, as a number, since not every machine has the name. */
const nobody = 65_534;

/** A restricted way to run a command, and a command that succeeds if the restriction is available. */
interface Restriction {
  readonly what: string;
  readonly command: readonly string[];
}

/** Keeps the loopback interface, which the tests use. */
const withoutNetwork: Restriction = {
  what: "without a network",
  command: ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"'],
};
const asNobody: Restriction = {
  what: "as an unprivileged user",
  command: ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"],
};

/** The available restrictions, in order. Prints why each of the others is not available. */
function possible(restrictions: readonly Restriction[]): readonly string[] {
  if (process.getuid?.() !== 0) {
    console.log("Not root: the tests run as this user, with network access");
    return [];
  }
  const through: string[] = [];
  for (const { what, command } of restrictions) {
    // Check with the same user, who has to be able to read Bun and the tests.
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

/** Compiles the source here and a copy in another folder. Throws when the two programs differ. */
async function compileTwice(program: string): Promise<void> {
  const [first] = await compile(skyhookEntrypoints, program);
  // On the disk of the packages, which are linked rather than copied where that can be.
  const elsewhere = join(root, "dist", `copy-${crypto.randomUUID().slice(0, 8)}`);
  mkdirSync(elsewhere, { recursive: true });
  try {
    const parts = "src docs scripts node_modules package.json tsconfig.json bunfig.toml".split(" ");
    const paths = parts.map((part) => join(root, part));
    const { success } = Bun.spawnSync(["cp", "-al", ...paths, elsewhere], { stderr: "ignore" });
    if (!success) Bun.spawnSync(["cp", "-R", ...paths, elsewhere]);
    const copy = join(elsewhere, "dist/skyhook");
    const { exitCode, stderr } = Bun.spawnSync(
      [process.execPath, "scripts/build.ts", "--outfile", copy],
      { cwd: elsewhere, env: { ...process.env, SKYHOOK_COMMIT: builtCommit() } },
    );
    if (exitCode !== 0) throw new Error(`The copy was not built: ${stderr.toString()}`);
    const [one, other] = await Promise.all([first ?? program, copy].map(digestOf));
    if (one !== other)
      throw new Error("The build is not reproducible: two folders gave different programs");
    console.log(`Built in two folders, the program is the same: sha256 ${one}`);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

async function digestOf(file: string): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
}

async function testProgram(given: string | undefined, files: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-binary-"));
  try {
    chmodSync(folder, 0o755);
    const program = join(folder, "skyhook");
    if (given === undefined) await compileTwice(program);
    else copyFileSync(resolve(given), program);
    chmodSync(program, 0o755);
    const own = join(folder, "tmp");
    mkdirSync(own);
    chmodSync(own, 0o777);
    const through = possible([withoutNetwork, asNobody]);
    const skipped = join(own, "skips.jsonl");
    // Without ignore patterns, slow tests are found too.
    const test = [process.execPath, "test", "--parallel=3", "--path-ignore-patterns=", ...files];
    const child = Bun.spawn([...through, ...test], {
      cwd: root,
      env: {
        PATH: process.env["PATH"],
        HOME: own,
        TMPDIR: own,
        SKYHOOK_PROGRAM: program,
        TEST_SKIPS: skipped,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const code = await child.exited;
    const { TEST_SKIPS: list = "" } = process.env;
    if (list !== "" && existsSync(skipped)) appendFileSync(list, readFileSync(skipped));
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isTest = (argument: string): boolean => argument.endsWith(".test.ts");
const args = process.argv.slice(2);
const named = args.filter(isTest);
process.exitCode = await testProgram(
  args.find((argument) => !isTest(argument)),
  named.length > 0 ? named : ["test/cli/", ...wholeSlowFiles, ...partlySlowFiles],
);
