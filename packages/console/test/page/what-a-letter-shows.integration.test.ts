import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import { ANSWERS } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';

const VIEW = '?view=dead-letters';
const LETTER = ANSWERS['api/dead-letters/l-1'];

describeInChromium('a dead letter', (chromium) => {
  test.each([
    [
      'with its history and masked body',
      {},
      [
        '# call:completed',
        '<Close>',
        '<Redrive> <Remove …>',
        'bad:',
        'The handler failed. No line.',
        'Fix the cause, then redrive the dead letter.',
        'Stack trace',
        '# Stack trace',
        '<Copy stack trace>',
        'at handler (crm.ts:4:2)',
        'First failed: 31 Jan 2026, 12:48:05 CET (2026-01-31 11:48:05 UTC)',
        'Dead letter since: 31 Jan 2026, 12:52:05 CET (2026-01-31 11:52:05 UTC)',
        'Last failed: 31 Jan 2026, 12:53:05 CET (2026-01-31 11:53:05 UTC)',
        'Signed: 31 Jan 2026, 12:51:05 CET (2026-01-31 11:51:05 UTC)',
        'Call: [call-1](?view=deliveries&call=call-1&tenant=acme)',
        'Tenant: acme',
        'Key: k-1',
        'Webhook id: w-1',
        'Attempts: 7',
        'Source: Webhook',
        'Redrive: A redrive is running this dead letter.',
        'Id: l-1',
        '# History',
        '12:53:05 · attempt 6, from a redrive',
        'No line.',
        '12:52:05 · attempt 5, from the queue',
        'No line before.',
        '12:48:05 · attempt 1, from a webhook',
        'The line was busy.',
        'The log no longer has 3 earlier attempts.',
        '# Body',
        '<Raw> <Copy body>',
        '{ "toName" : "•••" }',
        '<Show personal data> The receiver will log that you looked.',
      ],
    ],
    [
      'that is invalid and no JSON',
      {
        ...{ reason: 'invalid-payload', stack: undefined, claimedUntil: undefined },
        ...{ callId: undefined, eventName: undefined, earlierAttempts: 0, tenant: undefined },
        body: { masked: true, text: null, bytes: 1_234, truncated: false },
      },
      [
        '# Dead letter',
        '<Close>',
        '<Redrive> <Remove …>',
        'bad:',
        'Invalid payload. No line.',
        'Fix the schema or the custom payload. Until then, a redrive will fail again.',
        'First failed: 31 Jan 2026, 12:48:05 CET (2026-01-31 11:48:05 UTC)',
        'Dead letter since: 31 Jan 2026, 12:52:05 CET (2026-01-31 11:52:05 UTC)',
        'Last failed: 31 Jan 2026, 12:53:05 CET (2026-01-31 11:53:05 UTC)',
        'Signed: 31 Jan 2026, 12:51:05 CET (2026-01-31 11:51:05 UTC)',
        'Key: k-1',
        'Webhook id: w-1',
        'Attempts: 7',
        'Source: Webhook',
        'Id: l-1',
        '# History',
        '12:53:05 · attempt 6, from a redrive',
        'No line.',
        '12:52:05 · attempt 5, from the queue',
        'No line before.',
        '12:48:05 · attempt 1, from a webhook',
        'The line was busy.',
        'The body (1,234 bytes) is not JSON, so personal data in it cannot be masked. It is therefore not shown.',
        '<Show personal data> The receiver will log that you looked.',
      ],
    ],
    [
      'that is long',
      { body: { masked: false, text: '{"a":1}', bytes: 300_000, truncated: true }, history: [] },
      [
        '# call:completed',
        '<Close>',
        '<Redrive> <Remove …>',
        'bad:',
        'The handler failed. No line.',
        'Fix the cause, then redrive the dead letter.',
        'Stack trace',
        '# Stack trace',
        '<Copy stack trace>',
        'at handler (crm.ts:4:2)',
        'Dead letter since: 31 Jan 2026, 12:52:05 CET (2026-01-31 11:52:05 UTC)',
        'Last failed: 31 Jan 2026, 12:53:05 CET (2026-01-31 11:53:05 UTC)',
        'Signed: 31 Jan 2026, 12:51:05 CET (2026-01-31 11:51:05 UTC)',
        'Call: [call-1](?view=deliveries&call=call-1&tenant=acme)',
        'Tenant: acme',
        'Key: k-1',
        'Webhook id: w-1',
        'Attempts: 7',
        'Source: Webhook',
        'Redrive: A redrive is running this dead letter.',
        'Id: l-1',
        '# History',
        'The log no longer has 3 earlier attempts.',
        '# Body',
        '<Raw> <Copy body>',
        '{ "a" : 1 }',
        'Only the beginning is shown. The whole body has 300,000 bytes.',
        '<Hide personal data>',
      ],
    ],
  ] as const)('shows a letter %s', async (_what, changes, lines) => {
    const answers = { 'api/dead-letters/l-1': { ...LETTER, ...changes } };
    const { page } = await openFixed(chromium, `${VIEW}&letter=l-1`, answers);
    await expectSeen(page, '.detail', lines);
  });

  test.each([
    ['all attempts', 0, ['First failed', 'Dead letter since', 'Last failed']],
    ['not the first attempt', 1, ['Last failed']],
    ['the last attempt alone', 2, ['Dead letter since', 'Last failed']],
    ['none', 3, ['Dead letter since', 'Last failed']],
  ])('says when it failed as far as that is known: of %s', async (_what, from, names) => {
    const answers = { 'api/dead-letters/l-1': { ...LETTER, history: LETTER.history.slice(from) } };
    const { page } = await openFixed(chromium, `${VIEW}&letter=l-1`, answers);
    await page.locator('.detail .facts').waitFor();
    const told = await page.locator('.detail .facts dt').allTextContents();
    expect(told.slice(0, told.indexOf('Signed'))).toEqual(names);
  });

  test.each([
    [
      refusal(422, 'unknown-letter', 'No such letter.'),
      [
        '# Dead letter',
        '<Close>',
        'This dead letter no longer exists. It has been redriven, removed or erased.',
      ],
    ],
    [
      refusal(503, 'store-unavailable', 'No letters now.'),
      ['# Dead letter', '<Close>', 'No letters now.'],
    ],
  ] as const)('says why a letter is not shown', async (answer, lines) => {
    const answers = { 'api/dead-letters/l-1': answer };
    const { page } = await openFixed(chromium, `${VIEW}&letter=l-1`, answers);
    await expectSeen(page, '.detail', lines);
  });
});
