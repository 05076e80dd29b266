import { expect, test } from '@jest/globals';
import { ADA, afterCall, IDS, NOW } from '../support/one-call.ts';
import { STARTED_AT as START, testResources } from '../support/test-resources.ts';

const open = testResources();

test('the records of the REST API, word for word', async () => {
  const { simulator, ask } = await afterCall(open);
  const seen = {
    device: { os: 'Linux', program: 'Firefox', isMobile: false },
    location: { city: 'Lisbon', region: 'Lisbon', country: 'Portugal' },
  };
  const message = {
    ...{ _id: IDS.message, threadId: '50b9306def63fb17a1b367e2', subject: 'Hi', sentAt: NOW },
    ...{ senderId: ADA, templateId: '5f0400000000000000000002' },
    recipients: [
      { email: 'a@x.example', name: 'Ann', field: 'to' },
      { email: 'b@x.example', name: null, field: 'to' },
      { email: 'c@x.example', name: null, field: 'cc' },
    ],
  };
  const sent = await ask('POST /_sim/messages', {
    ...{ subject: 'Hi', to: [{ email: 'a@x.example', name: 'Ann' }, 'b@x.example'] },
    ...{ cc: 'c@x.example', templateId: '5f0400000000000000000002' },
  });
  expect(sent).toEqual(message);
  const record = {
    ...{ threadId: message.threadId, subject: 'Hi', userId: ADA, recipientEmail: 'a@x.example' },
    ...{ teamIds: ['5f0300000000000000000001'], recipientName: 'Ann' },
    recipients: message.recipients.map(({ email, name }) => ({ email, name })),
  };
  const unopened = (actionName: string) => ({
    ...{
      ...record,
      _id: `${IDS.message}:unopened`,
      timestamp: NOW,
      action: 'unopened',
      actionName,
    },
  });
  expect(await ask('GET /v1/events')).toEqual({
    ...{ results: [unopened('Opened by nobody')], hasNext: false, next: null },
  });
  const records: object[] = [];
  const activities: object[] = [];
  for (const [action, actionName, more] of [
    ['opened', 'Opened the message', seen],
    ['clicked', 'Clicked a link', { object: { type: 'link', title: 'Price list' } }],
    [
      ...(['downloaded', 'Downloaded an attachment'] as const),
      { ...seen, object: { type: 'attachment', title: 'prices.pdf' } },
    ],
    ['replied', 'Replied', {}],
    ['meetinginvites:confirmed', 'Confirmed the meeting', {}],
    ['poll:voted', 'Voted', {}],
  ] as const) {
    await simulator.clock.advance('1s');
    const at = simulator.clock.now();
    const activity = await ask(`POST /_sim/messages/${IDS.message}/activities`, { action });
    const _id = expect.stringMatching(/^[\da-f]{24}$/) as unknown as string;
    const recipientEmail = 'a@x.example';
    const expected = { messageId: IDS.message, at, recipientEmail, action, actionName, ...more };
    expect(activity).toEqual({ ...expected, _id });
    activities.push(activity as object);
    const { _id: known } = activity as { _id: string };
    records.unshift({ ...record, _id: known, timestamp: at, action, actionName, ...more });
  }
  records.push(unopened('Opened by some'));
  const page = { results: records, hasNext: false, next: null };
  expect(await ask('GET /v1/events')).toEqual(page);
  expect(await ask(`GET /_sim/messages/${IDS.message}`)).toEqual({ ...message, activities });
  expect(await ask('GET /v1/calls')).toEqual(callsPage({ durationSeconds: 60 }));
});

/** The only call, as a page of the REST API. */
const callsPage = (recording: object | null) => ({
  results: [
    {
      ...{ _id: IDS.call, userId: ADA, createdAt: START, toPhoneNumber: '+12025550101' },
      ...{ recipientEmail: 'dana@customer.example', recipientName: 'Ida Holm' },
      ...{ startedAt: '2026-01-31T12:00:00.000Z', endedAt: '2026-01-31T12:01:00.000Z' },
      fromPhoneNumber: { number: '+12025550199', label: 'Main line' },
      recording,
    },
  ],
  ...{ hasNext: false, next: null },
});
