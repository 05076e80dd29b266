import { useRef, useState } from 'preact/hooks';
import { Button, count, counted, Field, messageOf } from '@call-webhooks/ui';
import type { DeadLetterRow, DeadLetterSelection, PersonFound } from '../../src/api-types.ts';
import { post } from '../model/api.ts';
import { useSession, useTasks } from '../model/session.ts';
import { When } from '../parts/cells.tsx';
import { reveal } from '../parts/reveal.ts';
import { Section } from '../parts/section.tsx';
import { areBusy, askToErase } from './letters-tasks.tsx';
import { LettersTable, type Choosing } from './letters-table.tsx';

/** What a search has found so far. Whom it is for is kept nowhere but here. */
interface Search {
  readonly about: string;
  readonly selection: DeadLetterSelection;
  readonly letters: readonly DeadLetterRow[];
  readonly searched: number;
  readonly searchedTo: number | null;
  readonly before: string | undefined;
  readonly inFullOnly: boolean;
}

interface PersonSearchProps {
  /** The filters, which hold for the search as well. */
  readonly selection: DeadLetterSelection;
  readonly choosing: Choosing;
  readonly selected: string | undefined;
}

/** Finds the letters of a person. The search is sent in a body, never in an address, and is not logged. */
export function PersonSearch({ selection, choosing, selected }: PersonSearchProps) {
  const { canForget } = useSession();
  const control = useTasks();
  const [search, setSearch] = useState<Search>();
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const look = async (about: string, earlier?: Search) => {
    if (busy) return;
    setBusy(true);
    setError('');
    const of = earlier?.selection ?? selection;
    try {
      const found = await post<PersonFound>('api/dead-letters/search', {
        ...{ about, ...of },
        ...(earlier?.before !== undefined && { before: earlier.before }),
      });
      setSearch({
        about,
        selection: of,
        letters: [...(earlier?.letters ?? []), ...found.letters],
        searched: (earlier?.searched ?? 0) + found.searched,
        searchedTo: found.searchedTo ?? earlier?.searchedTo ?? null,
        before: found.before,
        inFullOnly: found.inFullOnly ?? false,
      });
      requestAnimationFrame(() => reveal(heading.current));
    } catch (reason) {
      setError(messageOf(reason));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <form
        class="filters"
        aria-label="Search for a person"
        onSubmit={(event) => {
          event.preventDefault();
          const input = event.currentTarget.querySelector('input');
          void look(input?.value.trim() ?? '');
        }}
      >
        {/* Without a name, so that no form could put it into an address. */}
        <Field
          label="Phone number, email address or name"
          placeholder="Searches the bodies of dead letters"
          required
          maxLength={300}
        />
        <Button label="Search for a person" submit busy={busy} />
      </form>
      {error !== '' && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
      {search && (
        <Section
          title="Dead letters of this person"
          heading={heading}
          beside={
            <Button
              label="Close the search"
              icon="cross"
              iconOnly
              kind="ghost"
              onClick={() => setSearch(undefined)}
            />
          }
        >
          <p class="hint" role="status">
            {counted(search.letters.length, 'dead letter')} found, {count(search.searched)} searched
            {search.searchedTo !== null && (
              <>
                , back to <When at={search.searchedTo} />
              </>
            )}
            {Object.keys(search.selection).length > 0 && ', with the filters below applied'}
            {search.before === undefined ? '.' : '. Older dead letters have not been searched yet.'}
            {search.inFullOnly &&
              ' A phone number with fewer than nine digits is found only if it is written in full. Enter its last nine digits or more.'}
          </p>
          {search.letters.length > 0 && (
            <LettersTable
              label="Dead letters of this person"
              letters={search.letters}
              choosing={choosing}
              selected={selected}
              idOf={(id) => `found-${id}`}
            />
          )}
          <div class="buttons">
            {search.letters.length > 0 && (
              <Button
                label={`Select these ${count(search.letters.length)}`}
                small
                onClick={() =>
                  choosing.choose(
                    search.letters.map(({ id }) => id),
                    true,
                  )
                }
              />
            )}
            {search.before !== undefined && (
              <Button
                label="Search older dead letters"
                small
                busy={busy}
                onClick={() => look(search.about, search)}
              />
            )}
            {search.letters.length > 0 && (
              <Button
                label="Erase this person’s data …"
                kind="danger"
                small
                disabled={areBusy(control.tasks)}
                onClick={() =>
                  askToErase({
                    found: search.letters.length,
                    isFiltered: Object.keys(search.selection).length > 0,
                    canForget,
                    request: { about: search.about, ...search.selection },
                    control,
                    onStarted() {
                      setSearch(undefined);
                      choosing.clear();
                    },
                  })
                }
              />
            )}
          </div>
        </Section>
      )}
    </>
  );
}
