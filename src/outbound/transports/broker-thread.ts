// The entry of a thread that holds the connection to one message system. Libraries parse there what any server may
// answer: only this thread can fail, block or grow.

import { Socket } from "node:net";
import { Readable } from "node:stream";

import { connectionError, errorMessage } from "../../base/errors.ts";

import { type SystemName, systems } from "./systems.ts";
import {
  bytesOf,
  type Message,
  type Opening,
  type SendMessage,
  TransportError,
} from "./transport.ts";
import { transports } from "./transports.ts";

export interface ThreadStart extends Omit<Opening, "fail"> {
  readonly name: SystemName;
  readonly address: string;
}

/** First where to connect to, then messages, each of which is answered. */
export type ThreadMessage = ThreadStart | { readonly call: number; readonly message: Message };

/** `call` null: the connection is broken. */
export interface ThreadAnswer {
  readonly call: number | null;
  /** Null once the message is confirmed. */
  readonly error: string | null;
  /** As of `TransportError`; null if the connection cannot be used any more. */
  readonly isFinal: boolean | null;
}

declare const self: Worker;

/** The most that a system answers before the next message, besides messages that it returns. */
const maxAnswerBytes = 256 * 1024;
/** Of what a system answered. */
const maxQuotedCharacters = 100;
const maxErrorCharacters = 1_000;

let sender: Promise<SendMessage> | null = null;
/** The bytes of messages that wait for an answer. */
let waitingBytes = 0;
let allowedBytes = maxAnswerBytes;

self.addEventListener("message", ({ data }: MessageEvent<ThreadMessage>) => {
  if ("name" in data) sender = open(data);
  else if (sender !== null) void send(sender, data.call, data.message);
});
process.on("uncaughtException", fail).on("unhandledRejection", fail);
// Libraries print what they do not understand.
for (const method of Object.keys(console)) Object.assign(console, { [method]: () => {} });

function open({ name, address, ...place }: ThreadStart): Promise<SendMessage> {
  checkAnswers(name);
  const opening = systems[name].open(address, { ...place, fail });
  opening.catch(fail);
  return opening;
}

async function send(opened: Promise<SendMessage>, call: number, message: Message): Promise<void> {
  const size = bytesOf(message.body).length + JSON.stringify(message.headers).length;
  waitingBytes += size;
  allowedBytes = maxAnswerBytes + waitingBytes;
  try {
    await (
      await opened
    )(message);
    answer({ call, error: null, isFinal: null });
  } catch (error) {
    const isFinal = error instanceof TransportError ? error.isFinal : null;
    answer({ call, error: textOf(error), isFinal });
  } finally {
    waitingBytes -= size;
  }
}

function fail(error: unknown): void {
  answer({ call: null, error: textOf(error), isFinal: null });
}

const answer = (value: ThreadAnswer) => self.postMessage(value);

const textOf = (error: unknown) =>
  (connectionError(error) ?? errorMessage(error)).slice(0, maxErrorCharacters);

/** Libraries have no limit for what they read, and open their sockets themselves. */
function checkAnswers(name: SystemName): void {
  let isFirst = true;
  Socket.prototype.push = function pushChecked(chunk: Uint8Array | null, encoding) {
    if (chunk === null) return Readable.prototype.push.call(this, chunk, encoding);
    allowedBytes -= chunk.length;
    const text = Buffer.from(chunk.subarray(0, maxQuotedCharacters)).toString("latin1");
    const isKnown = !isFirst || systems[name].firstBytes.includes(text.charAt(0));
    isFirst = false;
    if (isKnown && allowedBytes >= 0) return Readable.prototype.push.call(this, chunk, encoding);
    const { label } = transports[name];
    fail(new Error(isKnown ? `${label} answers more than it can` : `not ${label}: ${text}`));
    this.destroy();
    return false;
  };
}
