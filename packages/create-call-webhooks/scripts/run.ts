import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/** What this process has, without what `npm run` adds to it. */
export const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(?:npm_(?!config_(?:cache|registry))|NODE_OPTIONS$|INIT_CWD$|CALL_WEBHOOK)/i.test(name),
    ),
  );

/**
 * Runs a program to its end.
 * @returns what it wrote to stdout
 * @throws with its output, if it fails
 */
export async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: { ...environment(), NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, output] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} in ${cwd} failed:\n${output}`);
  return stdout;
}

/** Does something with each of many, a few of them at a time. */
export async function each<T>(many: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...many];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
}
