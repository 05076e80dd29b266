import { expect, it } from '@jest/globals';
import { memoryStore, type ErrorInfo } from '../../src/index.ts';
import { createTestReceiver, STARTED } from '../support.ts';

/** A receiver whose handler fails for good, and whose commit does not work. */
function setup(complete: () => Promise<boolean>) {
  const told: [unknown, ErrorInfo][] = [];
  const test = createTestReceiver({
    store: { ...memoryStore(), complete },
    on: { 'call:started': () => Promise.reject(new Error('the CRM is down')) },
    deadLetter: () => undefined,
    maxAttempts: 1,
    onError: (error, info) => told.push([error, info]),
  });
  return { ...test, told };
}

it.each([
  ['store-unavailable', () => Promise.reject(new Error('refused'))],
  ['in-progress', () => Promise.resolve(false)],
])('onError is told what the handler threw, although the commit fails: %s', async (code, fail) => {
  const { send, told, outcomes } = setup(fail);
  expect(await send(STARTED)).toBe(code);
  expect(told.map(([error]) => (error as Error).message)).toContain('the CRM is down');
  expect(told.every(([, info]) => !info.lastAttempt)).toBe(true); // the service sends it again
  expect(outcomes[0]).not.toHaveProperty('attemptsLeft');
});
