import { basename } from "node:path";

/** Defined by the build; undefined when the program runs from source. */
declare const SKYHOOK_COMMIT: string | undefined;

/** The commit that the compiled program was built from; null when it runs from source. */
export const builtCommit = typeof SKYHOOK_COMMIT === "string" ? SKYHOOK_COMMIT : null;

/** Shells export what they run as `_`. A link of `bun link` has the name of the program. */
const isLinked = basename(process.env["_"] ?? "") === "skyhook";

/** How a user in the folder of the source, or with the program on the PATH, starts it. */
export const plainProgramName = builtCommit !== null || isLinked ? "skyhook" : "bun skyhook";

const isForDemo = ["--demo", "demo"].includes(process.argv[2] ?? "");

/**
 * What every hint writes before a command, so that it can be pasted: `bun skyhook`, `skyhook`, or `bun skyhook --demo` in
 * the demo and in what was called with `--demo`.
 */
export const programName = isForDemo ? `${plainProgramName} --demo` : plainProgramName;

/** The command that starts the server that this process is or calls. */
export const startCommand = `${plainProgramName} ${isForDemo ? "demo" : "serve"}`;
