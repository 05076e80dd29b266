import { it } from '@jest/globals';
import { runSample } from '@call-webhooks/contract-tests';

it('the sample of docs/personal-data.md erases, and leaves a line about it', async () => {
  const sample = runSample({
    ...{ test: import.meta.url, document: '../personal-data.md', block: 2 },
    replace: { "'calls.db'": "':memory:'" },
  });
  await sample.printed('call-webhooks: ops@example.com erased nothing.');
  await sample.printed('deadLetters: 0');
  await sample.printed('started');
  await sample.end();
});
