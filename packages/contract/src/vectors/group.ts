import { attempt, expecting, type Attempt, type AttemptChanges } from './attempt.ts';
import type { Source } from './source.ts';
import type { Sentence, Vector, VectorDelivery, VectorResult } from './vector.ts';

/** Makes the vectors of one group. */
export interface Maker {
  readonly source: Source;
  /** The call id of the vector that is being made. */
  readonly callId: (name: string) => string;
  /** One request. Names are unique within the group. */
  readonly attempt: (name: string, body: string | Buffer, changes?: AttemptChanges) => Attempt;
  /** A vector of one delivery. */
  readonly one: (
    result: VectorResult,
    name: string,
    description: string,
    why: readonly Sentence[],
    body: string | Buffer,
    changes?: AttemptChanges & Partial<Pick<Vector, 'secrets' | 'exactClock'>>,
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

/** @param group the name of the group */
export function createMaker(source: Source, group: string): Maker {
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
  return {
    source,
    callId: (name) => source.callId(`${group}/${name}`),
    attempt: make,
    several,
    one: (result, name, description, why, body, { secrets, exactClock, ...changes } = {}) => ({
      ...several(name, description, why, [expecting(result, make(name, body, changes))]),
      ...(secrets === undefined ? {} : { secrets }),
      ...(exactClock ? { exactClock } : {}),
    }),
  };
}
