import { describe, expect, it } from '@jest/globals';
import type { Session } from '../src/api-types.ts';
import { attack } from './attacks.ts';
import { open, OWN_PAGE } from './support.ts';

describe('a change', () => {
  it('needs a token', async () => {
    expect(await attack(({ 'x-call-webhooks-csrf': _token, ...rest }) => rest)).toEqual([
      'csrf-token',
    ]);
  });

  it.each([
    ['', ''],
    ['another text', 'x'],
    ['another signature', `zzzzzzzz.${'A'.repeat(43)}`],
  ])('refuses %s as a token', async (_what, token) => {
    expect(await attack((own) => ({ ...own, 'x-call-webhooks-csrf': token }))).toEqual([
      'csrf-token',
    ]);
  });

  it('refuses the token of somebody else, of another process, and an old one', async () => {
    let name = 'Eve';
    const { ask, get, clock } = open({ authorize: () => ({ name }) });
    const { csrfToken } = await get<Session>('/api/session');
    const abort = async (token: string) => {
      const headers = {
        ...OWN_PAGE,
        'content-type': 'application/json',
        'x-call-webhooks-csrf': token,
      };
      return (await ask('/api/redrive/abort', { method: 'POST', headers, body: '{}' })).status;
    };
    expect(await abort(csrfToken)).toBe(200);
    name = 'Ada';
    expect(await abort(csrfToken)).toBe(403);
    name = 'Eve';
    const other = await open({ authorize: () => ({ name }) }).get<Session>('/api/session');
    expect(await abort(other.csrfToken)).toBe(403);
    clock.now += 12 * 3_600_000 - 1;
    expect(await abort(csrfToken)).toBe(200);
    clock.now += 1;
    expect(await abort(csrfToken)).toBe(403);
  });

  it('takes the token of another process with the same csrfKey', async () => {
    const csrfKey = 'k'.repeat(32);
    const { csrfToken } = await open({ csrfKey }).get<Session>('/api/session');
    const { send } = open({ csrfKey });
    const response = await send('/api/redrive/abort', {}, { 'x-call-webhooks-csrf': csrfToken });
    expect(response.status).toBe(200);
    expect(() => open({ csrfKey: 'short' })).toThrow(/csrfKey/);
  });
});
