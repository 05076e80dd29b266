import { expect, test } from '@jest/globals';
import { SecretNotSavedError, UnconfirmedWriteError } from '../../src/errors/rule-errors.ts';
import { everyPrint } from '../support/caught.ts';

test('an unconfirmed write says what may have happened, and hides the answer', () => {
  const response = { note: 'for your eyes' };
  const error = new UnconfirmedWriteError('rotate-signing-secret', 'no answer', { response });
  expect(error.message).toContain('may have been rotated: no answer');
  expect(error.response).toBe(response);
  expect(JSON.stringify(error)).not.toContain('eyes');
  expect(new UnconfirmedWriteError('add-webhook', 'x').message).toContain('may have been created');
});

test('an unsaved secret is at hand, but never printed', async () => {
  let saved = 0;
  const error = new SecretNotSavedError({
    secret: 'whsec_bmV3',
    secrets: [{ secret: 'whsec_bmV3' }],
    save: async () => void saved++,
    cause: new Error('disk full'),
  });
  expect(everyPrint(error)).not.toContain('whsec_');
  expect({ ...error }).not.toHaveProperty('secret');
  expect(error.secret).toBe('whsec_bmV3');
  expect(error.secrets).toEqual([{ secret: 'whsec_bmV3' }]);
  await error.retry();
  expect(saved).toBe(1);
});
