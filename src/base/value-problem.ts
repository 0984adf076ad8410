/** A key of an object, or an index of an array, on the way to a value. */
export type Step = string | number;

/** What is wrong with a value, and what to write instead. */
export interface ValueProblem {
  readonly path: readonly Step[];
  readonly message: string;
}

/** Messages, each with whether it applies to a value; and by name, the rules of its members. */
export interface Rules {
  readonly [messageOrMember: string]: boolean | undefined | Rules;
}

/** The problems of a value at a path: the messages that apply. */
export function problemsIn(rules: Rules, path: readonly Step[] = []): readonly ValueProblem[] {
  return Object.entries(rules).flatMap(([name, rule]) => {
    if (typeof rule === "object") return problemsIn(rule, [...path, name]);
    return rule === true ? [{ path, message: name }] : [];
  });
}

/** The rules of each entry, as one. */
export function rulesOfEach<Entry>(
  entries: readonly Entry[],
  rulesOf: (entry: Entry) => Rules,
): Rules {
  return Object.fromEntries(entries.flatMap((entry) => Object.entries(rulesOf(entry))));
}

/** The first message that applies, if the others follow from it. */
export function firstOnly(rules: Rules): Rules {
  return Object.fromEntries(
    Object.entries(rules)
      .filter(([, applies]) => applies)
      .slice(0, 1),
  );
}
