interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Runs a command and returns its output. Throws an `Error` with the end of what it printed if it fails. */
export async function output(
  argv: readonly string[],
  { cwd = process.cwd(), env = process.env }: Surroundings = {},
): Promise<string> {
  const child = Bun.spawn([...argv], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code === 0) return out;
  const said = (err.trim() || out.trim()).split("\n").slice(-8).join("\n");
  throw new Error(`${argv.join(" ")} ended with ${code}: ${said}`);
}
