import { sha256 } from "../../../base/crypto.ts";
import { endpointOf, type Message, type Transport, TransportError } from "../transport.ts";

import { type AwsSend, awsSender, awsTarget } from "./aws.ts";

const example = "https://KEY:SECRET@sqs.eu-west-1.amazonaws.com/123456789012/events.fifo";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const maxBytes = 1_048_576;
const maxAttributes = 10;
const maxIdCharacters = 128;
/** What a message may hold (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html). */
const allowed = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Sends to a queue of Amazon SQS, by its JSON protocol. */
export const sqs: Transport = {
  check: (address, rules) => endpointOf(awsTarget(address, example, rules).url),
  connect(address, parts) {
    const target = awsTarget(address, example, parts.rules);
    const send = awsSender(target, "sqs", parts);
    return {
      send: (message, signal) => sendMessage(send, target.url, message, signal),
      close() {},
    };
  },
};

async function sendMessage(send: AwsSend, queue: URL, message: Message, signal: AbortSignal) {
  const text = textOf(message);
  const isFifo = queue.pathname.endsWith(".fifo");
  const request = {
    QueueUrl: queue.href,
    MessageBody: text,
    MessageAttributes: attributesOf(message),
    ...(isFifo && {
      // Without an order, each message is a group of its own.
      MessageGroupId: idOf(message.orderKey ?? message.id),
      MessageDeduplicationId: idOf(message.id),
    }),
  };
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": "AmazonSQS.SendMessage",
  };
  const body = JSON.stringify(request);
  const { text: answer } = await send(
    { method: "POST", url: new URL("/", queue), headers, body },
    signal,
  );
  if (!/"MessageId"/.test(answer)) {
    throw new TransportError("The answer is not that of SQS: it has no MessageId");
  }
}

/** Throws a `TransportError` for a body that no queue takes. */
function textOf({ body, headers }: Message): string {
  const refused = (reason: string) => new TransportError(`SQS takes ${reason}`, { isFinal: true });
  let text: string;
  try {
    text = typeof body === "string" ? body : utf8.decode(body);
  } catch {
    throw refused("only UTF-8");
  }
  if (!allowed.test(text)) throw refused("no control characters");
  const size = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(headers));
  if (size > maxBytes) throw refused(`at most ${maxBytes} bytes`);
  return text;
}

/** The headers by their names; what exceeds the number that is allowed is JSON in the last one. */
function attributesOf({ headers }: Message) {
  const entries = Object.entries(headers);
  const fits = entries.length <= maxAttributes;
  const own = fits ? entries : entries.slice(0, maxAttributes - 1);
  const rest = Object.fromEntries(fits ? [] : entries.slice(maxAttributes - 1));
  const all = fits ? own : [...own, ["headers", JSON.stringify(rest)] as const];
  return Object.fromEntries(
    all.map(([name, value]) => [name, { DataType: "String", StringValue: value }]),
  );
}

/** An id of letters, digits and punctuation; the hash of any other text. */
function idOf(text: string): string {
  const fits = text.length <= maxIdCharacters && /^[\x21-\x7e]+$/.test(text);
  return fits ? text : sha256(text);
}
