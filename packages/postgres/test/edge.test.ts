import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { recordingClient } from './recording-client.ts';

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

const { setImmediate } = globalThis;
afterEach(() => void Object.assign(globalThis, { setImmediate }));

it('makes each call alone and at once where requests can share nothing, as on Workers', async () => {
  Reflect.deleteProperty(globalThis, 'setImmediate');
  const { postgresStore } = await import('../src/index.ts');
  const { client, calls } = recordingClient(() => new Promise(() => undefined));
  const store = postgresStore(client);
  for (let number = 0; number < 20; number++)
    void store.admit({
      ...{ webhookId: `w-${String(number)}`, key: `e-${String(number)}`, leaseMs: 60_000 },
      ...{ replayUntil: Date.now() + 600_000, token: 't' },
    });
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  expect(calls.map(({ values }) => values[0])).toHaveLength(20);
});
