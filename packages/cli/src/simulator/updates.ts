import type {
  AttemptSummary,
  ChangesView,
  ClockView,
  WebhookEventSummary,
  Rule,
} from '@call-webhooks/simulator';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { environmentError } from '../errors.ts';
import type { Output } from '../terminal/output.ts';
import { type Colors, t, type Text } from '../terminal/text.ts';
import { attemptWriter } from './attempt-lines.ts';
import { advanceUntil } from './clock.ts';
import type { Connection } from './connection.ts';

/**
 * Streams the changes in a simulator. The subscription is active when this resolves.
 * @throws CliError 3 when the simulator stops; the signal's reason when it is aborted
 */
export async function changesOf(connection: Connection): Promise<AsyncIterable<ChangesView>> {
  const reader = (await connection.stream())
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  // `fetch` holds its signal weakly and may forget it. A stream that is left open keeps the process alive.
  const end = () => void reader.cancel().catch(() => undefined);
  connection.signal.addEventListener('abort', end, { once: true });
  return readChanges(connection, reader, end);
}

async function* readChanges(
  { signal, url }: Connection,
  reader: ReadableStreamDefaultReader<{ event?: string | undefined; data: string }>,
  end: () => void,
): AsyncGenerator<ChangesView> {
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || !value) break;
      if (value.event === 'changes') yield JSON.parse(value.data) as ChangesView;
    }
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
  signal.throwIfAborted();
  throw environmentError(
    `The simulator at ${url} has stopped.`,
    'Start it again: npx call-webhooks simulate --forward-to URL',
  );
}

/** Reads now, and after each change, until there is a result. A manual clock is advanced as far as it takes. */
export async function readUntil<T>(
  connection: Connection,
  changes: AsyncIterable<ChangesView>,
  read: () => Promise<T | undefined>,
): Promise<T> {
  let found = await read();
  const next = changes[Symbol.asyncIterator]();
  if (found === undefined && (await connection.get<ClockView>('/clock')).mode === 'manual')
    return advanceUntil(connection, read);
  while (found === undefined) {
    await next.next();
    found = await read();
  }
  return found;
}

/** An attempt that ended, or a rule that was paused or resumed. */
export type Update =
  | {
      readonly type: 'attempt';
      readonly event: WebhookEventSummary;
      readonly attempt: AttemptSummary;
    }
  | { readonly type: 'rule'; readonly rule: Rule };

const ALL = 1_000_000;

/**
 * Streams updates, without those from before this resolves.
 * @throws CliError 3 when there is no simulator, or when it stops
 */
export async function updatesOf(connection: Connection): Promise<AsyncGenerator<Update>> {
  const changes = await changesOf(connection);
  const reportedAttempts = new Map<string, number>();
  const states = new Map<string, string>();
  const events = () => connection.get<WebhookEventSummary[]>('/events', { limit: ALL });

  function* newAttempts(event: WebhookEventSummary): Generator<Update> {
    let reported = reportedAttempts.get(event._id) ?? 0;
    for (const attempt of event.attempts.slice(reported)) {
      if (attempt.response === undefined) break;
      reported++;
      yield { type: 'attempt', event, attempt };
    }
    reportedAttempts.set(event._id, reported);
  }
  function* newStates(rules: readonly Rule[]): Generator<Update> {
    for (const rule of rules) {
      const before = states.get(rule._id);
      states.set(rule._id, rule.state);
      if (before !== undefined && before !== rule.state) yield { type: 'rule', rule };
    }
  }

  for (const event of await events()) for (const _ of newAttempts(event));
  for (const _ of newStates(await connection.get<Rule[]>('/rules')));
  return (async function* () {
    for await (const change of changes) {
      const changed = change.resync ? await events() : change.events;
      for (const event of changed) yield* newAttempts(event);
      yield* newStates(change.rules);
    }
  })();
}

/** Creates a printer of attempts, and of rules that are paused or resumed, as they happen. */
export function createUpdatePrinter(output: Output): (update: Update) => Promise<void> {
  const attemptLines = attemptWriter(output.columns);
  return (update) => {
    if (update.type === 'rule')
      return output.print(update, (colors) => ruleLine(colors, update.rule));
    const { type, attempt } = update;
    const { attempts: _all, ...event } = update.event;
    return output.print({ type, event, attempt }, (colors) =>
      attemptLines(colors, update.event, attempt),
    );
  };
}

/** Why a rule is paused, in words. */
export const PAUSED: Readonly<Record<NonNullable<Rule['pauseReason']>, string>> = {
  'responded-404': '404',
  'last-attempt-failed': 'last attempt failed',
  'by-hand': 'by hand',
};

function ruleLine(colors: Colors, { _id, name, state, pauseReason = 'by-hand' }: Rule): Text {
  if (state === 'active') return colors.green(t`The rule "${name}" (${_id}) was resumed.`);
  return colors.red(
    t`The rule "${name}" was paused: ${PAUSED[pauseReason]}. To resume it: npx call-webhooks rules resume ${_id}`,
  );
}
