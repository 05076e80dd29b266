import { Command, CommanderError, Option } from 'commander';
import {
  FRAMEWORKS,
  PACKAGE_MANAGERS,
  STORES,
  type Framework,
  type PackageManager,
  type Store,
} from './choices.ts';
import { CreateError, EXIT, type Io } from './io.ts';
import { version } from './manifest.ts';

/** What the command line says. */
export interface Flags {
  readonly folder?: string;
  readonly framework?: Framework;
  readonly store?: Store;
  readonly ts?: boolean;
  readonly js?: boolean;
  readonly name?: string;
  readonly packageManager?: PackageManager;
  readonly install?: boolean;
  readonly overwrite?: boolean;
  readonly yes?: boolean;
}

const HELP = `
Without a terminal, nothing is asked: pass --framework, --store and --ts or --js, or --yes.

Exit codes:
  0    the app was created
  1    it could not be written, or its dependencies could not be installed
  2    bad input
  130  interrupted

Examples:
  $ npm create call-webhooks
  $ npm create call-webhooks my-app -- --framework express --store postgres
  $ npm create call-webhooks my-app -- --framework fastify --store sqlite --js --yes
  $ pnpm create call-webhooks my-app --framework next --store redis --no-install`;

/**
 * Parses the command line.
 * @returns the flags, or `undefined` if the help or the version was printed
 * @throws CreateError 2
 */
export function parseFlags(args: readonly string[], { stdout }: Io): Flags | undefined {
  const errors: string[] = [];
  const command = new Command('npm create call-webhooks')
    .description('Creates an app that receives signed call webhooks.')
    .usage('[folder] -- [options]')
    .argument('[folder]', 'where to create the app; its name is that of the package')
    .addOption(new Option('-f, --framework <name>', 'the framework').choices(FRAMEWORKS))
    .addOption(
      new Option('-s, --store <name>', 'what remembers which events are done').choices(STORES),
    )
    .addOption(new Option('--ts', 'TypeScript').conflicts('js'))
    .addOption(new Option('--js', 'JavaScript'))
    .option('--name <name>', 'the name of the package, if it is not that of the folder')
    .addOption(
      new Option('--package-manager <name>', 'default: the one that runs this').choices(
        PACKAGE_MANAGERS,
      ),
    )
    .option('--install', 'install the dependencies')
    .option('--no-install', "don't")
    .option('--overwrite', 'write into a folder that is not empty, over files of the same names')
    .option('-y, --yes', 'ask nothing: express, memory, TypeScript unless you say otherwise')
    .version(version)
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => errors.push(text),
      getOutHasColors: () => false,
      outputError: (text, write) => write(text.replace(/^error: /, '')),
    });
  // With both `--install` and `--no-install`, commander defaults to true. We need "not given".
  command.setOptionValue('install', undefined);
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new CreateError(EXIT.badInput, `${errors.join('').trim()}\nFor help, pass --help.`);
  }
  const [folder] = command.args;
  return { ...command.opts<Flags>(), ...(folder !== undefined && { folder }) };
}
