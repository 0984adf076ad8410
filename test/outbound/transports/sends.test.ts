import { awsEmulators } from "../../support/emulators/aws.ts";
import { natsEmulator } from "../../support/emulators/nats.ts";
import { rabbitmqEmulator } from "../../support/emulators/rabbitmq.ts";
import { redisEmulator } from "../../support/emulators/redis.ts";
import { transportSuite } from "../../support/transport-suite.ts";

const brokers = [
  await rabbitmqEmulator(),
  await natsEmulator(),
  await redisEmulator(),
  ...(await awsEmulators()),
];

transportSuite(
  "emulator",
  brokers.map((broker) => [broker.name, broker]),
);
