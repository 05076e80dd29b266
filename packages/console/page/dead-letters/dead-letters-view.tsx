import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { usePoll, useUrl } from '@call-webhooks/ui';
import type { DeadLettersPage } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { counted } from '../model/format.ts';
import { useSession } from '../model/session.ts';
import { Empty, ErrorBox, Loading } from '../parts/section.tsx';
import { DeadLettersTable } from './dead-letters-table.tsx';
import { Filters } from './filters.tsx';
import { LetterDetail } from './letter-detail.tsx';
import { Pages } from './pages.tsx';
import { filterOf } from './query.ts';
import { RedriveBar } from './redrive-bar.tsx';
import { RedriveSection } from './redrive-section.tsx';
import { useRedrive } from './use-redrive.ts';

const EVERY_MS = 5_000;

const HEADING = 'dead-letters-heading';

interface ViewProps {
  /** Called when letters were run or removed. */
  readonly onChange: () => void;
}

/** What failed for good: look at it, run it again, or remove it. */
export function DeadLettersView({ onChange }: ViewProps) {
  const { deadLetters } = useSession();
  return (
    <>
      <div class="view-head">
        <h2 id={HEADING} tabIndex={-1}>
          Dead letters
        </h2>
      </div>
      {deadLetters === null ? (
        <NotConfigured />
      ) : (
        <Letters kind={deadLetters} onChange={onChange} />
      )}
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

function Letters({ kind, onChange }: ViewProps & { readonly kind: 'store' | 'jobs' }) {
  const url = useUrl();
  const filter = filterOf(url);
  const query = { ...filter, cursor: url.get('cursor') ?? undefined };
  const { value, error, refresh } = usePoll(
    `letters ${JSON.stringify(query)}`,
    EVERY_MS,
    (signal) => get<DeadLettersPage>('api/dead-letters', query, signal),
  );
  const changed = useCallback(() => {
    refresh();
    onChange();
  }, [refresh, onChange]);
  const redrive = useRedrive(changed);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const letters = value?.letters ?? [];
  const present = letters.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const isFiltered = Object.keys(filter).length > 0;
  const opened = url.get('letter');
  const focusAfter = useFocusAfterRemoval(value);
  const removed = (id: string) => {
    focusAfter(id);
    changed();
  };
  return (
    <>
      {value && value.total > 0 && (
        <p class="hint">
          {counted(value.total, 'dead letter')} {isFiltered ? 'matching' : 'waiting'}, oldest first.{' '}
          {kind === 'jobs' && 'They are the dead jobs of the queue: its workers run them again.'}
        </p>
      )}
      <Filters letters={letters} />
      <ErrorBox error={error} />
      <RedriveSection redrive={redrive} />
      <RedriveBar
        redrive={redrive}
        chosen={present}
        filter={filter}
        isFiltered={isFiltered}
        total={value?.total ?? 0}
      />
      <div class="with-detail" data-open={opened === null ? undefined : ''}>
        {opened !== null && (
          <LetterDetail key={opened} id={opened} redrive={redrive} onGone={removed} />
        )}
        <div class="listed">
          {letters.length > 0 && (
            <DeadLettersTable
              letters={letters}
              selected={opened ?? undefined}
              chosen={chosen}
              onChoose={setChosen}
            />
          )}
          {value && letters.length === 0 && <NoLetters isFiltered={isFiltered} />}
          {!value && error === undefined && <Loading />}
          {value && <Pages page={value} />}
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
  useEffect(() => {
    if (place.current === undefined || !page) return;
    const next = page.letters[place.current];
    place.current = undefined;
    document.getElementById(next ? `letter-${next.id}` : HEADING)?.focus();
  }, [page]);
  return (id) => {
    place.current = page?.letters.findIndex((letter) => letter.id === id);
  };
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
