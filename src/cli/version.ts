import type { Command } from "commander";

import { fullVersion } from "./program.ts";

export function declare(program: Command): void {
  program
    .command("version")
    .description("print the version, the commit and Bun's version")
    .action(() => console.log(fullVersion()));
}
