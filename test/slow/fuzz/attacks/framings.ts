import { signatureOf } from "../../../support/app.ts";

import {
  answered,
  type Attack,
  deliver,
  expectRefused,
  expectStatus,
  flood,
  head,
  mebibyte,
  Wire,
  withWires,
} from "./attack.ts";

const to = (path: string, ...headers: readonly string[]) => head(`POST ${path}`, ...headers);
const delivery = (...headers: readonly string[]) => to("/webhooks/code_host", ...headers);
const chunked = "Transfer-Encoding: chunked";

/** Sends it on a connection of its own; the status of the answer. */
async function statusOf(victim: Parameters<typeof Wire.open>[0], text: string): Promise<number> {
  using wire = await Wire.open(victim);
  await wire.send(text);
  return wire.status();
}

/** Sends a piece again and again until `bytes` are on their way, or the server answers. */
async function pour(wire: Wire, piece: Uint8Array, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes && wire.received === ""; sent += piece.length) {
    if (!(await wire.send(piece))) return;
  }
}

export const framingAttacks: readonly Attack[] = [
  {
    name: "length-twice",
    about: "two equal Content-Length headers, and 200 MiB of body",
    async run(victim) {
      using wire = await Wire.open(victim);
      const length = `Content-Length: ${200 * mebibyte}`;
      await wire.send(delivery(length, length));
      await pour(wire, Buffer.alloc(mebibyte, "x"), 200 * mebibyte);
      expectRefused(await wire.status());
      // What was counted for it must not stay counted.
      expectStatus(await deliver(victim, "task_tracker", mebibyte), 200);
    },
  },
  {
    name: "length-too-large",
    about: "bodies that announce more than is allowed, with and without Expect: 100-continue",
    run: (victim) =>
      flood(60, 20, async (n) => {
        const expect = n % 2 === 0 ? ["Expect: 100-continue"] : [];
        await statusOf(victim, delivery("Content-Length: 99999999999", ...expect));
      }),
  },
  {
    name: "chunk-sizes",
    about: "chunk sizes that are none, or overflow",
    run: async (victim) => {
      const sizes = [
        "ffffffffffffffff",
        "7fffffffffffffff",
        "-5",
        "0x5",
        "5 5",
        "g",
        "",
        "0".repeat(15_000),
        `5${" ".repeat(15_000)}`,
      ];
      await flood(sizes.length, sizes.length, (n) =>
        statusOf(victim, `${delivery(chunked)}${sizes[n]}\r\nhello\r\n0\r\n\r\n`),
      );
    },
  },
  {
    name: "chunk-extensions",
    about: "2,000 chunks of 5 bytes with 4 KB of extensions each",
    async run(victim) {
      using wire = await Wire.open(victim);
      await wire.send(delivery(chunked));
      const piece = Buffer.from(`5;${"x".repeat(4_000)}=y\r\nhello\r\n`);
      await pour(wire, piece, 2_000 * piece.length);
      await wire.send("0\r\n\r\n");
    },
  },
  {
    name: "trailers",
    about: "100,000 lines of trailers after an empty body",
    async run(victim) {
      using wire = await Wire.open(victim);
      await wire.send(`${delivery(chunked)}0\r\n`);
      const piece = Buffer.from("x-trailer: aaaaaaaaaaaaaaaa\r\n".repeat(1_000));
      await pour(wire, piece, 100 * piece.length);
      await wire.send("\r\n");
    },
  },
  {
    name: "after-the-body",
    about: "1,000 signed deliveries, each followed by a line break or a trailer",
    run: (victim) =>
      flood(1_000, 20, async (n) => {
        const body = JSON.stringify({ event_name: "item:added", id: crypto.randomUUID() });
        const signature = Object.entries(signatureOf("task_tracker", body));
        const headers = signature.map(([name, value]) => `${name}: ${value}`);
        const post = (framing: string) => to("/webhooks/task_tracker", ...headers, framing);
        const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Sum: a\r\n\r\n`;
        const text =
          n % 2 === 0
            ? `${post(`Content-Length: ${body.length}`)}${body}\r\n`
            : `${post(chunked)}${chunk}`;
        expectRefused(await statusOf(victim, text));
      }),
  },
  {
    name: "one-byte-chunks",
    about: "5 MB of body in chunks of one byte, in one connection",
    // Bun reads some 12 MB of a socket that is always ready before anything else has its turn: 2 MB of
    // these chunks, whatever the program does, in 100 to 250 ms.
    livezLimitMs: 400,
    async run(victim) {
      using wire = await Wire.open(victim);
      await wire.send(delivery(chunked));
      const piece = Buffer.from("1\r\nx\r\n".repeat(10_000));
      await pour(wire, piece, 500 * piece.length);
      await wire.send("0\r\n\r\n");
      await wire.status(5_000);
    },
  },
  {
    name: "large-chunks",
    about: "four bodies of 25 MiB at once in chunks of 64 KiB, unsigned",
    growthLimitBytes: 300 * mebibyte,
    run: (victim) =>
      withWires(victim, 4, (wires) =>
        flood(4, 4, async (n) => {
          const wire = wires[n];
          if (wire === undefined) return;
          await wire.send(delivery(chunked));
          const piece = Buffer.from(`10000\r\n${"x".repeat(0x1_0000)}\r\n`);
          await pour(wire, piece, 399 * piece.length);
          await wire.send("0\r\n\r\n");
          await wire.status(5_000);
        }),
      ),
  },
  {
    name: "codings",
    about: "Content-Encoding of every kind, over 5 MiB that would unpack to more",
    async run({ fetch }) {
      const packed = Bun.gzipSync(Buffer.alloc(100 * mebibyte));
      const codings = ["gzip", "br", "deflate", "zstd", "gzip, gzip", "identity, gzip", "GZIP"];
      for (const path of ["/webhooks/task_tracker", "/graphql", "/v1/users", "/v1/auth/token"]) {
        await flood(codings.length, 4, (n) =>
          answered(
            fetch(path, {
              method: "POST",
              body: packed,
              headers: { "content-encoding": codings[n] ?? "", "content-type": "application/json" },
            }),
          ),
        );
      }
    },
  },
];
