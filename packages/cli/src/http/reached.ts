import { environment } from '../cli-error.ts';
import type { Answer } from './post.ts';

const START = 'Start the receiver first.';
const NAME = 'Check the host name.';
const WAY = 'Check the address, and the way there.';

/** What says that no connection came about, so that the receiver saw nothing of it; with the fix. */
const UNREACHED: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', START],
  ['ENOTFOUND', NAME],
  ['EAI_AGAIN', NAME],
  ['EHOSTUNREACH', WAY],
  ['ENETUNREACH', WAY],
  ['ETIMEDOUT', WAY],
]);

/**
 * An answer, or the lack of one, of a receiver that was reached.
 * @throws CliError `environment` when nothing listens there
 */
export function reached(url: string, answer: Answer): Answer {
  if (answer.kind !== 'connection-error') return answer;
  const fix = UNREACHED.get(answer.code);
  if (fix !== undefined) throw environment(`Nothing answers at ${url} (${answer.code}).`, fix);
  return answer;
}
