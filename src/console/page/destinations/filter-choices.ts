/** A condition of a filter that can be chosen instead of written. */
export interface Condition {
  readonly field: ConditionField;
  readonly operator: Operator;
  readonly value: string;
}

/** Conditions that must all match, or of which any must. */
export interface Choices {
  readonly join: "&&" | "||";
  readonly conditions: readonly Condition[];
}

export const conditionFields = ["provider", "type", "severity", "subject"] as const;
type ConditionField = (typeof conditionFields)[number];

export const operators = { "==": "is", "!=": "is not", startsWith: "starts with" } as const;
type Operator = keyof typeof operators;

export const isField = (text: string): text is ConditionField =>
  conditionFields.some((field) => field === text);
export const isOperator = (text: string): text is Operator => Object.hasOwn(operators, text);

/** The expression of conditions; empty without any. */
export function expressionOf({ join, conditions }: Choices): string {
  return conditions
    .map(({ field, operator, value }) =>
      operator === "startsWith"
        ? `event.${field}.startsWith(${quoted(value)})`
        : `event.${field} ${operator} ${quoted(value)}`,
    )
    .join(` ${join} `);
}

/** An expression in words, `severity is error or type starts with deploy`, if it consists of conditions. */
export function inWords(expression: string): string {
  const choices = choicesIn(expression);
  if (choices === null) return expression;
  return choices.conditions
    .map(({ field, operator, value }) => `${field} ${operators[operator]} ${value}`)
    .join(choices.join === "&&" ? " and " : " or ");
}

/** Without what would need an escape, which no id, type or severity has. */
const quoted = (value: string): string => `"${value.replaceAll(/["\\\p{Cc}]/gu, "")}"`;

const condition =
  /^event\.(\w+)(?:\.(startsWith)\("([^"\\\p{Cc}]*)"\)|\s*(==|!=)\s*"([^"\\\p{Cc}]*)")\s*/u;
const joint = /^(&&|\|\|)\s*/;

/** The conditions of an expression; null if it is more than conditions with one kind of joint. */
export function choicesIn(expression: string): Choices | null {
  const conditions: Condition[] = [];
  const joints = new Set<string>();
  let rest = expression.trim();
  while (rest !== "") {
    const [read = "", field = "", starts, prefix, compared, value] = condition.exec(rest) ?? [];
    const operator = starts ?? compared ?? "";
    if (!isField(field) || !isOperator(operator)) return null;
    conditions.push({ field, operator, value: prefix ?? value ?? "" });
    rest = rest.slice(read.length);
    if (rest === "") break;
    const [text = "", between = ""] = joint.exec(rest) ?? [];
    rest = rest.slice(text.length);
    if (between === "" || rest === "") return null;
    joints.add(between);
  }
  if (joints.size > 1) return null;
  return { join: joints.has("||") ? "||" : "&&", conditions };
}
