import { generateSecret, sign } from '@call-webhooks/core';

/** One request of `check`. */
export interface Probe {
  readonly name: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The right response. */
  readonly expected: 'refused' | 'accepted' | 'not-post';
  /** What to change in a receiver that responds differently. */
  readonly fix: string;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** An event that no one handles. A receiver acknowledges it and does nothing. */
const unhandledEvent = (name: string) =>
  Buffer.from(
    JSON.stringify({
      eventName: 'call-webhooks:check',
      callId: `check-${name}-${String(Date.now())}`,
    }),
  );

async function unsignedProbes(headerPrefix: string | undefined): Promise<Probe[]> {
  const body = unhandledEvent('forged');
  const signature = await sign({ secret: generateSecret(), body, headerPrefix });
  const post = { method: 'POST', expected: 'refused', body } as const;
  return [
    {
      name: 'GET',
      method: 'GET',
      headers: {},
      body: new Uint8Array(),
      expected: 'not-post',
      fix: 'Return 405 for other methods: mount app.all(path, …) instead of app.post(path, …).',
    },
    {
      ...post,
      name: 'unsigned',
      headers: JSON_TYPE,
      fix: 'The receiver accepts unsigned requests. Verify first, and return 401.',
    },
    {
      ...post,
      name: 'forged',
      headers: { ...JSON_TYPE, ...signature },
      fix: 'The receiver accepts any signature. Compare it, and return 401.',
    },
  ];
}

async function signedProbes(secret: string, headerPrefix: string | undefined): Promise<Probe[]> {
  const now = Math.floor(Date.now() / 1_000);
  const create = async (name: string, timestamp: number) => {
    const body = unhandledEvent(name);
    return {
      name,
      method: 'POST',
      body,
      headers: { ...JSON_TYPE, ...(await sign({ secret, body, headerPrefix, timestamp })) },
    };
  };
  const good = await create('authentic', now);
  const refused = { expected: 'refused' } as const;
  const tampered = await create('tampered', now);
  return [
    {
      ...(await create('stale', now - 600)),
      ...refused,
      fix: 'The receiver accepts a timestamp from ten minutes ago. Refuse a difference above 300 s.',
    },
    {
      ...(await create('ahead of time', now + 600)),
      ...refused,
      fix: 'The receiver accepts a timestamp ten minutes ahead. Check both directions.',
    },
    {
      ...tampered,
      body: Buffer.from(tampered.body.toString('latin1').replace('tampered', 'changed!')),
      ...refused,
      fix: 'The receiver accepts a modified body. Verify the raw bytes that arrived.',
    },
    {
      ...good,
      expected: 'accepted',
      fix: 'The receiver refuses an authentic event with an unknown name. Check that it uses this secret, that it verifies the raw body before any parser, and that it returns 2xx for unknown events.',
    },
    {
      ...good,
      name: 'replayed',
      ...refused,
      fix: 'The receiver accepts the same webhook id twice. Remember ids for ten minutes, and return 409.',
    },
  ];
}

/** Creates the probes, in order: the replay comes after its original. With a secret there are more. */
export async function createProbes(
  secret: string | undefined,
  headerPrefix: string | undefined,
): Promise<Probe[]> {
  const unsigned = await unsignedProbes(headerPrefix);
  return secret === undefined
    ? unsigned
    : [...unsigned, ...(await signedProbes(secret, headerPrefix))];
}
