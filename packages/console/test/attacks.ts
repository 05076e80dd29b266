import { expect } from '@jest/globals';
import type { Session } from '../src/api-types.ts';
import { callBody, open, OWN_PAGE, type Options } from './support.ts';

export const GETS = [
  ...['', '/', '/assets/page.js', '/api/session', '/api/overview', '/api/deliveries'],
  ...[
    '/api/calls/c1',
    '/api/dead-letters',
    '/api/dead-letters/x',
    '/api/redrive',
    '/api/reconcile',
  ],
];
export const POSTS = [
  ...['/api/dead-letters/x/reveal', '/api/dead-letters/x/remove', '/api/redrive'],
  ...['/api/redrive/abort', '/api/reconcile', '/api/reconcile/abort'],
];
export const failing = {
  'call:completed': () => {
    throw new Error('no');
  },
};

/** A console with one dead letter. */
export async function withLetter(options: Options = {}) {
  const opened = open({ receiving: { on: failing, maxAttempts: 1 }, ...options });
  await opened.deliver(callBody('c1', 'call:completed', { recipientName: 'Grace Hopper' }));
  const { letters } = await opened.deadLetters.list();
  return { ...opened, id: letters[0]?.id ?? '' };
}

export const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

/**
 * Sends every change to a console with one dead letter, and checks that nothing changed.
 * @param headers those of the attack, made of those of the console's own page
 * @returns the codes of the refusals
 */
export async function attack(
  headers: (own: Record<string, string>) => Record<string, string>,
  options: Options = {},
) {
  const { ask, get, deadLetters, id, logger } = await withLetter(options);
  const { csrfToken } = await get<Session>('/api/session');
  const own = {
    ...OWN_PAGE,
    'content-type': 'application/json',
    'x-call-webhooks-csrf': csrfToken,
  };
  const codes = new Set<string>();
  for (const path of [
    ...POSTS,
    `/api/dead-letters/${id}/remove`,
    `/api/dead-letters/${id}/reveal`,
  ]) {
    const init = { method: 'POST', headers: headers(own), body: '{"all":true}' };
    const response = await ask(path, init);
    expect(response.status).toBeGreaterThanOrEqual(400);
    codes.add(await codeOf(response));
  }
  expect(await deadLetters.count()).toBe(1);
  expect(logger.lines.filter((line) => line.includes('console:'))).toEqual([]);
  return [...codes];
}
