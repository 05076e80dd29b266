// npm run bench: see options.ts
import { cpus } from 'node:os';
import { chart } from './chart.ts';
import { benchOptions, HELP, type BenchOptions, type QuestionName } from './options.ts';
import { figuresOf, tables, type Result } from './report.ts';

interface Question {
  readonly measure: (options: BenchOptions) => Promise<Result>;
}

const LOAD: Record<QuestionName, () => Promise<Question>> = {
  verify: () => import('./verify.ts'),
  http: () => import('./http.ts'),
  stores: () => import('./stores.ts'),
  'remembered-events': () => import('./remembered-events.ts'),
  removal: () => import('./removal.ts'),
  failing: () => import('./failing.ts'),
  'import-cost': () => import('./import-cost.ts'),
};

async function bench(options: BenchOptions): Promise<void> {
  const machine = {
    node: process.version,
    cores: cpus().length,
    processor: cpus()[0]?.model,
  };
  const results: Record<string, Result> = {};
  if (!options.json && !options.chart)
    console.log(`Node ${machine.node}, ${String(machine.cores)} cores of ${machine.processor}\n`);
  for (const name of options.questions) {
    const { measure } = await LOAD[name]();
    const result = await measure(options);
    if (options.chart) console.log(chart(result));
    else if (options.json) results[name] = { ...result, ...figuresOf(result) };
    else console.log(tables(result));
  }
  if (options.json) console.log(JSON.stringify({ machine, results }, null, 2));
}

function optionsOf(args: readonly string[]): ReturnType<typeof benchOptions> | undefined {
  try {
    return benchOptions(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n\n${HELP}`);
    process.exitCode = 2;
    return undefined;
  }
}

const options = optionsOf(process.argv.slice(2));
if (options === 'help') console.log(HELP);
else if (options) await bench(options);
