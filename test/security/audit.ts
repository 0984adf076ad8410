/**
 * `bun run check:audit`: fails when a package that the lock file names has a known vulnerability of
 * severity high or critical. Where the registry gives no advisories, nothing is known either way: that
 * is said in a line, and is no failure.
 */
const timeoutMs = 60_000;

const audit = Bun.spawn([process.execPath, "audit", "--audit-level=high"], {
  stdout: "pipe",
  stderr: "pipe",
  timeout: timeoutMs,
});
const [report, complaints, code] = await Promise.all([
  audit.stdout.text(),
  audit.stderr.text(),
  audit.exited,
]);
const fault =
  audit.signalCode !== null
    ? `no answer in ${timeoutMs / 1_000} s`
    : /^error: (.+)$/m.exec(complaints)?.[1];

if (code === 0) {
  console.log("audit: no vulnerability of severity high or critical is known");
} else if (fault !== undefined) {
  console.log(`audit: NOT CHECKED, the registry gives no advisories (${fault})`);
} else {
  // Also whatever else it may say in words that are new to us.
  console.error(`${report}${complaints}`.trim());
  console.error("audit: update these packages, as by `bun audit fix`");
  process.exitCode = 1;
}
