/** What differs between the engines of queues in the program of `workerProgram`. */
interface Engine {
  readonly imports: string;
  /** Makes `store`, `queue` and `startWorker(options)`. */
  readonly open: string;
  /** Closes what `open` made, once the worker is closed. */
  readonly close: string;
}

/**
 * A program with a receiver and a worker of its queue. One job is done, one fails and waits for its next
 * run, and one hangs while everything is closed, as in a deploy.
 */
export const workerProgram = ({ imports, open, close }: Engine): string => `
import { createReceiver } from '@call-webhooks/core';
${imports}
const logger = { warn: () => undefined, error: () => undefined };
const secret = 'whsec_dGVzdHMtb25seS1uZXZlci1pbi1wcm9kdWN0aW9u';
const entered = new Set<string>();
let onEntered = () => undefined as void;
const hasEntered = async () => {
  while (entered.size < 3) await new Promise<void>((resolve) => (onEntered = resolve));
};
const on = {
  'call:completed': ({ callId }: { callId?: string | undefined }) => {
    entered.add(String(callId));
    onEntered();
    if (callId === 'failing') throw new Error('the CRM is down');
    if (callId === 'hanging') return new Promise<void>(() => undefined);
  },
};
${open}
const receiver = createReceiver({
  ...{ secret, store, queue, logger, on },
  storeTimeout: 10_000, // a busy machine
});
const worker = await startWorker({ on, logger, concurrency: 3 });
for (const callId of ['done', 'failing', 'hanging']) {
  const { outcome } = await receiver.deliver({ eventName: 'call:completed', callId });
  console.log(callId, outcome);
}
await hasEntered();
await worker.close({ graceMs: 50 });
await receiver.close({ graceMs: 50 });
console.log('closed');
${close}
`;

/** What such a program prints. */
export const WORKER_PRINTED = 'done queued\nfailing queued\nhanging queued\nclosed\n';
