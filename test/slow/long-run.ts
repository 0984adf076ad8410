/** A flag of a long run: a number within bounds, a text, or a switch. */
export type Flag =
  | {
      readonly takes: "number";
      readonly about: string;
      /** `random` for a seed: a new one each time. */
      readonly usual: number | "random";
      readonly least: number;
      readonly most: number;
    }
  | { readonly takes: "text" | "nothing"; readonly about: string };

/** The values of a run's flags, checked. */
export interface Options {
  number(name: string): number;
  text(name: string): string | undefined;
  has(name: string): boolean;
}

/** Something that searches for faults for as long as it is asked to. */
export interface LongRun {
  readonly name: string;
  readonly about: string;
  /** What it does, for its `--help`. */
  readonly description: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Prints what it does and finds. Throws, or returns false, when it finds a fault. */
  run(options: Options): Promise<boolean>;
}

/** The flags that mean the same in every run that has them. */
export const rounds = (usual: number, about: string): Flag => ({
  takes: "number",
  about,
  usual,
  least: 1,
  most: 1_000_000,
});

export const minutes = (usual: number, about = "ends after this long"): Flag => ({
  takes: "number",
  about,
  usual,
  least: 0.1,
  most: 1_440,
});

export const seed: Flag = {
  takes: "number",
  about: "repeats a run",
  usual: "random",
  least: -(2 ** 31),
  most: 2 ** 32,
};

export const database = (names: readonly string[]): Flag => ({
  takes: "text",
  about: `${names.join(", ")} (all)`,
});

/** Those with the name given to a flag; all when none is given. */
export function chosen<Kind extends { readonly name: string }>(
  all: readonly Kind[],
  options: Options,
  flag: string,
): readonly Kind[] {
  const wanted = options.text(flag);
  const found = all.filter(({ name }) => wanted === undefined || isCalled(wanted, name, flag));
  if (found.length === 0) throw new Error(`There is no ${flag} "${wanted}". Try --help.`);
  return found;
}

/** PostgreSQL may be called postgres as well. */
function isCalled(wanted: string, name: string, flag: string): boolean {
  if (flag !== "database") return name === wanted;
  return name.toLowerCase().startsWith(wanted.toLowerCase());
}

/** So many of them as `--sample` says, chosen by `--seed`. */
export function sampleOf<Item extends { readonly name: string }>(
  all: readonly Item[],
  options: Options,
): readonly Item[] {
  const chosenBy = BigInt(options.number("seed") >>> 0);
  const order = ({ name }: Item) => Bun.hash.wyhash(name, chosenBy);
  return all
    .toSorted((one, other) => (order(one) < order(other) ? -1 : 1))
    .slice(0, options.number("sample"));
}
