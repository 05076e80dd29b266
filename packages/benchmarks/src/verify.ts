import { Buffer } from 'node:buffer';
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { importPackage } from './checkout.ts';
import { ContenderProcess, cpuMicros, type Answers } from './contender-process.ts';
import { KEY, SECRET, signedMessages, type Scheme, type SignedMessage } from './deliveries.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Start } from './rounds.ts';

/** Verifies one message. Throws, or returns false, when it is not authentic. */
type Verify = (message: SignedMessage) => unknown;

/** Loads a library, in the process of its contender only. */
type Load = (root: string) => Promise<Verify> | Verify;

const VERIFY: Record<string, readonly [Scheme, Load]> = {
  /** The whole public `verify`: headers, timestamp, HMAC, comparison, and its promise. */
  'call-webhooks': [
    'service',
    async (root) => {
      const { verify } = await importPackage(root, 'core');
      const options = { secret: SECRET };
      return (message) => verify(message, options);
    },
  ],
  /** As in its guide; it parses the body as well. */
  standardwebhooks: [
    'standard',
    () => {
      const webhook = new Webhook(SECRET);
      return ({ headers, body }) => webhook.verify(body, headers);
    },
  ],
  /** The signature alone, without parsing, like ours. */
  'standardwebhooks, signature': [
    'standard',
    () => {
      const webhook = new Webhook(SECRET);
      return ({ headers, body }) => {
        webhook.verify(body, headers, { jsonParse: false });
      };
    },
  ],
  /** It parses the body as well; that can't be turned off. */
  svix: [
    'svix',
    () => {
      const webhook = new Svix(SECRET);
      return ({ headers, body }) => webhook.verify(body, headers);
    },
  ],
  /** The best hand-written code on `createHmac`; it checks neither the headers nor the time. */
  createHmac: [
    'service',
    () => {
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
  ],
};

const OURS = 'call-webhooks';
const COMPARE = Object.keys(VERIFY)
  .filter((name) => name !== OURS)
  .map((name) => [name, OURS] as const);

export async function measure(options: BenchOptions): Promise<Result> {
  const operations = options.quick ? 500 : 60_000;
  const start =
    (name: string): Start =>
    async (root) => {
      const contender = await ContenderProcess.start(import.meta.url, [name, root]);
      return {
        turn: async () => ({ 'CPU µs': await contender.ask<number>('verify', operations) }),
        stop: () => contender.stop(),
      };
    };
  const contenders = Object.fromEntries(Object.keys(VERIFY).map((name) => [name, start(name)]));
  const question = {
    contenders,
    compare: COMPARE,
    isOurs: (name: string) => name === OURS,
    warmUps: 3,
  };
  const rounds = await runRounds(question, options);
  return { title: 'one signature of 1 KB', rounds, compare: COMPARE };
}

/** Few enough to stay in the processor's cache, where a request that was just read is as well. */
const MESSAGES = 50;

export async function serve(name: string, root: string): Promise<Answers> {
  const [scheme, load] = VERIFY[name] as (typeof VERIFY)[string];
  const verify = await load(root);
  const isAuthentic = async (message: SignedMessage) => (await verify(message)) !== false;
  const [message] = signedMessages(scheme, 1) as [SignedMessage];
  const forged = { ...message, body: Buffer.alloc(message.body.length, 'x') };
  if (await isAuthentic(forged).catch(() => false))
    throw new Error(`${name} accepts a forged message.`);
  return {
    async verify(operations: number) {
      const messages = signedMessages(scheme, MESSAGES); // new ones, because timestamps expire
      const before = cpuMicros();
      for (let done = 0; done < operations; done += MESSAGES)
        for (const message of messages)
          if ((await verify(message)) === false)
            throw new Error('An authentic message was refused.');
      return (cpuMicros() - before) / operations;
    },
  };
}
