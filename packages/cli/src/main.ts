import { CommanderError } from 'commander';
import { App } from './app.ts';
import { CliError } from './cli-error.ts';
import { EXIT, Stopped } from './exit.ts';
import type { Io } from './io.ts';
import { program } from './program.ts';
import { report } from './report.ts';

/**
 * Runs one command line.
 * @param argv what stands behind the program's name
 * @returns the exit code; it never throws, and never ends the process
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const app = new App(io);
  const root = program(app);
  try {
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
    // A group without a command: commander has shown its help.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.badInput;
    const told = error instanceof CommanderError ? ofCommander(error) : error;
    return report(app, told);
  }
}

const stopCode = ({ signal }: Io): number | undefined =>
  signal.aborted
    ? signal.reason instanceof Stopped
      ? signal.reason.exitCode
      : EXIT.interrupted
    : undefined;

function ofCommander({ message }: CommanderError): CliError {
  const [what = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const fix = suggestion?.replace(/^\((.*)\)$/, '$1') ?? 'See --help.';
  return new CliError(EXIT.badInput, what, fix);
}
