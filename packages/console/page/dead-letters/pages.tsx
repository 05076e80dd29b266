import { Button, changeUrl, useUrl } from '@call-webhooks/ui';
import type { DeadLettersPage } from '../../src/api-types.ts';
import { count } from '../model/format.ts';

/** Goes through the list. Back goes to the page before. */
export function Pages({ page }: { readonly page: DeadLettersPage }) {
  const isLater = useUrl().has('cursor');
  const { cursor, letters, total } = page;
  if (!isLater && cursor === undefined) return null;
  return (
    <div class="pages">
      <span class="hint">
        {count(letters.length)} of {count(total)}
      </span>
      {isLater && (
        <Button
          label="First page"
          small
          onClick={() => {
            changeUrl({ cursor: undefined, letter: undefined });
          }}
        />
      )}
      {cursor !== undefined && (
        <Button
          label="Next page"
          small
          onClick={() => {
            changeUrl({ cursor, letter: undefined });
          }}
        />
      )}
    </div>
  );
}
