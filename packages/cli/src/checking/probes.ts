import { generateSecret, sign } from '@call-webhooks/core';

/** One request of `check`. */
export interface Probe {
  readonly name: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** What is right. */
  readonly expected: 'refused' | 'accepted' | 'not-post';
  /** What is wrong with a receiver that accepts (or refuses) it all the same. */
  readonly otherwise: string;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** An event that no receiver has a handler for: it is to be acknowledged, and does nothing. */
const harmless = (name: string) =>
  Buffer.from(
    JSON.stringify({
      eventName: 'call-webhooks:check',
      callId: `check-${name}-${String(Date.now())}`,
    }),
  );

async function forged(headerPrefix: string | undefined): Promise<Probe[]> {
  const body = harmless('forged');
  const strange = await sign({ secret: generateSecret(), body, headerPrefix });
  const post = { method: 'POST', expected: 'refused', body } as const;
  return [
    {
      name: 'GET',
      method: 'GET',
      headers: {},
      body: new Uint8Array(),
      expected: 'not-post',
      otherwise: 'Answer other methods with 405: app.all(path, …) rather than app.post(path, …).',
    },
    {
      ...post,
      name: 'unsigned',
      headers: JSON_TYPE,
      otherwise:
        'It takes requests without a signature: verify before anything else, and answer 401.',
    },
    {
      ...post,
      name: 'forged',
      headers: { ...JSON_TYPE, ...strange },
      otherwise: 'It takes signatures of any secret: compare the signature, and answer 401.',
    },
  ];
}

async function signed(secret: string, headerPrefix: string | undefined): Promise<Probe[]> {
  const now = Math.floor(Date.now() / 1_000);
  const make = async (name: string, timestamp: number) => {
    const body = harmless(name);
    return {
      name,
      method: 'POST',
      body,
      headers: { ...JSON_TYPE, ...(await sign({ secret, body, headerPrefix, timestamp })) },
    };
  };
  const good = await make('authentic', now);
  const refused = { expected: 'refused' } as const;
  const tampered = await make('tampered', now);
  return [
    {
      ...(await make('stale', now - 600)),
      ...refused,
      otherwise: 'It takes a timestamp of ten minutes ago: refuse what is more than 300 s away.',
    },
    {
      ...(await make('ahead of time', now + 600)),
      ...refused,
      otherwise: 'It takes a timestamp ten minutes ahead: check both sides of the clock.',
    },
    {
      ...tampered,
      body: Buffer.from(tampered.body.toString('latin1').replace('tampered', 'changed!')),
      ...refused,
      otherwise: 'It takes a body that was not signed: verify the raw bytes that arrived.',
    },
    {
      ...good,
      expected: 'accepted',
      otherwise:
        'It refuses an authentic event that it does not know. Is it this secret? Is the raw body verified, before any parser? Unknown events are to be answered 2xx.',
    },
    {
      ...good,
      name: 'replayed',
      ...refused,
      otherwise:
        'It takes the same webhook id twice: remember ids for ten minutes, and answer 409.',
    },
  ];
}

/** What a receiver is asked: with a secret more, and in this order, since the replay needs its original. */
export async function probes(
  secret: string | undefined,
  headerPrefix: string | undefined,
): Promise<Probe[]> {
  const anybody = await forged(headerPrefix);
  return secret === undefined ? anybody : [...anybody, ...(await signed(secret, headerPrefix))];
}
