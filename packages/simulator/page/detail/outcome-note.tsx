import { OutcomeBadge } from '@call-webhooks/ui';
import type { AttemptSummary, OutcomesView } from '@call-webhooks/simulator/control-api';

type Last = Pick<AttemptSummary, 'outcome' | 'response' | 'result'>;

interface NoteProps {
  readonly last: Last | undefined;
  readonly outcomes: OutcomesView;
}

/** What the receiver made of the last attempt: the outcome, its meaning, and what to do about it. */
export function OutcomeNote({ last, outcomes }: NoteProps) {
  const told = last?.response && explained(last, outcomes);
  if (!told) return null;
  return (
    <div class="outcome-note" data-tone={last.result?.next === 'acknowledged' ? 'good' : 'bad'}>
      <p>
        <OutcomeBadge name={told.name} /> {told.when}
      </p>
      {told.fix !== undefined && (
        <p>
          <strong>Fix: </strong>
          {told.fix}
        </p>
      )}
    </div>
  );
}

interface Told {
  readonly name: string;
  readonly when: string;
  readonly fix?: string;
}

function explained({ outcome, response, result }: Last, outcomes: OutcomesView): Told | undefined {
  if (outcome !== undefined) {
    const row = outcomes[outcome];
    return row && { name: outcome, when: row.when, fix: row.fix };
  }
  if (response?.kind === 'timeout')
    return {
      name: 'timed out',
      when: 'The receiver did not respond in time.',
      fix: 'Respond first, or set ackWithin. Work that takes longer belongs in a queue.',
    };
  if (response?.kind === 'connection-error') {
    const refused = response.code === 'ECONNREFUSED';
    return {
      name: response.code,
      when: refused
        ? 'Nothing listens at the URL of the receiver.'
        : 'The connection to the receiver failed.',
      fix: refused
        ? 'Start the receiver, or change the URL of the action.'
        : 'Read the log of the receiver, and check the network.',
    };
  }
  if (response?.kind !== 'status' || result?.next === 'acknowledged') return undefined;
  return response.status === 404
    ? {
        name: '404',
        when: 'Receivers of these packages never send this status.',
        fix: 'Compare the URL of the action with the path of the receiver.',
      }
    : {
        name: String(response.status),
        when: 'The response names no outcome: it comes from your own code, the framework or a proxy.',
        fix: 'Read the response below, and the log of the receiver.',
      };
}
