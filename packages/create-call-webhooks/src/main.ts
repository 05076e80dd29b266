import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { appFiles } from './app-files.ts';
import { complete, type Plan } from './ask.ts';
import { commandOf, LABELS } from './choices.ts';
import { completeEnv } from './env-file.ts';
import { parseFlags } from './flags.ts';
import { CreateError, EXIT, type Io, type Output } from './io.ts';
import { writeFiles } from './target-folder.ts';

const TEMPLATES = fileURLToPath(new URL('../templates', import.meta.url));

/**
 * Creates an app.
 * @param templates the folder of the built templates
 * @returns the exit code
 */
export async function main(
  args: readonly string[],
  io: Io,
  templates: string = TEMPLATES,
): Promise<number> {
  try {
    const flags = parseFlags(args, io);
    if (!flags) return EXIT.done;
    const plan = await complete(flags, io);
    const files = appFiles(plan.choices, templates);
    const kept = keepEnv(plan.folder, files);
    writeFiles(plan.folder, files);
    const { framework, store, language } = plan.choices;
    const made = `${LABELS[framework]}, ${LABELS[store]}, ${LABELS[language]}`;
    io.stdout.write(`Created ${plan.choices.name} (${made}) in ${plan.folder}\n`);
    if (kept !== undefined) io.stdout.write(`${kept}\n`);
    const installed = plan.install ? await install(plan, io) : undefined;
    printNextSteps(plan, installed === true, io);
    return installed === false ? EXIT.failed : EXIT.done;
  } catch (error) {
    if (!(error instanceof CreateError)) throw error;
    io.stderr.write(`${colored(io.stderr, io, 'red', 'error:')} ${error.message}\n`);
    return error.exitCode;
  }
}

/** Keeps an `.env` that is there. @returns what to say about it */
function keepEnv(folder: string, files: Map<string, string>): string | undefined {
  const path = join(folder, '.env');
  if (!existsSync(path)) return undefined;
  const { content, added } = completeEnv(readFileSync(path, 'utf8'), files.get('.env') ?? '');
  files.set('.env', content);
  return `Kept your .env${added.length > 0 ? `, and added ${added.join(', ')}` : ''}.`;
}

/** Installs the dependencies. @returns whether it worked @throws CreateError 130 */
async function install({ folder, choices }: Plan, io: Io): Promise<boolean> {
  const { packageManager } = choices;
  io.stdout.write(`Installing the dependencies with ${packageManager} …\n`);
  // On Windows, package managers are scripts, which only a shell can run.
  const child = spawn(packageManager, ['install'], {
    cwd: folder,
    env: io.env,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    if (io.signal.aborted) throw interrupted(packageManager);
    if (code === 0) return true;
    io.stderr.write(`${packageManager} install failed with exit code ${String(code)}.\n`);
  } catch (error) {
    if (error instanceof CreateError) throw error;
    io.stderr.write(`${packageManager} could not be started: ${(error as Error).message}\n`);
  }
  return false;
}

const interrupted = (packageManager: string) =>
  new CreateError(
    EXIT.interrupted,
    `Interrupted. The app is complete, but its dependencies are not: run ${packageManager} install there.`,
  );

function printNextSteps({ folder, choices }: Plan, isInstalled: boolean, io: Io): void {
  const { store, packageManager } = choices;
  const path = relative(io.cwd, folder);
  const needsServer = store === 'postgres' || store === 'redis';
  const steps: [command: string, why: string][] = [
    ...(path === ''
      ? []
      : [[`cd ${/\s/.test(path) ? `"${path}"` : path}`, ''] as [string, string]]),
    ...(isInstalled ? [] : [[commandOf(packageManager, 'npm install'), ''] as [string, string]]),
    [commandOf(packageManager, 'npm test'), 'needs no server'],
    ...(needsServer
      ? [['docker compose up --detach --wait', `starts ${LABELS[store]}`] as [string, string]]
      : []),
    [commandOf(packageManager, 'npm run dev'), 'starts the app and a local copy of the service'],
    [commandOf(packageManager, 'npm run call'), 'in another terminal: places a call'],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  io.stdout.write('\nNext:\n');
  for (const [command, why] of steps) {
    const shown = colored(io.stdout, io, 'cyan', command.padEnd(why === '' ? 0 : width));
    io.stdout.write(`  ${shown}${why === '' ? '' : `  ${why}`}\n`);
  }
}

/** Colors only for a terminal that wants them: `hasColors` knows `NO_COLOR` and `TERM`. */
function colored(output: Output, { env }: Io, color: 'red' | 'cyan', text: string): string {
  const wants = output.isTTY === true && output.hasColors?.(16, env) === true;
  return wants ? styleText(color, text, { validateStream: false }) : text;
}
