import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@call-webhooks/store-tests/internal';

/** A program of a README, running as a reader would run it. */
export interface RunningSample {
  printed(text: string): Promise<void>;
  /** Ends it with SIGTERM; its exit code and signal. */
  end(): Promise<[number | null, string | null]>;
}

/**
 * Runs a TypeScript block of the README beside the folder of the test, or of another document.
 * @param options.test `import.meta.url` of the test
 * @param options.document its path, from the test
 * @param options.block which block; 1 is the first
 * @param options.replace texts of the sample that are different here, such as its port
 */
export function runSample(options: {
  test: string;
  document?: string;
  block: number;
  replace?: Record<string, string>;
  /** Code at its end, which uses what the sample exports. */
  then?: string;
  env?: Record<string, string>;
}): RunningSample {
  const { document = '../README.md' } = options;
  const readme = readFileSync(new URL(document, options.test), 'utf8');
  let code = [...readme.matchAll(/^```ts\n([^]*?)^```/gm)][options.block - 1]?.[1] ?? '';
  for (const [from, to] of Object.entries(options.replace ?? {})) {
    if (!code.includes(from)) throw new Error(`The sample has no ${from}.`);
    code = code.replaceAll(from, to);
  }
  const folder = fileURLToPath(new URL('.samples/', options.test));
  mkdirSync(folder, { recursive: true });
  // Tests of one folder run at the same time, in processes of their own.
  const name = [basename(document, '.md'), options.block, process.pid].join('-');
  const file = `${folder}${name}.ts`;
  writeFileSync(file, `${code}\n${options.then ?? ''}\nconsole.log('started');\n`);
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=@call-webhooks/source', file],
    { env: { ...process.env, ...options.env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    async printed(text) {
      await waitFor(() => output.includes(text) || child.exitCode !== null, { within: 60_000 });
      if (!output.includes(text)) throw new Error(`It did not print ${text}:\n${output}`);
    },
    async end() {
      child.kill('SIGTERM');
      const tooLong = setTimeout(() => child.kill('SIGKILL'), 15_000);
      const how = await ended;
      clearTimeout(tooLong);
      rmSync(file);
      return how;
    },
  };
}
