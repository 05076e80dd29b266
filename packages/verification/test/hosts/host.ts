import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, newestNode, pack, waitFor } from '@call-webhooks/contract-tests';
import { build } from 'esbuild';
import type { Served } from '../runtimes/process.ts';

/** A framework whose own tools build the app, and whose own server serves it. */
export interface Host {
  readonly name: string;
  /** The folder of its app, which is installed already, unless `newest` is. */
  readonly app: string;
  /** The packages of the app in their newest versions. They run on the newest even Node. */
  readonly newest?: readonly string[];
  /** The first line of its sample in docs/frameworks.md. */
  readonly sample: string;
  /** The file of a route. */
  route(path: string): string;
  /** The tool and its arguments that build the app. */
  readonly build?: readonly [tool: string, ...args: string[]];
  /** What it prints when it serves. */
  readonly ready: string;
  /** What serves the app, as arguments of Node and environment variables. */
  serve(port: string, path: string): { args: readonly string[]; env: Record<string, string> };
}

/** Where the receivers of the contract tests are. */
export const RECEIVERS = ['/hook', '/short-deadline', '/short-body-timeout'] as const;
/** Where the sample is, as it stands in the docs. */
export const SAMPLE = '/sample';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const run = promisify(execFile);

/** npm as a user's machine has it. @param node its Node */
function environment(node = process.execPath): NodeJS.ProcessEnv {
  const { npm_config_engine_strict: _strict, NODE_OPTIONS: _jest, ...env } = process.env;
  const PATH = `${dirname(node)}${delimiter}${String(env['PATH'])}`;
  return { ...env, PATH, CI: 'true', NODE_ENV: 'production', ASTRO_TELEMETRY_DISABLED: '1' };
}

const nodeOf = ({ newest }: Host): Promise<string> =>
  newest ? newestNode() : Promise.resolve(process.execPath);

/** An app without the lock file of its folder, with the newest packages. @param parent where it is put */
async function installNewest(
  { app, newest = [] }: Host,
  parent: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const pinned = fileURLToPath(new URL(app, import.meta.url));
  const folder = join(parent, 'newest');
  const isOwn = (path: string) =>
    !/node_modules|package-lock\.json$/.test(path.slice(pinned.length));
  await cp(pinned, folder, { recursive: true, filter: isOwn });
  await writeIn(folder, 'package.json', '{"private":true,"type":"module"}');
  await run('npm', ['install', '--ignore-scripts', '--include=dev', ...newest], {
    cwd: folder,
    env,
  });
  return folder;
}

/** Adds the packed core to the app of a host, writes its routes from the docs, and builds it. */
export async function buildHost(host: Host, folder: string): Promise<void> {
  const env = environment(await nodeOf(host));
  const app = host.newest
    ? await installNewest(host, folder, env)
    : fileURLToPath(new URL(host.app, import.meta.url));
  const tarball = await pack('core', folder, env);
  await run('npm', ['install', '--no-save', '--ignore-scripts', tarball], { cwd: app, env });
  const modules = join(app, 'node_modules');
  await cp(app, folder, { recursive: true, filter: (path) => path !== modules });
  await symlink(modules, join(folder, 'node_modules'));
  await bundleReceivers(folder);

  const sample = await sampleOf(host.sample);
  await writeIn(folder, host.route(SAMPLE), sample);
  for (const path of RECEIVERS) await writeIn(folder, host.route(path), asReceiver(sample));
  if (!host.build) return;
  const [tool, ...args] = host.build;
  await run(join(folder, 'node_modules/.bin', tool), args, { cwd: folder, env });
}

/** A package that the routes import, as the sample imports core. */
async function bundleReceivers(folder: string): Promise<void> {
  const target = join(folder, 'node_modules/receivers');
  await build({
    entryPoints: [join(ROOT, 'packages/verification/test/runtimes/programs/host.ts')],
    outfile: join(target, 'index.js'),
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'node20' },
    external: ['@call-webhooks/*'],
  });
  const manifest = { name: 'receivers', version: '1.0.0', type: 'module', main: 'index.js' };
  await writeIn(target, 'package.json', JSON.stringify(manifest));
}

/** The program in docs/frameworks.md that begins with this line. */
async function sampleOf(firstLine: string): Promise<string> {
  const docs = await readFile(join(ROOT, 'docs/frameworks.md'), 'utf8');
  const programs = [...docs.matchAll(/^```(?:ts|js)\n([^]*?)^```/gm)].map(([, code = '']) => code);
  const found = programs.filter((code) => code.startsWith(`${firstLine}\n`));
  if (found.length !== 1) throw new Error(`docs/frameworks.md has no sample of ${firstLine}`);
  return found[0] as string;
}

/** The sample with the receivers of the contract tests, and otherwise the same. */
function asReceiver(sample: string): string {
  const code = sample
    .replace(
      /^import .* from '@call-webhooks\/core\/web';$/m,
      "import { receive } from 'receivers';",
    )
    .replace(/createWebHandler\(\{[^]*?\}\);/, 'receive;');
  if (code.includes('createWebHandler')) throw new Error(`The sample is not as expected:\n${code}`);
  return code;
}

async function writeIn(folder: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

/** Serves a built app, in a process of its own. @param path a route, for hosts that serve one at a time */
export async function serveHost(
  host: Host,
  folder: string,
  env: Record<string, string>,
  path: string = RECEIVERS[0],
): Promise<Served> {
  const port = await freePort();
  const { args, env: own } = host.serve(String(port), path);
  const node = await nodeOf(host);
  const child = spawn(node, args, {
    cwd: folder,
    env: { ...environment(node), ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await waitFor(() => child.exitCode !== null || output.includes(host.ready), {
    within: 120_000,
    what: `${host.name} prints ${host.ready}`,
  });
  if (child.exitCode !== null) throw new Error(`${host.name} ended:\n${output}`);
  return {
    port,
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
