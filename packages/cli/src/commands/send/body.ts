import { randomBytes } from 'node:crypto';
import { EVENT_NAMES } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import { badInput } from '../../errors.ts';
import { didYouMean } from '../../input/did-you-mean.ts';
import { setFields } from '../../input/fields.ts';
import { readData, decodeText } from '../../input/read.ts';
import type { Io } from '../../io.ts';

/** The flags that make up a body. */
export interface BodyOptions {
  readonly data?: string | undefined;
  readonly set?: readonly string[] | undefined;
}

/**
 * The body of a delivery: the given bytes, or a sample of the event. With `--set`, JSON is parsed
 * and written again.
 * @throws CliError
 */
export async function bodyOf(
  io: Io,
  eventName: string,
  { data, set = [] }: BodyOptions,
): Promise<Uint8Array> {
  if (data !== undefined && set.length === 0) return readData(io, data);
  const fields = data === undefined ? sampleOf(eventName) : parseObject(await readData(io, data));
  return Buffer.from(JSON.stringify(setFields(fields, set)));
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(decodeText(bytes));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw badInput('--set needs a JSON object, but the data is not one.', 'Remove --set.');
}

/** Sample bodies. The names of seven fields are guesses: the spec does not show them. */
const SAMPLES: Readonly<Record<string, (now: number) => Record<string, unknown>>> = {
  'call:started': (now) => callBody('call:started', now),
  'call:completed': (now) => ({
    ...callBody('call:completed', now - 61_000),
    [DEFAULT_FIELD_NAMES.endedAt]: new Date(now).toISOString(),
  }),
  'call:recording-available'(now) {
    const callId = randomId();
    return {
      eventName: 'call:recording-available',
      eventId: `${callId}:recording-available`,
      callId,
      userId: 'user-1',
      workspaceId: 'workspace-1',
      recordingStartedAt: new Date(now - 62_000).toISOString(),
      recordingDurationSeconds: 61,
      occurredAt: new Date(now).toISOString(),
      recordingUrl: `https://api.example.com/v1/calls/${callId}/recording`,
    };
  },
};

function callBody(eventName: string, now: number): Record<string, unknown> {
  const names = DEFAULT_FIELD_NAMES;
  return {
    eventName,
    callId: randomId(),
    [names.placedBy]: 'user-1',
    [names.createdAt]: now,
    [names.calledNumber]: '+12025550101',
    [names.calledEmail]: 'ada@example.com',
    [names.calledName]: 'Ada Example',
    [names.dialedAt]: new Date(now).toISOString(),
    fromPhoneNumber: { number: '+12025550199', label: 'Main line' },
  };
}

const randomId = () => randomBytes(12).toString('hex');

function sampleOf(eventName: string): Record<string, unknown> {
  const sample = Object.hasOwn(SAMPLES, eventName) ? SAMPLES[eventName] : undefined;
  if (sample) return sample(Date.now());
  const suggestion = didYouMean(eventName, EVENT_NAMES, `Samples: ${EVENT_NAMES.join(', ')}.`);
  throw badInput(
    `There is no sample of ${eventName}.`,
    `${suggestion} For any other event, pass its body: --data @file`,
  );
}
