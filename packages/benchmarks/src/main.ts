// npm run bench: see options.ts
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { benchOptions, HELP, type BenchOptions } from './options.ts';
import { httpPart, importPart, isWanted, storePart, verifyPart } from './parts.ts';
import { chart } from './report/chart.ts';
import { figures, type Part } from './report/figures.ts';
import { costTable, figureTable } from './report/tables.ts';
import { HTTP, VERIFY } from './contenders.ts';
import type { Round } from './running/rounds.ts';
import type { Delay } from './running/protocol.ts';

const RESULTS = fileURLToPath(new URL('../../results.json', import.meta.url));

interface Memory {
  size: number;
  bytesPerId: number;
  /** Milliseconds that the event loop came round late. */
  delays: { busy: Delay; idle: Delay };
}

async function bench(options: BenchOptions): Promise<void> {
  const parts: Partial<Record<Part, Round<string>[]>> = {};
  let memory: Memory | undefined;
  const show = (part: Part, title: string, rounds: Round<string>[]) => {
    parts[part] = rounds;
    console.log(`${costTable(title, rounds)}\n`);
  };

  if (isWanted('verify', options, Object.keys(VERIFY)))
    show('verify', 'one signature of 1 KB', await verifyPart(options));
  if (isWanted('http', options, Object.keys(HTTP)))
    show(
      'http',
      `one delivery over HTTP, connections: ${options.connections}`,
      await httpPart(options),
    );
  if (isWanted('store', options)) {
    const rounds = await storePart(options, async (size, store) => {
      const delays = await store.delays(options.quick ? 1 : 15);
      memory = { size, bytesPerId: store.bytesPerId, delays };
    });
    show('store', 'admit and complete, full, by ids', rounds);
  }
  if (isWanted('import', options)) show('import', 'import', await importPart(options));

  if (memory) console.log(`${memoryLines(memory)}\n`);
  const results = figures(parts);
  console.log(figureTable(results));
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
  const file = options.json ?? RESULTS;
  writeFileSync(file, `${JSON.stringify({ machine, figures: results, memory, parts }, null, 2)}\n`);
  console.log(`\n${file}`);
  if (options.chart !== undefined && parts.http) writeFileSync(options.chart, chart(parts.http));
}

function memoryLines({ size, bytesPerId, delays: { busy, idle } }: Memory): string {
  const late = ({ p99, max }: Delay) => `p99 ${p99.toFixed(1)} ms, worst ${max.toFixed(1)} ms`;
  return [
    `memory store with ${size} webhook ids and ${size} events: ${bytesPerId.toFixed(0)} bytes each`,
    `event loop late while it turns over: ${late(busy)}`,
    `event loop late in the same loop without it: ${late(idle)}`,
  ].join('\n');
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
