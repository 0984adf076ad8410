import type { ASTNode } from "@marcbachmann/cel-js";

/** Calls `visit` for a node and everything below it. */
export function walk(node: ASTNode, visit: (node: ASTNode) => void): void {
  visit(node);
  for (const operand of operands(node)) walk(operand, visit);
}

/** The nodes directly below a node. */
export function operands(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args;
  }
}

/** The name of the function that a node calls; null for other nodes. */
export function calledBy(node: ASTNode): string | null {
  return node.op === "call" || node.op === "rcall" ? node.args[0] : null;
}

/** The names in a path such as `event.data.environment` or `event.data["environment"]`; null for other nodes. */
export function pathOf(node: ASTNode): readonly string[] | null {
  if (node.op === "id") return [node.args];
  if (node.op !== "." && node.op !== "[]") return null;
  const [of, key] = node.args;
  const name = typeof key === "string" ? key : key.op === "value" ? key.args : null;
  const path = pathOf(of);
  return path === null || typeof name !== "string" ? null : [...path, name];
}
