import { expect, test } from '@jest/globals';
import { scan, startsOperator } from '../../src/search/scan.ts';

test('cuts a text into tokens with their positions', () => {
  expect([...scan(' hi "a b" to:"c d"')]).toEqual([
    { kind: 'word', value: 'hi', position: 1 },
    { kind: 'quoted', value: 'a b', position: 4 },
    { kind: 'operator', name: 'to', value: 'c d', position: 10, valuePosition: 13 },
  ]);
});

test('knows the operators by their lower-case names', () => {
  expect(['to:', 'from:x', 'sequence:'].map(startsOperator)).toEqual([true, true, true]);
  expect(['to', 'To:', 'xto:', 'toto:'].map(startsOperator)).toEqual([false, false, false, false]);
});
