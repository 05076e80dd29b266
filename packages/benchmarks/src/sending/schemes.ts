import { Buffer } from 'node:buffer';
import { createHmac, randomUUID } from 'node:crypto';

/** The secret of every contender. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** Its bytes. */
export const KEY = Buffer.from(SECRET.slice('whsec_'.length), 'base64');

/** Whose headers a contender reads. */
export type Scheme = 'service' | 'standard' | 'svix' | 'github' | 'stripe';

type Sign = (body: Buffer) => Record<string, string>;

const SIGN: Record<Scheme, Sign> = {
  service: withId('x-service-webhook-id', 'x-service-timestamp', 'x-service-signature'),
  standard: withId('webhook-id', 'webhook-timestamp', 'webhook-signature'),
  svix: withId('svix-id', 'svix-timestamp', 'svix-signature'),
  github: (body) => ({
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  }),
  stripe: (body) => {
    const timestamp = seconds();
    const mac = createHmac('sha256', SECRET).update(`${timestamp}.`).update(body).digest('hex');
    return { 'stripe-signature': `t=${timestamp},v1=${mac}` };
  },
};

/** `id.timestamp.body` under the decoded secret: the service's scheme, and that of Standard Webhooks. */
function withId(id: string, timestamp: string, signature: string): Sign {
  return (body) => {
    const values = [randomUUID(), seconds()] as const;
    const mac = createHmac('sha256', KEY)
      .update(`${values.join('.')}.`)
      .update(body);
    return {
      [id]: values[0],
      [timestamp]: values[1],
      [signature]: `v1,${mac.digest('base64')}`,
    };
  };
}

const seconds = () => String(Math.floor(Date.now() / 1000));

/** All headers of one delivery, lower-case as Node hands them to a server; a new id each time. */
export const signedHeaders = (scheme: Scheme, body: Buffer): Record<string, string> => ({
  host: '127.0.0.1',
  'user-agent': 'call-webhooks-bench/1',
  'content-type': 'application/json',
  'content-length': String(body.length),
  connection: 'keep-alive',
  ...SIGN[scheme](body),
});
