import type { Command } from "commander";

import { example } from "./arguments.ts";
import { fullVersion } from "./program.ts";
import { sbom } from "./sbom.ts";

export function declare(program: Command): void {
  program
    .command("version")
    .description("print the version, or a list of the packages in this program")
    .option("--sbom", "print a CycloneDX 1.6 list of packages: versions, licenses, addresses")
    .addHelpText("after", example("skyhook version --sbom"))
    .action(({ sbom: isSbom }: { readonly sbom?: true }) => {
      console.log(isSbom ? JSON.stringify(sbom(), null, 2) : fullVersion());
    });
}
