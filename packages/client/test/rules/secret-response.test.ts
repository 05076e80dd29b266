import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import {
  AmbiguousSecretError,
  UnconfirmedWriteError,
  type SecretChoice,
} from '../../src/errors/index.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient } from '../support/client.ts';
import { sendJson } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

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
