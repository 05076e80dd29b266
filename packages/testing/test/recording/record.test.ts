import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createReceiver, eventKey, type Outcome } from '@call-webhooks/core';
import {
  callCompleted,
  callRecordingAvailable,
  deliver,
  deliverTwice,
  readFixtures,
  record,
  replay,
  TEST_SECRET,
} from '../../src/index.ts';
import { temporaryFile } from './support.ts';

let files: ReturnType<typeof temporaryFile>;
beforeEach(() => {
  files = temporaryFile();
});
afterEach(() => {
  files.remove();
});

const callId = '65f0c1d2e3a4b5c6d7e8f901';
const completed = {
  ...callCompleted({ callId, fromPhoneNumber: { number: '+1 303-555-0188', label: 'main' } }),
  userId: 'u-77',
  toPhoneNumber: '+13035550188',
  recipientName: 'Grace Hopper',
  recipientEmail: 'grace@navy.mil',
  createdAt: 1_767_323_045_678,
  endedAt: '2026-01-02T03:05:06.000Z',
  direction: 'outbound',
  answered: true,
  durationSeconds: 61,
};
const recording = callRecordingAvailable({
  callId,
  userId: 'u-77',
  recordingUrl: `https://api.navy.mil/v1/calls/${callId}/recording`,
});

describe('a recording', () => {
  it('keeps what tests depend on, and how the events of a call belong together', () => {
    const recorder = record({ file: files.file });
    recorder.add(completed);
    recorder.add(JSON.stringify(recording));
    const [call, available] = readFixtures(files.file) as [typeof completed, typeof recording];
    expect(call).toEqual({
      eventName: 'call:completed',
      callId: '000000000000000000000001',
      fromPhoneNumber: { number: '+1 202-555-0101', label: expect.stringMatching(/^[a-z]{4}$/) },
      userId: expect.stringMatching(/^[a-z]-\d\d$/),
      toPhoneNumber: '+12025550101', // the same number, written as here
      recipientName: expect.stringMatching(/^[A-Z][a-z]{4} [A-Z][a-z]{5}$/),
      recipientEmail: 'person-1@example.com',
      createdAt: completed.createdAt,
      endedAt: completed.endedAt,
      direction: 'outbound',
      answered: true,
      durationSeconds: 61,
    });
    expect(available).toEqual({
      ...recording,
      eventId: `${String(call.callId)}:recording-available`,
      callId: call.callId,
      userId: call.userId,
      workspaceId: expect.any(String),
      recordingUrl: `https://api.example.com/v1/calls/${String(call.callId)}/recording`,
    });
    expect(eventKey(available)).toBe(`${String(call.callId)}:recording-available`);
    expect(files.text()).not.toMatch(/303|grace|hopper|navy|65f0c1|u-77/i);
  });

  it('is made by a receiver, one of each event, and delivered again to another', async () => {
    const recorder = record({ file: files.file });
    const real = createReceiver({
      secret: TEST_SECRET,
      around: recorder.around,
      on: { 'call:completed': () => undefined },
      custom: { handle: () => undefined },
    });
    await deliverTwice(real, completed);
    await deliver(real, { crm: 'Grace Hopper' });
    const outcomes: Outcome[] = [];
    const on = { 'call:completed': () => undefined };
    const tested = createReceiver({
      secret: TEST_SECRET,
      on,
      onOutcome: (one) => outcomes.push(one),
    });
    const delivered = await replay(tested, files.file);
    expect(delivered.map(({ outcome }) => outcome)).toEqual(['handled', 'ignored']);
    expect(outcomes[0]?.callId).toBe('000000000000000000000001');
  });

  it('of a handler that fails is made once', async () => {
    const recorder = record({ file: files.file });
    const on = { 'call:completed': () => Promise.reject(new Error('down')) };
    const logger = { warn: () => undefined, error: () => undefined };
    const real = createReceiver({ secret: TEST_SECRET, around: recorder.around, on, logger });
    expect((await deliverTwice(real, completed)).map(({ status }) => status)).toEqual([500, 500]);
    expect(readFixtures(files.file)).toHaveLength(1);
  });

  it('can be continued, with new fakes', () => {
    record({ file: files.file }).add(completed);
    record({ file: files.file }).add({ ...completed, callId: '75f0c1d2e3a4b5c6d7e8f901' });
    const ids = readFixtures(files.file).map((body) => (body as { callId: string }).callId);
    expect(ids).toEqual(['000000000000000000000001', '000000000000000000000002']);
  });

  it('keeps no constant, time or short number in a field that is personal by its name', () => {
    record({ file: files.file }).add({
      ...{ recipientName: 'mark bill', note: 'call back', contact: { status: 'open', zip: 90210 } },
      ...{ birthDate: '1815-12-10T00:00:00Z', lastMail: '1852-11-27T00:00:00Z', extension: 4711 },
    });
    expect(files.text()).not.toMatch(/mark|bill|call|back|90210|1815|1852|4711/);
    expect(files.text()).toContain('"status": "open"');
  });

  it('takes what only begins like a URL for a text', () => {
    record({ file: files.file }).add({ eventName: 'call:completed', link: 'https://[lovelace' });
    expect(files.text()).toContain('call:completed');
    expect(files.text()).not.toContain('lovelace');
  });

  it('keeps fields that it is told to keep', () => {
    record({ file: files.file, keep: ['team'] }).add({ ...completed, team: 'West 7' });
    expect(readFixtures(files.file)).toMatchObject([{ team: 'West 7' }]);
  });

  it('that cannot be written does not make the handler fail', async () => {
    const recorder = record({ file: files.file });
    writeFileSync(join(files.folder, 'fixtures'), 'a file where the folder should be');
    const lines: string[] = [];
    const logger = { warn: (_: object, line: string) => lines.push(line), error: () => undefined };
    const on = { 'call:completed': () => undefined };
    const real = createReceiver({ secret: TEST_SECRET, around: recorder.around, on, logger });
    expect((await deliver(real, completed)).outcome).toBe('handled');
    expect(lines).toEqual(['record: the delivery was not recorded']);
  });
});

describe('a file of fixtures', () => {
  it('has to be there, and to be one', async () => {
    const receiver = createReceiver({ secret: TEST_SECRET });
    await expect(replay(receiver, files.file)).rejects.toThrow('Record deliveries with record(');
    const other = join(files.folder, 'other.json');
    for (const [text, message] of [
      ['{', 'is not JSON'],
      ['[]', 'was not written by record()'],
      ['null', 'was not written by record()'],
    ] as const) {
      writeFileSync(other, text);
      expect(() => readFixtures(other)).toThrow(message);
      expect(() => record({ file: other })).toThrow(message);
    }
    expect(() => record({ file: '' })).toThrow('file: expected the path of a file');
    expect(() => {
      record({ file: files.file }).add('{');
    }).toThrow('the body is not JSON');
  });
});
