// One verifying contender in a process of its own: node verify-process.js <name>
import { VERIFY, type VerifyName } from '../contenders.ts';
import { signedMessages } from '../verify/signed-message.ts';
import { cpuMicros, type Question, type Ready, type Reply } from './protocol.ts';

/** Few enough to stay in the processor's cache, where the bytes of a request are that was just read. */
const MESSAGES = 50;
const contender = VERIFY[process.argv[2] as VerifyName];
const { verify } = await contender.load();

async function run(operations: number): Promise<Reply> {
  const messages = signedMessages(contender.scheme, MESSAGES); // anew: timestamps grow old
  const before = cpuMicros();
  for (let done = 0; done < operations;) {
    for (const message of messages) {
      const result = verify(message);
      if ((result instanceof Promise ? await result : result) === false)
        throw new Error('An honest message was refused.');
    }
    done += MESSAGES;
  }
  return { cpu: cpuMicros() - before, handled: operations };
}

process.on('message', (question: Question) => {
  if (question.ask === 'verify')
    void run(question.operations).then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit());
process.send?.({} satisfies Ready);
