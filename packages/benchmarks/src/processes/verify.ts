// One verifying contender in its own process: node verify.js <name> <checkout>
import { signedMessages } from '../deliveries.ts';
import { VERIFY, type VerifyName } from '../verify.ts';
import { cpuMicros, type Question, type Ready, type Reply } from './messages.ts';

/** Few enough to stay in the processor's cache, where a request that was just read is as well. */
const MESSAGES = 50;
const [, , name, root] = process.argv as [string, string, VerifyName, string];
const { load, scheme } = VERIFY[name];
const verify = await load(root);

async function run(operations: number): Promise<Reply> {
  const messages = signedMessages(scheme, MESSAGES); // new ones, because timestamps expire
  const before = cpuMicros();
  for (let done = 0; done < operations; done += MESSAGES) {
    for (const message of messages) {
      const result = verify(message);
      if ((result instanceof Promise ? await result : result) === false)
        throw new Error('An authentic message was refused.');
    }
  }
  return { cpu: cpuMicros() - before };
}

process.on('message', (question: Question) => {
  if (question.ask === 'verify')
    void run(question.operations).then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit());
process.send?.({} satisfies Ready);
