import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** A project of a user, in a folder of its own, with our packages as they are built. */
export interface UserProject {
  /** Runs a program of the project's `node_modules`, and resolves with its output. */
  run(program: string, ...args: string[]): Promise<{ code: number | null; output: string }>;
  remove(): void;
}

/**
 * @param type `type` in its package.json
 * @param files their texts by path
 * @param dependencies what is in its `node_modules` besides our packages
 */
export async function userProject(
  type: 'module' | 'commonjs',
  files: Record<string, string>,
  dependencies: readonly string[],
): Promise<UserProject> {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-'));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  write('package.json', JSON.stringify({ name: 'of-a-user', private: true, type }));
  for (const [file, text] of Object.entries(files)) write(file, text);
  const modules = join(folder, 'node_modules');
  await install('core', modules, ENTRIES_OF_CORE, 'dist/bundle');
  for (const name of ['client', 'testing', 'express']) await install(name, modules, ['index']);
  mkdirSync(join(modules, '@jest'));
  for (const name of ['lru-cache', 'raw-body', 'zod', ...dependencies])
    symlinkSync(folderOf(name), join(modules, name));
  return {
    async run(program, ...args) {
      const child = spawn(
        process.execPath,
        [...args.filter(isOfNode), program, ...args.filter((arg) => !isOfNode(arg))],
        {
          cwd: folder,
          env: { PATH: process.env['PATH'], CI: 'true', NO_COLOR: '1' },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, output };
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where a package is: here, or with those of all tests. */
function folderOf(name: string): string {
  const own = fileURLToPath(new URL(`node_modules/${name}`, import.meta.url));
  return existsSync(own) ? own : join(ROOT, 'node_modules', name);
}

const isOfNode = (arg: string) => arg.startsWith('--experimental');
const ENTRIES_OF_CORE = ['index', 'node', 'web', 'internal', 'platform/node', 'platform/web'];

/** Builds a package where its `exports` say, in both formats. */
async function install(name: string, modules: string, entries: string[], bundle?: string) {
  const source = join(ROOT, 'packages', name);
  const target = join(modules, '@call-webhooks', name);
  mkdirSync(target, { recursive: true });
  cpSync(join(source, 'package.json'), join(target, 'package.json'));
  for (const format of ['esm', 'cjs'] as const) {
    const outdir = join(target, bundle ?? `dist/${format}`);
    await build({
      entryPoints: Object.fromEntries(
        entries.map((entry) => [entry, join(source, 'src', `${entry}.ts`)]),
      ),
      ...{
        bundle: true,
        packages: 'external',
        external: ['#*'],
        platform: 'node',
        target: 'node20',
      },
      ...{ format, outdir, splitting: format === 'esm', logLevel: 'error' },
      ...(bundle !== undefined && format === 'cjs' && { outExtension: { '.js': '.cjs' } }),
    });
    if (format === 'cjs' && bundle === undefined)
      writeFileSync(join(outdir, 'package.json'), '{"type":"commonjs"}');
  }
}
