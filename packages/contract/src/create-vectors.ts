import { createHash } from 'node:crypto';
import { attempt, expecting, type Attempt, type AttemptChanges } from './attempt.ts';
import { bodyBytes, clock, events } from './groups/bodies-and-clock.ts';
import { duplicates, replays } from './groups/replays-and-duplicates.ts';
import { headers, secrets, signature } from './groups/signature-and-headers.ts';
import {
  VECTORS_VERSION,
  type Sentence,
  type Vector,
  type VectorDelivery,
  type VectorFile,
  type VectorResult,
} from './vector.ts';

/** What vectors are made of. */
export interface VectorOptions {
  /** The clock of the first delivery; milliseconds since the epoch, at a whole second. */
  readonly now: number;
  /** Ids, and secrets other than `secret`, follow from it. */
  readonly seed: string;
  /** The secret of the receiver, `whsec_…`; made from the seed by default. */
  readonly secret?: string | undefined;
  /**
   * How long after an attempt the next one of the same event arrives; seconds, 300 by default, as
   * the service waits. 0 for a receiver whose clock cannot be set.
   */
  readonly retryAfter?: number | undefined;
  /** What each call id begins with; nothing by default. */
  readonly callIdPrefix?: string | undefined;
  /** Instead of `call:completed`: a name that nobody handles keeps handlers from running. */
  readonly eventName?: string | undefined;
  /** Further fields of the call events, such as the user who placed the call. */
  readonly callFields?: object | undefined;
}

/** Ids and secrets by name: the same for the same seed. */
export interface Source {
  readonly now: number;
  /** The receiver's secret. */
  readonly secret: string;
  /** Seconds between two attempts of one event. */
  readonly retryAfter: number;
  uuid(name: string): string;
  callId(name: string): string;
  /** @param bytes the length of the key */
  secretOf(name: string, bytes: number): string;
}

/** The body of an event. @param more further fields */
export type BodyOf = (callId: string, more?: object) => string;

/** Makes the vectors of one group. */
export interface Maker {
  readonly source: Source;
  readonly started: BodyOf;
  readonly completed: BodyOf;
  readonly recorded: BodyOf;
  /** The call id of the vector that is being made. */
  readonly callId: (name: string) => string;
  /** One request. Names are unique within the group. */
  readonly attempt: (name: string, body: string | Buffer, changes?: AttemptChanges) => Attempt;
  /** A vector of one delivery. Its body is that of `call:completed` by default. */
  readonly one: (
    result: VectorResult,
    name: string,
    description: string,
    why: readonly Sentence[],
    changes?: AttemptChanges &
      Partial<Pick<Vector, 'secrets' | 'exactClock'>> & { readonly body?: string | Buffer },
  ) => Vector;
  /** A vector of several deliveries. */
  readonly several: (
    name: string,
    description: string,
    why: readonly Sentence[],
    deliveries: readonly VectorDelivery[],
  ) => Vector;
}

/** Vectors about one thing: one file. */
export interface Group {
  readonly name: string;
  readonly title: string;
  readonly vectors: (maker: Maker) => readonly Vector[];
}

const GROUPS = [signature, headers, clock, bodyBytes, secrets, replays, duplicates, events];

/**
 * Makes the test vectors for a clock and a secret of your own, for a receiver whose clock cannot be
 * set. The published files are made with a fixed clock and seed.
 *
 * Take a new seed for each run, since a receiver remembers webhook ids and events. Vectors whose
 * `secrets` are not yours are about other secrets: skip them. Deliveries whose `now` is a minute or
 * more after yours are about the passing of time; with `retryAfter: 0` there are two. Vectors with
 * `exactClock` are for receivers whose clock is set. With a real clock, skip all of these, and send
 * the others within a minute after `now`.
 * @throws RangeError if `now` is not at a whole second
 * @example
 * const now = Math.floor(Date.now() / 1000) * 1000;
 * const files = createVectors({ now, seed: crypto.randomUUID(), secret, retryAfter: 0 });
 */
export function createVectors(options: VectorOptions): VectorFile[] {
  const source = createSource(options);
  return GROUPS.map(({ name, title, vectors }) => ({
    version: VECTORS_VERSION,
    name,
    title,
    license: 'MIT',
    vectors: vectors(createMaker(source, options, name)),
  }));
}

/** @throws RangeError if `now` is not a whole second */
function createSource(options: VectorOptions): Source {
  const { now, seed, secret, retryAfter = 300, callIdPrefix = '' } = options;
  if (!Number.isSafeInteger(now) || now % 1000 !== 0)
    throw new RangeError('now must be milliseconds at a whole second.');
  const bytesOf = (name: string, bytes: number): Buffer => {
    const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, block) =>
      createHash('sha256')
        .update(`${seed}/${name}/${String(block)}`)
        .digest(),
    );
    return Buffer.concat(blocks).subarray(0, bytes);
  };
  const secretOf = (name: string, bytes: number) =>
    `whsec_${bytesOf(`secret/${name}`, bytes).toString('base64')}`;
  return {
    now,
    retryAfter,
    secret: secret ?? secretOf('receiver', 24),
    uuid(name) {
      const hex = bytesOf(`uuid/${name}`, 16).toString('hex');
      // Version 4, variant 1.
      return hex.replace(
        /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/,
        (_, ...[a = '', b = '', c = '', d = '', e = '']: string[]) => `${a}-${b}-4${c}-8${d}-${e}`,
      );
    },
    callId: (name) => `${callIdPrefix}${bytesOf(`call/${name}`, 12).toString('hex')}`,
    secretOf,
  };
}

/** @param group the name of the group */
function createMaker(source: Source, options: VectorOptions, group: string): Maker {
  const callId: Maker['callId'] = (name) => source.callId(`${group}/${name}`);
  const { started, completed, recorded } = bodies(options);
  const make: Maker['attempt'] = (name, body, changes = {}) =>
    attempt(source, `${group}/${name}`, body, {
      ...changes,
      ...(changes.webhookId === undefined ? {} : { webhookId: `${group}/${changes.webhookId}` }),
    });
  const several: Maker['several'] = (name, description, why, deliveries) => ({
    id: `${group}/${name}`,
    description,
    why,
    secrets: [source.secret],
    deliveries,
  });
  const one: Maker['one'] = (result, name, description, why, given = {}) => {
    const { secrets, exactClock, body = completed(callId(name)), ...changes } = given;
    return {
      ...several(name, description, why, [expecting(result, make(name, body, changes))]),
      ...(secrets === undefined ? {} : { secrets }),
      ...(exactClock ? { exactClock } : {}),
    };
  };
  return { source, started, completed, recorded, callId, attempt: make, several, one };
}

/**
 * The bodies of the events, with the fields whose names and contents the interface shows. Real ones
 * of the call events also have the user who placed the call, and maybe a `fromPhoneNumber`.
 */
export function bodies({
  eventName = 'call:completed',
  callFields = {},
}: Pick<VectorOptions, 'eventName' | 'callFields'> = {}): Pick<
  Maker,
  'started' | 'completed' | 'recorded'
> {
  const call =
    (name: string): BodyOf =>
    (callId, more) =>
      JSON.stringify({ eventName: name, callId, ...callFields, ...more });
  return {
    started: call('call:started'),
    completed: call(eventName),
    recorded: (callId, more) =>
      JSON.stringify({
        eventName: 'call:recording-available',
        eventId: `${callId}:recording-available`,
        callId,
        userId: 'user-1',
        workspaceId: 'workspace-1',
        recordingStartedAt: '2027-01-15T07:58:01.250Z',
        recordingDurationSeconds: 61,
        occurredAt: '2027-01-15T08:00:00.000Z',
        recordingUrl: `https://api.example.com/v1/calls/${callId}/recording`,
        ...more,
      }),
  };
}
