import { userInfo } from "node:os";

/** The name of the operating system's user. */
export function operatorName(env: NodeJS.ProcessEnv): string {
  const { username, uid } = userInfo();
  return username === "unknown" ? (env["USER"] ?? `uid ${uid}`) : username;
}
