import { inferTexts, type TextField } from './call-texts.ts';
import { inferTimes, type TimeField } from './call-times.ts';
import { columnsOf } from './columns.ts';
import { inferPaging, type PagingSetting } from './list-pages.ts';
import type { Proposal } from './proposal.ts';
import { sortSamples } from './samples.ts';
import { writeSnippet } from './snippet.ts';

export type { PagingSetting, Proposal, TextField, TimeField };
export { isDateTime, isEmail, isEpochMs, isPhoneNumber } from './formats.ts';
export type { Candidate } from './proposal.ts';

/** One of the seven fields of a call that the spec describes without showing its name. */
export type CallField = TextField | TimeField;

/** What captured bodies say about the names that the spec does not show. */
export interface InferredNames {
  /**
   * For the receiver's option `fieldNames`, one proposal for each of the seven fields. Without a call
   * event, they come from the call records.
   */
  readonly fieldNames: readonly Proposal<CallField>[];
  /** For the client's option `wire`. Empty where no answer of a list endpoint was given. */
  readonly wire: readonly Proposal<PagingSetting>[];
  /** Both as TypeScript to paste, with the reasons as comments; empty where nothing fits. */
  readonly snippet: string;
  /** How many samples of each kind were read. */
  readonly read: {
    readonly callEvents: number;
    readonly recordingEvents: number;
    /** Records of `GET /v1/calls` without their page. */
    readonly callRecords: number;
    readonly pages: number;
    /** Samples that are neither an event of a call nor an answer of a list endpoint. */
    readonly ignored: number;
  };
}

/**
 * Learns the names that the spec does not show from captured bodies: deliveries of call events,
 * answers of `GET /v1/calls` and `GET /v1/events`, and single call records.
 *
 * It looks at values, not at the names of the seven fields: at formats, at the events that carry a
 * field, at the order of times, and at values that are equal in the events of one call. A few calls
 * with their `call:started`, `call:completed` and `call:recording-available` bodies say most. Where
 * two fields fit, the proposal is `not-sure` and has both. Never throws.
 *
 * @param samples parsed JSON bodies, in any order; what is none of the above is ignored
 *
 * @example
 * const { snippet } = inferNames(bodies.map((body) => JSON.parse(body)));
 * console.log(snippet);
 */
export function inferNames(samples: Iterable<unknown>): InferredNames {
  const sorted = sortSamples(samples);
  const { calls, recordings, records, pages, ignored } = sorted;
  const columns = columnsOf(calls.length > 0 ? calls : records);
  const sawStarted = calls.some(({ completed }) => !completed);
  const fieldNames = [...inferTexts(columns, recordings), ...inferTimes(columns, sawStarted)];
  const wire = pages.length === 0 ? [] : inferPaging(sorted);
  return {
    fieldNames,
    wire,
    snippet: writeSnippet(fieldNames, wire),
    read: {
      callEvents: calls.length,
      recordingEvents: recordings.size,
      callRecords: records.length,
      pages: pages.length,
      ignored,
    },
  };
}
