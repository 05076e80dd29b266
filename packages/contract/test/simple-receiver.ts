import { createHmac } from 'node:crypto';

/** A request as `simpleReceiver` takes it. */
export interface SimpleRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds. */
  readonly now: number;
}

/** How one delivery ended. */
export interface SimpleResponse {
  readonly status: number;
  /** How often the handler ran. */
  readonly effects: number;
}

/** The steps of a receiver, each of which a test can replace by a faulty one. */
export interface Steps {
  readonly signed: (id: string, timestamp: string, body: Buffer) => Buffer;
  readonly key: (secret: string) => Buffer;
  readonly matches: (computed: Buffer, header: string) => boolean;
  readonly isRecent: (timestamp: string, nowSeconds: number) => boolean;
  readonly requires: readonly string[];
  /** Whether ids of refused requests are remembered, too. */
  readonly remembersRefused: boolean;
  readonly remembersIds: boolean;
  readonly eventKey: (
    event: Record<string, unknown>,
    id: string,
    body: Buffer,
  ) => string | undefined;
  readonly isKnown: (event: Record<string, unknown>) => boolean;
}

const ID = 'x-service-webhook-id';
const TIMESTAMP = 'x-service-timestamp';
const SIGNATURE = 'x-service-signature';

/** What the interface asks for, without any code of this project. */
export const RIGHT: Steps = {
  signed: (id, timestamp, body) => Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]),
  key: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
  matches: (computed, header) => header === `v1,${computed.toString('base64')}`,
  isRecent: (timestamp, now) => /^\d+$/.test(timestamp) && Math.abs(now - Number(timestamp)) <= 300,
  requires: [ID, TIMESTAMP, SIGNATURE],
  remembersRefused: false,
  remembersIds: true,
  eventKey: ({ callId, eventName }) => JSON.stringify([callId, eventName]),
  isKnown: () => true,
};

/** A receiver in memory. */
export function simpleReceiver(
  secrets: readonly string[],
  steps: Steps = RIGHT,
): (request: SimpleRequest) => SimpleResponse {
  const ids = new Set<string>();
  const keys = new Set<string>();
  const refused = { status: 401, effects: 0 };
  return ({ headers, body, now }) => {
    if (steps.requires.some((name) => !headers[name])) return refused;
    const { [ID]: id = '', [TIMESTAMP]: timestamp = '', [SIGNATURE]: signature = '' } = headers;
    if (!steps.isRecent(timestamp, now / 1000)) return refused;
    if (steps.remembersIds && ids.has(id)) return { status: 409, effects: 0 };
    if (steps.remembersRefused) ids.add(id);
    const signed = steps.signed(id, timestamp, body);
    const isAuthentic = secrets.some((secret) =>
      steps.matches(createHmac('sha256', steps.key(secret)).update(signed).digest(), signature),
    );
    if (!isAuthentic) return refused;
    ids.add(id);
    const event = parse(body);
    if (!event || !steps.isKnown(event)) return { status: 422, effects: 0 };
    const key = steps.eventKey(event, id, body);
    if (key !== undefined && keys.has(key)) return { status: 200, effects: 0 };
    if (key !== undefined) keys.add(key);
    return { status: 200, effects: 1 };
  };
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
