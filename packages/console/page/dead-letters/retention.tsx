import { duration } from '@call-webhooks/ui';
import type { DeadLettersPage } from '../../src/api-types.ts';
import { useSession } from '../model/session.ts';
import { Ago } from '../parts/cells.tsx';

type RetentionProps = {
  readonly page: Pick<DeadLettersPage, 'oldestAt' | 'keepFor'>;
};

/** How old the oldest letter is, and how long letters are kept. */
export function Retention({ page: { oldestAt, keepFor } }: RetentionProps) {
  const { retentionDocs } = useSession();
  return (
    <p class="hint">
      {oldestAt !== null && (
        <>
          The oldest dead letter failed <Ago at={oldestAt} />.{' '}
        </>
      )}
      {keepFor === undefined
        ? 'The keepFor option of the queue decides how long dead jobs are kept. '
        : keepFor === null
          ? 'Dead letters are kept without a time limit, because keepFor is not set. '
          : `Dead letters are kept for ${duration(keepFor)} (keepFor). `}
      <a class="link" href={retentionDocs} target="_blank" rel="noreferrer">
        How long personal data is kept
      </a>
    </p>
  );
}
