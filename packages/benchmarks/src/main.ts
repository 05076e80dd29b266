// npm run bench: see options.ts
import { THIS_VERSION } from './checkout.ts';
import { HTTP } from './contenders.ts';
import { benchOptions, HELP, type BenchOptions } from './options.ts';
import {
  httpPart,
  importPart,
  isSelected,
  storePart,
  verifyPart,
  type Memory,
  type Part,
} from './parts.ts';
import { writeDocs } from './report/docs.ts';
import { BEFORE_GOALS, figures, memoryLines } from './report/figures.ts';
import { withEarlier, writeResults, type Results } from './report/results.ts';
import { measuredSections } from './report/sections.ts';
import { costTable, figureTable, sectionTable } from './report/tables.ts';
import type { Round } from './rounds.ts';
import { VERIFY } from './verify.ts';

async function bench(options: BenchOptions): Promise<void> {
  const parts: Partial<Record<Part, Round[]>> = {};
  const memory: Record<string, Memory> = {};
  const bytesPerEvent: Record<string, number> = {};
  const show = (part: Part, title: string, rounds: Round[], cost?: string) => {
    parts[part] = rounds;
    console.log(`${costTable(title, rounds, cost)}\n`);
  };

  if (isSelected('verify', options, Object.keys(VERIFY)))
    show('verify', 'one signature of 1 KB', await verifyPart(options));
  if (isSelected('http', options, Object.keys(HTTP)))
    show(
      'http',
      `one delivery over HTTP, connections: ${options.connections}`,
      await httpPart(options),
    );
  if (isSelected('store', options))
    show(
      'store',
      'admit and complete in a full store, by number of ids',
      await storePart(options, (name, figures) => (memory[name] = figures)),
    );
  if (isSelected('stores', options)) {
    const { storesPart } = await import('./stores/part.ts');
    const { stores, storesCpu, storesAlone } = await storesPart(options);
    show('stores', 'one delivery of 64 at a time, with a store', stores, 'time each');
    show('storesCpu', 'CPU time of the same', storesCpu);
    show('storesAlone', 'one delivery at a time', storesAlone, 'time each');
  }
  if (isSelected('queues', options)) {
    const { queuesPart } = await import('./queues/part.ts');
    const { wall, cpu } = await queuesPart(options);
    show('queues', 'one delivery of 64 at a time, to a queue', wall, 'time each');
    show('queuesCpu', 'CPU time of the same', cpu);
  }
  if (isSelected('workers', options)) {
    const { workersPart } = await import('./queues/part.ts');
    const { wall, cpu } = await workersPart(options);
    show('workers', 'one job of a worker', wall, 'time each');
    show('workersCpu', 'CPU time of the same', cpu);
  }
  if (isSelected('processes', options)) {
    const { processesPart } = await import('./shared/part.ts');
    const { wall } = await processesPart(options);
    show('processes', 'one delivery, by receivers on one store', wall, 'time each');
  }
  if (isSelected('events', options)) {
    const { eventsPart } = await import('./events/part.ts');
    const measured = await eventsPart(options);
    show('events', 'admit and complete, by remembered events', measured.events, 'time each');
    Object.assign(bytesPerEvent, measured.bytesPerEvent);
  }
  if (isSelected('import', options)) show('import', 'import', await importPart(options));

  for (const line of memoryLines(memory)) console.log(`${line}\n`);
  for (const section of measuredSections({ parts, bytesPerEvent }))
    console.log(`${sectionTable(section)}\n`);
  const reached = figures(parts);
  if (reached.length > 0) console.log(figureTable('figure', reached));
  const before = figures(parts, BEFORE_GOALS);
  if (before.length > 0) console.log(`\n${figureTable('CPU ÷ CPU before', before)}`);
  save(options, { parts, memory, bytesPerEvent });
}

function save(options: BenchOptions, measured: Omit<Results, 'machine'>): void {
  const file = options.json ?? `${THIS_VERSION}/packages/benchmarks/results.json`;
  const results = withEarlier(file, measured);
  writeResults(file, results);
  if (options.docs) writeDocs(results);
  console.log(`\n${file}`);
}

try {
  const options = benchOptions(process.argv.slice(2));
  if (options === 'help') console.log(HELP);
  else await bench(options);
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n\n${HELP}`);
  process.exitCode = 2;
}
