import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import {
  AmbiguousSecretError,
  ApiError,
  ConfigurationError,
  NetworkError,
  type SecretChoice,
  UnconfirmedWriteError,
} from '../../src/errors/index.ts';
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
      expect(result).toEqual({ secret, secrets: [secret], response });
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
      expect(result).toEqual({ secret, secrets: [secret], response: { secret } });
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
  const url = 'https://receiver.example.com/hook';

  const server = useServer();

  test('a rule that holds only the secret of another action is not taken for ours', async () => {
    const actions = [
      { _id: 'x', secret: A },
      { _id: 'a', secret: 'whsec_QkJC****' },
    ];
    server.answer = (_, to) => sendJson(to, { actions });
    const error = await caught(testClient(server.origin).rules.rotateSigningSecret('r', 'a'));
    expect(error).toBeInstanceOf(AmbiguousSecretError);
    expect(error.choices).toEqual([{ path: 'actions.0.secret', secret: A }]);
  });

  test('what is unclear fails with a choice, names the setting, and prints no secret', async () => {
    server.answer = (_, to) => sendJson(to, { one: A, two: B, [`whsec_${'x'.repeat(4)}`]: 1 });
    const error = await caught(testClient(server.origin).rules.addWebhook('r', { url }));
    expect(error).toMatchObject({ code: 'secret-ambiguous', operation: 'add-webhook' });
    expect(error.message).toContain('The webhook action was created');
    expect(error.message).toContain('"one", "two"');
    expect(error.message).toContain('wire.secretField');
    expect(error.message).not.toContain('whsec_');
    expect(Object.keys(error)).not.toContain('choices');
    expect(JSON.stringify(error)).not.toContain('whsec_');
    expect((error.choices as SecretChoice[]).map(({ secret }) => secret)).toEqual([
      A,
      B,
      'whsec_xxxx',
    ]);
  });

  test('wire.secretField says where it is', async () => {
    server.answer = (_, to) => sendJson(to, { one: A, inner: { two: B } });
    const wire = { secretField: 'inner.two' };
    const { rules } = testClient(server.origin, { wire });
    expect(await rules.rotateSigningSecret('r', 'a')).toMatchObject({ secret: B, secrets: [A, B] });
    server.answer = (_, to) => sendJson(to, { elsewhere: A });
    expect(await rules.rotateSigningSecret('r', 'a')).toMatchObject({ secret: A });
    expect(everyPrint(rules)).not.toContain('whsec_');
  });

  test.each<[string, unknown]>([
    ['beside a masked one', { action: { _id: 'a', secret: 'whsec_QkJC****' }, previousSecret: A }],
    ['alone', { _id: 'a', previous: { secret: A } }],
    ['twice', { _id: 'a', oldSecrets: [A, B] }],
  ])('a secret that is called old is not returned as the new one: %s', async (_, body) => {
    server.answer = (_request, to) => sendJson(to, body);
    const error = await caught(testClient(server.origin).rules.rotateSigningSecret('r', 'a'));
    expect(error).toBeInstanceOf(UnconfirmedWriteError);
    expect(error.message).toContain('Check the action in the service');
    expect(error.response).toEqual(body);
    expect(inspect(error)).not.toContain('whsec_');
  });

  test.each<[string, unknown]>([
    ['of an inactive action', { _id: 'a', status: 'inactive', active: false, signingSecret: B }],
    ['with an end', { _id: 'a', signingSecret: B, expiresAt: '2030-01-01T00:00:00Z' }],
  ])('a new secret %s is not taken for an old one', async (_, body) => {
    server.answer = (_request, to) => sendJson(to, body);
    const { rules } = testClient(server.origin);
    expect(await rules.rotateSigningSecret('r', 'a')).toMatchObject({ secret: B });
  });

  test('a name that misleads is overruled by wire.secretField', async () => {
    server.answer = (_, to) => sendJson(to, { oldStyleSecret: B });
    const { rules } = testClient(server.origin, { wire: { secretField: 'oldStyleSecret' } });
    expect(await rules.rotateSigningSecret('r', 'a')).toMatchObject({ secret: B });
  });
});
