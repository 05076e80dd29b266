import type { DeadLetterFilter } from '@call-webhooks/core/stores';
import type { DeadLetterDetail, DeadLettersPage, RedriveTask, Removed } from '../api-types.ts';
import { RequestError } from '../http/answer.ts';
import { invalid, numberOf, parametersOf, timeOf } from '../http/query.ts';
import type { DeadLetterReader } from '../recovery/dead-letter-reader.ts';
import type { RedriveTasks, RedriveWhat } from '../recovery/redrive-tasks.ts';
import { isObject, optional, waitFor } from './body.ts';
import type { RouteContext } from './context.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_IDS = 500;
const MAX_ID = 300;

const notConfigured = () =>
  new RequestError('not-configured', 'Pass deadLetters to createConsole to see dead letters here.');

function readerOf({ letters }: RouteContext): DeadLetterReader {
  if (!letters) throw notConfigured();
  return letters;
}

function redrivesOf({ redrives }: RouteContext): RedriveTasks {
  if (!redrives) throw notConfigured();
  return redrives;
}

export async function deadLetters(context: RouteContext): Promise<DeadLettersPage> {
  const names = ['event', 'reason', 'tenant', 'since', 'until', 'cursor', 'limit'] as const;
  const { limit, cursor, since, until, ...filter } = parametersOf(context.request.query, names);
  return readerOf(context).page({
    ...filterOf({ ...filter, since: timeOf(['since', since]), until: timeOf(['until', until]) }),
    cursor,
    limit: numberOf(['limit', limit], 1, MAX_LIMIT) ?? DEFAULT_LIMIT,
  });
}

export async function deadLetter(context: RouteContext): Promise<DeadLetterDetail> {
  parametersOf(context.request.query, []);
  return readerOf(context).detail(idOf(context));
}

export async function reveal(context: RouteContext): Promise<DeadLetterDetail> {
  const letterId = idOf(context);
  const detail = await readerOf(context).whole(letterId);
  // Before anybody sees it.
  context.log({ action: 'reveal', by: context.operator.name, letterId });
  return detail;
}

export async function remove(context: RouteContext): Promise<Removed> {
  const letterId = idOf(context);
  const removed = await readerOf(context).remove(letterId);
  if (removed) context.log({ action: 'remove', by: context.operator.name, letterId });
  return { removed };
}

export function redriveState({ redrives }: RouteContext): { task?: RedriveTask } {
  return redrives?.task ? { task: redrives.task } : {};
}

export async function redrive(context: RouteContext): Promise<{ task: RedriveTask }> {
  const { body, operator, log } = context;
  const redrives = redrivesOf(context);
  const what = whatOf(body);
  const wait = waitFor(body);
  const task = redrives.start(what, operator.name);
  log({
    action: 'redrive',
    by: operator.name,
    ...('ids' in what && { letters: what.ids.length }),
  });
  await wait(redrives.done);
  return { task };
}

export function abortRedrive(context: RouteContext): { task?: RedriveTask } {
  const isRunning = redrivesOf(context).task?.state === 'running';
  redrivesOf(context).abort();
  if (isRunning) context.log({ action: 'abort-redrive', by: context.operator.name });
  return redriveState(context);
}

function idOf({ parameters }: RouteContext): string {
  const [id = ''] = parameters;
  if (id === '' || id.length > MAX_ID) throw invalid('expected the id of a dead letter');
  return id;
}

/** Exactly one of the three: nobody redrives all by leaving something out. */
function whatOf({ ids, filter, all }: Readonly<Record<string, unknown>>): RedriveWhat {
  const given = [ids, filter, all].filter((one) => one !== undefined);
  if (given.length !== 1) throw invalid('expected one of ids, filter and all');
  if (all === true) return { filter: {} };
  if (isObject(filter)) return { filter: filterOf(filter) };
  const isId = (id: unknown): id is string =>
    typeof id === 'string' && id !== '' && id.length <= MAX_ID;
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > MAX_IDS || !ids.every(isId))
    throw invalid(`expected 1 to ${MAX_IDS} ids`);
  return { ids: [...new Set(ids)] };
}

const FILTER_NAMES = ['event', 'reason', 'tenant', 'since', 'until'];

/** The store checks the values. */
function filterOf(given: Readonly<Record<string, unknown>>): DeadLetterFilter {
  if (!Object.keys(given).every((name) => FILTER_NAMES.includes(name)))
    throw invalid(`filter: expected only ${FILTER_NAMES.join(', ')}`);
  const text = (name: string) => optional(given[name], 'string', name);
  const date = (name: string) => {
    const time = optional(given[name], 'number', name);
    if (time === undefined) return undefined;
    if (Number.isNaN(new Date(time).getTime())) throw invalid(`${name}: expected a time`);
    return new Date(time);
  };
  const reason = text('reason');
  if (reason !== undefined && reason !== 'handler-failed' && reason !== 'invalid-payload')
    throw invalid("reason: expected 'handler-failed' or 'invalid-payload'");
  return {
    ...{ eventName: text('event'), reason, tenant: text('tenant') },
    ...{ since: date('since'), until: date('until') },
  };
}
