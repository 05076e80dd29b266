import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { withSecretOptions } from '../input/secrets.ts';
import { simulatorUrl, withSimulatorOption } from '../simulator/address.ts';
import { connect } from '../simulator/connection.ts';
import { createRule, type CreateOptions } from '../simulator/create-rule.ts';
import type { Rule } from '../simulator/views.ts';
import { table } from '../terminal/table.ts';
import { t, type Shown } from '../terminal/text.ts';

interface Options {
  readonly simulator?: string;
}

const connected = ({ io, signal }: App, { simulator }: Options) =>
  connect(simulatorUrl(io, simulator), signal);

export function rules(app: App): Command {
  return app
    .command('rules', 'The rules of the simulator: which event goes where')
    .addCommand(list(app))
    .addCommand(create(app))
    .addCommand(change(app, 'pause', 'Stop sending, as the service does after a 404'))
    .addCommand(change(app, 'resume', 'Send again'))
    .addHelpText(
      'after',
      examples(
        ['rules create --url http://127.0.0.1:3000/hook', 'All three events to one receiver'],
        ['rules list', 'What is paused, and why'],
      ),
    );
}

async function told({ output }: App, found: readonly Rule[]): Promise<undefined> {
  if (output.json) for (const rule of found) await output.show(rule, () => []);
  else if (found.length === 0)
    output.say('There are no rules. Make them: call-webhooks rules create --url URL');
  else
    await output.show(found, (ink) => {
      const rows = found.map(({ _id, state, trigger, pausedBecause, actions }): Shown[] => [
        state === 'active' ? ink.green(state) : ink.red(`paused: ${pausedBecause ?? ''}`),
        trigger,
        _id,
        actions
          .map((action) => `${action._id} → ${action.url}${action.signed ? '' : ' (unsigned)'}`)
          .join(', '),
      ]);
      return table(ink, ['state', 'trigger', 'rule', 'actions'], rows);
    });
  return undefined;
}

function list(app: App): Command {
  const command = app.command('list', 'All rules, their actions and their state');
  return withSimulatorOption(command)
    .addHelpText('after', examples(['rules list', 'Which are paused, and why']))
    .action(
      app.run(async (options: Options) => told(app, await connected(app, options).get('/rules'))),
    );
}

function create(app: App): Command {
  const command = app
    .command('create', 'Make a rule for one event, or for all three')
    .requiredOption('--url <url>', 'where deliveries go')
    .option('--trigger <event>', 'one event only')
    .option('--name <text>', 'its name')
    .option('--scope <scope>', 'user (default) or workspace: who is mailed when it pauses')
    .option('--payload <json|@file|->', 'a custom payload, sent instead of the event')
    .option('--unsigned', 'an old action, from before signing was introduced')
    .option('--show-secret', 'print the signing secret');
  return withSimulatorOption(withSecretOptions(command))
    .addHelpText(
      'after',
      examples(
        ['rules create --url 3000/hook --show-secret', 'All three events, and their secrets'],
        [
          `rules create --url 3000/crm --trigger call:completed --payload '{"id":"{{callId}}"}'`,
          'A custom payload',
        ],
      ),
    )
    .action(
      app.run(async (options: Options & CreateOptions) => {
        const connection = connected(app, options);
        const made = await createRule(app.io, connection, options);
        await told(app, made);
        if (!options.showSecret) return undefined;
        const secrets =
          await connection.get<Record<string, { current: string } | null>>('/secrets');
        for (const { _id } of made.flatMap(({ actions }) => actions))
          await app.output.show(
            { actionId: _id, secret: secrets[_id]?.current ?? null },
            (ink) => t`${_id}  ${ink.bold(secrets[_id]?.current ?? 'no secret')}`,
          );
        return undefined;
      }),
    );
}

function change(app: App, verb: 'pause' | 'resume', what: string): Command {
  const command = app.command(verb, what).argument('<id>', 'the rule');
  return withSimulatorOption(command)
    .addHelpText('after', examples([`rules ${verb} 5f02…`, what]))
    .action(
      app.run(async (id: string, options: Options) => {
        const path = `/rules/${encodeURIComponent(id)}/${verb}`;
        return told(app, [await connected(app, options).post<Rule>(path)]);
      }),
    );
}
