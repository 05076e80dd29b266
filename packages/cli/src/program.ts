import type { Command } from 'commander';
import { version } from '@call-webhooks/client';
import type { App } from './app.ts';
import { chaos } from './commands/chaos.ts';
import { clock } from './commands/clock.ts';
import { calls } from './commands/calls.ts';
import { completion } from './commands/completion.ts';
import { events } from './commands/events.ts';
import { recording } from './commands/recording.ts';
import { rotate } from './commands/rotate.ts';
import { check } from './commands/check.ts';
import { listen } from './commands/listen.ts';
import { explain } from './commands/explain.ts';
import { send } from './commands/send.ts';
import { sign } from './commands/sign.ts';
import { verify } from './commands/verify.ts';
import { deliveries } from './commands/deliveries.ts';
import { replay } from './commands/replay.ts';
import { rules } from './commands/rules.ts';
import { secrets } from './commands/secrets.ts';
import { simulate } from './commands/simulate.ts';
import { trigger } from './commands/trigger.ts';

const HELP = `
Secrets come from --secret, --secret-file or $CALL_WEBHOOK_SECRET, and are not printed unless asked for.
Data goes to stdout, talk to stderr.

Exit codes: 0 done · 1 the receiver failed · 2 bad input · 3 environment · 130 interrupted

Start here:
  $ call-webhooks simulate --forward-to http://127.0.0.1:3000/hook
  $ call-webhooks trigger call --wait      # in another terminal`;

const GROUPS: readonly (readonly [string, readonly ((app: App) => Command)[]])[] = [
  [
    'The service on this machine:',
    [simulate, trigger, deliveries, replay, clock, chaos, rules, secrets],
  ],
  ['One delivery:', [send, listen, check, sign, verify, explain]],
  ['The REST side of the service:', [events, calls, recording, rotate]],
  ['And:', [completion]],
];

/** The whole tree of commands. */
export function program(app: App): Command {
  const root = app
    .command('call-webhooks', 'Simulate, send, receive and inspect signed call webhooks.')
    .usage('<command> [options]')
    .version(version)
    .option('--json', 'JSON to stdout, one object a line for streams')
    .option('--color', 'colours even where there is no terminal')
    .option('--no-color', 'no colours')
    .addHelpText('after', HELP)
    .helpCommand('help [command]', 'Show how a command is used');
  // `--color` and `--no-color` together default to true; nothing said is to mean nothing.
  root.setOptionValue('color', undefined);
  app.flagsFrom(() => root.opts());
  for (const [heading, commands] of GROUPS)
    for (const make of commands) root.addCommand(make(app).helpGroup(heading));
  return root;
}
