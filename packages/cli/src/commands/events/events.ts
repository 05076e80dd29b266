import type { ActivityEvent } from '@call-webhooks/client';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { serviceClient, withServiceOptions, type ServiceOptions } from '../../service/client.ts';
import {
  printList,
  withListOptions,
  type ListOptions,
  type ShownColumn,
} from '../../service/list.ts';
import { dateTime } from '../../terminal/format.ts';

/** `events`: lists activity events. */
export function eventsCommand(app: App, base: Command): Command {
  return withListOptions(withServiceOptions(base))
    .argument('[search...]', 'what to search for, in the search language of the service')
    .addHelpText(
      'after',
      `
A search has words, or one "exact subject", and operators: to: (repeatable),
since:, until:, type:, template:, sequence:, from:. Quote it for the shell.
${examples(
  ['events to:example.com type:opened since:2026-01-31', 'Who opened what'],
  [`events 'template:"First call" from:myself' --all`, 'A value of several words is quoted'],
  ['events type:clicked --all --json | jq -r .recipientEmail', 'Fields of all pages'],
)}`,
    )
    .action(
      app.action(async (words: string[], options: ServiceOptions & ListOptions) => {
        const search = words.join(' ');
        const client = await serviceClient(app, options);
        const trigger = 'call-webhooks trigger message';
        return printList(app, client.events, { search }, options, 'events', () => COLUMNS, trigger);
      }),
    );
}

const time = ({ timestamp }: ActivityEvent): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : dateTime(date);
};

const title = (event: ActivityEvent): string => {
  const { object } = event as { object?: { title?: unknown } };
  return typeof object?.title === 'string' ? object.title : '';
};

const COLUMNS: readonly ShownColumn<ActivityEvent>[] = [
  { title: 'time', value: time },
  { title: 'action', value: ({ action }) => action },
  {
    title: 'recipient',
    cut: 'middle',
    value: ({ recipientEmail }) => recipientEmail,
  },
  { title: 'subject', cut: 'end', value: ({ subject }) => subject },
  { title: 'object', cut: 'end', value: title },
];
