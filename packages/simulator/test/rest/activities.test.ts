import { describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKSPACE } from '@call-webhooks/simulator';
import { getEvents } from '../support/rest.ts';
import { STARTED_AT, testResources } from '../support/test-resources.ts';

const open = testResources();
const [ada, ben] = DEFAULT_WORKSPACE.users;
const anId = expect.stringMatching(/^[0-9a-f]{24}$/) as unknown as string;

describe('a record has all its fields, and no other', () => {
  test('a message, with what was given and with the defaults', async () => {
    const { messages } = await open.simulator();
    const [template] = DEFAULT_WORKSPACE.templates;
    const [sequence] = DEFAULT_WORKSPACE.sequences;
    const plain = messages.send({ subject: 'Hi', to: 'a@x.example' });
    expect(plain).toEqual({
      _id: anId,
      threadId: anId,
      subject: 'Hi',
      sentAt: STARTED_AT,
      senderId: ada!._id,
      recipients: [{ email: 'a@x.example', name: null, field: 'to' }],
    });
    const reply = { senderId: ben!._id, threadId: plain.threadId, subject: 'Re: Hi' };
    const origin = { templateId: template!._id, sequenceId: sequence!._id };
    const to = [{ email: 'b@x.example', name: 'Bo' }, 'c@x.example'];
    const cc = { email: 'd@x.example' };
    const bcc = ['e@x.example'];
    expect(messages.send({ ...reply, ...origin, to, cc, bcc })).toEqual({
      ...{ ...reply, ...origin, _id: anId, sentAt: STARTED_AT },
      recipients: [
        { email: 'b@x.example', name: 'Bo', field: 'to' },
        { email: 'c@x.example', name: null, field: 'to' },
        { email: 'd@x.example', name: null, field: 'cc' },
        { email: 'e@x.example', name: null, field: 'bcc' },
      ],
    });
    const send = (more: object) => () => messages.send({ subject: 'Hi', to, ...more });
    expect(send({ senderId: 'nobody' })).toThrow('no user with this id');
    expect(send({ templateId: sequence!._id })).toThrow('no template with this id');
    expect(send({ sequenceId: template!._id })).toThrow('no sequence with this id');
  });

  const device = { os: 'Linux', program: 'Firefox', isMobile: false };
  const location = { city: 'Lisbon', region: 'Lisbon', country: 'Portugal' };
  const link = { type: 'link', title: 'Price list' };
  const attachment = { type: 'attachment', title: 'prices.pdf' };

  test.each([
    ['opened', { actionName: 'Opened the message', device, location }],
    ['clicked', { actionName: 'Clicked a link', object: link }],
    [
      'downloaded',
      { actionName: 'Downloaded an attachment', device, location, object: attachment },
    ],
    ['replied', { actionName: 'Replied' }],
    ['meetinginvites:confirmed', { actionName: 'Confirmed the meeting' }],
    ['poll:voted', { actionName: 'Voted' }],
  ] as const)('the activity %s, and its record in GET /v1/events', async (action, fields) => {
    const simulator = await open.simulator();
    const { messages, clock } = simulator;
    const to = [{ email: 'a@x.example', name: 'Ann' }, 'b@x.example'];
    const sent = messages.send({ subject: 'Hi', to, senderId: ben!._id });
    await clock.advance('1m');
    const activity = { _id: anId, messageId: sent._id, action, at: STARTED_AT + 60_000 };
    const recorded = messages.record(sent._id, { action });
    expect(recorded).toEqual({ ...activity, ...fields, recipientEmail: 'a@x.example' });
    const own = {
      actionName: 'By hand',
      ...('device' in fields && { device: { ...device, os: 'BeOS' } }),
      ...('location' in fields && { location: { ...location, city: 'Porto' } }),
      ...('object' in fields && { object: { type: 'own', title: 'Own' } }),
    };
    const input = { action, recipientEmail: 'b@x.example', ...own };
    expect(messages.record(sent._id, input)).toEqual({ ...activity, ...input });
    const { results } = await getEvents(simulator, { search: `type:${action}` });
    const ofMessage = {
      threadId: sent.threadId,
      subject: 'Hi',
      userId: ben!._id,
      teamIds: ben!.teamIds,
      recipients: [
        { email: 'a@x.example', name: 'Ann' },
        { email: 'b@x.example', name: null },
      ],
      ...{ _id: anId, action, timestamp: STARTED_AT + 60_000 },
    };
    const shown = [
      { ...ofMessage, ...fields, recipientEmail: 'a@x.example', recipientName: 'Ann' },
      { ...ofMessage, ...own, recipientEmail: 'b@x.example', recipientName: null },
    ];
    expect(results).toHaveLength(2);
    expect(results).toEqual(expect.arrayContaining(shown));
  });

  test('the synthetic event of an unopened message', async () => {
    const simulator = await open.simulator();
    const to = { email: 'a@x.example', name: 'Ann' };
    const { _id, threadId } = simulator.messages.send({ subject: 'Hi', to });
    await simulator.clock.advance('1m');
    expect((await getEvents(simulator)).results).toEqual([
      {
        ...{ _id: `${_id}:unopened`, threadId, subject: 'Hi', timestamp: STARTED_AT },
        ...{ userId: ada!._id, teamIds: ada!.teamIds, action: 'unopened' },
        ...{ actionName: 'Opened by nobody', recipients: [to] },
        ...{ recipientEmail: 'a@x.example', recipientName: 'Ann' },
      },
    ]);
  });
});
