import { ActionButton, Badge } from '@call-webhooks/ui';
import type { RedriveTask } from '../../src/api-types.ts';
import { count } from '../model/format.ts';
import { useSession } from '../model/session.ts';
import { REDRIVE_RESULTS } from '../model/words.ts';
import { Link } from '../parts/link.tsx';
import { Section } from '../parts/section.tsx';
import { Ago } from '../parts/when.tsx';
import type { Redrive } from './use-redrive.ts';

const STATES = {
  running: 'A redrive runs',
  done: 'The last redrive is done',
  aborted: 'The last redrive was stopped',
  failed: 'The last redrive failed',
} as const;

/** How far a redrive is, and what became of its letters. */
export function RedriveSection({ redrive }: { readonly redrive: Redrive }) {
  const { canWrite } = useSession();
  const { task, isRunning, isLost } = redrive;
  const lost = (
    <p class="read-only" role="status">
      The process that ran the redrive was restarted, or another one answers now. Letters that were
      not run still wait: redrive them again.
    </p>
  );
  if (isLost || !task) return isLost ? lost : null;
  return (
    <Section
      title={STATES[task.state]}
      beside={
        <span class="hint">
          {task.by !== null && `by ${task.by}, `}
          <Ago at={task.endedAt ?? task.startedAt} />
        </span>
      }
    >
      <Progress task={task} />
      {task.error !== undefined && (
        <p class="form-error" role="alert">
          {task.error}. What was not run yet still waits: redrive it again.
        </p>
      )}
      {isRunning && canWrite && (
        <div class="buttons">
          <ActionButton label="Stop" small run={redrive.abort} />
        </div>
      )}
      {task.letters.length > 0 && <Results task={task} />}
    </Section>
  );
}

function Progress({ task: { total, counts, state } }: { readonly task: RedriveTask }) {
  const ended = Object.values(counts).reduce<number>((sum, one) => sum + Number(one), 0);
  const text = total === null ? 'Running …' : `${count(ended)} of ${count(total)}`;
  return (
    <div class="progress" role="status">
      {state === 'running' && (
        <progress
          aria-label="Letters that were run"
          {...(total !== null && { value: ended, max: Math.max(1, total) })}
        />
      )}
      <span>{text}</span>
      {REDRIVE_RESULTS.filter(([result]) => counts[result] > 0).map(([result, words, tone]) => (
        <Badge key={result} tone={tone}>
          {count(counts[result])} {words}
        </Badge>
      ))}
    </div>
  );
}

const Results = ({ task }: { readonly task: RedriveTask }) => (
  <details>
    <summary>Each letter</summary>
    <ul class="results">
      {task.letters.map(({ id, result, outcome }) => (
        <li key={id}>
          <code class="id">{id}</code>{' '}
          {REDRIVE_RESULTS.find(([name]) => name === result)?.[1] ?? result}
          {outcome !== undefined && <code class="code-name"> {outcome}</code>}
          {result === 'failed' && (
            <>
              {' '}
              <Link to="dead-letters" query={{ letter: id }}>
                Open
              </Link>
            </>
          )}
        </li>
      ))}
    </ul>
  </details>
);
