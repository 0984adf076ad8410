import { UsageError } from "./output.ts";

/** The access token that was given, or from standard input. */
export async function readToken(given: string | undefined): Promise<string> {
  const isInput = given === undefined || given === "-";
  const token = (isInput ? await readSecret("Token: ") : given).trim().replace(/^bearer /i, "");
  if (token === "") throw new UsageError("Write the token on standard input, or as the argument");
  return token;
}

/** Reads standard input. From a terminal it reads one line, after `prompt`, and does not show what is typed. */
export async function readSecret(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return Bun.stdin.text();
  process.stderr.write(prompt);
  process.stdin.setRawMode(true);
  try {
    return await readLine();
  } finally {
    process.stdin.setRawMode(false);
    process.stdin.pause();
    process.stderr.write("\n");
  }
}

const [backspace, controlC, controlD] = ["\u007f", "\u0003", "\u0004"];

/** In raw mode the program sees every key, so it must handle the keys that the terminal otherwise handles. */
async function readLine(): Promise<string> {
  let line = "";
  for await (const chunk of process.stdin) {
    for (const key of String(chunk)) {
      if (key === controlC) throw new Error("Interrupted: nothing was stored");
      if (key === "\r" || key === "\n" || key === controlD) return line;
      line = key === backspace ? line.slice(0, -1) : line + key;
    }
  }
  return line;
}
