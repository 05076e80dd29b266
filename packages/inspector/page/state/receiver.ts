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
