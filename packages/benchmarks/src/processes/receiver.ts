// One of several receivers on one store: node receiver.js <store> <place> <checkout>
import type { SharedName } from '../shared/names.ts';
import { openStore } from '../shared/stores.ts';
import { receiverPath } from '../stores/load.ts';
import { cpuMicros, type Question, type Ready, type Reply } from './messages.ts';

const [, , name, place, root] = process.argv as [string, string, SharedName, string, string];
const store = await openStore(name, place, root);
const ignore = () => undefined;
const path = await receiverPath(root, { store, logger: { warn: ignore, error: ignore } });
let deliveries: (() => Promise<unknown>)[] = [];

/**
 * Handles what was prepared, so many at a time. A store that is busy refuses deliveries: the service
 * would send them again later.
 * @returns how many were handled
 */
async function handle(atATime: number): Promise<number> {
  let next = 0;
  let handled = 0;
  const one = async () => {
    for (let run = deliveries[next++]; run; run = deliveries[next++])
      await run().then(() => (handled += 1), ignore);
  };
  await Promise.all(Array.from({ length: atATime }, one));
  return handled;
}

async function reply(question: Question): Promise<Reply> {
  const start = cpuMicros();
  if (question.ask === 'prepare') deliveries = path.prepare(question.operations);
  const handled = question.ask === 'handle' ? await handle(question.atATime) : 0;
  return { cpu: cpuMicros() - start, handled };
}

process.on('message', (question: Question) => {
  void reply(question).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
process.send?.({} satisfies Ready);
