import type { EventSearchTree } from '@call-webhooks/client';
import type { MessageEvent } from '../activity/activity-events.ts';
import type { Directory } from '../activity/directory.ts';
import type { Message } from '../activity/message.ts';
import { senders } from './senders.ts';
import { matchesText, matchesTo } from './recipient-match.ts';
import { sequenceIds, templateIds } from './named-match.ts';

const DAY_MS = 86_400_000;

type MessageTest = (message: Message) => boolean;

/**
 * What a search of `GET /v1/events` finds (spec, "Search string rules"). Its parts are combined with
 * "and", several `to:` with "or". Days are days in UTC.
 * @param untilIncludesDay whether `until:` includes its day: the spec does not say
 */
export function eventMatcher(
  tree: EventSearchTree,
  directory: Directory,
  untilIncludesDay: boolean,
): (found: MessageEvent) => boolean {
  const tests = messageTests(tree, directory);
  const since = tree.since === undefined ? -Infinity : Date.parse(tree.since);
  const until =
    tree.until === undefined ? Infinity : Date.parse(tree.until) + (untilIncludesDay ? DAY_MS : 0);
  return ({ time, action, message }) =>
    time >= since &&
    time < until &&
    (tree.type === undefined || action === tree.type) &&
    tests.every((test) => test(message));
}

function messageTests(tree: EventSearchTree, directory: Directory): MessageTest[] {
  const { text, subject, to, template, sequence, from } = tree;
  const { workspace } = directory;
  const tests: MessageTest[] = [];
  if (text !== undefined) tests.push((message) => matchesText(message, text));
  if (subject !== undefined) tests.push((message) => message.subject === subject);
  if (to.length > 0) tests.push((message) => to.some((term) => matchesTo(message, term)));
  if (template) tests.push(has('templateId', templateIds(template, workspace.templates)));
  if (sequence) tests.push(has('sequenceId', sequenceIds(sequence, workspace.sequences)));
  if (from) tests.push(has('senderId', senders(from, directory)));
  return tests;
}

const has =
  (field: 'templateId' | 'sequenceId' | 'senderId', ids: ReadonlySet<string>): MessageTest =>
  ({ [field]: id }) =>
    id !== undefined && ids.has(id);
