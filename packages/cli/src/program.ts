import { createRequire } from 'node:module';
import type { Command } from 'commander';
import type { App } from './app.ts';
import { COMMANDS } from './commands.ts';

/** The version of this package. */
const { version } = createRequire(import.meta.url)('call-webhooks/package.json') as {
  version: string;
};

const HELP = `
Signing secrets come from --secret, --secret-file, or $CALL_WEBHOOK_SECRET and
$RECORDING_WEBHOOK_SECRET.
Data goes to stdout, messages go to stderr.

Exit codes:
  0    success
  1    something needs attention: the receiver failed, a signature does not
       match, events were missed
  2    bad input
  3    a server, file or port is not available
  129, 130, 143  interrupted

Start here:
  $ npx call-webhooks simulate --forward-to http://127.0.0.1:3000/hook
  $ npx call-webhooks trigger call --wait      # in another terminal`;

/**
 * The program. Only the commands that `argv` asks for are loaded, so that `--help` and `--version` start
 * quickly; the others have a name and a description.
 * @param argv the arguments after the program's name; without it, all commands are loaded
 */
export async function program(app: App, argv?: readonly string[]): Promise<Command> {
  const root = app
    .command('call-webhooks', 'Simulate, send, receive and inspect signed call webhooks.')
    .usage('<command> [options]')
    .version(version)
    .option('--json', 'print JSON, one object per line')
    .option('--color', 'use colors even if the output is not a terminal')
    .option('--no-color', 'use no colors')
    .option('--wide', 'show full ids, URLs and messages instead of shortening them')
    .addHelpText('after', HELP)
    .helpCommand('help [command]', 'Show the help of a command');
  root.configureHelp({ ...root.configureHelp(), subcommandTerm: (command) => command.name() });
  // With both `--color` and `--no-color`, commander defaults to true. We need "not given".
  root.setOptionValue('color', undefined);
  app.flagsFrom(() => root.opts());
  // No option before the command takes a value, so the first word is the command.
  const [first, second] = argv?.filter((word) => !word.startsWith('-')) ?? [];
  const asked = first === 'help' ? second : first;
  for (const [heading, group] of Object.entries(COMMANDS))
    for (const [name, { what, load }] of Object.entries(group)) {
      const isWanted = argv === undefined || name === asked;
      const define = isWanted ? await load() : undefined;
      const base = app.command(name, what).helpGroup(heading);
      root.addCommand(define?.(app, base) ?? base);
    }
  return root;
}
