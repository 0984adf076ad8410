/** A webhook secret shorter than this can be guessed. */
export const leastSecretLength = 16;

/**
 * Secrets in the documentation of services and of Skyhook, and in Skyhook's tests: anyone can sign with them. Shorter
 * ones are rejected for their length.
 */
const documentedSecrets: ReadonlySet<string> = new Set([
  // The services' documentation and libraries.
  "It's a Secret to Everybody",
  "8f742231b10e8888abcd99yyyzzz85a5",
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "whsec_plJ3nmyCDGBKInavdOK15jsl",
  "whsec_RdvaYFYUXuIFuEbvZHwMfYFhUf7aMYjYcmM24+Aj40c=",
  "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
  "SamplePrimaryKey",
  "LR+QgKlbRciIPYpi65tTKLaZ3FzLLofCNEQWrRXqWXJeDFrfexzfVI9SmnVuCWDJ4jnjHB9ECtOyxZSofRxwWw==",
  "5mEzn9C-I28UtwOjZJtFoob0sAAFZ95GbZkqj4y3i0I",
  "ED7D658C-D8EB-4941-948B-3973214F2D49",
  "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy",
  "00000000-aaaa-4bbb-8ccc-dddddddddddd",
  "8c570fa6dd201bb328f1c1eac23a96d8",
  "key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
  "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl",
  "pdl_ntfset_01gkpjp8bkm3tm53kdgkx6sms7_6h3qd3uFSi9YCD3OLYAShQI90XTI5vEI",
  "lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK",
  "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==",
  // Skyhook's documentation and tests.
  "a-secret-you-chose",
  "skyhook:a-secret-you-chose",
  "skyhook:0123456789abcdef0123456789abcdef",
  "d5f1a3c7e9b2486f0a1c3e5d7f9b2a4c",
  "7a485448a9dbad87c5ba8a9d6b8bb4cb2f5dd8c8c9e4a3a1",
  "cal-webhook-secret",
  "gitlab-secret-token-0123456789",
  "hush-hush-client-secret",
  "lemon-signing-secret",
  "lin_wh_0123456789abcdefABCDEF",
  "8D2A6F3C5B7E90142D4F6A8C0E1B3D5F7092A4C6E8F01B3D5F708192A3B4C5D6",
  "whsec_Z2l0bGFiLXNpZ25pbmctdG9rZW4tb2YtMzItYnl0ZXM=",
  "whsec_bWNwLXN1YnNjcmlwdGlvbi1zZWNyZXQtMzItYnl0ZXM=",
  "dGhpc19pc19hX3plbmRlc2tfdHJpZ2dlcl9zZWNyZXQ=",
  "3f8a1c2b5d6e7f8091a2b3c4d5e6f70815263748596a7b8c9daebfc0d1e2f304",
  "whsec_YSBrZXkgb2YgdGhpcnR5LXR3byByYW5kb20gYnl0ZXM=",
  "wsec_3f8a1c2b5d6e7f8091a2b3c4d5e6f70815263748596a7b8c9daebfc0d1e2f304",
  "polar_whs_3f8a1c2b5d6e7f8091a2b3c4d5e6f70815263748",
  "mandrill-webhook-key-0123",
  "facebook-app-secret-0123456789abcd",
  "instagram-app-secret-0123456789abcd",
  "monday-signing-secret-0123456789",
  "mux-signing-secret-0123456789",
  "okta-event-hook-secret-0123456789",
  "onfido-webhook-token",
  "plaid-client-id:plaid-secret",
  "sanity-webhook-secret",
  "sk_test_0123456789abcdef0123456789abcdef01234567",
  "telegram_secret-token_0123",
  "4f2b8c0d9e1a7365b4f2b8c0d9e1a736",
  "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
  "webflow-webhook-secret-0123456789",
  "0123456789abcdef0123456789abcdef",
  "wh_0123456789abcdef",
  "zoom-webhook-secret-token",
]);

/** Whether a shared secret is a published example. */
export function isDocumentedSecret(secret: string): boolean {
  return documentedSecrets.has(secret.trim());
}
