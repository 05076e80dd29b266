import { Buffer } from 'node:buffer';
import { createHmac, randomInt, randomUUID } from 'node:crypto';

/** The secret of every contender. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** The bytes of the secret. */
export const KEY = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
/** The size of every body, in bytes. */
const BODY_BYTES = 1024;

/** Whose signature headers a contender reads. */
export type Scheme = 'service' | 'standard' | 'svix';

type Sign = (body: Buffer) => Record<string, string>;

const SIGN: Record<Scheme, Sign> = {
  service: signWithId('x-service-webhook-id', 'x-service-timestamp', 'x-service-signature'),
  standard: signWithId('webhook-id', 'webhook-timestamp', 'webhook-signature'),
  svix: signWithId('svix-id', 'svix-timestamp', 'svix-signature'),
};

/** Signs `id.timestamp.body` with the decoded secret, as the service and Standard Webhooks do. */
function signWithId(id: string, timestamp: string, signature: string): Sign {
  return (body) => {
    const values = [randomUUID(), unixSeconds()] as const;
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

const unixSeconds = () => String(Math.floor(Date.now() / 1000));

/** A `call:completed` event of exactly `BODY_BYTES` bytes. Each number gives another call. */
function eventBody(number: number): Buffer {
  const event = {
    eventName: 'call:completed',
    callId: `66a1b2c3d4e5f6${number.toString(16).padStart(10, '0')}`,
    fromPhoneNumber: { id: '5f1d7a0c9b', number: '+15550100', label: 'Sales, main line' },
    userId: '5f0c1e2d3b4a59687786',
    createdAt: 1_760_000_000_000 + number,
    toPhoneNumber: '+15550123',
    recipientEmail: 'pat.example@example.test',
    recipientName: 'Pat Example',
    startedAt: '2026-04-01T10:00:00.000Z',
    endedAt: '2026-04-01T10:04:10.000Z',
    direction: 'outbound',
    disposition: 'connected',
    durationSeconds: 250,
    tags: ['renewal', 'q2', 'follow-up'],
    notes: '',
  };
  event.notes = 'n'.repeat(BODY_BYTES - Buffer.byteLength(JSON.stringify(event)));
  return Buffer.from(JSON.stringify(event));
}

/** One delivery as the handler of a server gets it. */
export interface SignedMessage {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Somewhere else in each process, since several may share a store. */
let count = randomInt(2 ** 39);

/** Signed deliveries, each with its own webhook id and call; header names as Node has them. */
export const signedMessages = (scheme: Scheme, number: number): SignedMessage[] =>
  Array.from({ length: number }, () => {
    const body = eventBody(++count);
    const headers = {
      host: '127.0.0.1',
      'user-agent': 'call-webhooks-bench/1',
      'content-type': 'application/json',
      'content-length': String(body.length),
      connection: 'keep-alive',
      ...SIGN[scheme](body),
    };
    return { headers, body };
  });

/** The same as bytes for a socket. */
export const signedRequests = (scheme: Scheme, number: number): Buffer[] =>
  signedMessages(scheme, number).map(({ headers, body }) => {
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    const head = `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head, 'latin1'), body]);
  });
