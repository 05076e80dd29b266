import { useState } from 'preact/hooks';
import {
  ActionButton,
  ApiError,
  changeUrl,
  moment,
  notify,
  openForm,
  usePoll,
} from '@call-webhooks/ui';
import type { DeadLetterDetail, Removed } from '../../src/api-types.ts';
import { get, post } from '../model/api.ts';
import { useSession } from '../model/session.ts';
import { REASONS, SOURCES } from '../model/words.ts';
import { DetailHead } from '../parts/detail-head.tsx';
import { Link } from '../parts/link.tsx';
import { ErrorBox, Facts, Loading } from '../parts/section.tsx';
import { LetterBody } from './letter-body.tsx';
import { LetterHistory } from './letter-history.tsx';
import type { Redrive } from './use-redrive.ts';

interface DetailProps {
  readonly id: string;
  readonly redrive: Redrive;
  /** Called with its id when the letter was removed. */
  readonly onGone: (id: string) => void;
}

const close = () => {
  changeUrl({ letter: undefined });
};

/** One dead letter: what failed, its history, and its body without personal data. */
export function LetterDetail({ id, redrive, onGone }: DetailProps) {
  const path = `api/dead-letters/${encodeURIComponent(id)}`;
  const { value, error } = usePoll(`letter ${id}`, 5_000, (signal) =>
    get<DeadLetterDetail>(path, {}, signal),
  );
  const [revealed, setRevealed] = useState<DeadLetterDetail>();
  const isGone = error instanceof ApiError && error.code === 'unknown-letter';
  return (
    <section class="detail section" aria-label="Dead letter">
      <DetailHead
        title={value?.eventName ?? 'Dead letter'}
        opener={`letter-${id}`}
        onClose={close}
      />
      {isGone ? (
        <p class="read-only" role="status">
          This letter is gone: it was redriven or removed.
        </p>
      ) : (
        <ErrorBox error={error} />
      )}
      {!value && error === undefined && <Loading />}
      {value && !isGone && (
        <>
          <LetterActions letter={value} redrive={redrive} path={path} onGone={onGone} />
          <div class="outcome-note" data-tone="bad">
            <p>
              <strong>{REASONS[value.reason]}.</strong> {value.error}
            </p>
            <p>
              {value.reason === 'handler-failed'
                ? 'Fix the cause, and redrive the letter.'
                : 'Fix the schema or the custom payload. A redrive fails again until then.'}
            </p>
          </div>
          <LetterFacts letter={value} />
          <LetterHistory history={value.history} />
          <LetterBody body={(revealed ?? value).body} path={path} onReveal={setRevealed} />
        </>
      )}
    </section>
  );
}

interface ActionsProps extends Omit<DetailProps, 'id'> {
  readonly letter: DeadLetterDetail;
  readonly path: string;
}

function LetterActions({ letter, redrive, path, onGone }: ActionsProps) {
  const { canWrite } = useSession();
  if (!canWrite) return null;
  const remove = () => {
    openForm({
      title: 'Remove this dead letter?',
      go: 'Remove',
      danger: true,
      content: (
        <p>It is removed for good, and its event is never run. A redrive is the way to run it.</p>
      ),
      async run() {
        const { removed } = await post<Removed>(`${path}/remove`);
        notify(removed ? 'Removed.' : 'It was gone already.');
        close();
        onGone(letter.id);
      },
    });
  };
  return (
    <div class="buttons">
      <ActionButton
        label="Redrive"
        kind="primary"
        icon="again"
        disabled={redrive.isRunning}
        run={() => redrive.start({ ids: [letter.id] })}
      />
      <ActionButton label="Remove …" run={remove} />
    </div>
  );
}

const LetterFacts = ({ letter }: { readonly letter: DeadLetterDetail }) => (
  <Facts
    facts={[
      ['Failed', moment(letter.failedAt)],
      ['Signed', moment(letter.signedAt)],
      [
        'Call',
        letter.callId !== undefined && (
          <Link
            to="deliveries"
            query={{
              call: letter.callId,
              ...(letter.tenant !== undefined && { tenant: letter.tenant }),
            }}
          >
            {letter.callId}
          </Link>
        ),
      ],
      ['Tenant', letter.tenant],
      ['Key', letter.key],
      ['Webhook id', letter.webhookId],
      ['Attempt', String(letter.attempt)],
      ['Came from', SOURCES[letter.source]],
      ['Redrive', letter.claimedUntil !== undefined && 'A redrive is running this letter.'],
      ['Id', letter.id],
    ]}
  />
);
