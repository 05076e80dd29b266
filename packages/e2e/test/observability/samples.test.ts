import { expect, it } from '@jest/globals';
import { freePort, runSample } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';

// In processes of their own: what they subscribe to belongs to the whole process.
it.each([
  [4, 'subscribes to a channel'],
  [5, 'serves metrics'],
])('sample %i of docs/observability.md %s', async (block) => {
  const exporter = 'new PrometheusExporter()';
  const onFreePort = exporter.replace('()', `({ port: ${String(await freePort())} })`);
  const sample = runSample({
    test: import.meta.url,
    document: '../../../../docs/observability.md',
    block,
    replace: block === 5 ? { [exporter]: onFreePort } : {},
    env: { CALL_WEBHOOK_SECRET: generateSecret() },
  });
  await sample.printed('started');
  const [code] = await sample.end();
  expect(code ?? 0).toBe(0);
});
