#!/usr/bin/env node
// Starts the program. It is in a package of its own for each platform, of which npm installs the one that fits.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { isatty } from "node:tty";

const require = createRequire(import.meta.url);
const { name, version, optionalDependencies } = require("./package.json");
const isWindows = process.platform === "win32";

function isMusl() {
  // Otherwise the report looks up the names of network peers.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

function findProgram() {
  const system = isWindows ? "windows" : process.platform;
  const libc = process.platform === "linux" && isMusl() ? "-musl" : "";
  const platform = `${system}-${process.arch}${libc}`;
  const wanted = `${name}-${platform}`;
  if (optionalDependencies[wanted] === undefined) {
    const known = Object.keys(optionalDependencies).map((one) => one.slice(name.length + 1));
    return fail(`${name} does not run on ${platform}. It runs on ${known.join(", ")}.`);
  }
  try {
    return require.resolve(`${wanted}/skyhook${isWindows ? ".exe" : ""}`);
  } catch {
    return fail(`The package ${wanted}, which has the program for this platform, is not installed.
It is an optional dependency of ${name} ${version}. Check in this order:
- Optional packages were skipped (--omit=optional, --no-optional, or omit=optional in .npmrc): install without that.
- The lockfile or node_modules is from another platform: delete both, and install here.
- The registry does not have it: \`npm view ${wanted}@${version}\` shows whether it has.`);
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

const program = findProgram();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// A terminal sends these to the program, too. Commands that stop in order on the first one end at once on a second one.
const terminalSignals = isWindows ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGQUIT"];
const hasTerminal = isWindows || [0, 1, 2].some((descriptor) => isatty(descriptor));
const otherSignals = isWindows ? [] : ["SIGTERM", "SIGHUP", "SIGUSR2"];
for (const signal of terminalSignals) {
  process.on(signal, () => hasTerminal || child.kill(signal));
}
for (const signal of otherSignals) process.on(signal, () => child.kill(signal));

child.on("error", (error) => fail(`${program} cannot be started: ${error.message}`));
child.on("exit", (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal];
  if (signal === null) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
