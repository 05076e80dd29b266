import type { Action, AttemptSummary } from '@call-webhooks/simulator/control-api';

/** A URL without what all of them share: `127.0.0.1:3000/hook`. */
export const shortUrl = (url: string): string => url.replace(/^http:\/\//, '');

/** The URLs of actions, each once. */
export const urlsOf = (actions: readonly Pick<Action, 'url'>[]): string[] => [
  ...new Set(actions.map(({ url }) => url)),
];

/** The last attempt of a delivery, without replays. */
export const lastAttempt = <Kind extends Pick<AttemptSummary, 'kind'>>(
  attempts: readonly Kind[],
): Kind | undefined => attempts.filter(({ kind }) => kind === 'scheduled').at(-1);

/** A URL that may be short, as on the command line: `3000/hook`, `localhost:3000/hook`. */
export function wholeUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,5}(?:\/|$)/.test(given)) return `http://127.0.0.1:${given}`;
  return /^[\w.-]+:\d{1,5}(?:\/|$)|^\[[\da-f:]+\]/i.test(given) ? `http://${given}` : given;
}
