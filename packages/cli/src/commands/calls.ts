import type { CallRecord } from '@call-webhooks/client';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../service/client.ts';
import { printList, withListOptions, type Columns, type ListOptions } from '../service/list.ts';
import type { Colors } from '../terminal/colors.ts';
import { join, t } from '../terminal/text.ts';

/** `calls`: lists call records. */
export function callsCommand(app: App, base: Command): Command {
  return withListOptions(withServiceOptions(base))
    .addHelpText(
      'after',
      examples(['calls', 'The first page'], ['calls --all --json | jq -r ._id', 'All ids']),
    )
    .action(
      app.action(async (options: ServiceOptions & ListOptions) => {
        const client = await serviceClient(app, options);
        return printList(app, client.calls, {}, options, { noun: 'calls', columns, line });
      }),
    );
}

// The spec shows only `_id`. The other fields depend on the service.
const columns = (first: CallRecord): Columns<CallRecord> =>
  Object.fromEntries(
    Object.keys(first).map((name) => [name, (record: CallRecord) => record[name]]),
  );

const line = ({ bold, dim }: Colors, { _id, ...fields }: CallRecord) =>
  join(
    [
      bold(_id),
      ...Object.entries(fields).map(([name, value]) => {
        const shown = typeof value === 'string' ? value : JSON.stringify(value);
        return t`${dim(`${name}=`)}${shown}`;
      }),
    ],
    '  ',
  );
