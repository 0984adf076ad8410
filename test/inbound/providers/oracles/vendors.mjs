import { development } from "./vendors-development.mjs";
import { documented } from "./vendors-documented.mjs";
import { messages } from "./vendors-messages.mjs";
import { payments } from "./vendors-payments.mjs";

export const vendors = [...messages, ...payments, ...development, ...documented];
