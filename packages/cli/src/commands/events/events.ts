import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { durationOption, repeatable } from '../../input/options.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../../service/client.ts';
import { printList, withListOptions, type ListOptions } from '../../service/list.ts';
import { EVENT_COLUMNS, SHOWN_COLUMNS } from './columns.ts';
import { searchOf, type SearchOptions } from './search.ts';
import { tailEvents } from './tail.ts';

const withSearch = (command: Command): Command =>
  withServiceOptions(command)
    .option('--search <text>', 'a complete search, sent as it is')
    .option('--text <words>', 'search subjects and recipients for these words')
    .option('--subject <exact>', 'exactly this subject')
    .option('--to <recipient>', 'an address, a domain or a name; repeatable', repeatable)
    .option('--since <date>', 'from this day, YYYY-MM-DD')
    .option('--until <date>', 'until this day')
    .option('--type <action>', 'opened, clicked, downloaded, replied, unopened, …')
    .option('--template <name>', 'messages that used this template; * for any')
    .option('--sequence <name>', 'messages of this sequence; * for any')
    .option('--sequence-id <id>', 'messages of the sequence with this id')
    .option('--from <sender>', 'myself, a team or an address');

/** `events`: lists activity events. */
export function eventsCommand(app: App, base: Command): Command {
  return withListOptions(withSearch(base))
    .addHelpText(
      'after',
      examples(
        ['events --to example.com --type opened --since 2026-01-31', 'Who opened what'],
        [`events --search type:clicked --all --csv > clicks.csv`, 'For a spreadsheet'],
        ['events tail --json | jq .recipientEmail', 'As they happen'],
      ),
    )
    .action(
      app.action(async (options: ServiceOptions & SearchOptions & ListOptions) => {
        const search = searchOf(options);
        const client = await serviceClient(app, options);
        return printList(app, client.events, { search }, options, {
          noun: 'events',
          columns: () => EVENT_COLUMNS,
          shown: () => SHOWN_COLUMNS,
        });
      }),
    )
    .addCommand(tailCommand(app));
}

function tailCommand(app: App): Command {
  return withSearch(app.command('tail', 'Poll for new events and print them'))
    .addOption(durationOption('--interval <duration>', 'the time between polls', 5_000))
    .addHelpText(
      'after',
      `
It assumes that the service returns the latest events first. The spec does not
show the order.
${examples(['events tail --type replied', 'Replies as they arrive'])}`,
    )
    .action(
      // Flags before `tail` belong to `events`, and count too.
      app.action((_own: object, command: Command) =>
        tailEvents(
          app,
          command.optsWithGlobals<ServiceOptions & SearchOptions & { interval: number }>(),
        ),
      ),
    );
}
