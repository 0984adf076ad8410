import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "../..");

interface Page {
  /** From the root of the repository. */
  readonly file: string;
  readonly text: string;
}

/** Every page for people, in the order of their names. */
export const pages: readonly Page[] = ["*.md", "docs/**/*.md", "bench/*.md"]
  .flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

export function page(file: string): string {
  const found = pages.find((candidate) => candidate.file === file);
  if (found === undefined) throw new Error(`There is no ${file}`);
  return found.text;
}

interface Block {
  /** What the comment on the line before says, as `run: send`; null when there is none. */
  readonly marker: string | null;
  readonly code: string;
}

/** The blocks of commands of a page. */
export function commandBlocks(text: string): readonly Block[] {
  const found = text.matchAll(/(?:<!-- ([^\n]+) -->\n)?^```sh\n(.*?)^```$/gms);
  return [...found].map(([, marker = null, code = ""]) => ({ marker, code }));
}

/** The commands of a page under a marker, exactly as a reader would paste them. */
export function commandsOf(file: string, marker: string): string {
  const block = commandBlocks(page(file)).find((candidate) => candidate.marker === marker);
  if (block === undefined) throw new Error(`${file} has no <!-- ${marker} -->`);
  return block.code;
}

/** What a page shows as the output of a command, as a pattern: `…` matches a part of a line, alone on its line any lines. */
export function outputOf(file: string, marker: string): RegExp {
  const [, rest = ""] = page(file).split(`<!-- ${marker} -->`);
  const output = /^\n```sh\n.*?^```\n\n```text\n(.*?)^```$/ms.exec(rest)?.[1];
  if (output === undefined) throw new Error(`${file} shows no output of ${marker}`);
  const escaped = output.trimEnd().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const anyLines = String.raw`(?:.*\n)*?.*`;
  return new RegExp(escaped.replaceAll(/^…$/gm, anyLines).replaceAll("…", ".*"));
}

/** All that stands between back-ticks, in lines and in blocks. */
export function codeIn(text: string): readonly string[] {
  const blocks = text.matchAll(/^```[^\n]*\n(.*?)^```$/gms);
  const rest = text.replaceAll(/^```.*?^```$/gms, "");
  return [...blocks, ...rest.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** The anchors that GitHub gives a page's headings. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const prose = text.replaceAll(/^```.*?^```$/gms, "");
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set(headings);
}
