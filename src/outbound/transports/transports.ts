/**
 * What carries messages, and what its address is. The console's page imports this list, so it stays apart from the
 * functions, and names no other origin.
 */
export const transports = {
  http: { label: "HTTP", address: "The URL of your service" },
  smtp: { label: "SMTP", address: "smtps://user:password@host:465/?from=…&to=…" },
  rabbitmq: {
    label: "RabbitMQ",
    address: "amqps: user:password@host/vhost?exchange=…&routingKey=…",
  },
  nats: { label: "NATS JetStream", address: "tls: user:password@host?subject=…" },
  sqs: { label: "Amazon SQS", address: "The URL of the queue, with key:secret@ before its host" },
  s3: {
    label: "Amazon S3 and compatibles",
    address:
      "The URL of the bucket, with key:secret@ before its host and a path such as {date}/{id}",
  },
  redis: { label: "Redis Streams", address: "rediss: user:password@host/0?stream=…" },
} as const;

export type TransportName = keyof typeof transports;
// Guarantee: the object has no other keys.
export const transportNames = Object.keys(transports) as readonly TransportName[];

export type BrokerName = Exclude<TransportName, "http">;
