import { createRequire } from "node:module";

type Named = Readonly<Record<string, string>>;
type VerifySecret = new (secret: string) => {
  verify(body: string | Buffer, headers: Named | string): unknown;
  sign(id: string, at: Date, body: string): string;
};

/** The functions that are called here, by the package that exports them. They return false or throw to reject. */
interface Sdks {
  readonly stripe: new (key: string) => {
    readonly webhooks: {
      constructEventAsync(body: string, header: string, secret: string): Promise<object>;
      generateTestHeaderStringAsync(signed: object): Promise<string>;
    };
  };
  readonly "@octokit/webhooks": {
    readonly Webhooks: new (options: { secret: string }) => {
      verify(body: string, signature: string): Promise<boolean>;
      sign(body: string): Promise<string>;
    };
  };
  readonly svix: { readonly Webhook: VerifySecret };
  readonly standardwebhooks: { readonly Webhook: VerifySecret };
  readonly "@linear/sdk/webhooks": { readonly LinearWebhookClient: VerifySecret };
  readonly "@slack/bolt": {
    verifySlackRequest(request: { signingSecret: string; body: string; headers: object }): void;
  };
  readonly "@shopify/shopify-api/adapters/web-api": object;
  readonly "@shopify/shopify-api": {
    shopifyApi(options: object): {
      readonly webhooks: {
        validate(request: { rawBody: string; rawRequest: Request }): Promise<{ valid: boolean }>;
      };
    };
  };
  readonly twilio: {
    validateRequest(token: string, signature: string, url: string, form: Named): boolean;
  };
  readonly "@sendgrid/eventwebhook": {
    readonly EventWebhook: new () => {
      convertPublicKeyToECDSA(key: string): object;
      verifySignature(key: object, body: string, signature: string, time: string): boolean;
    };
  };
  readonly "@workos-inc/node": {
    readonly WorkOS: new (key: string) => {
      readonly webhooks: {
        constructEvent(event: {
          payload: unknown;
          sigHeader: string;
          secret: string;
        }): Promise<object>;
      };
    };
  };
  readonly "@mux/mux-node": new (options: object) => {
    readonly webhooks: { verifySignature(body: string, headers: Named, secret: string): unknown };
  };
  readonly "@paddle/paddle-node-sdk": {
    readonly Paddle: new (key: string) => {
      readonly webhooks: {
        isSignatureValid(body: string, secret: string, signature: string): Promise<boolean>;
      };
    };
  };
  readonly "@adyen/api-library": {
    readonly hmacValidator: new () => {
      validateHMACSignature(key: string, signature: string, body: string): boolean;
      validateHMAC(item: unknown, key: string): boolean;
    };
  };
  readonly square: {
    readonly WebhooksHelper: {
      verifySignature(request: {
        requestBody: string;
        signatureHeader: string;
        signatureKey: string;
        notificationUrl: string;
      }): Promise<boolean>;
    };
  };
  readonly razorpay: {
    validateWebhookSignature(body: string, signature: string, secret: string): boolean;
  };
  readonly "@line/bot-sdk": {
    validateSignature(body: string, secret: string, signature: string): boolean;
  };
  readonly grammy: {
    readonly Bot: new (token: string, options: object) => object;
    webhookCallback(
      bot: object,
      adapter: "std/http",
      options: { secretToken: string },
    ): (request: Request) => Promise<Response>;
  };
  readonly "discord-interactions": {
    verifyKey(body: string, signature: string, time: string, key: string): Promise<boolean>;
  };
  readonly "sns-validator": new (hosts: RegExp) => {
    validate(message: object, done: (error: Error | null) => void): void;
  };
  readonly "@hubspot/api-client": {
    readonly Signature: { isValid(request: object): boolean };
  };
  readonly "gocardless-nodejs/webhooks": {
    parse(body: string, secret: string, signature: string): object;
  };
}

const require = createRequire(import.meta.url);

/** A package of the folder. Guarantee: the versions in bun.lock export these functions; a call of a missing one throws. */
export const sdk = <Name extends keyof Sdks>(name: Name): Sdks[Name] => require(name) as Sdks[Name];
