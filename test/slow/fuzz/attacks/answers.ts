import { createServer, type Socket } from "node:net";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";

import type { Victim } from "../victim.ts";

import { answered, type Attack, expectStatus, flood, mebibyte, post } from "./attack.ts";

/** Test notifications that a caller may send in a minute. */
const maxTests = 20;

/** A destination of a user, whose server answers every connection by `answer`, is tested as often as is allowed. */
async function tested(
  { fetch, bearers }: Victim,
  name: string,
  answer: (socket: Socket) => void,
): Promise<void> {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const headers = { authorization: `Bearer ${bearers.user}` };
  try {
    const input = { name, format: "json", url: `http://127.0.0.1:${port}/` };
    const made = await fetch("/v1/destinations", post(JSON.stringify(input), headers));
    const { id }: { id?: unknown } = Object(await made.json());
    expectStatus(made.status, 201);
    await flood(maxTests, 10, () =>
      answered(fetch(`/v1/destinations/${String(id)}/test`, post("{}", headers))),
    );
  } finally {
    server.close();
  }
}

const zeros = Buffer.alloc(256 * mebibyte);
const packers = { gzip: gzipSync, zstd: zstdCompressSync, br: brotliCompressSync } as const;

const compressed = Object.entries(packers).map(([coding, pack]): Attack => ({
  name: `answers-in-${coding}`,
  about: `a destination that answers with 256 MiB of zeros in ${coding}`,
  async run(victim) {
    const bytes = pack(zeros);
    const head = `HTTP/1.1 500 No\r\nContent-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    await tested(victim, coding, (socket) => {
      socket.write(head);
      socket.write(bytes);
    });
  },
}));

/** Writes for as long as the other side reads. */
function endless(socket: Socket, start: string, chunk: string): void {
  socket.write(start);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
}

const ok = "HTTP/1.1 200 OK\r\n";

/** What the servers that Skyhook sends to may answer. */
export const answerAttacks: readonly Attack[] = [
  ...compressed,
  {
    name: "answers-of-headers",
    about: "a destination that answers with endless headers",
    run: (victim) =>
      tested(victim, "headers", (socket) => endless(socket, ok, `X-A: ${"a".repeat(8_000)}\r\n`)),
  },
  {
    name: "answers-without-end",
    about: "a destination that answers with an endless body",
    run: (victim) =>
      tested(victim, "body", (socket) => endless(socket, `${ok}\r\n`, "a".repeat(65_536))),
  },
];
