import { request } from 'node:http';
import { sign } from '@call-webhooks/core';

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

/** Plays the service: signs and posts over real HTTP, a connection for each request. */
export interface Sender {
  post(body: string | Uint8Array, options?: DeliveryOptions): Promise<Reply>;
  /** Sends just this, unsigned. */
  raw(body: string | Uint8Array, options?: DeliveryOptions): Promise<Reply>;
}

/** Sends one request, and reads its response. GET and HEAD have no body. */
export type Transport = (
  url: string,
  method: string,
  headers: readonly [name: string, value: string | string[]][],
  body: Buffer | undefined,
) => Promise<{ status: number; text: string }>;

/** @param always headers of every request */
export function startSender(
  url: string,
  secret: string,
  always: Record<string, string> = {},
  transport: Transport = overHttp,
): Sender {
  const raw: Sender['raw'] = async (body, { method = 'POST', headers = {} } = {}) => {
    const all = Object.entries({ ...always, ...headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string | string[]]],
    );
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const sent = hasBody ? Buffer.from(body as string) : undefined;
    const { status, text } = await transport(url, method, all, sent);
    return { status, outcome: outcomeOf(text) };
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

/** With Node alone: a response that comes before the whole body was sent gets through. */
const overHttp: Transport = (url, method, headers, body) =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent: false, headers: Object.fromEntries(headers) });
    outgoing.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.end(body);
  });

function outcomeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { outcome?: string }).outcome;
  } catch {
    return undefined;
  }
}

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
