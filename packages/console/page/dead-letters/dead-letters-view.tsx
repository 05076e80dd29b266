import { useState } from 'preact/hooks';
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

/** What failed for good: look at it, run it again, or remove it. */
export function DeadLettersView() {
  const { deadLetters } = useSession();
  return (
    <>
      <div class="view-head">
        <h2>Dead letters</h2>
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
  const filter = filterOf(url);
  const query = { ...filter, cursor: url.get('cursor') ?? undefined };
  const { value, error, refresh } = usePoll(
    `letters ${JSON.stringify(query)}`,
    EVERY_MS,
    (signal) => get<DeadLettersPage>('api/dead-letters', query, signal),
  );
  const redrive = useRedrive(refresh);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const letters = value?.letters ?? [];
  const present = letters.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const isFiltered = Object.keys(filter).length > 0;
  const opened = url.get('letter');
  return (
    <>
      {value && (
        <p class="hint">
          {counted(value.total, 'dead letter')} {isFiltered ? 'match' : 'wait'}
          {value.total === 1 && (isFiltered ? 'es' : 's')}, the oldest failure first.{' '}
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
          <LetterDetail key={opened} id={opened} redrive={redrive} onGone={refresh} />
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
