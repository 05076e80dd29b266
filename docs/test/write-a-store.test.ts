import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { ROOT } from './files.ts';
import { writeSamples } from './samples.ts';

// The store of the page is run by the tests of the page, as a reader would run them.

const TEST = 'node --import tsx --conditions=@call-webhooks/source --test-reporter=tap --test';

it('the store of the page keeps every promise, and its tests are those of the page', async () => {
  const [store, tests] = writeSamples(
    'write-a-store',
    (document) => document === 'docs/write-a-store.md',
  );
  const text = readFileSync(tests!.file, 'utf8');
  const declaration = /^declare function myStore.*$/m;
  expect(text).toMatch(declaration);
  const file = join(tests!.file, '../my-store.test.ts');
  writeFileSync(file, text.replace(declaration, `import { myStore } from '${store!.file}';`));
  const [program = '', ...args] = TEST.split(' ');
  const { stdout } = await promisify(execFile)(program, [...args, file], {
    cwd: ROOT,
    maxBuffer: 1e8,
  }).catch((error: unknown) => error as { stdout: string });
  expect(stdout.match(/^ *not ok .*$|Broken promise: .*$/gm)).toBeNull();
  expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(45);
});
