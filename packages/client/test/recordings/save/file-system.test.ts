import * as fs from 'node:fs/promises';
import { expect, jest, test } from '@jest/globals';
import { UnsupportedRuntimeError } from '../../../src/errors/index.ts';
import { fileSystem } from '../../../src/recordings/save/file-system.ts';

test('finds the file system of the runtime', () => {
  expect(fileSystem().rename).toBe(fs.rename);
});

test('says so where there is none', () => {
  const replaced = jest.replaceProperty(globalThis, 'process', undefined as never);
  try {
    expect(() => fileSystem()).toThrow(UnsupportedRuntimeError);
  } finally {
    replaced.restore();
  }
});
