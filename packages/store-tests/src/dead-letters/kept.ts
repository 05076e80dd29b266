import expect from '../../expect.cjs';
import type { DeadLetter } from '@call-webhooks/core';
import { deadLetterId } from '@call-webhooks/core/stores';
import { difference } from '../bytes.ts';
import { unique } from '../unique.ts';
import { after, deadLetter, LEASE_MS, type DeadLettersTestContext } from './under-test.ts';

/** What is kept of a letter, and for how long. */
export function kept({ it, letters }: DeadLettersTestContext): void {
  it('keeps a letter with all that is needed to run it again', async () => {
    const letter = deadLetter({
      rawBody: Uint8Array.from({ length: 70_000 }, (_, at) => at % 256),
      errorStack: 'at handle (/app/calls.js:12:5)\nat run (/app/index.js:3:1)',
    });
    await letters().put(letter);
    const id = await deadLetterId(letter);
    const { error: _error, errorText, errorStack: stack, ...rest } = letter;
    const stored = await letters().get(id);
    expect(stored).toEqual({
      ...rest,
      id,
      bytes: letter.rawBody.length,
      rawBody: expect.anything(),
      ...{ error: errorText, stack },
      history: [{ at: letter.failedAt, source: 'webhook', attempt: 3, error: errorText, stack }],
    });
    expect(difference(stored!.rawBody, letter.rawBody)).toBe('none');
    for (const nobody of [unique('nobody'), '', 'a\0b', '\ud800', `'; --`, 'x'.repeat(10_000)]) {
      expect(await letters().get(nobody)).toBeUndefined();
      expect(await letters().remove(nobody)).toBe(false);
      expect(await letters().claim(nobody, { token: 'token', leaseMs: 1_000 })).toBeUndefined();
      expect(await letters().settle(nobody, 'token')).toBe(false);
    }
  });

  it('keeps the letters of two tenants apart, and two deliveries without a key', async () => {
    const { key: _key, ...keyless } = deadLetter({ eventName: unique('event') });
    for (const tenant of ['a', 'b']) {
      const letter = { ...keyless, tenant };
      await letters().put(letter);
      expect(await letters().get(await deadLetterId(letter))).toMatchObject({ tenant });
    }
    await letters().put({ ...keyless, tenant: 'a', webhookId: unique('webhook') });
    expect(await letters().count({ eventName: keyless.eventName })).toBe(3);
  });

  it('keeps a letter of which little is known', async () => {
    const { eventName: _name, callId: _callId, key: _key, ...rest } = deadLetter();
    const letter = { ...rest, reason: 'invalid-payload', rawBody: new Uint8Array() } as const;
    await letters().put(letter);
    const stored = await letters().get(await deadLetterId(letter));
    expect(stored).toMatchObject({ reason: 'invalid-payload', webhookId: letter.webhookId });
    for (const absent of ['eventName', 'callId', 'key', 'claimedUntil'])
      expect(stored).not.toHaveProperty(absent);
    expect(stored!.rawBody).toHaveLength(0);
  });

  it('keeps texts unchanged that databases refuse: NUL, lone surrogates, very long ones', async () => {
    const texts = ['\0', '\ud800', '\udfff', "'; --", '%', 'é', '\u{1f4de}', 'x'.repeat(4_000)];
    for (const odd of texts) {
      const eventName = `${unique('event')}${odd}`;
      const letter = deadLetter({
        eventName,
        key: `${eventName}:key`,
        callId: `${eventName}:call`,
        webhookId: `${unique('webhook')}${odd}`,
        errorText: `Error: ${odd}`,
      });
      await letters().put(letter);
      const { webhookId, key, callId, errorText: error } = letter;
      expect(await letters().get(await deadLetterId(letter))).toMatchObject({
        eventName,
        webhookId,
        key,
        callId,
        error,
      });
      expect(await letters().count({ eventName })).toBe(1);
    }
  });

  it('has one letter for each event, whose history goes on', async () => {
    const first = deadLetter();
    await letters().put(first);
    const again: DeadLetter = {
      ...first,
      webhookId: unique('webhook'),
      attempt: 4,
      failedAt: after(5_000),
      source: 'redrive' as const,
      errorText: 'Error: still down',
    };
    await letters().put(again);
    const eventName = first.eventName!;
    const id = await deadLetterId(first);
    expect(await letters().get(id)).toMatchObject({
      webhookId: again.webhookId,
      attempt: 4,
      failedAt: again.failedAt,
      source: 'redrive',
      error: 'Error: still down',
      history: [
        { at: first.failedAt, source: 'webhook', attempt: 3, error: 'Error: the CRM is down' },
        { at: again.failedAt, source: 'redrive', attempt: 4, error: 'Error: still down' },
      ],
    });
    const { letters: listed } = await letters().list({ eventName, limit: 1_000 });
    expect(listed.filter((letter) => letter.id === id)).toHaveLength(1);
  });

  it('keeps the first failure of a letter and the last 49', async () => {
    const letter = deadLetter({ eventName: unique('event') });
    for (let attempt = 1; attempt <= 49; attempt++)
      await letters().put({ ...letter, attempt, failedAt: after(attempt) });
    const id = await deadLetterId(letter);
    for (let attempt = 50; attempt <= 53; attempt++) {
      const token = unique('token');
      await letters().claim(id, { token, leaseMs: LEASE_MS });
      const failure = { at: after(attempt), source: 'redrive', attempt, error: 'no' } as const;
      expect(await letters().giveBack(id, token, failure)).toBe(true);
    }
    const { history, attempt, failedAt } = (await letters().get(id))!;
    expect(history.map((failure) => failure.attempt)).toEqual([
      1,
      ...Array.from({ length: 49 }, (_, at) => at + 5),
    ]);
    expect(history[0]!.at).toEqual(after(1));
    expect({ attempt, failedAt }).toEqual({ attempt: 53, failedAt: after(53) });
  });

  it('removes a letter for good', async () => {
    const letter = deadLetter();
    await letters().put(letter);
    const id = await deadLetterId(letter);
    expect(await letters().remove(id)).toBe(true);
    expect(await letters().remove(id)).toBe(false);
    expect(await letters().get(id)).toBeUndefined();
    expect(await letters().claim(id, { token: 't', leaseMs: LEASE_MS })).toBeUndefined();
    await letters().put(letter);
    expect((await letters().get(id))!.history).toHaveLength(1);
  });
}
