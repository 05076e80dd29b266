import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { ACKNOWLEDGED, event, openWithWorld, paused, retry, status, waiting } from './world.ts';
import { testResources } from '../support/test-resources.ts';

/** For each element, the texts of its parts. */
const texts = (page: Page, elements: string, parts: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(elements)})].map((element) =>
    [...element.querySelectorAll(${JSON.stringify(parts)})]
      .filter((part) => part.checkVisibility())
      .map((part) => part.textContent.replaceAll(/\\s+/g, ' ').trim())
      .filter((text) => text !== '')
      .join(' | '))`);

const ROW = '.mark, .event, .number, .tag, .pips, .answer, .took, .when, .note > *';
const HEAD = '#detail-title, .story > *, .outcome-note p, .properties > *, .none';
const ATTEMPT =
  '.attempt-name, .answer, .outcome, .took, .tag, .when, .result-text, .line, .hint, [aria-label="Response body"], [aria-label="Response body (truncated)"]';

/** The texts that many of them share. */
const [CRM, ADDED] = ['127.0.0.1:3000/crm', '11:58:30'];
const OF_IDA = `Receiverhttp://${CRM} | CallIda Holm | RuleTo the CRM | Created${ADDED}`;
const NOT_SENT = 'Nothing has been sent yet.';
const POST = `POST http://${CRM}`;
const ANY_2XX = 'Any 2xx in time acknowledges the event. The service ignores the response body.';
const HANDLED =
  'handled The handler finished and the store recorded the event as done. | Fix: Nothing to do.';

/** What the details of an event say at the top, and what each of its attempts says, the newest first. */
const DETAILS: readonly (readonly [id: string, head: string, attempts: readonly string[]])[] = [
  [
    'e1',
    `call:started #1 | Acknowledged | ${HANDLED} | ${OF_IDA} | IDe1`,
    [`Attempt 1 | 200 | handled | 11 ms | 11:58:31 | ${ANY_2XX} | ${POST} | 200 | body 1`],
  ],
  [
    'e2',
    `call:started #2 | Acknowledged | after 3 attempts | ${OF_IDA} | IDe2`,
    [
      `Attempt 3 | 204 | < 1 ms | 11:58:33 | ${ANY_2XX} | ${POST} | 204 | body 3`,
      'Attempt 2 | timed out | 12 ms | 11:58:32',
      'Attempt 1 | 500 | 11 ms | 11:58:31',
    ],
  ],
  [
    'e3',
    `call:started #3 | In flight | the receiver is handling it | ${OF_IDA.replace('Ida Holm', 'Cy Abel')} | IDe3`,
    [`Attempt 1 | in flight | 11:58:31 | The receiver is handling the request. | ${POST}`],
  ],
  [
    'e4',
    `call:started #4 | Waiting | delayed by chaos | Attempt 1 of 6 is due in 59s, at 12:00:59. | ${OF_IDA} | IDe4 | ${NOT_SENT}`,
    [],
  ],
  [
    'e5',
    `call:started #5 | Waiting | a copy, made by chaos | Attempt 1 of 6 is due in 8s, at 12:00:08. | ${OF_IDA} | IDe5 | Copy ofe1, made by chaos | ${NOT_SENT}`,
    [],
  ],
  [
    'e6',
    `call:started #6 | Waiting | retry: no response within 30s | Attempt 2 of 6 is due in 4m, at 12:04:00. | timed out The receiver did not respond in time. | Fix: Respond within the time limit, and move work that takes longer to a queue. | ${OF_IDA} | IDe6 | Copy ofe1, made by chaos`,
    [
      `Attempt 1 | timed out | 1.3 s | 11:58:31 | The service retries: there was no response in time. | ${POST} | No response in time.`,
    ],
  ],
  [
    'e7',
    `call:started #7 | Waiting | retry: the response was lost (chaos) | Attempt 2 of 6 is due in 4m 52s, at 12:04:52. | ${HANDLED} | ${OF_IDA} | IDe7`,
    [
      `Replay of attempt 1 | 409 | 12 ms | Replay | 11:58:32 | The same request was sent again, as an attacker would do. Its response changes nothing. | ${POST} | 409 | body 1`,
      'Attempt 1 | lost | handled | 11 ms | Drop the response | Replay | 11:58:31',
    ],
  ],
  [
    'e8',
    `call:started #8 | Waiting | retry: the connection failed (ECONNREFUSED) | Attempt 2 of 6 is due in 5m, at 12:05:00. | ECONNREFUSED Nothing is listening at the URL of the receiver. | Fix: Start the receiver, or change the URL of the action. | ${OF_IDA} | IDe8`,
    [
      `Attempt 1 | ECONNREFUSED | 11 ms | 11:58:31 | The service retries: the connection failed. | ${POST} | Connection error: ECONNREFUSED`,
    ],
  ],
  [
    'e9',
    `call:started #9 | Waiting | retry: the receiver responded 503 | Attempt 2 of 6 is due now, at 12:00:00. | overloaded The receiver is already handling maxInFlight deliveries. | Fix: Find out what your handlers are waiting for. Raise maxInFlight if the machine can take more. | ${OF_IDA} | IDe9`,
    [
      `Attempt 1 | 503 | overloaded | 11 ms | 11:58:31 | The service retries: the status was neither 2xx nor 404. | ${POST} | 503 | body 1`,
    ],
  ],
  [
    'e10',
    `call:started #10 | Failed | the receiver responded 404; the rule was paused at once | 404 A call-webhooks receiver never returns 404, so something else answered the request. | Fix: Compare the URL of the action with the path of the receiver. | Receiverhttp://127.0.0.1:4000/archive | CallIda Holm | RuleArchive (paused) | Created${ADDED} | IDe10`,
    [
      'Attempt 1 | 404 | 11 ms | 11:58:31 | The rule was paused: its URL returned 404 and is considered gone. | POST http://127.0.0.1:4000/archive | 404 | body 1',
    ],
  ],
  [
    'e11',
    `call:started #11 | Failed | the connection failed (ENOTFOUND); it was the last attempt, so the rule was paused | ENOTFOUND The connection to the receiver failed. | Fix: Read the log of the receiver, and check the network. | ${OF_IDA.replace('To the CRM', 'Nowhere (paused)')} | IDe11`,
    [
      `Attempt 2 | ENOTFOUND | 12 ms | 11:58:32 | The rule was paused: the last attempt to deliver an event failed. | ${POST} | Connection error: ENOTFOUND`,
      'Attempt 1 | 500 | 11 ms | 11:58:31',
    ],
  ],
  [
    'e14',
    `call:started #14 | Dropped | not sent: the action was removed | Receiverthe action was removed | Callunknown (c9) | Ruler9 | Created${ADDED} | IDe14 | ${NOT_SENT}`,
    [],
  ],
  [
    'e15',
    `call:started #15 | Acknowledged | after 14 attempts | ${OF_IDA.replace('Ida Holm', 'no call')} | IDe15 | Copy ofe10, resent`,
    [
      `Attempt 14 | 202 | 1 min | 11:58:44 | ${ANY_2XX} | ${POST} | 202 | body 14`,
      ...Array.from({ length: 13 }, (_, at) => {
        const number = 13 - at;
        return `Attempt ${number} | 500 | ${10 + number} ms | 11:58:${30 + number}`;
      }),
    ],
  ],
];

describeInChromium('the inspector shows each case in its own words', (chromium) => {
  const open = testResources();

  const openWorld = () => openWithWorld(chromium, open);

  test('in the rows of the events', async () => {
    const { page } = await openWorld();
    expect(await texts(page, '.event-row', ROW)).toEqual([
      `Acknowledged | call:started | #15 | resent | edited | 14 attempts | 202 | 1 min | ${ADDED} | ${CRM} | no call | after 14 attempts`,
      `Dropped | call:started | #14 | 0 attempts | ${ADDED} | unknown (c9) | not sent: the action was removed`,
      `Dropped | call:started | #13 | 0 attempts | ${ADDED} | ${CRM} | Ida Holm | not sent: the rule was paused`,
      `Held | call:started | #12 | 0 attempts | ${ADDED} | ${CRM} | Ida Holm | the rule is paused; sent when it is resumed`,
      `Failed | call:started | #11 | 2 attempts | ENOTFOUND | 12 ms | ${ADDED} | ${CRM} | Ida Holm | the connection failed (ENOTFOUND); it was the last attempt, so the rule was paused`,
      `Failed | call:started | #10 | 1 attempt | 404 | 11 ms | ${ADDED} | 127.0.0.1:4000/archive | Ida Holm | the receiver responded 404; the rule was paused at once`,
      `Waiting | call:started | #9 | 1 attempt | 503 | 11 ms | ${ADDED} | overloaded | ${CRM} | Ida Holm | retry: the receiver responded 503 | attempt 2 of 6 now`,
      `Waiting | call:started | #8 | 1 attempt | ECONNREFUSED | 11 ms | ${ADDED} | ${CRM} | Ida Holm | retry: the connection failed (ECONNREFUSED) | attempt 2 of 6 in 5m`,
      `Waiting | call:started | #7 | 2 attempts | lost | 11 ms | ${ADDED} | handled | ${CRM} | Ida Holm | retry: the response was lost (chaos) | attempt 2 of 6 in 4m 52s`,
      `Waiting | call:started | #6 | duplicate | 1 attempt | timed out | 1.3 s | ${ADDED} | ${CRM} | Ida Holm | retry: no response within 30s | attempt 2 of 6 in 4m`,
      `Waiting | call:started | #5 | duplicate | 0 attempts | ${ADDED} | ${CRM} | Ida Holm | a copy, made by chaos | attempt 1 of 6 in 8s`,
      `Waiting | call:started | #4 | 0 attempts | ${ADDED} | ${CRM} | Ida Holm | delayed by chaos | attempt 1 of 6 in 59s`,
      `In flight | call:started | #3 | 1 attempt | in flight | ${ADDED} | ${CRM} | Cy Abel | the receiver is handling it`,
      `Acknowledged | call:started | #2 | 3 attempts | 204 | < 1 ms | ${ADDED} | ${CRM} | Ida Holm | after 3 attempts`,
      `Acknowledged | call:started | #1 | 1 attempt | 200 | 11 ms | ${ADDED} | handled | ${CRM} | Ida Holm`,
    ]);
    const tones = await page.evaluate(`[...document.querySelectorAll('.pips')].map((pips) =>
      [...pips.querySelectorAll('i')].map(({ dataset }) => dataset.tone).join(' '))`);
    // At most the newest twelve.
    const newest = `${'bad '.repeat(11)}good`;
    const waiting = ['bad', 'bad', 'bad gone', 'bad', '', ''];
    expect(tones).toEqual([
      newest,
      '',
      '',
      '',
      'bad bad',
      'bad',
      ...waiting,
      'wait',
      'bad bad good',
      'good',
    ]);
  });

  test('of an event with replays: they count as no attempts', async () => {
    const { page, become } = await openWorld();
    const replay = (number: number, code = 409) =>
      ({ number, kind: 'replay', response: status(code), tookMs: 500 }) as const;
    const failed = (number: number) => ({
      ...{ number, response: status(500), result: retry('status') },
    });
    const done = (number: number) => ({ number, response: status(200), result: ACKNOWLEDGED });
    const last = { number: 2, response: status(503), result: paused('last-attempt-failed') };
    await become({
      events: [
        event(1, { state: 'acknowledged' }, [done(1), replay(1)]),
        event(2, { state: 'acknowledged' }, [failed(1), replay(1), done(2), replay(2, 500)]),
        event(3, waiting(60), [failed(1), replay(1, 200)]),
        event(4, { state: 'failed' }, [failed(1), replay(1), last, replay(2, 200)]),
      ],
    });
    await page.locator('.event-row').nth(4).waitFor({ state: 'detached' });
    const rest = `${ADDED} | ${CRM} | Ida Holm`;
    expect(await texts(page, '.event-row', ROW)).toEqual([
      `Failed | call:started | #4 | 4 attempts | 503 | 13 ms | ${rest} | the receiver responded 503; it was the last attempt, so the rule was paused`,
      `Waiting | call:started | #3 | 2 attempts | 500 | 11 ms | ${rest} | retry: the receiver responded 500 | attempt 2 of 6 in 1m`,
      `Acknowledged | call:started | #2 | 4 attempts | 200 | 13 ms | ${rest} | after 2 attempts`,
      `Acknowledged | call:started | #1 | 2 attempts | 200 | 11 ms | ${rest}`,
    ]);
    const tones = await page.evaluate(`[...document.querySelectorAll('.pips')].map((pips) =>
      [...pips.querySelectorAll('i')].map(({ dataset }) => dataset.tone).join(' '))`);
    expect(tones).toEqual(['bad gone bad gone', 'bad gone', 'bad gone good gone', 'good gone']);
  });

  test('in the details of an event', async () => {
    const { page } = await openWorld();
    for (const [id, head, attempts] of DETAILS) {
      await page.locator(`.event-row[data-id=${id}]`).click();
      await page.locator(`#detail-title[data-id=${id}]`).waitFor();
      expect(await texts(page, '#detail', HEAD)).toEqual([head]);
      expect(await texts(page, '#detail .attempt', ATTEMPT)).toEqual(attempts);
    }
    await page.locator('.event-row[data-id=e7]').click();
    await page.locator('#detail-title[data-id=e7]').waitFor();
    await page.locator('#detail').getByText('Attempt 1', { exact: true }).click();
    await page.locator('#detail h3').getByText('Dropped response').waitFor();
    const [, lost] = await texts(page, '#detail .attempt', `${ATTEMPT}, h3`);
    expect(lost).toBe(
      `Attempt 1 | lost | handled | 11 ms | Drop the response | Replay | 11:58:31 | The service retries: the connection failed. The receiver did its work, but chaos dropped the response. | Request | ${POST} | Response | Connection error: ECONNRESET | Dropped response | 200 | lost`,
    );
  });

  test('in the colors of rows, details and attempts', async () => {
    const { page } = await openWorld();
    const tones = (within: string, parts: string) =>
      page.evaluate(`[...document.querySelectorAll(${JSON.stringify(within)})].map((element) =>
        [...element.querySelectorAll(${JSON.stringify(parts)})].map(({ dataset }) => dataset.tone).join(' '))`);
    expect(await tones('.event-row', '.answer')).toEqual([
      ...[
        'good',
        '',
        '',
        '',
        'bad',
        'bad',
        'bad',
        'bad',
        'bad',
        'bad',
        '',
        '',
        'wait',
        'good',
        'good',
      ],
    ]);
    expect(await tones('.card.rule', '.badge')).toEqual(['good', 'bad', 'bad', 'bad']);
    const seen: unknown[] = [];
    for (const id of ['e1', 'e2', 'e3', 'e4', 'e7', 'e10', 'e12', 'e13']) {
      await page.locator(`.event-row[data-id=${id}]`).click();
      await page.locator(`#detail-title[data-id=${id}]`).waitFor();
      seen.push([
        id,
        ...((await tones('#detail', '.story .badge, .attempt, .answer')) as string[]),
      ]);
    }
    expect(seen).toEqual([
      ['e1', 'good good good'],
      ['e2', 'good good good bad bad bad bad'],
      ['e3', 'info wait wait'],
      ['e4', 'wait'],
      ['e7', 'wait gone gone bad bad'],
      ['e10', 'bad bad bad'],
      ['e12', 'muted'],
      ['e13', 'muted'],
    ]);
  });

  test('in tooltips', async () => {
    const { page, tab } = await openWorld();
    const titles = (within: string) =>
      page
        .locator(`${within} [title]`)
        .evaluateAll((all) => all.map((one) => (one as unknown as { title: string }).title));
    const at = '31 Jan 2026, 11:58:30 UTC';
    const handled = 'The handler finished and the store recorded the event as done.';
    expect(await titles('li:has(> [data-id=e7])')).toEqual([
      ...['Waiting', '2 attempts', 'lost', at, handled, 'To the CRM', '31 Jan 2026, 12:04:52 UTC'],
    ]);
    expect(await titles('.top')).toEqual([
      ...['Seed the seed', '31 Jan 2026, 12:00:00 UTC (manual clock)'],
      ...['It does not move until you advance it.', '31 Jan 2026, 12:00:08 UTC'],
      'Advance the clock to the next due time (n)',
      'Advance the clock by six minutes, so that retries are sent (a)',
      'Advance the clock until nothing is due (i)',
      ...['Place a call (c)', 'Remove all rules, secrets and records', 'Light or dark (t)'],
      'Keyboard shortcuts (?)',
    ]);
    expect(await titles('#filters')).toEqual([
      'Resend all failed events that match the filters, except those that were already resent',
      'Search by name, number, id or text in a body (/)',
    ]);
    await page.locator('.event-row[data-id=e7]').click();
    await page.locator('#detail-title[data-id=e7]').waitFor();
    expect(await titles('#detail')).toEqual([
      ...['Send this event again (r)', 'Edit the body and send it again', 'Close (Esc)'],
      ...['31 Jan 2026, 12:04:52 UTC', '31 Jan 2026, 12:04:52 UTC'],
      ...['Show all events of this call', at],
      ...['Sends the same request again', '31 Jan 2026, 11:58:32 UTC'],
      ...['Copy curl command', 'Copy request body', 'Copy response body'],
      'Loses the response after the receiver did its work',
      ...['Sends the same request again', '31 Jan 2026, 11:58:31 UTC'],
      ...['Copy curl command', 'Copy request body', 'Copy response body (truncated)'],
    ]);
    await tab('Calls');
    await page.locator('#panel-calls').waitFor();
    expect((await titles('#panel-calls li:nth-child(2)')).slice(0, 4)).toEqual([
      ...['Show the events of this call', '31 Jan 2026, 11:59:30 UTC', '31 Jan 2026, 12:00:15 UTC'],
      'End this call now',
    ]);
  });

  test('in the bar, the filters and the list of the rules', async () => {
    const { page } = await openWorld();
    const shown = async (element: string, parts: string) => (await texts(page, element, parts))[0];
    expect(await shown('.top', '.clock-time, .clock-next')).toBe(
      '12:00:00 UTC | 31 Jan 2026 · manual · next in 8s',
    );
    expect(await shown('[role=tablist]', '[role=tab]')).toBe(
      'Rules 4 (3 paused) | Calls 107 | Outbox 3 | Chaos 5 on',
    );
    expect(await shown('#filters', '.chip, button')).toBe(
      'All 115 | Acknowledged 3 | In flight 1 | Waiting 106 | Failed 2 | Held 1 | Dropped 2 | Resend failed',
    );
    expect(await page.locator('#filters option').allTextContents()).toEqual([
      ...['All receivers', CRM, '127.0.0.1:4000/archive', '127.0.0.1:4000/archive/2'],
      ...['https://localhost:4443/tapes', 'All events'],
      ...['call:started', 'call:completed', 'call:recording-available'],
    ]);
    expect(await shown('.stream', '#paused p, #paused button, #timeline .none')).toBe(
      '3 rules are paused. | Resume all | 100 older events Show more',
    );
    const secret = 'whsec_••••••••••••';
    const editing = 'Edit URL | Remove URL';
    const buttons = 'Events | Add URL | Remove rule';
    const archive = 'http://127.0.0.1:4000/archive';
    expect(
      await texts(page, '.card.rule', 'h3, .badge, .trigger, .why, .url, .hint, .secret, button'),
    ).toEqual([
      `To the CRM | Active | On call:started, calls of the owner | http://${CRM} | ${editing} | ${secret} | Pause | ${buttons}`,
      `Archive | Paused | On call:completed, all calls | Paused at 11:59:00: its URL returned 404 and is considered gone. The admins were emailed. | ${archive} | ${editing} | ${secret} | ${archive}/2 | ${editing} | Sends a custom payload | ${secret} | ${archive} | ${editing} | This action has no secret, so its deliveries are not signed. Remove it and add it again. | Resume | ${buttons}`,
      `Call recording webhook | Paused | On call:recording-available | Paused at 11:58:00: it was paused by hand. | https://localhost:4443/tapes | Edit URL | ${secret} | Resume | Events | Remove rule`,
      `Nowhere | Paused | On call:completed, calls of the owner | Paused at 11:57:00: the last attempt to deliver an event failed. The owner was emailed. | Resume | ${buttons}`,
    ]);
    expect(await page.locator('#panel-rules .policy').textContent()).toBe(
      'A receiver must return 2xx within 30s. Otherwise the service retries about every 5m, up to 6 attempts. A 404 or a failed last attempt pauses the rule.',
    );
  });

  test('in the lists of calls, of emails and of the chaos', async () => {
    const { page, tab } = await openWorld();
    await tab('Calls');
    await page.locator('#panel-calls').waitFor();
    expect(
      await texts(page, '#panel-calls', '.row-title, .row-note, .row-side button, .none'),
    ).toEqual([
      [
        'Cy Abel | +15550105 | 11:59:50 · ongoing | End',
        '+15550104 | 11:59:30 · ongoing, ends in 15s | End',
        'Noor Haddad | +15550103 | 10:53:20 · 1h 1m · recording available',
        'Ola Berg | +15550102 | 11:51:40 · 5s · recording pending',
        'Ida Holm | +15550101 | 11:50:00 · 1m 5s · not recorded',
        '… and 102 older calls',
      ].join(' | '),
    ]);
    await tab('Outbox');
    await page.locator('#panel-outbox').waitFor();
    expect(await texts(page, '#panel-outbox', 'h3, time, p')).toEqual([
      [
        'The second | 11:59:01 | To ben@x.example, cleo@x.example | Its second text',
        'The first | 11:59:00 | To ben@x.example, cleo@x.example | Its first text',
        '… and 1 older email',
      ].join(' | '),
    ]);
    await tab('Chaos');
    await page.locator('#panel-chaos').waitFor();
    expect(await texts(page, '#panel-chaos .chaos li', 'label, .hint, output')).toEqual([
      'Duplicate | Sends an event again, seconds later',
      'Concurrent duplicates | Sends up to three copies at the same time | 5%',
      'Reorder | Delays an event, so that later ones overtake it | 10%',
      'Drop the response | Loses the response after the receiver did its work | 25%',
      'Slow body | Sends the body in small chunks | 100%',
      'Wrong secret | Signs with an unknown secret',
      'Old secret | Signs with the secret from before the last rotation',
      'Clock skew | Signs with a time that is more than five minutes off',
      'Replay | Sends the same request again | 33%',
      'Tampered body | Changes the body after signing',
    ]);
    expect(await page.locator('#panel-chaos code').textContent()).toBe('the seed');
  });
});
