// Saves a recording, with `resume`, and stops in the middle of it for good.
import { createClient } from '../../src/index.ts';

const [baseUrl = '', path = ''] = process.argv.slice(2);
const recording = await createClient({ baseUrl, apiToken: 't' }).calls.recording('c');
await recording.saveTo(path, {
  resume: true,
  onProgress: async ({ received }) => {
    if (received < 100_000) return;
    process.send?.({ received });
    await new Promise(() => setInterval(() => undefined, 60_000));
  },
});
