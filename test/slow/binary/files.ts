/** Slow tests that need nothing but the program: where the compiled program runs them, the source need not. */
export const wholeSlowFiles: readonly string[] = [
  "test/slow/embedded.test.ts",
  ...["program", "host/one-server", "host/reconcile"].map(ofCli),
  ...["develop/listen", "develop/send", "develop/sign", "develop/tail"].map(ofCli),
  ...["operate/bulk-replay", "operate/replay", "operate/selling"].map(ofCli),
  "test/slow/shutdown.test.ts",
  ...["clients", "connections", "damage"].map(ofFaults),
  "test/slow/security/files.test.ts",
];

/** What needs the program's source is not among them: test/slow/crash but for `load`, which kills from outside. */
export const partlySlowFiles: readonly string[] = [
  // Some of their tests need root, and run on the source only.
  ...["database", "disk", "log"].map(ofFaults),
  ...["backup", "copy", "copy-refusals", "doctor", "person"].map((name) => ofCli(`host/${name}`)),
  "test/slow/docs/readme.test.ts",
  "test/slow/crash/load.test.ts",
  "test/security/attacks.test.ts",
];

function ofFaults(name: string): string {
  return `test/slow/faults/${name}.test.ts`;
}

function ofCli(name: string): string {
  return `test/slow/cli/${name}.test.ts`;
}
