import { sign } from '@call-webhooks/core';
import request, { type Response } from 'supertest';

/** What came back for one request. */
export interface Reply {
  status: number;
  outcome: string | undefined;
}

export interface DeliveryOptions {
  secret?: string;
  webhookId?: string;
  /** Unix seconds. */
  timestamp?: number;
  headers?: Record<string, string | string[] | undefined>;
  method?: string;
}

/** Plays the service: signs and posts over real HTTP with supertest, a connection for each request. */
export interface Sender {
  post(body: string | Uint8Array, options?: DeliveryOptions): Promise<Reply>;
  /** Sends just this, unsigned. */
  raw(body: string | Uint8Array, options?: DeliveryOptions): Promise<Reply>;
}

/** @param always headers of every request */
export function startSender(
  url: string,
  secret: string,
  always: Record<string, string> = {},
): Sender {
  const { origin, pathname, search } = new URL(url);
  const raw: Sender['raw'] = async (body, { method = 'POST', headers = {} } = {}) => {
    const client = request(origin);
    const outgoing = client[method.toLowerCase() as 'post'](pathname + search);
    void outgoing.agent(false as never);
    for (const [name, value] of Object.entries({ ...always, ...headers }))
      // Superagent's types know no header that comes twice, but Node sends it.
      if (value !== undefined) void outgoing.set(name, value as string);
    if (method === 'GET' || method === 'HEAD') return replyOf(await outgoing);
    if ('transfer-encoding' in headers) {
      outgoing.write(Buffer.from(body)); // `send` would add its length
      return replyOf(await outgoing);
    }
    // Bytes as they are: superagent would write JSON of a Buffer, and give a text without a type one.
    return replyOf(await outgoing.serialize((bytes) => bytes as string).send(Buffer.from(body)));
  };
  return {
    raw,
    async post(body, { headers, ...options } = {}) {
      const { method, ...signing } = options;
      const signed = await sign({ secret, body, ...signing });
      return raw(body, {
        ...(method !== undefined && { method }),
        headers: { 'content-type': 'application/json', ...signed, ...headers },
      });
    },
  };
}

function replyOf({ status, body }: Response): Reply {
  const { outcome } = Object(body) as { outcome?: unknown };
  return { status, outcome: typeof outcome === 'string' ? outcome : undefined };
}

const ENDED_AT = '2026-01-01T12:00:00.000Z';

/** A call event's body, as the service sends it. */
export const callBody = (callId: string, eventName = 'call:completed', more: object = {}) =>
  JSON.stringify({
    eventName,
    callId,
    fromPhoneNumber: { label: 'main' },
    endedAt: ENDED_AT,
    ...more,
  });

export const recordingBody = (callId: string, more: object = {}) =>
  JSON.stringify({
    eventName: 'call:recording-available',
    eventId: `${callId}:recording-available`,
    callId,
    userId: 'user-1',
    workspaceId: 'workspace-1',
    recordingStartedAt: '2026-01-02T03:04:05.678Z',
    recordingDurationSeconds: 61,
    occurredAt: '2026-01-02T03:06:05.678Z',
    recordingUrl: `https://api.example.com/v1/calls/${callId}/recording`,
    ...more,
  });
