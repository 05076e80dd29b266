import { described } from '../http/judgement.ts';
import type { Answer } from '../http/post.ts';
import type { Probe } from './probes.ts';

/** What a probe showed. */
export interface Finding {
  readonly probe: string;
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly answer: string;
  readonly expected: string;
  readonly fix?: string;
}

const EXPECTED = { refused: '401', accepted: '2xx', 'not-post': '405' } as const;

/** Judges the answer to a probe: first what would pause a rule, then what was expected. */
export function findingOf(probe: Probe, answer: Answer): Finding {
  const expected = probe.name === 'replayed' ? '409' : EXPECTED[probe.expected];
  const found = (verdict: Finding['verdict'], fix?: string): Finding => ({
    probe: probe.name,
    verdict,
    answer: described(answer),
    expected,
    ...(fix !== undefined && { fix }),
  });
  if (answer.kind !== 'status')
    return found('wrong', 'There is no answer: is the receiver running, at this address?');
  const { status } = answer;
  if (status === 404)
    return found(
      'wrong',
      'A 404 pauses the rule at once. Is this the right path? Let a catch-all answer 503.',
    );
  if (status === 410) return found('wrong', 'Never answer 410: 503 in its place is retried.');
  if (status < 200 || (status >= 300 && status < 400))
    return found('wrong', 'Redirects are not followed: put the final URL into the action.');
  const taken = status < 300;
  if (taken !== (probe.expected === 'accepted'))
    return found(probe.expected === 'not-post' ? 'warning' : 'wrong', probe.otherwise);
  if (probe.expected !== 'accepted' && status >= 500)
    return found('warning', 'Refused, but as an error of the server: look into its log.');
  return found('ok');
}
