import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Button, usePoll, useUrl } from '@call-webhooks/ui';
import type { DeadLettersPage } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { count, counted } from '../model/format.ts';
import { filterBy } from '../model/place.ts';
import { useChange, useSession, useTasks } from '../model/session.ts';
import { Empty, ErrorBox, Loading } from '../parts/section.tsx';
import { CausesSection } from './causes.tsx';
import { DeadLettersTable } from './dead-letters-table.tsx';
import { Filters, selectionIn } from './filters.tsx';
import { LetterDetail } from './letter-detail.tsx';
import { RedriveBar, RedriveSection } from './redrive-section.tsx';

const EVERY_MS = 5_000;
const PAGE = 50;
const HEADING = 'dead-letters-heading';

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
  const selection = selectionIn(url);
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
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const letters = page?.letters ?? [];
  const present = letters.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
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
      <Filters page={page} />
      <ErrorBox error={error} />
      {page && page.total > 0 && (
        <p class="hint">
          {counted(page.total, 'dead letter')} {isFiltered ? 'matching' : 'waiting'}, newest first.
          {kind === 'jobs' && ' They are the dead jobs of the queue: its workers run them again.'}
          {page.searched !== undefined &&
            ` Only the newest ${count(page.searched)} are searched and grouped: narrow the times to see older ones.`}
        </p>
      )}
      <RedriveBar chosen={present} selection={selection} total={page?.total ?? 0} />
      <div class="with-detail" data-open={opened === null ? undefined : ''}>
        {opened !== null && <LetterDetail id={opened} onGone={removed} />}
        <div class="listed">
          {letters.length > 0 && (
            <DeadLettersTable
              letters={letters}
              selected={opened ?? undefined}
              chosen={chosen}
              onChoose={setChosen}
            />
          )}
          {page && letters.length === 0 && <NoLetters isFiltered={isFiltered} />}
          {!page && error === undefined && <Loading />}
          {page && <Pages page={page} offset={offset} />}
        </div>
      </div>
    </>
  );
}

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
