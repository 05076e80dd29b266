import { type Command, CommanderError } from 'commander';
import { App, fullName } from './app.ts';
import { badInput, CliError, EXIT, Stopped } from './errors.ts';
import { didYouMean } from './input/options.ts';
import type { Io } from './io.ts';
import { program } from './program.ts';
import { wrap } from './terminal/table.ts';
import { jsonLine, t } from './terminal/text.ts';

/**
 * Runs one command line. Never throws, and never ends the process.
 * @param argv the arguments after the program's name
 * @returns the exit code
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const app = new App(io);
  try {
    const root = await program(app, argv);
    requireCommand(root, argv);
    if (argv.length === 0) {
      root.outputHelp();
      return EXIT.done;
    }
    await root.parseAsync([...argv], { from: 'user' });
    return stopCode(io) ?? app.exitCode;
  } catch (error) {
    const stopped = stopCode(io);
    if (stopped !== undefined) return stopped;
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    // A group without a command: commander has printed its help.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.badInput;
    return await report(app, error);
  }
}

/**
 * `help nosuch`, `nosuch --help`: commander would show the help of the program. `rules nosuch`: it
 * would take the word for an argument of `rules list`.
 * @throws CliError 2
 */
function requireCommand(root: Command, argv: readonly string[]): void {
  const path = commandWords(argv).filter((word) => word !== 'help');
  let command = root;
  for (const name of path) {
    const found = command.commands.find((one) => one.name() === name);
    const names = command.commands.map((one) => one.name());
    if (!found && names.length > 0 && command.registeredArguments.length === 0) {
      // The error is printed as --json and --color say.
      root.parseOptions([...argv]);
      throw badInput(
        `There is no command ${[...path.slice(0, path.indexOf(name)), name].join(' ')}.`,
        didYouMean(name, names, `List the commands: npx ${fullName(command)} --help`),
      );
    }
    if (!found) return;
    command = found;
  }
}

/** `rules list` of `--json rules list --limit 3`. No option before the command takes a value. */
function commandWords(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (const word of argv) {
    if (!word.startsWith('-')) words.push(word);
    else if (words.length > 0) break;
  }
  return words;
}

const stopCode = ({ signal }: Io): number | undefined => {
  if (!signal.aborted) return undefined;
  return signal.reason instanceof Stopped ? signal.reason.exitCode : EXIT.interrupted;
};

const LABEL_WIDTH = 'error: '.length;

/** Prints an error to stderr. @returns its exit code */
async function report({ output, io }: App, error: unknown): Promise<number> {
  const { message, fix, exitCode } = await shown(error);
  if (output.json) {
    io.stderr.write(`${jsonLine({ error: { message, fix, exitCode } })}\n`);
    return exitCode;
  }
  const { red, dim } = output.messageColors;
  for (const line of [t`${red('error:')} ${message}`, t`${dim('fix:')}   ${fix}`])
    for (const part of wrap(line, output.messageColumns, LABEL_WIDTH)) output.message(part);
  if (!(error instanceof CliError) && io.env['DEBUG'] && error instanceof Error)
    for (const line of (error.stack ?? '').split('\n')) output.message(line);
  return exitCode;
}

async function shown(error: unknown): Promise<CliError> {
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError) return fromCommander(error);
  // Loaded only now: it loads the libraries, and the program has to start quickly.
  return (await import('./library-error.ts')).toCliError(error);
}

function fromCommander(error: CommanderError): CliError {
  const { message, command, usage } = error as CommanderError & { command: string; usage: string };
  const [whole = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const [, what = whole, choices] =
    /^(.+ is invalid\b.*\.) Allowed choices are (.+)\.$/.exec(whole) ?? [];
  const fix =
    suggestion?.replace(/^\((.*)\)$/, '$1') ??
    (choices === undefined ? fixOf(error.code, whole, command, usage) : `Use one of: ${choices}.`);
  return new CliError(EXIT.badInput, what, fix);
}

function fixOf(code: string, message: string, command: string, usage: string): string {
  const [, flags] = /option '(-[^']+)'/.exec(message) ?? [];
  switch (code) {
    case 'commander.missingArgument':
    case 'commander.excessArguments':
      return `Usage: ${usage}`;
    case 'commander.missingMandatoryOptionValue':
    case 'commander.optionMissingArgument':
      return `Add ${flags ?? 'it'}. For an example: npx ${command} --help`;
    case 'commander.unknownCommand':
      return `List the commands: npx ${command} --help`;
    default:
      return `List the options: npx ${command} --help`;
  }
}
