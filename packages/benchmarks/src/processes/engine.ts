// One store and its floor, in a process of their own: node engine.js <store> <checkout>
import { ENGINES, type EngineName } from '../stores/engines.ts';
import { costOf, floorPath, latencyOf, receiverPath } from '../stores/load.ts';
import type { Question, Ready, Reply } from './messages.ts';

const [, , name, root] = process.argv as [string, string, EngineName, string];
const engine = await ENGINES[name](root);
const ours = await receiverPath(root, { store: engine.store });
const floor = engine.floor && floorPath(engine.floor);

async function reply(question: Question): Promise<Reply> {
  if (question.ask !== 'turn') throw new Error(`A store can't ${question.ask}.`);
  const path = question.of === 'store' ? ours : floor;
  if (!path) throw new Error(`${name} has no floor.`);
  // V8 shrinks the heap of a process that is idle, as during the turns of others.
  await costOf(path, question.many / 2, question.atATime);
  const { wall, cpu } = await costOf(path, question.many, question.atATime);
  return { cpu, wall, alone: await latencyOf(path, question.few) };
}

process.on('message', (question: Question) => {
  void reply(question).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => {
  void Promise.resolve(engine.stop()).then(() => process.exit());
});
process.send?.({ hasFloor: floor !== undefined } satisfies Ready);
