import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { collected, milliseconds, wholeNumber } from '../input/numbers.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../service/connect.ts';
import { EVENT_COLUMNS, eventLine } from '../service/event-view.ts';
import { showList, type ListOptions } from '../service/list.ts';
import { searchOf, type SearchOptions } from '../service/search.ts';
import { tailEvents } from '../service/tail.ts';

const withSearch = (command: Command): Command =>
  withServiceOptions(command)
    .option('--search <text>', 'a whole search, sent as it is')
    .option('--text <words>', 'subjects and recipients with these words')
    .option('--subject <exact>', 'this very subject')
    .option('--to <recipient>', 'an address, a domain or a name; repeatable', collected)
    .option('--since <date>', 'from this day on, YYYY-MM-DD')
    .option('--until <date>', 'up to this day')
    .option('--type <action>', 'opened, clicked, downloaded, replied, unopened, …')
    .option('--template <name>', 'messages made from a template; * for any')
    .option('--sequence <name>', 'messages of a sequence; * for any')
    .option('--from <sender>', 'myself, a team, or an address');

export function events(app: App): Command {
  const command = withSearch(
    app.command('events', 'Activity events: who opened, clicked, answered'),
  )
    .option('--all', 'all pages, not only the first')
    .option('-n, --limit <number>', 'the page size', wholeNumber('--limit', 1, 100_000))
    .option('--next <cursor>', 'the page after')
    .option('--csv', 'CSV, safe to open in a spreadsheet')
    .addHelpText(
      'after',
      examples(
        ['events --to example.com --type opened --since 2026-01-31', 'Who opened what'],
        [
          `events --search 'to:example.com type:clicked' --all --csv > clicks.csv`,
          'For a spreadsheet',
        ],
        ['events tail --json | jq .recipientEmail', 'As they come'],
      ),
    )
    .action(
      app.run(async (options: ServiceOptions & SearchOptions & ListOptions) => {
        const search = searchOf(options);
        const client = await serviceClient(app, options);
        return showList(app, client.events, { search }, options, {
          what: 'events',
          columns: () => EVENT_COLUMNS,
          line: eventLine,
        });
      }),
    );
  return command.addCommand(tail(app));
}

function tail(app: App): Command {
  return withSearch(app.command('tail', 'New events as they come, asked for again and again'))
    .option('--interval <duration>', 'how often to ask', milliseconds, 5_000)
    .addHelpText('after', examples(['events tail --type replied', 'Every answer, as it comes']))
    .action(
      // The flags that stand before `tail` belong to `events`, and count as well.
      app.run((_own: object, command: Command) =>
        tailEvents(
          app,
          command.optsWithGlobals<ServiceOptions & SearchOptions & { interval: number }>(),
        ),
      ),
    );
}
