import type { FastifyInstance } from 'fastify';
import { callBody, type BodyFieldNames } from '../calls/payloads.ts';
import type { Call } from '../calls/call.ts';
import type { Simulation } from '../simulation.ts';
import { omit } from '../omit.ts';
import { pageOf, type PageQuery } from './page.ts';

/**
 * `GET /v1/calls`. The spec shows only the `_id` of a record.
 * @guess `GET /v1/calls`, rule actions, errors, paging and rate limits
 */
export function callRoutes(app: FastifyInstance, { calls, settings }: Simulation): void {
  app.get<{ Querystring: PageQuery }>('/calls', ({ query }) => {
    const found = calls.list().map((call) => ({ _id: call._id, time: call.createdAt, call }));
    const { results, ...page } = pageOf(found, query, settings.pageSize);
    return { results: results.map(({ call }) => callRecord(call, settings.fieldNames)), ...page };
  });
}

/** The fields of the webhook body, and the recording. */
function callRecord(call: Call, names: BodyFieldNames): Record<string, unknown> {
  const trigger = call.endedAt === undefined ? 'call:started' : 'call:completed';
  const { recording } = call;
  return {
    _id: call._id,
    ...omit(callBody(call, trigger, names), 'eventName', 'callId'),
    recording: recording ? { durationSeconds: recording.durationSeconds } : null,
  };
}
