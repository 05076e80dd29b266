import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { UnconfirmedWriteError } from '../../src/errors/index.ts';
import { caught } from '../support/caught.ts';
import { testClient } from '../support/client.ts';
import { TestStore } from '../support/secret-store.ts';
import { sendJson } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

const first = { id: 'first', secret: 'whsec_Zmlyc3Q=' };
const server = useServer();

test.each<[string, (old: string) => unknown]>([
  [
    'a masked new secret beside the old one',
    (old) => ({ action: { _id: 'a', signingSecret: 'whsec_ab****' }, previousSecret: old }),
  ],
  ['the old secret under the name of the new one', (old) => ({ _id: 'a', signingSecret: old })],
  [
    'the known secret, and an unknown one that is called previous',
    (old) => ({ _id: 'a', signingSecret: old, previousSecret: 'whsec_QUFB' }),
  ],
  ['known secrets of other actions alone', (old) => ({ actions: [{ _id: 'x', secret: old }] })],
])('%s is not saved as new', async (_, body) => {
  server.answer = (_request, to) => sendJson(to, body(first.secret));
  const store = new TestStore(first);
  const error = await caught(
    testClient(server.origin).rules.rotateInto(store, { ruleId: 'r', actionId: 'a' }),
  );
  expect(error).toBeInstanceOf(UnconfirmedWriteError);
  expect(error.message).toContain('no new secret');
  expect(error.message).toContain('wire.secretField');
  expect(inspect(error)).not.toContain('whsec_');
  expect(store.secrets).toEqual([first]);
});
