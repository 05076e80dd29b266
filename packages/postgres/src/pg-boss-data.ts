import type { QueuedDelivery } from '@call-webhooks/core';

/** What `JSON.stringify` writes for NUL and for half of a surrogate pair, which Postgres keeps in no JSON. */
const UNSTORABLE = /\\u(?:0000|d[89a-f][\da-f]{2})/;

/**
 * A delivery as the data of a job: itself, so that people can read it, or its whole JSON as a text, in which
 * every character can be kept.
 */
export function toJobData(delivery: QueuedDelivery): object {
  const escaped = JSON.stringify(delivery);
  return UNSTORABLE.test(escaped) ? { escaped } : delivery;
}

/** The delivery that `toJobData` made the data of a job of. */
export function fromJobData(data: unknown): QueuedDelivery {
  const { escaped } = Object(data) as { escaped?: unknown };
  return (typeof escaped === 'string' ? JSON.parse(escaped) : data) as QueuedDelivery;
}

/** A text for people, such as an error message, with a mark for each character that Postgres can't keep. */
export const storableText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
