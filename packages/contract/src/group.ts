import { attempt, type Attempt, type AttemptChanges, expecting } from './attempt.ts';
import type { Source, VectorOptions } from './source.ts';
import type { Sentence, Vector, VectorDelivery, VectorResult } from './vector.ts';

/** The body of an event. @param more further fields */
export type BodyOf = (callId: string, more?: object) => string;

/** A vector whose deliveries are not signed yet, so that one of a hundred can be made alone. */
export interface Draft extends Omit<Vector, 'deliveries'> {
  readonly deliveries: () => readonly VectorDelivery[];
}

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
  ) => Draft;
  /** A vector of several deliveries. */
  readonly several: (
    name: string,
    description: string,
    why: readonly Sentence[],
    deliveries: () => readonly VectorDelivery[],
  ) => Draft;
}

/** Vectors about one thing: one file. */
export interface Group {
  readonly name: string;
  readonly title: string;
  readonly vectors: (maker: Maker) => readonly Draft[];
}

/** @param group the name of the group */
export function createMaker(source: Source, options: VectorOptions, group: string): Maker {
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
      ...several(name, description, why, () => [expecting(result, make(name, body, changes))]),
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
