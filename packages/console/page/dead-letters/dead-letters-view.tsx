import { useCallback, useEffect, useRef } from 'preact/hooks';
import { Button, count, counted, usePoll, useUrl } from '@call-webhooks/ui';
import type { DeadLetterSelection, DeadLettersPage } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { filterBy, filtersIn } from '../model/place.ts';
import { useChange, useSession, useTasks } from '../model/session.ts';
import { REASONS } from '../model/words.ts';
import { Filters, named } from '../parts/filters.tsx';
import { useReveal } from '../parts/reveal.ts';
import { Empty, ErrorBox, Loading } from '../parts/section.tsx';
import { CausesSection } from './causes.tsx';
import { LetterDetail } from './letter-detail.tsx';
import { areBusy, askToRedrive, askToRemove, LettersTasks } from './letters-tasks.tsx';
import { ChosenBar, LettersTable, useChoosing, type Choosing } from './letters-table.tsx';
import { PersonSearch } from './person-search.tsx';
import { Retention } from './retention.tsx';

const EVERY_MS = 5_000;
const PAGE = 50;
const HEADING = 'dead-letters-heading';
/** The filters that are in the address of the page. */
const FILTERS = ['text', 'cause', 'event', 'reason', 'tenant'] as const;

/** What failed for good: see why, run it again, or remove it. */
export function DeadLettersView() {
  const { deadLetters } = useSession();
  return (
    <>
      <div class="view-head">
        <h2 id={HEADING} tabIndex={-1}>
          Dead letters
        </h2>
      </div>
      {deadLetters === null ? <NotConfigured /> : <Letters kind={deadLetters} />}
    </>
  );
}

const NotConfigured = () => (
  <Empty title="No dead-letter store">
    <p>
      Without <code>deadLetter</code>, an event that keeps failing is retried until the service
      pauses the rule. Give the receiver a dead-letter store, and pass the same store to{' '}
      <code>createConsole</code> as <code>deadLetters</code>.
    </p>
  </Empty>
);

function Letters({ kind }: { readonly kind: 'store' | 'jobs' }) {
  const url = useUrl();
  const selection: DeadLetterSelection = filtersIn(url, FILTERS);
  const offset = Number(url.get('offset') ?? 0);
  const query = { ...selection, limit: PAGE, ...(offset > 0 && { offset }) };
  const { value, error, refresh } = usePoll(
    `letters ${JSON.stringify(query)}`,
    EVERY_MS,
    (signal) => get<DeadLettersPage>('api/dead-letters', query, signal),
  );
  const { canWrite } = useSession();
  const { tasks, refresh: refreshTasks } = useTasks();
  // A task of any process.
  useChange(
    JSON.stringify(
      [tasks?.redrive, tasks?.removal, tasks?.erasure].map((task) => [
        ...[task?.counts, task?.state, tasks?.waiting],
      ]),
    ),
    refresh,
  );
  const last = useRef(value);
  if (value) last.current = value;
  const page = value ?? (error === undefined ? last.current : undefined);
  const letters = page?.letters ?? [];
  const isFiltered = Object.keys(selection).length > 0;
  const opened = url.get('letter');
  const focusAfter = useFocusAfterRemoval(page);
  const removed = useCallback(
    (id: string) => {
      focusAfter(id);
      refresh();
      refreshTasks();
    },
    [focusAfter, refresh, refreshTasks],
  );
  const list = useReveal<HTMLHeadingElement>(selection.cause ?? null);
  const choosing = useChoosing();
  useChange(JSON.stringify(selection), choosing.clear);
  return (
    <>
      <LettersTasks />
      <div class="with-detail" data-open={opened === null ? undefined : ''}>
        {opened !== null && <LetterDetail id={opened} onGone={removed} />}
        <div class="column">
          {page && <CausesSection page={page} selection={selection} />}
          {canWrite && (
            <PersonSearch
              selection={selection}
              choosing={choosing}
              selected={opened ?? undefined}
            />
          )}
          <Filters
            searches="Call, key or error"
            names={FILTERS}
            choices={[
              ['Event', 'event', named(page?.eventNames)],
              ['Reason', 'reason', Object.entries(REASONS)],
              ['Tenant', 'tenant', named(page?.tenants)],
            ]}
          />
          <ErrorBox error={error} />
          {page && <Retention page={page} />}
          {page && page.total > 0 && (
            <>
              <h3 tabIndex={-1} ref={list}>
                {counted(page.total, 'dead letter')} {isFiltered ? 'matching' : 'waiting'}, newest
                first
              </h3>
              <p class="hint">
                {kind === 'jobs' &&
                  'These are the dead jobs of the queue. A redrive requeues them, and the queue workers run them. '}
                {page.searched !== undefined &&
                  `Only the newest ${count(page.searched)} are searched and grouped. Narrow the filters to see older ones.`}
              </p>
              {canWrite && <AllActions selection={selection} page={page} choosing={choosing} />}
            </>
          )}
          <div class="listed">
            {letters.length > 0 && (
              <LettersTable
                label="Dead letters"
                letters={letters}
                choosing={choosing}
                selected={opened ?? undefined}
              />
            )}
            {page && letters.length === 0 && (
              <NoLetters isFiltered={isFiltered} isPastEnd={page.total > 0} />
            )}
            {!page && error === undefined && <Loading />}
            {page && <Pages page={page} offset={offset} />}
          </div>
          <ChosenBar choosing={choosing} />
        </div>
      </div>
    </>
  );
}

interface AllProps {
  readonly selection: DeadLetterSelection;
  readonly page: DeadLettersPage;
  readonly choosing: Choosing;
}

/** What can be done with all letters that match. */
function AllActions({ selection, page: { total, letters }, choosing }: AllProps) {
  const control = useTasks();
  const isFiltered = Object.keys(selection).length > 0;
  const isBusy = areBusy(control.tasks);
  const all = isFiltered ? 'all that match …' : 'all …';
  const question = {
    total,
    which: isFiltered ? 'All dead letters that match the filters.' : 'All dead letters.',
    request: isFiltered ? { filter: selection } : { all: true as const },
    control,
  };
  return (
    <div class="buttons">
      <Button label={`Redrive ${all}`} disabled={isBusy} onClick={() => askToRedrive(question)} />
      <Button label={`Remove ${all}`} disabled={isBusy} onClick={() => askToRemove(question)} />
      {letters.length > 1 && (
        <Button
          label={`Select these ${count(letters.length)}`}
          kind="ghost"
          onClick={() =>
            choosing.choose(
              letters.map(({ id }) => id),
              true,
            )
          }
        />
      )}
    </div>
  );
}

/**
 * Where the keyboard goes on after a letter was removed: in the row that takes its place, or at the heading.
 * @returns is told which letter was removed
 */
function useFocusAfterRemoval(page: DeadLettersPage | undefined): (id: string) => void {
  const removed = useRef<{ readonly id: string; readonly place: number } | undefined>(undefined);
  const latest = useRef(page);
  latest.current = page;
  useEffect(() => {
    if (!removed.current || !page) return;
    const { id, place } = removed.current;
    // An answer to an earlier question may still have the letter: the next page follows.
    if (page.letters.some((letter) => letter.id === id)) return;
    removed.current = undefined;
    const next = page.letters[place];
    document.getElementById(next ? `letter-${next.id}` : HEADING)?.focus();
  }, [page]);
  return useCallback((id) => {
    const place = latest.current?.letters.findIndex((letter) => letter.id === id) ?? -1;
    removed.current = { id, place };
  }, []);
}

interface NoLettersProps {
  readonly isFiltered: boolean;
  /** Whether there are some, on the pages before. */
  readonly isPastEnd: boolean;
}

const NoLetters = ({ isFiltered, isPastEnd }: NoLettersProps) =>
  isPastEnd ? (
    <Empty title="No older dead letters">
      <p>The others have been redriven or removed. Choose Newer to see the rest.</p>
    </Empty>
  ) : isFiltered ? (
    <Empty title="No dead letter matches">
      <p>Change or clear the filters.</p>
    </Empty>
  ) : (
    <Empty title="No dead letters">
      <p>
        An event appears here after its handler has failed maxAttempts times, or if its payload can
        never be handled. Fix the cause, then redrive it. It will run as if it had just arrived.
      </p>
    </Empty>
  );

interface PagesProps {
  readonly page: DeadLettersPage;
  readonly offset: number;
}

function Pages({ page: { letters, total, searched }, offset }: PagesProps) {
  const end = offset + letters.length;
  const hasMore = end < Math.min(total, searched ?? total);
  if (offset === 0 && !hasMore) return null;
  const to = (next: number) => () => {
    filterBy({ offset: next > 0 ? String(next) : undefined });
  };
  return (
    <div class="pages">
      <span class="hint">
        {letters.length > 0 && `${count(offset + 1)} to ${count(end)} of ${count(total)}`}
      </span>
      {offset > 0 && <Button label="Newer" small onClick={to(Math.max(0, offset - PAGE))} />}
      {hasMore && <Button label="Older" small onClick={to(offset + PAGE)} />}
    </div>
  );
}
