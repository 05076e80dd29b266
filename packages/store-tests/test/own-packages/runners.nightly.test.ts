import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

// The tests as authors of stores run them in Vitest and in Bun. In Jest, the stores of this repository show
// it, and runners.test.ts has node:test.

const HERE = fileURLToPath(new URL('.', import.meta.url));

const testsIn = (runner: string) => `import * as runner from '${runner}';
import { deadLettersContractTests, storeContractTests } from '@call-webhooks/store-tests';
import { openMemoryDeadLetters, openMemoryStore, WITHOUT } from '../../../memory.ts';

storeContractTests(runner, { name: 'memoryStore', without: WITHOUT, open: openMemoryStore });
deadLettersContractTests(runner, {
  name: 'memoryDeadLetters',
  without: ['refusals'],
  open: openMemoryDeadLetters,
});
storeContractTests(runner, {
  name: 'a store that releases for anybody',
  without: WITHOUT,
  async open() {
    const opened = await openMemoryStore();
    return { ...opened, store: { ...opened.store, release: async () => true } };
  },
});
`;

/** Bun's install script, where npm runs it, moves the binary into the package \`bun\`. */
function bunBinary(): string {
  const { platform, arch } = process;
  const own = join(HERE, `node_modules/@oven/bun-${platform}-${arch}/bin/bun`);
  return existsSync(own) ? own : join(HERE, 'node_modules/bun/bin/bun.exe');
}

const RUNNERS = {
  Vitest: {
    module: 'vitest',
    config: [
      'vitest.config.ts',
      `const conditions = ['@call-webhooks/source', 'node', 'import'];
export default {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { testTimeout: 60_000, reporters: ['verbose'] },
};`,
    ],
    program: process.execPath,
    args: [join(HERE, 'node_modules/vitest/vitest.mjs'), 'run'],
  },
  Bun: {
    module: 'bun:test',
    config: ['bunfig.toml', ''],
    program: bunBinary(),
    args: ['test', '--timeout', '60000', '--conditions=@call-webhooks/source'],
  },
} as const;

describe.each(Object.entries(RUNNERS))('the tests in %s', (name, { module, config, ...runner }) => {
  it('pass for the store and the dead letters in memory, and name the promises that a store breaks', async () => {
    const folder = join(HERE, '.samples', name.toLowerCase());
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, config[0]), config[1]);
    writeFileSync(join(folder, 'my-store.spec.ts'), testsIn(module));
    const child = spawn(runner.program, runner.args, {
      cwd: folder,
      env: { ...process.env, CI: 'true', NO_COLOR: '1', NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    const lines = output.split('\n');
    /** The results of a suite, by their sign. */
    const results = (sign: RegExp, suite: string) =>
      lines.filter((line) => sign.test(line) && line.includes(`${suite}: `)).length;
    const [passed, failed] = [/✓|\(pass\)/, /^\s*[✗×]|\(fail\)/];
    for (const suite of ['memoryStore', 'memoryDeadLetters']) {
      expect([suite, results(failed, suite)]).toEqual([suite, 0]);
      expect(results(passed, suite)).toBeGreaterThan(15);
    }
    expect(results(failed, 'a store that releases for anybody')).toBeGreaterThan(0);
    expect(output).toContain(
      'Broken promise: fences a token that has released the lease, or has never held it',
    );
    expect(code).toBe(1);
  });
});
