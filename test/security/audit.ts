/**
 * `bun run check:audit`: fails if a package in the lock file has a known vulnerability of severity high or
 * critical. If the registry returns no advisories, says that it is skipped, and passes.
 */
import { skips } from "../support/skips.ts";

const timeoutMs = 60_000;

const audit = Bun.spawn([process.execPath, "audit", "--audit-level=high"], {
  stdout: "pipe",
  stderr: "pipe",
  timeout: timeoutMs,
});
const [report, messages, code] = await Promise.all([
  audit.stdout.text(),
  audit.stderr.text(),
  audit.exited,
]);
const error =
  audit.signalCode !== null
    ? `no response within ${timeoutMs / 1_000} s`
    : /^error: (.+)$/m.exec(messages)?.[1];

if (code === 0) {
  console.log("audit: no known vulnerabilities of severity high or critical");
} else if (error !== undefined) {
  console.log(`audit: ${error}`);
  skips("the registry returned no advisories");
} else {
  // Also covers output that this script does not recognize.
  console.error(`${report}${messages}`.trim());
  console.error("audit: update these packages, for example with `bun audit fix`");
  process.exitCode = 1;
}
