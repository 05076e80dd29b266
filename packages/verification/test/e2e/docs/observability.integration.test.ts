import { expect, it } from '@jest/globals';
import { freePort, runSample } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';

// In a process of its own: what it subscribes to belongs to the whole process.
it('sample 3 of docs/observability.md serves metrics', async () => {
  const exporter = 'new PrometheusExporter()';
  const onFreePort = exporter.replace('()', `({ port: ${String(await freePort())} })`);
  const sample = runSample({
    test: import.meta.url,
    document: '../../../../../docs/observability.md',
    block: 3,
    replace: { [exporter]: onFreePort },
    env: { CALL_WEBHOOK_SECRET: generateSecret(), RECORDING_WEBHOOK_SECRET: generateSecret() },
  });
  await sample.printed('started');
  const [code] = await sample.end();
  expect(code ?? 0).toBe(0);
});
