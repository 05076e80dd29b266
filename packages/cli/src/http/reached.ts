import { environment } from '../cli-error.ts';
import type { Answer } from './post.ts';

/** What says that no connection came about, so that the receiver saw nothing of the request. */
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
]);

/**
 * An answer, or the lack of one, of a receiver that was reached.
 * @throws CliError `environment` when nothing listens there
 */
export function reached(url: string, answer: Answer): Answer {
  if (answer.kind === 'connection-error' && UNREACHED.has(answer.code))
    throw environment(`Nothing answers at ${url} (${answer.code}).`, 'Start the receiver first.');
  return answer;
}
