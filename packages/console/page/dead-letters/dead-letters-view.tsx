import { useCallback, useEffect, useRef } from 'preact/hooks';
import { Button, changeUrl, count, counted, Table, Tag, usePoll, useUrl } from '@call-webhooks/ui';
import type { DeadLetterRow, DeadLetterSelection, DeadLettersPage } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { filterBy, filtersIn } from '../model/place.ts';
import { useChange, useSession, useTasks } from '../model/session.ts';
import { REASONS } from '../model/words.ts';
import { CallLink, RowLink, When } from '../parts/cells.tsx';
import { Filters, named } from '../parts/filters.tsx';
import { Empty, ErrorBox, Loading } from '../parts/section.tsx';
import { CausesSection } from './causes.tsx';
import { LetterDetail } from './letter-detail.tsx';
import { RedriveAll, RedriveSection } from './redrive-section.tsx';

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
  <Empty title="This console has no dead letters to show">
    <p>
      Without <code>deadLetter</code>, an event that always fails is retried until the service
      pauses the rule. Give the receiver a store of dead letters, and pass the same one to{' '}
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
  const { tasks, refresh: refreshTasks } = useTasks();
  // A redrive of any process.
  useChange(
    JSON.stringify([tasks?.redrive?.counts, tasks?.redrive?.state, tasks?.waiting]),
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
  return (
    <>
      <RedriveSection />
      {page && <CausesSection page={page} selection={selection} />}
      <Filters
        searches="Call, key, text of the error"
        names={FILTERS}
        choices={[
          ['Event', 'event', named(page?.eventNames)],
          ['Reason', 'reason', Object.entries(REASONS)],
          ['Tenant', 'tenant', named(page?.tenants)],
        ]}
      />
      <ErrorBox error={error} />
      {page && page.total > 0 && (
        <p class="hint">
          {counted(page.total, 'dead letter')} {isFiltered ? 'matching' : 'waiting'}, newest first.
          {kind === 'jobs' && ' They are the dead jobs of the queue: its workers run them again.'}
          {page.searched !== undefined &&
            ` Only the newest ${count(page.searched)} are searched and grouped: narrow the filters to see older ones.`}
        </p>
      )}
      <RedriveAll selection={selection} total={page?.total ?? 0} />
      <div class="with-detail" data-open={opened === null ? undefined : ''}>
        {opened !== null && <LetterDetail id={opened} onGone={removed} />}
        <div class="listed">
          {letters.length > 0 && <Listed letters={letters} selected={opened ?? undefined} />}
          {page && letters.length === 0 && <NoLetters isFiltered={isFiltered} />}
          {!page && error === undefined && <Loading />}
          {page && <Pages page={page} offset={offset} />}
        </div>
      </div>
    </>
  );
}

interface ListedProps {
  readonly letters: readonly DeadLetterRow[];
  readonly selected: string | undefined;
}

/** One row for each dead letter, newest first. */
const Listed = ({ letters, selected }: ListedProps) => (
  <Table
    label="Dead letters"
    rows={letters}
    keyOf={({ id }) => id}
    selected={selected}
    onOpen={({ id }) => changeUrl({ letter: id })}
    columns={[
      { name: 'Failed', cell: ({ failedAt }) => <When at={failedAt} /> },
      {
        name: 'Event',
        cell: ({ id, eventName, claimedUntil }) => (
          <>
            <span class="event-name">
              <RowLink id={`letter-${id}`} opens={{ letter: id }}>
                {eventName ?? 'unknown event'}
              </RowLink>
            </span>{' '}
            {claimedUntil !== undefined && <Tag title="A redrive has it.">running</Tag>}
          </>
        ),
      },
      ...(letters.some(({ tenant }) => tenant !== undefined)
        ? [{ name: 'Tenant', cell: ({ tenant }: DeadLetterRow) => tenant ?? '' }]
        : []),
      {
        name: 'Reason',
        minor: true,
        cell: ({ reason, attempts }) => `${REASONS[reason]}, after ${counted(attempts, 'attempt')}`,
      },
      { name: 'Error', cell: ({ error }) => <span class="error-line">{error}</span> },
      { name: 'Call', cell: (letter) => <CallLink {...letter} /> },
    ]}
  />
);

/**
 * Where the keyboard goes on after a letter was removed: in the row that takes its place, or at the heading.
 * @returns is told which letter was removed
 */
function useFocusAfterRemoval(page: DeadLettersPage | undefined): (id: string) => void {
  const place = useRef<number | undefined>(undefined);
  const latest = useRef(page);
  latest.current = page;
  useEffect(() => {
    if (place.current === undefined || !page) return;
    const next = page.letters[place.current];
    place.current = undefined;
    document.getElementById(next ? `letter-${next.id}` : HEADING)?.focus();
  }, [page]);
  return useCallback((id) => {
    place.current = latest.current?.letters.findIndex((letter) => letter.id === id);
  }, []);
}

const NoLetters = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No dead letter matches">
      <p>Change or clear the filters.</p>
    </Empty>
  ) : (
    <Empty title="Nothing waits here">
      <p>
        An event comes here when its handler has failed maxAttempts times, or when its payload can
        never be handled. Fix the cause, then redrive it: it runs as if it had just arrived.
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
