import type { CallRecord } from '@call-webhooks/client';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../service/client.ts';
import { printList, withListOptions, type ListOptions, type ShownColumn } from '../service/list.ts';
import { dateTime } from '../terminal/format.ts';

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
        const trigger = 'call-webhooks trigger call';
        return printList(app, client.calls, {}, options, 'calls', columnsOf, trigger);
      }),
    );
}

// The spec shows only `_id`. The other fields depend on the service. The first are the most telling:
// where it is too narrow, the last are left out.
const columnsOf = (first: CallRecord): ShownColumn<CallRecord>[] =>
  Object.keys(first).map((name, at) => ({
    title: name,
    // The id is an argument of `recording`, so it is never cut.
    ...(at > 0 && { cut: 'end' }),
    value: (record) => textOf(name, record[name]),
  }));

function textOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' && name.endsWith('At')) return timeText(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value);
  return isTime ? timeText(value) : value;
}

function timeText(value: string | number): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? String(value) : dateTime(time);
}
