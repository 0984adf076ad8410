import { startFauxqs } from "fauxqs";

import { type Broker, type Taken, textsOf } from "../brokers.ts";

/** SQS and S3 by an emulator in this process. */
export async function awsEmulators(): Promise<readonly [sqs: Broker, s3: Broker]> {
  let server = await startFauxqs({ port: 0, logger: false });
  const { port } = server;
  /** Without a disk: it starts with empty queues and buckets. */
  const restartable = (make: (name: string) => void) => {
    const names = new Set<string>();
    return {
      async prepare(name: string) {
        names.add(name);
        make(name);
      },
      server: {
        kill: () => server.stop(),
        async start() {
          server = await startFauxqs({ port, logger: false });
          names.forEach(make);
        },
      },
    };
  };
  const at = `http://key:secret@127.0.0.1:${port}`;
  const stop = () => server.stop();
  const call = async (target: string, body: object): Promise<Record<string, unknown>> => {
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `AmazonSQS.${target}`,
      authorization: "AWS4-HMAC-SHA256 Credential=key/20261127/us-east-1/sqs/aws4_request",
    };
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return Object(await answer.json());
  };
  const queue = (topic: string) => `http://127.0.0.1:${port}/000000000000/${topic}.fifo`;
  return [
    {
      name: "sqs",
      ...restartable((topic) =>
        server.createQueue(`${topic}.fifo`, { attributes: { FifoQueue: "true" } }),
      ),
      address: (topic) => `${at}/000000000000/${topic}.fifo?region=us-east-1`,
      async read(topic) {
        const taken: Taken[] = [];
        for (;;) {
          const { Messages = [] } = await call("ReceiveMessage", {
            QueueUrl: queue(topic),
            MaxNumberOfMessages: 10,
            MessageAttributeNames: ["All"],
          });
          // Guarantee: the emulator answers as SQS does.
          const messages = Messages as readonly {
            Body: string;
            ReceiptHandle: string;
            MessageAttributes: Record<string, { StringValue: string }>;
          }[];
          if (messages.length === 0) return taken;
          for (const { Body, ReceiptHandle, MessageAttributes } of messages) {
            taken.push({
              body: Body,
              headers: textsOf(
                Object.entries(MessageAttributes).map(([name, { StringValue }]) => [
                  name,
                  StringValue,
                ]),
              ),
            });
            await call("DeleteMessage", { QueueUrl: queue(topic), ReceiptHandle });
          }
        }
      },
      stop,
    },
    {
      name: "s3",
      ...restartable((topic) => server.createBucket(topic)),
      address: (topic) => `${at}/${topic}/{provider}/{date}/{id}.json?region=us-east-1`,
      async read(topic) {
        const client = new Bun.S3Client({
          endpoint: `http://127.0.0.1:${port}`,
          bucket: topic,
          accessKeyId: "key",
          secretAccessKey: "secret",
          region: "us-east-1",
        });
        const taken: Taken[] = [];
        let startAfter = "";
        for (;;) {
          const { contents = [] } = await client.list({
            maxKeys: 1_000,
            ...(startAfter !== "" && { startAfter }),
          });
          if (contents.length === 0) return taken;
          for (const { key } of contents) {
            const answer = await fetch(`http://127.0.0.1:${port}/${topic}/${key}`, {
              headers: {
                authorization: "AWS4-HMAC-SHA256 Credential=key/20261127/us-east-1/s3/aws4_request",
              },
            });
            const metadata = [...answer.headers].map(
              ([name, value]) => [name.replace("x-amz-meta-", ""), value] as const,
            );
            taken.push({ body: await answer.text(), headers: textsOf(metadata) });
            startAfter = key;
          }
        }
      },
      stop: async () => {},
    },
  ];
}
