import { expect, it } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';

it.each([
  [{ maxEntries: NaN }, 'maxEntries: expected a whole number from 1 to 10000000'],
  [{ maxEntries: 0 }, 'maxEntries: expected'],
  [{ maxEntries: 1.5 }, 'maxEntries: expected'],
  [{ maxEntries: Infinity }, 'maxEntries: expected'],
  [{ maxEntries: 2e9 }, 'maxEntries: expected'],
  [{ rememberFor: Infinity }, 'rememberFor: expected whole milliseconds'],
  [{ rememberFor: 599_999 }, 'rememberFor: expected whole milliseconds'],
  [{ now: 1 as never }, 'now: expected a function'],
  [{ onEvicted: {} as never }, 'onEvicted: expected a function'],
  [{ maxEntrys: 5 } as never, 'memoryStore'],
])('memoryStore refuses %p', (options, message) => {
  expect(() => memoryStore(options)).toThrow(message);
  expect(() => memoryStore(options)).toThrow('Invalid options of memoryStore');
});
