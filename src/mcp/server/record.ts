import { printable } from "../../base/payload.ts";
import type { Agent, AgentServices, Tool } from "../tool.ts";

/** Arguments that say what a call is about. Others can be long, and hold what a person typed. */
const isReference = (name: string, value: unknown): value is string =>
  /^(?:id|destination|provider)$/.test(name) && typeof value === "string";

/**
 * Records a call before it is made. Reads go on if it cannot be stored, because agents are needed most when the
 * database is full: then the log has the entry.
 */
export async function recordCall(
  { audit, storage, log }: Pick<AgentServices, "audit" | "storage" | "log">,
  agent: Agent,
  { name, needs }: Pick<Tool, "name" | "needs">,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const references = Object.entries(given).flatMap(([key, value]) =>
    // Without line breaks, which would look like other arguments.
    isReference(key, value) ? [`${key}: ${printable(value, 100)}`] : [],
  );
  const detail = [`tool: ${name}`, `client: ${agent.client}`, ...references].join("\n");
  const { caller: subject } = agent;
  const entry = audit.entry(agent, "agent.called", subject, detail);
  try {
    await storage.atomically(entry);
  } catch (error) {
    if (needs !== null) throw error;
    const { id: actor } = agent.actor;
    log.error(
      { err: error, actor, action: "agent.called", subject, tool: name },
      "failed to store an audit entry",
    );
  }
}
