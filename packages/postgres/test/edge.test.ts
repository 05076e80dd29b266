import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { build } from 'esbuild';

// Workers without `nodejs_compat` and Next's edge runtime refuse a module that imports one of Node.
it.each(['edge-light', 'workerd'])('imports nothing of Node under %s', async (condition) => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    ...{ bundle: true, write: false, metafile: true, platform: 'neutral', format: 'esm' },
    mainFields: ['module', 'main'],
    conditions: ['@call-webhooks/source', condition, 'worker', 'browser'],
    external: ['node:*'],
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  expect(imported.map(({ path }) => path).filter((path) => path.startsWith('node:'))).toEqual([]);
});
