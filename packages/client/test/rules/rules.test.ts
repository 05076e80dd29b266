import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ApiError,
  ConfigurationError,
  NetworkError,
  UnconfirmedWriteError,
} from '../../src/errors.ts';
import type { WireNames } from '../../src/options.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient, TOKEN } from '../support/client.ts';
import { TestClock } from '../support/clock.ts';
import { type Handler, sendJson, unusedPort } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

describe('rules', () => {
  const server = useServer();

  const secret = 'whsec_bmV3IHNlY3JldA==';

  describe('rotateSigningSecret', () => {
    test('sends what the spec shows, and finds the secret in the answer', async () => {
      const response = { action: { _id: 'a', webhook: { secret } } };
      server.answer = (_, to) => sendJson(to, response);
      const result = await testClient(server.origin).rules.rotateSigningSecret('r/1', 'a');
      expect(result).toEqual({ secret, path: 'action.webhook.secret', response });
      expect(server.requests[0]).toMatchObject({
        method: 'PATCH',
        url: '/v1/rules/r%2F1/actions/a',
        body: '{"rotateSigningSecret":true}',
      });
      expect(server.requests[0]?.headers).toMatchObject({
        'content-type': 'application/json',
        'x-api-token': TOKEN,
      });
    });

    test('finds it in an answer that is not JSON', async () => {
      server.answer = (_, to) => void to.end(`secret: ${secret}\n`);
      const result = await testClient(server.origin).rules.rotateSigningSecret('r', 'a');
      expect(result).toMatchObject({ secret, response: `secret: ${secret}\n` });
    });

    test.each<[string, Handler]>([
      ['holds no secret', (_, to) => sendJson(to, { ok: true })],
      ['is empty', (_, to) => void to.writeHead(204).end()],
      ['never comes', (_, to) => void to.destroy()],
      ['breaks off', (_, to) => void to.writeHead(200).write('{', () => to.destroy())],
      ['is a redirect to a page', (_, to) => void to.writeHead(303, { location: '/done' }).end()],
      ['is a status of no meaning', (_, to) => void to.writeHead(304).end()],
      ['is 502', (_, to) => sendJson(to, {}, 502)],
    ])('an answer that %s: the rotation may have happened', async (_, handler) => {
      server.answer = handler;
      const error = await caught(testClient(server.origin).rules.rotateSigningSecret('r', 'a'));
      expect(error).toBeInstanceOf(UnconfirmedWriteError);
      expect(error.message).toContain('The signing secret may have been rotated');
      expect(everyPrint(error)).not.toContain(TOKEN);
      expect(server.requests).toHaveLength(1);
    });

    test('a redirect whose target cannot be reached: the first server may have rotated', async () => {
      const asked: string[] = [];
      const refused = new TypeError('fetch failed', {
        cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      });
      const fetch = (url: string) => {
        asked.push(url);
        return asked.length % 2 === 1
          ? Promise.resolve(new Response(null, { status: 307, headers: { location: '/other' } }))
          : Promise.reject(refused);
      };
      const error = await caught(
        testClient(server.origin, { fetch }).rules.rotateSigningSecret('r', 'a'),
      );
      expect(error).toBeInstanceOf(UnconfirmedWriteError);
      expect(asked).toHaveLength(2);
    });

    test('the answer without a secret is on the error', async () => {
      server.answer = (_, to) => sendJson(to, { ok: true });
      const error = await caught(testClient(server.origin).rules.rotateSigningSecret('r', 'a'));
      expect(error.response).toEqual({ ok: true });
    });

    test('so it does when it is aborted or times out under way', async () => {
      const controller = new AbortController();
      server.answer = () => controller.abort(new Error('enough'));
      const { rules } = testClient(server.origin);
      const aborted = await caught(
        rules.rotateSigningSecret('r', 'a', { signal: controller.signal }),
      );
      expect(aborted).toMatchObject({ code: 'write-unconfirmed', cause: { message: 'enough' } });
      const clock = new TestClock();
      server.answer = () => clock.expire();
      const late = await caught(
        testClient(server.origin, { clock }).rules.rotateSigningSecret('r', 'a'),
      );
      expect(late).toMatchObject({ code: 'write-unconfirmed', cause: { code: 'timeout' } });
    });

    test('what certainly did not happen is said plainly', async () => {
      server.answer = (_, to) => sendJson(to, {}, 403);
      const { rules } = testClient(server.origin);
      expect(await caught(rules.rotateSigningSecret('r', 'a'))).toBeInstanceOf(ApiError);
      const dead = testClient(`http://127.0.0.1:${await unusedPort()}`, { retries: 0 });
      expect(await caught(dead.rules.rotateSigningSecret('r', 'a'))).toBeInstanceOf(NetworkError);
      const signal = AbortSignal.abort(new Error('early'));
      await expect(rules.rotateSigningSecret('r', 'a', { signal })).rejects.toThrow('early');
      expect(await caught(rules.rotateSigningSecret('', 'a'))).toBeInstanceOf(ConfigurationError);
      expect(await caught(rules.rotateSigningSecret('r', '..'))).toBeInstanceOf(ConfigurationError);
    });
  });

  describe('addWebhook', () => {
    const url = 'https://receiver.example.com/hook';

    test('posts the action and finds its secret', async () => {
      server.answer = (_, to) => sendJson(to, { secret }, 201);
      const result = await testClient(server.origin).rules.addWebhook('r', {
        url,
        payload: { a: 1 },
      });
      expect(result).toEqual({ secret, path: 'secret', response: { secret } });
      expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/v1/rules/r/actions' });
      expect(JSON.parse(server.requests[0]!.body)).toEqual({
        type: 'webhook',
        url,
        payload: { a: 1 },
      });
    });

    test('the body may have another shape', async () => {
      server.answer = (_, to) => sendJson(to, { secret });
      const wire = {
        webhookAction: (input: { url: string }) => ({ kind: 'hook', target: input.url }),
      };
      await testClient(server.origin, { wire }).rules.addWebhook('r', { url });
      expect(JSON.parse(server.requests[0]!.body)).toEqual({ kind: 'hook', target: url });
    });

    test('refuses a url that is none, and tells when the action may exist', async () => {
      const { rules } = testClient(server.origin);
      for (const wrong of ['receiver', 'ftp://receiver.example.com']) {
        expect(await caught(rules.addWebhook('r', { url: wrong }))).toBeInstanceOf(
          ConfigurationError,
        );
      }
      expect(server.requests).toEqual([]);
      server.answer = (_, to) => sendJson(to, {});
      const error = await caught(rules.addWebhook('r', { url }));
      expect(error.message).toContain('The webhook action may have been created');
    });
  });
});

describe('the secret in a response', () => {
  const A = 'whsec_QUFB';
  const B = 'whsec_QkJC';

  const server = useServer();
  const rotate = (response: unknown, wire: Partial<WireNames> = {}) => {
    server.answer = (_, to) => sendJson(to, response);
    return testClient(server.origin, { wire }).rules.rotateSigningSecret('r', 'a');
  };

  test.each<[unknown, string, string]>([
    ['whsec_QUFB', A, '(text)'],
    [{ a: [{ b: { signingSecret: 'whsec_QUJDRA==' } }] }, 'whsec_QUJDRA==', 'a.0.b.signingSecret'],
    ['Your secret is "whsec_QUFB". Keep it.', A, '(text)'],
    ['The secret is whsec_QUFB.', A, '(text)'],
    [{ whsec_QUFB: true }, A, '…'],
    [{ secret: A, action: { secret: A } }, A, 'secret'],
    [{ secret: B, masked: 'whsec_QU****' }, B, 'secret'],
  ])('is the only one of %j', async (response, secret, path) => {
    expect(await rotate(response)).toMatchObject({ secret, path });
  });

  test.each([
    [null],
    [7],
    [{}],
    ['whsec_'],
    ['whsec_QU****'],
    ['whsec_QUJD…'],
    ['whsec_QUJD...'],
    ['my_whsec_QUJD'],
    ['whsec_QUJDRA==='],
  ])('is not in %j', async (response) => {
    const error = await caught(rotate(response));
    expect(error).toMatchObject({ code: 'write-unconfirmed' });
    expect(error.message).toContain('Check the action in the service');
  });

  test('is found wherever it stands in a JSON value', async () => {
    const secret = fc
      .uint8Array({ minLength: 1, maxLength: 48 })
      .map((key) => `whsec_${Buffer.from(key).toString('base64')}`);
    const property = fc.asyncProperty(
      secret,
      fc.jsonValue(),
      fc.array(fc.string()),
      async (wanted, beside, path) => {
        const answer = path.reduce<unknown>((inner, key) => [{ [`k${key}`]: inner }, 1], wanted);
        expect(await rotate([beside, answer])).toMatchObject({ secret: wanted });
      },
    );
    await fc.assert(property, { numRuns: 20 });
  });

  test('one of several is no choice of ours: the error has the places, and prints no secret', async () => {
    server.answer = (_, to) => sendJson(to, { one: A, two: [B], [`whsec_${'x'.repeat(4)}`]: 1 });
    const url = 'https://receiver.example.com/hook';
    const error = await caught(testClient(server.origin).rules.addWebhook('r', { url }));
    expect(error).toBeInstanceOf(UnconfirmedWriteError);
    expect(error).toMatchObject({ code: 'secret-ambiguous', operation: 'add-webhook' });
    expect(error.message).toContain('The webhook action was created');
    expect(error.message).toContain('"one", "two.0", "…"');
    expect(error.message).toContain('wire.secretField');
    expect(error.message).not.toContain('whsec_');
    expect(inspect(error)).not.toContain('whsec_');
    expect(JSON.stringify(error)).not.toContain('whsec_');
    expect(error.secrets).toEqual([
      { path: 'one', secret: A },
      { path: 'two.0', secret: B },
      { path: '…', secret: 'whsec_xxxx' },
    ]);
  });

  test('wire.secretField says where it is, and where it is not there the only one counts', async () => {
    const wire = { secretField: 'inner.two' };
    const found = { secret: B, path: 'inner.two' };
    expect(await rotate({ one: A, inner: { two: B } }, wire)).toMatchObject(found);
    expect(await rotate({ elsewhere: A }, wire)).toMatchObject({ secret: A });
    expect(
      await rotate(
        { actions: [{ secret: A }, { secret: B }] },
        { secretField: 'actions.1.secret' },
      ),
    ).toMatchObject({ secret: B });
  });
});
