import type { Command } from 'commander';
import { version } from '@call-webhooks/client';
import type { App } from './app.ts';
import { callsCommand } from './commands/calls.ts';
import { chaosCommand } from './commands/chaos.ts';
import { checkCommand } from './commands/check/check.ts';
import { clockCommand } from './commands/clock.ts';
import { completionCommand } from './commands/completion/completion.ts';
import { deadLettersCommand } from './commands/dead-letters/dead-letters.ts';
import { deliveriesCommand } from './commands/deliveries/deliveries.ts';
import { eventsCommand } from './commands/events/events.ts';
import { explainCommand } from './commands/explain.ts';
import { inferCommand } from './commands/infer.ts';
import { listenCommand } from './commands/listen/listen.ts';
import { reconcileCommand } from './commands/reconcile/reconcile.ts';
import { recordingCommand } from './commands/recording.ts';
import { replayCommand } from './commands/replay.ts';
import { rotateCommand } from './commands/rotate/rotate.ts';
import { rulesCommand } from './commands/rules/rules.ts';
import { secretsCommand } from './commands/secrets.ts';
import { sendCommand } from './commands/send/send.ts';
import { signCommand } from './commands/sign.ts';
import { simulateCommand } from './commands/simulate/simulate.ts';
import { triggerCommand } from './commands/trigger/trigger.ts';
import { verifyCommand } from './commands/verify/verify.ts';

const HELP = `
Signing secrets come from --secret, --secret-file or $CALL_WEBHOOK_SECRET.
Data goes to stdout, messages go to stderr.

Exit codes:
  0    success
  1    the receiver failed, or a signature does not match
  2    bad input
  3    a server, file or port is not available
  130  interrupted

Start here:
  $ call-webhooks simulate --forward-to http://127.0.0.1:3000/hook
  $ call-webhooks trigger call --wait      # in another terminal`;

const GROUPS: readonly (readonly [string, readonly ((app: App) => Command)[]])[] = [
  [
    'Simulate the service:',
    [
      simulateCommand,
      triggerCommand,
      deliveriesCommand,
      replayCommand,
      clockCommand,
      chaosCommand,
      rulesCommand,
      secretsCommand,
    ],
  ],
  [
    'Work with single deliveries:',
    [
      sendCommand,
      listenCommand,
      checkCommand,
      signCommand,
      verifyCommand,
      explainCommand,
      inferCommand,
    ],
  ],
  ['Repair what went wrong:', [deadLettersCommand, reconcileCommand]],
  ["Use the service's REST API:", [eventsCommand, callsCommand, recordingCommand, rotateCommand]],
  ['Other:', [completionCommand]],
];

/** The program with all its commands. */
export function program(app: App): Command {
  const root = app
    .command('call-webhooks', 'Simulate, send, receive and inspect signed call webhooks.')
    .usage('<command> [options]')
    .version(version)
    .option('--json', 'print JSON, one object per line')
    .option('--color', 'use colors even without a terminal')
    .option('--no-color', 'use no colors')
    .addHelpText('after', HELP)
    .helpCommand('help [command]', 'Show the help of a command');
  // With both `--color` and `--no-color`, commander defaults to true. We need "not given".
  root.setOptionValue('color', undefined);
  app.flagsFrom(() => root.opts());
  for (const [heading, commands] of GROUPS)
    for (const create of commands) root.addCommand(create(app).helpGroup(heading));
  return root;
}
