import { describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { callWebhooks, generateSecret, sign } from '../../src/sveltekit.ts';

const secret = generateSecret();
const logger = collectingLogger();
const body = callBody('c1');
const delivery = async () =>
  new Request('http://x/hook', { method: 'POST', body, headers: await sign({ secret, body }) });

describe.each(['ctx', 'context'])('platform.%s', (name) => {
  it('keeps the function alive for a late handler', async () => {
    const end = deferred();
    const POST = callWebhooks({
      ...{ secret, logger, ackWithin: 10 },
      on: { 'call:completed': () => end.promise },
    });
    const kept: Promise<unknown>[] = [];
    const context = {
      waitUntil(work: Promise<unknown>) {
        expect(this).toBe(context);
        kept.push(work);
      },
    };
    const { status } = await POST({ request: await delivery(), platform: { [name]: context } });
    expect([status, kept.length]).toEqual([503, 1]);
    end.resolve();
    expect(await kept[0]).toMatchObject({ outcome: 'handled', late: true });
  });
});

const throwing = {
  get ctx(): never {
    throw new Error('not while prerendering');
  },
};

it('works without a platform, or with one that has no waitUntil', async () => {
  for (const platform of [undefined, {}, { ctx: {} }, { ctx: { waitUntil: 1 } }, throwing]) {
    const POST = callWebhooks({ secret, logger });
    expect((await POST({ request: await delivery(), platform })).status).toBe(200);
    expect(POST.receiver).toBe(POST.receiver);
  }
});

it('checks options at the first use: SvelteKit imports routes while it builds', async () => {
  const POST = callWebhooks({ secret: 'x' });
  expect(() => POST.receiver).toThrow('whsec_');
  const request = await delivery();
  expect(() => POST({ request })).toThrow('whsec_');
});

it.each([
  ['a Request', new Request('http://x', { method: 'POST', body })],
  ['a context of Hono', { req: { raw: new Request('http://x') } }],
  ['nothing', undefined],
])('%s is refused before anything runs, with the fix', (_name, given) => {
  const POST = callWebhooks({ secret }) as unknown as (given: unknown) => unknown;
  expect(() => POST(given)).toThrow("takes SvelteKit's event");
});
