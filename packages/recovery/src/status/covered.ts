import type { Store } from '@call-webhooks/core';
import { tenantKey } from '@call-webhooks/core/internal';

/** A time of which the events are known to be handled; milliseconds since the epoch. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

/** Of which times reconcile runs have run all events that were missed, by the name of the event, the oldest first. */
export type Covered = Readonly<Record<string, readonly Span[]>>;

const MAX_NAMES = 20;
const MAX_SPANS = 20;

/** The name of the cursor under which a store keeps what the reconcile runs of a tenant have covered. */
export const coveredName = (tenant: string | undefined): string =>
  tenantKey(tenant, 'call-webhooks.covered');

/**
 * Keeps in the store, for `status`, that a run has run what was missed. A store without cursors has nothing to keep it in.
 * @param eventNames the events that the run has looked for
 * @param window the calls that it has looked at began in this time
 * @returns whether it is kept
 */
export async function saveCovered(
  { loadCursor, saveCursor }: Pick<Store, 'loadCursor' | 'saveCursor'>,
  tenant: string | undefined,
  eventNames: Iterable<string>,
  window: Span,
): Promise<boolean> {
  if (!loadCursor || !saveCursor) return false;
  const name = coveredName(tenant);
  await saveCursor(name, withCovered(await loadCursor(name), eventNames, window));
  return true;
}

function withCovered(
  saved: string | undefined,
  eventNames: Iterable<string>,
  window: Span,
): string {
  const covered: Record<string, readonly Span[]> = { ...parsedCovered(saved) };
  for (const name of eventNames)
    if (name in covered || Object.keys(covered).length < MAX_NAMES)
      covered[name] = joined([...(covered[name] ?? []), window]).slice(-MAX_SPANS);
  return JSON.stringify(covered);
}

/** Spans without those that overlap or touch. */
function joined(spans: readonly Span[]): readonly Span[] {
  const found: Span[] = [];
  for (const span of [...spans].sort((one, other) => one.since - other.since)) {
    const last = found.at(-1);
    if (!last || span.since > last.until) found.push(span);
    else found[found.length - 1] = { ...last, until: Math.max(last.until, span.until) };
  }
  return found;
}

/** What cannot be read counts as nothing. @param saved the text of the cursor */
export function parsedCovered(saved: string | undefined): Covered {
  try {
    const covered = Object(JSON.parse(saved ?? '{}')) as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(covered).flatMap(([name, spans]) =>
        Array.isArray(spans) ? [[name, spans.filter(isSpan)]] : [],
      ),
    );
  } catch {
    return {};
  }
}

const isSpan = (value: unknown): value is Span => {
  const { since, until } = Object(value) as Partial<Span>;
  return typeof since === 'number' && typeof until === 'number';
};

/** Whether one run, or several that follow each other, have covered the whole of a time. */
export const isCovered = (
  covered: Covered | undefined,
  eventName: string,
  { since, until }: Span,
): boolean =>
  (covered?.[eventName] ?? []).some((span) => span.since <= since && span.until >= until);
