import { useState } from 'preact/hooks';
import {
  ActionButton,
  ApiError,
  changeUrl,
  CodeBlock,
  count,
  counted,
  Facts,
  moment,
  notify,
  openForm,
  usePoll,
} from '@call-webhooks/ui';
import type { DeadLetterBody, DeadLetterDetail } from '../../src/api-types.ts';
import { get, post } from '../model/api.ts';
import { useChange, useSession, useTasks } from '../model/session.ts';
import { areBusy } from './letters-tasks.tsx';
import { REASONS, SOURCES } from '../model/words.ts';
import { CallLink, When } from '../parts/cells.tsx';
import { DetailHead, ErrorBox, Loading } from '../parts/section.tsx';

interface DetailProps {
  readonly id: string;
  /** Called with its id when the letter was removed. */
  readonly onGone: (id: string) => void;
}

const EVERY_MS = 15_000;

const close = () => {
  changeUrl({ letter: undefined });
};

/** One dead letter: what failed, its history, and its body without personal data. */
export function LetterDetail({ id, onGone }: DetailProps) {
  const path = `api/dead-letters/${encodeURIComponent(id)}`;
  const { value, error, refresh } = usePoll(`letter ${id}`, EVERY_MS, (signal) =>
    get<DeadLetterDetail>(path, {}, signal),
  );
  const { tasks } = useTasks();
  useChange(
    JSON.stringify(
      [tasks?.redrive, tasks?.removal, tasks?.erasure].map((task) => [task?.counts, task?.state]),
    ),
    refresh,
  );
  const [shown, setShown] = useState<DeadLetterDetail>();
  const revealed = shown?.id === id ? shown : undefined;
  const isGone = error instanceof ApiError && error.code === 'unknown-letter';
  return (
    <section class="detail section" aria-label="Dead letter">
      <DetailHead
        title={value?.eventName ?? 'Dead letter'}
        opener={() => document.getElementById(`letter-${id}`)}
        onClose={close}
      />
      {isGone ? (
        <p class="read-only" role="status">
          This dead letter no longer exists. It has been redriven, removed or erased.
        </p>
      ) : (
        <ErrorBox error={error} />
      )}
      {!value && error === undefined && <Loading />}
      {value && !isGone && (
        <>
          <LetterActions letter={value} path={path} onGone={onGone} />
          <div class="outcome-note" data-tone="bad">
            <p>
              <strong>{REASONS[value.reason]}.</strong> {value.error}
            </p>
            <p>
              {value.reason === 'handler-failed'
                ? 'Fix the cause, then redrive the dead letter.'
                : 'Fix the schema or the custom payload. Until then, a redrive will fail again.'}
            </p>
          </div>
          {value.stack !== undefined && <LetterStack stack={value.stack} />}
          <LetterFacts letter={value} />
          <LetterHistory letter={value} />
          <LetterBody body={(revealed ?? value).body} path={path} onReveal={setShown} />
        </>
      )}
    </section>
  );
}

interface ActionsProps extends Omit<DetailProps, 'id'> {
  readonly letter: DeadLetterDetail;
  readonly path: string;
}

function LetterActions({ letter, path, onGone }: ActionsProps) {
  const { canWrite } = useSession();
  const { tasks, redrive } = useTasks();
  if (!canWrite) return null;
  const remove = () => {
    openForm({
      title: 'Remove this dead letter?',
      go: 'Remove',
      danger: true,
      content: (
        <p>
          This permanently removes the dead letter. Its event will never run. To run it, redrive the
          dead letter instead.
        </p>
      ),
      async run() {
        const { removed } = await post<{ removed: boolean }>(`${path}/remove`);
        notify(removed ? 'Removed.' : 'Already removed.');
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
        disabled={areBusy(tasks)}
        run={() => redrive({ ids: [letter.id] })}
      />
      <ActionButton label="Remove …" run={remove} />
      {tasks?.redrive?.state === 'running' && (
        <span class="hint" role="status">
          Redrive in progress
        </span>
      )}
    </div>
  );
}

interface LetterProps {
  readonly letter: DeadLetterDetail;
}

const LetterFacts = ({
  letter,
  letter: {
    history: [first],
  },
}: LetterProps) => (
  <Facts
    facts={[
      ['First failed', first?.attempt === 1 && moment(first.at)],
      ['Dead letter since', first?.at !== letter.deadLetterSince && moment(letter.deadLetterSince)],
      ['Last failed', letter.failedAt !== letter.deadLetterSince && moment(letter.failedAt)],
      ['Signed', moment(letter.signedAt)],
      ['Call', letter.callId !== undefined && <CallLink {...letter} />],
      ['Tenant', letter.tenant],
      ['Key', letter.key],
      ['Webhook id', letter.webhookId],
      ['Attempts', String(letter.attempts)],
      ['Source', SOURCES[letter.source][2]],
      ['Redrive', letter.claimedUntil !== undefined && 'A redrive is running this dead letter.'],
      ['Id', letter.id],
    ]}
  />
);

/** Where the error was thrown. */
const LetterStack = ({ stack }: { readonly stack: string }) => (
  <details>
    <summary>Stack trace</summary>
    <CodeBlock label="Stack trace" text={stack} />
  </details>
);

/** Every attempt, the latest first. */
const LetterHistory = ({ letter: { history, earlierAttempts } }: LetterProps) => (
  <div>
    <h4>History</h4>
    <ol class="history">
      {[...history].reverse().map(({ at, source, attempt, error }) => (
        <li key={`${String(at)} ${source} ${String(attempt)}`}>
          <p>
            <When at={at} /> · attempt {attempt}, from {SOURCES[source][1]}
          </p>
          <p class="error-line">{error}</p>
        </li>
      ))}
    </ol>
    {earlierAttempts > 0 && (
      <p class="hint">The log no longer has {counted(earlierAttempts, 'earlier attempt')}.</p>
    )}
  </div>
);

interface BodyProps {
  readonly body: DeadLetterBody;
  readonly path: string;
  readonly onReveal: (letter: DeadLetterDetail | undefined) => void;
}

/** The body of a letter. Personal data is masked until somebody asks for it. */
function LetterBody({ body, path, onReveal }: BodyProps) {
  const { canWrite } = useSession();
  return (
    <div class="letter-body">
      {body.text === null ? (
        <p class="hint">
          The body ({count(body.bytes)} bytes) is not JSON, so personal data in it cannot be masked.
          It is therefore not shown.
        </p>
      ) : (
        <CodeBlock label="Body" text={body.text} />
      )}
      {body.truncated && (
        <p class="hint">
          Only the beginning is shown. The whole body has {count(body.bytes)} bytes.
        </p>
      )}
      {body.masked && canWrite && (
        <p>
          <ActionButton
            label="Show personal data"
            icon="eye"
            small
            run={async () => onReveal(await post<DeadLetterDetail>(`${path}/reveal`))}
          />{' '}
          <span class="hint">The receiver will log that you looked.</span>
        </p>
      )}
      {body.masked && !canWrite && <p class="hint">Personal data is masked.</p>}
      {!body.masked && (
        <p>
          <ActionButton
            label="Hide personal data"
            icon="eye"
            small
            run={() => onReveal(undefined)}
          />
        </p>
      )}
    </div>
  );
}
