/**
 * What carries messages, and what its URL is. The console's page imports this list, so it stays apart from the
 * functions, and names no other origin.
 */
export const transports = {
  http: { label: "HTTP", url: "The URL of your service" },
  smtp: { label: "SMTP", url: "smtps://user:password@host:465/?from=…&to=…" },
  rabbitmq: {
    label: "RabbitMQ",
    url: "amqps: user:password@host/vhost?exchange=…&routingKey=…",
  },
  nats: { label: "NATS JetStream", url: "tls: user:password@host?subject=…" },
  sqs: {
    label: "Amazon SQS",
    url: "The URL of the queue, with key:secret@ before its host, or none for the platform’s identity",
  },
  s3: {
    label: "Amazon S3 and compatibles",
    url: "The URL of the bucket, with key:secret@ before its host and a path such as {date}/{id}",
  },
  redis: { label: "Redis Streams", url: "rediss: user:password@host/0?stream=…" },
} as const;

export type TransportName = keyof typeof transports;
// Guarantee: the object has no other keys.
export const transportNames = Object.keys(transports) as readonly TransportName[];

export type BrokerName = Exclude<TransportName, "http">;
