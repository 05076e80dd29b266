// Rotates a secret into a file, and stops at one step for good: `rotating-process.ts URL FILE STEP`.
import { createClient } from '../../src/index.ts';
import { fileStore, type Step } from './file-store.ts';

const [baseUrl = '', file = '', wanted = ''] = process.argv.slice(2);

async function reach(step: Step): Promise<void> {
  if (step !== wanted) return;
  process.send?.(step);
  await new Promise(() => setInterval(() => undefined, 60_000));
}

const client = createClient({
  baseUrl,
  apiToken: 't',
  wire: { secretField: 'actions.1.signingSecrets.current' },
  onRequest: () => reach('request'),
});
await client.rules.rotateInto(fileStore(file, reach), { ruleId: 'r', actionId: 'a' });
await reach('done');
