import { createApp } from "../../src/app.ts";
import type { Role } from "../../src/base/context.ts";

import { startApp } from "./app.ts";

/** One message of an event stream. */
export interface FeedMessage {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads an event stream on demand. */
export function readFeed(response: Response) {
  if (response.status !== 200 || response.body === null) {
    throw new Error(`The feed answered ${response.status}`);
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let rest = "";

  /** Returns the next line, without its line break. Throws at the end of the stream. */
  async function line(): Promise<string> {
    for (;;) {
      const [first, ...others] = lines;
      if (first !== undefined) {
        lines = others;
        return first;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error("The stream has ended");
      const parts = `${rest}${decoder.decode(value, { stream: true })}`.split("\n");
      rest = parts.pop() ?? "";
      lines = parts;
    }
  }

  return {
    line,
    /** Returns the next message. Ignores comments and other fields. */
    async next(): Promise<FeedMessage> {
      const fields = new Map<string, string>();
      for (;;) {
        const text = await line();
        const [, name, value] = /^(\w+): (.*)$/.exec(text) ?? [];
        if (name !== undefined && value !== undefined) fields.set(name, value);
        if (text === "" && fields.has("data")) break;
      }
      const data: unknown = JSON.parse(fields.get("data") ?? "");
      if (typeof data !== "object" || data === null) throw new Error("The data is not an object");
      return { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: { ...data } };
    },
    /** Reads the rest; true when the stream ends or fails. */
    async ended() {
      try {
        while (!(await reader.read()).done);
      } catch {
        // A broken connection counts as the end.
      }
      return true;
    },
    async close() {
      try {
        await reader.cancel();
      } catch {
        // The stream has already ended.
      }
    },
  };
}

export type FeedReader = ReturnType<typeof readFeed>;

/** Serves an app on a port until the test ends, with requests to one of its streams. */
export async function serveStream(ends: (() => unknown)[], path: string) {
  const app = await startApp();
  const listening = createApp(app.services).listen({ port: 0, hostname: "127.0.0.1" });
  const port = listening.server?.port ?? 0;
  ends.push(async () => {
    app.services.drain();
    await listening.server?.stop(true);
    await app.stop();
  });
  const ask = async (role: Role | null, query = "", init: RequestInit = {}) => {
    const token = await app.services.tokens.mint({ id: "t", roles: role ? [role] : [] }, 3_600);
    const headers = new Headers(role === null ? {} : { authorization: `Bearer ${token}` });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return fetch(`http://127.0.0.1:${port}${path}${query}`, { ...init, headers });
  };
  const follow = async (query = "", lastEventId?: string): Promise<FeedReader> => {
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const reader = readFeed(await ask("operator", query, { headers }));
    ends.push(() => reader.close());
    return reader;
  };
  return { app, port, ask, follow };
}
