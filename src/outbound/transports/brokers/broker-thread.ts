// The entry of a thread that holds the connection to one message system. Libraries parse there what any server may
// answer: only this thread can fail, block or grow.

import { Socket } from "node:net";
import { Readable } from "node:stream";

import { connectionError, errorMessage } from "../../../base/errors.ts";
import {
  bytesOf,
  type Message,
  type Opening,
  type SendMessage,
  TransportError,
} from "../transport.ts";
import { transports } from "../transports.ts";

import { type SystemName, systems } from "./systems.ts";

export interface ThreadStart extends Omit<Opening, "fail"> {
  readonly name: SystemName;
  readonly address: string;
}

/** First the server to connect to, then messages, each of which has an answer. */
export type ThreadMessage = ThreadStart | { readonly call: number; readonly message: Message };

/** `call` null: the connection is broken. */
export interface ThreadAnswer {
  readonly call: number | null;
  /** Null once the message is confirmed. */
  readonly error: string | null;
  /** As in `TransportError`; null if the connection cannot be used any more. */
  readonly isFinal: boolean | null;
}

declare const self: Worker;

/** The most that a system may answer before the next message, in addition to messages that it returns. */
const maxAnswerBytes = 256 * 1024;
/** The most that an error repeats of an answer. */
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

/** Checks what sockets read, because libraries open them and have no limit. */
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
