import type { CallRecord } from '@call-webhooks/client';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { wholeNumber } from '../input/numbers.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../service/connect.ts';
import type { Columns } from '../service/csv.ts';
import { showList, type ListOptions } from '../service/list.ts';
import { joined, t } from '../terminal/text.ts';
import type { Ink } from '../terminal/ink.ts';

export function calls(app: App): Command {
  return withServiceOptions(app.command('calls', 'Call records; their _id is the callId of events'))
    .option('--all', 'all pages, not only the first')
    .option('-n, --limit <number>', 'the page size', wholeNumber('--limit', 1, 100_000))
    .option('--next <cursor>', 'the page after')
    .option(
      '--csv',
      'CSV, safe to open in a spreadsheet; the columns are those of the first record',
    )
    .addHelpText(
      'after',
      examples(['calls', 'The first page'], ['calls --all --json | jq -r ._id', 'Every id']),
    )
    .action(
      app.run(async (options: ServiceOptions & ListOptions) => {
        const client = await serviceClient(app, options);
        return showList(app, client.calls, {}, options, { what: 'calls', columns, line });
      }),
    );
}

// The spec shows `_id` alone: what else there is depends on the service.
const columns = (first: CallRecord): Columns<CallRecord> =>
  Object.fromEntries(
    Object.keys(first).map((name) => [name, (record: CallRecord) => record[name]]),
  );

const line = (ink: Ink, { _id, ...fields }: CallRecord) =>
  joined(
    [
      ink.bold(_id),
      ...Object.entries(fields).map(([name, value]) => {
        const shown = typeof value === 'string' ? value : JSON.stringify(value);
        return t`${ink.dim(`${name}=`)}${shown}`;
      }),
    ],
    '  ',
  );
