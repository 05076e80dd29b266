import { Buffer } from 'node:buffer';
import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import { importPackage } from './checkout.ts';
import { KEY, SECRET, type Scheme, type SignedMessage } from './deliveries.ts';

/** Verifies one message. Throws, or returns false, when it is not authentic. */
export type Verify = (message: SignedMessage) => unknown;

interface Verifier {
  readonly scheme: Scheme;
  /** Loads the library, in the contender's own process only. */
  load(root: string): Promise<Verify> | Verify;
}

/** Functions that check one signature. */
export const VERIFY = {
  /** As in its guide; it parses the body as well. */
  standardwebhooks: {
    scheme: 'standard',
    load: async () => {
      const { Webhook } = await import('standardwebhooks');
      const webhook = new Webhook(SECRET);
      return ({ headers, body }) => webhook.verify(body, headers);
    },
  },
  /** The signature alone, without parsing, like ours. */
  'standardwebhooks, signature': {
    scheme: 'standard',
    load: async () => {
      const { Webhook } = await import('standardwebhooks');
      const webhook = new Webhook(SECRET);
      return ({ headers, body }) => {
        webhook.verify(body, headers, { jsonParse: false });
      };
    },
  },
  /** It parses the body as well; that can't be turned off. */
  svix: {
    scheme: 'svix',
    load: async () => {
      const { Webhook } = await import('svix');
      const webhook = new Webhook(SECRET);
      return ({ headers, body }) => webhook.verify(body, headers);
    },
  },
  /** The signature alone, without parsing. */
  stripe: {
    scheme: 'stripe',
    load: async () => {
      const { default: Stripe } = await import('stripe');
      const { webhooks } = new Stripe('sk_test_none');
      return ({ headers, body }) =>
        webhooks.signature?.verifyHeader(body, headers['stripe-signature'] as string, SECRET);
    },
  },
  /** Over the body alone, as a text; it has no timestamp. */
  octokit: {
    scheme: 'github',
    load: async () => {
      const { verify } = await import('@octokit/webhooks-methods');
      return ({ headers, body }) =>
        verify(SECRET, body.toString(), headers['x-hub-signature-256'] as string);
    },
  },
  /** The best hand-written code on `createHmac`; it checks neither the headers nor the time. */
  createHmac: {
    scheme: 'service',
    load: () => {
      const key = createSecretKey(KEY);
      return ({ headers, body }) => {
        const digest = createHmac('sha256', key)
          .update(`${headers['x-service-webhook-id']}.${headers['x-service-timestamp']}.`)
          .update(body)
          .digest();
        const sent = Buffer.from((headers['x-service-signature'] as string).slice(3), 'base64');
        return digest.length === sent.length && timingSafeEqual(digest, sent);
      };
    },
  },
  /** The least that an HMAC can cost: a hash of the body and one of a digest. It verifies nothing. */
  'two hashes (floor)': {
    scheme: 'service',
    load: () => {
      const outer = Buffer.alloc(64 + 32);
      return ({ body }) => {
        const digest = hash('sha256', body, 'binary');
        return digest.length === 32 && hash('sha256', outer, 'base64');
      };
    },
  },
  /** The whole public `verify`: headers, timestamp, HMAC, comparison, and its promise. */
  'call-webhooks': {
    scheme: 'service',
    load: async (root) => {
      const { verify } = await importPackage<typeof import('@call-webhooks/core')>(root, 'core');
      const options = { secret: SECRET };
      return (message) => verify(message, options);
    },
  },
} satisfies Record<string, Verifier>;

export type VerifyName = keyof typeof VERIFY;
