import type { DeadLetterDetail } from '../../src/api-types.ts';
import { SOURCES } from '../model/words.ts';
import { When } from '../parts/when.tsx';

/** The failures of a letter, the latest first. */
export const LetterHistory = ({ history }: Pick<DeadLetterDetail, 'history'>) => (
  <div>
    <h4>History</h4>
    <ol class="history">
      {[...history].reverse().map(({ at, source, attempt, error }) => (
        <li key={`${String(at)} ${String(attempt)}`}>
          <p>
            <When at={at} /> · attempt {attempt}, from {SOURCES[source]}
          </p>
          <p class="error-line">{error}</p>
        </li>
      ))}
    </ol>
  </div>
);
